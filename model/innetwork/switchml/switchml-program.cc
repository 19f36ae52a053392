/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-program.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/switch-device.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitchMlProgram");
NS_OBJECT_ENSURE_REGISTERED(SwitchMlProgram);

TypeId
SwitchMlProgram::GetTypeId()
{
    static TypeId tid =
        AddVerify(
            TypeId("ns3::training::SwitchMlProgram")
                .SetParent<AggregationProgram>()
                .SetGroupName("DistributedTraining")
                .AddConstructor<SwitchMlProgram>()
                .AddAttribute("ElementsPerPacket",
                              "32-bit integers in a packet: 32, 64 or 256",
                              UintegerValue(64),
                              MakeUintegerAccessor(&SwitchMlProgram::m_elements),
                              MakeUintegerChecker<uint32_t>(1))
                .AddAttribute(
                    "Slots",
                    "Slots of the pool, each with two versions (paper: 128 at 10 Gbit/s, 512 "
                    "at 100 Gbit/s; released program: 8192)",
                    UintegerValue(512),
                    MakeUintegerAccessor(&SwitchMlProgram::m_slotCount),
                    MakeUintegerChecker<uint32_t>(1, SWITCHML_MAX_SLOTS))
                .AddAttribute(
                    "Workers",
                    "Most children of a job: with 256 elements each has recirculation ports "
                    "of its own",
                    UintegerValue(16),
                    MakeUintegerAccessor(&SwitchMlProgram::m_workers),
                    MakeUintegerChecker<uint32_t>(1, MAX_CHILDREN))
                .AddAttribute("PassLatency",
                              "Latency of a pass through the pipeline (Tofino: 400 to 800 ns)",
                              TimeValue(NanoSeconds(400)),
                              MakeTimeAccessor(&SwitchMlProgram::m_passLatency),
                              MakeTimeChecker(Time(0)))
                .AddAttribute(
                    "RoundTag",
                    "Whether a slot keeps the number of its packet, so that a contribution "
                    "that is late cannot get into the next sum (not in the released program)",
                    BooleanValue(true),
                    MakeBooleanAccessor(&SwitchMlProgram::m_roundTag),
                    MakeBooleanChecker()))
            .AddTraceSource("Add",
                            "A contribution has been added",
                            MakeTraceSourceAccessor(&SwitchMlProgram::m_addTrace),
                            "ns3::training::SwitchMlProgram::ContributionTracedCallback")
            .AddTraceSource("Repeat",
                            "A duplicate contribution has arrived",
                            MakeTraceSourceAccessor(&SwitchMlProgram::m_repeatTrace),
                            "ns3::training::SwitchMlProgram::ContributionTracedCallback");
    return tid;
}

std::map<uint8_t, uint32_t>
SwitchMlProgram::GetOccupiedSlots() const
{
    std::map<uint8_t, uint32_t> occupied;
    ForEachJob<Job>([&](const Job& job) {
        const auto first = m_slots.begin() + job.firstSlot;
        occupied[job.number] =
            static_cast<uint32_t>(std::count_if(first, first + job.slots, [](const Slot& slot) {
                return slot.versions[0].left > 0 || slot.versions[1].left > 0;
            }));
    });
    return occupied;
}

void
SwitchMlProgram::AddJob(const SwitchMlJob& description)
{
    NS_LOG_FUNCTION(this << +description.number);
    const std::string name = GetJobName(description.number);
    if (m_elements != 32 && m_elements != 64 && m_elements != 256)
    {
        throw ConfigurationError(name + ": " + std::to_string(m_elements) +
                                 " elements per packet (allowed: 32, 64, 256)");
    }
    CheckChildren(description.number, description.children.size(), m_workers, "children");
    CheckJobNumberIsFree(description.number);
    if (description.queuePairs > SWITCHML_MAX_QUEUE_PAIRS)
    {
        throw ConfigurationError(name + " needs " + std::to_string(description.queuePairs) +
                                 " queue pairs of a worker (allowed: up to " +
                                 std::to_string(SWITCHML_MAX_QUEUE_PAIRS) + ")");
    }
    if (description.queuePairs > 0 && description.parent != SwitchMlJob::NONE)
    {
        throw ConfigurationError(name + " with RDMA framing has hosts on several switches "
                                        "(allowed: on one)");
    }
    CheckSlots(description.number, description.firstSlot, description.slots, m_slotCount);
    auto job = MakeJob<JobState>(description.number,
                                 description.firstSlot,
                                 description.slots,
                                 description.children);
    job->queuePairs = description.queuePairs;
    job->receivers.resize(description.children.size() * description.queuePairs);
    job->psns.assign(job->receivers.size(), 0);
    if (description.parent != SwitchMlJob::NONE)
    {
        job->parent = MakeTarget(description.parent, description.number);
    }
    AggregationProgram::AddJob(std::move(job));
    m_slots.resize(m_slotCount);
}

void
SwitchMlProgram::RemoveJob(uint8_t number)
{
    NS_LOG_FUNCTION(this << +number);
    const auto& job = *FindJob<JobState>(number);
    // The next job begins with packet 0, before the last packets of this one.
    std::fill_n(m_slots.begin() + job.firstSlot, job.slots, Slot());
    EndJob(number);
}

void
SwitchMlProgram::Reset()
{
    NS_LOG_FUNCTION(this);
    std::fill(m_slots.begin(), m_slots.end(), Slot());
    std::fill(m_values.begin(), m_values.end(), 0);
    ForEachJob<JobState>([](JobState& job) {
        std::fill(job.receivers.begin(), job.receivers.end(), UnreliableReceiver());
        std::fill(job.psns.begin(), job.psns.end(), 0);
    });
}

bool
SwitchMlProgram::Receive(Frame* frame)
{
    if (frame->destination != GetEndpoint() || !frame->Is<SwitchMlHeader>())
    {
        return false;
    }
    m_counters.received++;
    const auto& header = frame->As<SwitchMlHeader>();
    auto* const job = FindJob<JobState>(header.job);
    if (job && job->HasSlot(header.slot) && frame->payloadBytes == 4 * m_elements)
    {
        if (frame->source == job->parent.endpoint)
        {
            TakeResult(frame, *job);
            return true;
        }
        const uint32_t child = job->children.Find(frame->source);
        if (child != EndpointTable::NONE && Accept(*frame, *job, child))
        {
            job->counters.received++;
            Contribute(frame, *job, child);
            return true;
        }
    }
    const bool isBroken =
        frame->opcode == UC_WRITE_MIDDLE || frame->opcode == UC_WRITE_LAST_IMMEDIATE;
    (isBroken ? m_counters.broken : m_counters.refused)++;
    Refuse(frame, isBroken ? "a packet before it is missing" : "no such job, worker, slot or size");
    return true;
}

bool
SwitchMlProgram::Accept(const Frame& frame, JobState& job, uint32_t child) const
{
    const uint32_t queuePair = frame.destinationQp & 0xffff;
    if (job.queuePairs == 0 || queuePair >= job.queuePairs)
    {
        return job.queuePairs == 0 && frame.opcode == 0;
    }
    return job.receivers[child * job.queuePairs + queuePair].Accept(frame.opcode, frame.psn);
}

bool
SwitchMlProgram::IsStale(const Version& mine,
                         const Version& other,
                         uint32_t packet,
                         uint32_t bit) const
{
    // A worker that has moved on to the other version has received this sum.
    return (mine.used && static_cast<int32_t>(packet - mine.header.packet) < 0) ||
           (other.used && static_cast<int32_t>(other.header.packet - packet) > 0 &&
            other.seen & bit);
}

void
SwitchMlProgram::Contribute(Frame* frame, JobState& job, uint32_t child)
{
    const auto& header = frame->As<SwitchMlHeader>();
    Version& mine = m_slots[header.slot].versions[header.set];
    Version& other = m_slots[header.slot].versions[1 - header.set];
    const uint32_t bit = 1U << child;
    if (m_roundTag && IsStale(mine, other, header.packet, bit))
    {
        Count(job, &SwitchMlCounters::stale);
        Refuse(frame, "its worker has had this sum");
        return;
    }
    const uint32_t before = mine.seen;
    mine.seen |= bit;
    other.seen &= ~bit;
    const auto children = static_cast<uint8_t>(job.targets.size());
    const Time ready = GetPasses().Consume(GetSwitch(), *frame);
    if (before & bit)
    {
        Count(job, &SwitchMlCounters::repeated);
        m_repeatTrace(header.job, header.packet, child);
        if (mine.left == 0)
        {
            // Complete: the shadow copy answers, or the sum is resent because the parent may have
            // lost it.
            NS_LOG_LOGIC("slot " << header.slot << ": sum of packet " << mine.header.packet
                                 << " again, for child " << child);
            SendSum(frame, job, mine, ready, child);
            return;
        }
        if (mine.left == 1)
        {
            GetPasses().Harvest(GetSwitch(), ready); // the frame is dropped afterwards
        }
        Frame::Free(frame);
        return;
    }
    if (m_verify)
    {
        // A restart loses sums that some workers have already received, so they are ahead.
        NS_ABORT_MSG_IF(GetRestarts() == 0 && before == 0 && other.used && other.left != 0,
                        "slot " << header.slot << ": workers are more than one phase apart");
        NS_ABORT_MSG_IF(before != 0 && mine.header.packet != header.packet,
                        "slot " << header.slot << ": packet " << header.packet << " in the sum of "
                                << mine.header.packet);
    }
    Count(job, &SwitchMlCounters::added);
    m_addTrace(header.job, header.packet, child);
    const bool last = mine.left == 1 || children == 1;
    mine.left = mine.left == 0 ? children - 1 : mine.left - 1;
    Add(mine, *frame, before == 0);
    if (!last)
    {
        Frame::Free(frame);
        return;
    }
    Count(job, &SwitchMlCounters::completed);
    if (mine.header.overflow)
    {
        Count(job, &SwitchMlCounters::overflows);
    }
    NS_LOG_LOGIC("slot " << header.slot << ": sum of packet " << mine.header.packet
                         << " is complete" << (mine.header.overflow ? ", with an overflow" : ""));
    mine.isFinal = job.IsRoot();
    SendSum(frame, job, mine, ready, ALL);
}

void
SwitchMlProgram::SendSum(Frame* frame,
                         JobState& job,
                         const Version& version,
                         Time ready,
                         uint32_t child)
{
    frame->As<SwitchMlHeader>() = version.header;
    if (frame->payload)
    {
        WriteValues(*frame, GetValues(*frame), m_elements);
    }
    const Time delay = GetPasses().Harvest(GetSwitch(), ready);
    if (!version.isFinal)
    {
        Count(job, &SwitchMlCounters::forwarded);
        SendAfter(frame, delay, job.parent);
    }
    else if (child == ALL)
    {
        Count(job, &SwitchMlCounters::multicasts);
        MulticastAfter(frame, delay, job, static_cast<uint32_t>(job.targets.size()));
    }
    else
    {
        Count(job, &SwitchMlCounters::unicasts);
        SendAfter(frame, delay, job, child);
    }
}

void
SwitchMlProgram::TakeResult(Frame* frame, JobState& job)
{
    const auto& header = frame->As<SwitchMlHeader>();
    Version& mine = m_slots[header.slot].versions[header.set];
    const bool isWanted = mine.used && mine.left == 0 && !mine.isFinal &&
                          (!m_roundTag || mine.header.packet == header.packet);
    const Time ready = GetPasses().Consume(GetSwitch(), *frame);
    if (!isWanted)
    {
        Refuse(frame, "a result that is not awaited");
        return;
    }
    Store(mine, *frame);
    mine.isFinal = true;
    Count(job, &SwitchMlCounters::multicasts);
    MulticastAfter(frame, ready - Simulator::Now(), job, static_cast<uint32_t>(job.targets.size()));
}

int32_t*
SwitchMlProgram::GetValues(const Frame& frame)
{
    if (m_values.empty())
    {
        m_values.resize(2ULL * m_slotCount * m_elements);
    }
    const auto& header = frame.As<SwitchMlHeader>();
    return m_values.data() + (2ULL * header.slot + header.set) * m_elements;
}

void
SwitchMlProgram::Add(Version& version, const Frame& frame, bool first)
{
    const auto& header = frame.As<SwitchMlHeader>();
    if (first)
    {
        Store(version, frame);
        version.isFinal = false;
        return;
    }
    SwitchMlHeader& sum = version.header;
    sum.check += header.check;
    sum.exponents[0] = std::max(sum.exponents[0], header.exponents[0]);
    sum.exponents[1] = std::max(sum.exponents[1], header.exponents[1]);
    sum.overflow |= header.overflow;
    if (frame.payload)
    {
        int32_t* const values = GetValues(frame);
        const uint8_t* from = GetPayload(frame);
        for (uint32_t i = 0; i < m_elements; i++, from += 4)
        {
            sum.overflow |=
                __builtin_add_overflow(values[i], static_cast<int32_t>(GetWord(from)), &values[i]);
        }
    }
}

void
SwitchMlProgram::Store(Version& version, const Frame& frame)
{
    version.used = true;
    version.header = frame.As<SwitchMlHeader>();
    if (frame.payload)
    {
        ReadValues(frame, GetValues(frame), m_elements);
    }
}

void
SwitchMlProgram::SendResult(Frame* frame, Job& job, uint32_t child)
{
    auto& mine = static_cast<JobState&>(job);
    if (mine.queuePairs > 0)
    {
        frame->destinationQp &= 0xffff;
        uint32_t& psn = mine.psns[child * mine.queuePairs + frame->destinationQp];
        frame->psn = psn;
        psn = (psn + 1) % PSN_MODULUS;
    }
    AggregationProgram::SendResult(frame, job, child);
}

} // namespace ns3::training
