/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "aggregation-program.h"

#include "number-format.h"

#include "ns3/log.h"
#include "ns3/training-configuration-error.h"
#include "ns3/wire-bytes.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingAggregationProgram");
NS_OBJECT_ENSURE_REGISTERED(AggregationProgram);

namespace
{

/** @return pointer to a frame's real payload */
const uint8_t*
GetPayload(const Frame& frame)
{
    return frame.payload->bytes.data() + frame.payloadOffset;
}

/** @return pointer to a new payload of the given number of words, which replaces the frame's */
uint8_t*
MakePayload(Frame& frame, uint32_t words)
{
    frame.payload = Create<ByteBuffer>();
    frame.payload->bytes.resize(sizeof(uint32_t) * words);
    frame.payloadOffset = 0;
    return frame.payload->bytes.data();
}

} // namespace

void
EndpointTable::Add(uint32_t endpoint)
{
    m_places.resize(std::max<std::size_t>(m_places.size(), endpoint + 1), NONE);
    m_places[endpoint] = m_count++;
}

TypeId
AggregationProgram::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::AggregationProgram")
                            .SetParent<SwitchProgram>()
                            .SetGroupName("DistributedTraining");
    return tid;
}

AggregationProgram::AggregationProgram() = default;

AggregationProgram::~AggregationProgram() = default;

void
AggregationProgram::DoDispose()
{
    NS_LOG_FUNCTION(this);
    for (auto& job : m_jobs)
    {
        job = nullptr;
    }
    m_ended.clear();
    SwitchProgram::DoDispose();
}

std::string
AggregationProgram::GetJobName(uint8_t number) const
{
    return GetName() + " job " + std::to_string(number);
}

uint32_t
AggregationProgram::GetFirstFreeSlot() const
{
    uint32_t slot = 0;
    for (const auto& job : m_jobs)
    {
        slot = std::max(slot, job ? job->firstSlot + job->slots : 0);
    }
    return slot;
}

uint32_t
AggregationProgram::FindFreeSlots(uint32_t first, uint32_t count) const
{
    uint32_t slot = first;
    for (bool isFree = false; !isFree;)
    {
        isFree = true;
        for (const auto& job : m_jobs)
        {
            const uint32_t end = job ? job->firstSlot + job->slots : 0;
            if (slot < end && job->firstSlot < uint64_t{slot} + count)
            {
                slot = end;
                isFree = false;
            }
        }
    }
    return slot;
}

bool
AggregationProgram::HasJob(uint8_t number) const
{
    return m_jobs[number] != nullptr;
}

void
AggregationProgram::CheckJobNumberIsFree(uint8_t number) const
{
    if (m_jobs[number])
    {
        throw ConfigurationError(GetJobName(number) +
                                 " is there already (allowed: another number)");
    }
}

void
AggregationProgram::CheckSlots(uint8_t number,
                               uint32_t first,
                               uint32_t count,
                               uint32_t available) const
{
    const uint64_t end = uint64_t{first} + count;
    if (count == 0 || end > available)
    {
        throw ConfigurationError(GetJobName(number) + " needs slots " + std::to_string(first) +
                                 " to " + std::to_string(int64_t(end) - 1) +
                                 " (allowed: " + std::to_string(GetFirstFreeSlot()) + " to " +
                                 std::to_string(int64_t{available} - 1) + ")");
    }
    for (const auto& job : m_jobs)
    {
        if (job && first < job->firstSlot + job->slots && job->firstSlot < end)
        {
            throw ConfigurationError(GetJobName(number) + " needs slots of job " +
                                     std::to_string(job->number) + " (allowed: from " +
                                     std::to_string(GetFirstFreeSlot()) + ")");
        }
    }
}

void
AggregationProgram::AddChildren(Job& job, const std::vector<uint32_t>& endpoints) const
{
    for (uint32_t endpoint : endpoints)
    {
        job.children.Add(endpoint);
        job.targets.push_back(MakeTarget(endpoint, job.number));
    }
}

void
AggregationProgram::AddJob(std::unique_ptr<Job> job)
{
    NS_LOG_INFO(GetJobName(job->number)
                << " at endpoint " << GetEndpoint() << ": " << job->children.GetCount()
                << " children, slots from " << job->firstSlot << ", " << job->slots);
    const uint8_t number = job->number;
    m_jobs[number] = std::move(job);
}

void
AggregationProgram::EndJob(uint8_t number)
{
    NS_LOG_INFO(GetJobName(number) << " at endpoint " << GetEndpoint() << " ends");
    m_ended.push_back(std::move(m_jobs[number]));
}

const std::array<std::unique_ptr<AggregationProgram::Job>, AggregationProgram::JOB_NUMBERS>&
AggregationProgram::GetJobs() const
{
    return m_jobs;
}

void
AggregationProgram::Refuse(Frame* frame, const char* reason) const
{
    NS_LOG_LOGIC(GetName() << " at endpoint " << GetEndpoint() << " refuses a frame of endpoint "
                           << frame->source << ": " << reason);
    Frame::Free(frame);
}

void
AggregationProgram::SendAfter(Frame* frame, Time delay)
{
    Simulator::Schedule(delay, &AggregationProgram::SendNow, this, frame, GetRestarts());
}

void
AggregationProgram::SendAfter(Frame* frame, Time delay, const Target& target)
{
    Simulator::Schedule(delay, &AggregationProgram::SendToNow, this, frame, target, GetRestarts());
}

void
AggregationProgram::SendAfter(Frame* frame, Time delay, Job& job, uint32_t child)
{
    Simulator::Schedule(delay,
                        &AggregationProgram::SendResultNow,
                        this,
                        frame,
                        &job,
                        child,
                        GetRestarts());
}

void
AggregationProgram::MulticastAfter(Frame* frame, Time delay, Job& job, uint32_t count)
{
    Simulator::Schedule(delay,
                        &AggregationProgram::MulticastNow,
                        this,
                        frame,
                        &job,
                        count,
                        GetRestarts());
}

bool
AggregationProgram::IsLost(Frame* frame, uint32_t restarts) const
{
    if (restarts == GetRestarts())
    {
        return false;
    }
    NS_LOG_LOGIC("a frame was in the pipeline when the switch restarted");
    Frame::Free(frame);
    return true;
}

void
AggregationProgram::SendNow(Frame* frame, uint32_t restarts)
{
    if (!IsLost(frame, restarts))
    {
        Emit(frame);
    }
}

void
AggregationProgram::SendToNow(Frame* frame, Target target, uint32_t restarts)
{
    if (!IsLost(frame, restarts))
    {
        EmitTo(frame, target);
    }
}

void
AggregationProgram::SendResultNow(Frame* frame, Job* job, uint32_t child, uint32_t restarts)
{
    if (!IsLost(frame, restarts))
    {
        SendResult(frame, *job, child);
    }
}

void
AggregationProgram::MulticastNow(Frame* frame, Job* job, uint32_t count, uint32_t restarts)
{
    if (IsLost(frame, restarts))
    {
        return;
    }
    if (count == 0)
    {
        Frame::Free(frame);
        return;
    }
    GetSwitch().BeginMulticast();
    for (uint32_t child = 0; child + 1 < count; child++)
    {
        SendResult(frame->Clone(), *job, child);
    }
    SendResult(frame, *job, count - 1);
    GetSwitch().EndMulticast();
}

void
AggregationProgram::SendResult(Frame* frame, Job& job, uint32_t child)
{
    EmitTo(frame, job.targets[child]);
}

void
AggregationProgram::ReadValues(const Frame& frame, int32_t* values, uint32_t count)
{
    const uint8_t* from = GetPayload(frame);
    for (uint32_t i = 0; i < count; i++, from += sizeof(uint32_t))
    {
        values[i] = static_cast<int32_t>(GetWord(from));
    }
}

void
AggregationProgram::ReadValues(const Frame& frame, float* values, uint32_t count)
{
    const uint8_t* from = GetPayload(frame);
    for (uint32_t i = 0; i < count; i++, from += sizeof(uint32_t))
    {
        values[i] = ToFloat(GetWord(from));
    }
}

void
AggregationProgram::WriteValues(Frame& frame, const int32_t* values, uint32_t count)
{
    uint8_t* to = MakePayload(frame, count);
    for (uint32_t i = 0; i < count; i++, to += sizeof(uint32_t))
    {
        SetWord(to, static_cast<uint32_t>(values[i]));
    }
}

void
AggregationProgram::WriteValues(Frame& frame, const float* values, uint32_t count)
{
    uint8_t* to = MakePayload(frame, count);
    for (uint32_t i = 0; i < count; i++, to += sizeof(uint32_t))
    {
        SetWord(to, ToBits(values[i]));
    }
}

} // namespace ns3::training
