/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "adder-program.h"

#include "adder-wire-format.h"

#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

using namespace ns3;
using namespace ns3::training;

NS_OBJECT_ENSURE_REGISTERED(AdderProgram);

TypeId
AdderProgram::GetTypeId()
{
    static TypeId tid = TypeId("example::AdderProgram")
                            .SetParent<AggregationProgram>()
                            .SetGroupName("Example")
                            .AddConstructor<AdderProgram>()
                            .AddAttribute("Slots",
                                          "Sums that the switch holds",
                                          UintegerValue(1024),
                                          MakeUintegerAccessor(&AdderProgram::m_slots),
                                          MakeUintegerChecker<uint32_t>(2, 1 << 20))
                            .AddAttribute("Elements",
                                          "32-bit integers in a packet",
                                          UintegerValue(32),
                                          MakeUintegerAccessor(&AdderProgram::m_elements),
                                          MakeUintegerChecker<uint32_t>(1, 40))
                            .AddAttribute("PassLatency",
                                          "Latency of a pass through the pipeline",
                                          TimeValue(NanoSeconds(400)),
                                          MakeTimeAccessor(&AdderProgram::m_latency),
                                          MakeTimeChecker(Time(0)));
    return tid;
}

void
AdderProgram::AddJob(uint8_t number, const std::vector<uint32_t>& endpoints, uint32_t slots)
{
    if (endpoints.size() > MAX_WORKERS)
    {
        throw ConfigurationError("adder with " + std::to_string(endpoints.size()) +
                                 " workers (allowed: up to " + std::to_string(MAX_WORKERS) + ")");
    }
    CheckJobNumberIsFree(number);
    const uint32_t firstSlot = GetFirstFreeSlot();
    CheckSlots(number, firstSlot, slots, m_slots);
    auto job = MakeJob<AdderJob>(number, firstSlot, slots, endpoints);
    job->sums.resize(slots);
    AggregationProgram::AddJob(std::move(job));
}

std::string
AdderProgram::GetName() const
{
    return "adder";
}

SwitchProgram::Resources
AdderProgram::GetResources() const
{
    Resources resources;
    resources.stages = 2 + (m_elements + 3) / 4; // number, bitmap, four sums per stage
    resources.registerBytes = uint64_t{m_slots} * (4 + 8 + 4 * m_elements);
    resources.latency = m_latency;
    return resources;
}

bool
AdderProgram::Receive(Frame* frame)
{
    if (frame->destination != GetEndpoint() || !frame->Is<AdderHeader>())
    {
        return false; // the switch forwards it
    }
    const AdderHeader header = frame->As<AdderHeader>();
    auto* job = FindJob<AdderJob>(header.job);
    const uint32_t worker = job ? job->children.Find(frame->source) : EndpointTable::NONE;
    if (worker == EndpointTable::NONE)
    {
        Refuse(frame, "its sender is not in the job");
        return true;
    }
    Slot& slot = job->sums[header.packet % job->slots];
    const uint64_t all = ~uint64_t{0} >> (MAX_WORKERS - job->children.GetCount());
    if (slot.seen != 0 && static_cast<int32_t>(header.packet - slot.packet) < 0)
    {
        Refuse(frame, "all workers have its sum");
        return true;
    }
    if (slot.seen == 0 || slot.packet != header.packet)
    {
        slot.packet = header.packet;
        slot.seen = 0;
        slot.sum.assign(m_elements, 0);
    }
    const bool isAgain = slot.seen >> worker & 1;
    if (!isAgain)
    {
        Add(*frame, slot, worker);
    }
    if (slot.seen != all)
    {
        Frame::Free(frame);
        return true;
    }
    if (frame->payload)
    {
        WriteValues(*frame, slot.sum.data(), m_elements);
    }
    if (isAgain)
    {
        SendAfter(frame, m_latency, *job, worker);
    }
    else
    {
        MulticastAfter(frame, m_latency, *job, job->children.GetCount());
    }
    return true;
}

void
AdderProgram::Add(const Frame& frame, Slot& slot, uint32_t worker)
{
    slot.seen |= uint64_t{1} << worker;
    if (frame.payload)
    {
        std::vector<int32_t> values(m_elements);
        ReadValues(frame, values.data(), m_elements);
        for (uint32_t i = 0; i < m_elements; i++)
        {
            slot.sum[i] += values[i];
        }
    }
}

void
AdderProgram::Reset()
{
    ForEachJob<AdderJob>([](AdderJob& job) { job.sums.assign(job.sums.size(), Slot()); });
}
