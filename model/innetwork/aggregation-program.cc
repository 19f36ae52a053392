/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "aggregation-program.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingAggregationProgram");
NS_OBJECT_ENSURE_REGISTERED(AggregationProgram);

TypeId
AggregationProgram::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::AggregationProgram")
                            .SetParent<SwitchProgram>()
                            .SetGroupName("DistributedTraining");
    return tid;
}

TypeId
AggregationProgram::AddVerify(TypeId type)
{
    return type.AddAttribute(
        "Verify",
        "Whether the program ends when an invariant does not hold, for debugging",
        BooleanValue(false),
        MakeBooleanAccessor(&AggregationProgram::m_verify),
        MakeBooleanChecker());
}

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
AggregationProgram::CheckChildren(uint8_t number,
                                  std::size_t count,
                                  uint32_t most,
                                  const std::string& kind) const
{
    if (count == 0 || count > most)
    {
        throw ConfigurationError(GetJobName(number) + " has " + std::to_string(count) + " " + kind +
                                 " at a switch (allowed: 1 to " + std::to_string(most) + ")");
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

} // namespace ns3::training
