/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-program.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/switch-device.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingAtpProgram");
NS_OBJECT_ENSURE_REGISTERED(AtpProgram);

namespace
{

// Resources of the released program on Tofino: each pass adds half of a packet's integers.
constexpr uint32_t PASSES = 2;
/// Integer registers per pipeline stage.
constexpr uint32_t ATP_REGISTERS_PER_STAGE = 4;
/// Pipeline stages for owner, bitmap, counter and congestion bits.
constexpr uint32_t ATP_CONTROL_STAGES = 4;
/// Maximum integers that leave the control stages free.
constexpr uint32_t MAX_ELEMENTS = PASSES * 8 * ATP_REGISTERS_PER_STAGE;
/// Bitmap, owner, counter and congestion bit of each half, bytes.
constexpr uint32_t CONTROL_BYTES = 4 + 4 + 1 + 1;

} // namespace

TypeId
AtpProgram::GetTypeId()
{
    static TypeId tid =
        AddVerify(
            TypeId("ns3::training::AtpProgram")
                .SetParent<AggregationProgram>()
                .SetGroupName("DistributedTraining")
                .AddConstructor<AtpProgram>()
                .AddAttribute(
                    "ElementsPerPacket",
                    "32-bit integers in a packet, an even number up to 64 (released program: "
                    "62)",
                    UintegerValue(ATP_ELEMENTS),
                    MakeUintegerAccessor(&AtpProgram::m_elements),
                    MakeUintegerChecker<uint32_t>(2, MAX_ELEMENTS))
                .AddAttribute("Slots",
                              "Slots (aggregators) that all jobs share (released program: 20000)",
                              UintegerValue(20000),
                              MakeUintegerAccessor(&AtpProgram::m_slotCount),
                              MakeUintegerChecker<uint32_t>(1, ATP_MAX_SLOTS))
                .AddAttribute(
                    "PassLatency",
                    "Latency of a pass through the pipeline (Tofino: 400 to 800 ns); each "
                    "packet takes two",
                    TimeValue(NanoSeconds(400)),
                    MakeTimeAccessor(&AtpProgram::m_passLatency),
                    MakeTimeChecker(Time(0)))
                .AddAttribute(
                    "LoopbackPorts",
                    "Recirculation ports for the second pass of frames to servers, selected "
                    "by ingress port",
                    UintegerValue(16),
                    MakeUintegerAccessor(&AtpProgram::m_loopbackPorts),
                    MakeUintegerChecker<uint32_t>(1))
                .AddAttribute(
                    "StickyCollisions",
                    "Whether a result says that another job has asked for its slot (A2TP)",
                    BooleanValue(false),
                    MakeBooleanAccessor(&AtpProgram::m_stickyCollisions),
                    MakeBooleanChecker())
                .AddAttribute("Preemption",
                              "Whether a packet of a higher priority takes a slot (ESA)",
                              BooleanValue(false),
                              MakeBooleanAccessor(&AtpProgram::m_preemption),
                              MakeBooleanChecker())
                .AddAttribute(
                    "ReclaimStale",
                    "Whether a slot that holds a late duplicate is taken over by its own job "
                    "(not in the released program)",
                    BooleanValue(true),
                    MakeBooleanAccessor(&AtpProgram::m_reclaims),
                    MakeBooleanChecker()))
            .AddTraceSource("Add",
                            "A contribution has been added to a slot",
                            MakeTraceSourceAccessor(&AtpProgram::m_addTrace),
                            "ns3::training::AtpProgram::ContributionTracedCallback")
            .AddTraceSource("Repeat",
                            "A duplicate contribution has arrived at a slot",
                            MakeTraceSourceAccessor(&AtpProgram::m_repeatTrace),
                            "ns3::training::AtpProgram::ContributionTracedCallback");
    return tid;
}

SwitchProgram::Resources
AtpProgram::GetResources() const
{
    const uint32_t half = (m_elements + 1) / PASSES;
    Resources resources;
    resources.stages =
        (half + ATP_REGISTERS_PER_STAGE - 1) / ATP_REGISTERS_PER_STAGE + ATP_CONTROL_STAGES;
    const uint64_t extra = (m_stickyCollisions ? 1 : 0) + (m_preemption ? 1 : 0);
    resources.registerBytes = m_slotCount * (4 * m_elements + PASSES * (CONTROL_BYTES + extra));
    resources.recirculationPorts = m_loopbackPorts;
    resources.latency = PASSES * m_passLatency;
    return resources;
}

std::map<uint8_t, uint32_t>
AtpProgram::GetOccupiedSlots() const
{
    std::map<uint8_t, uint32_t> occupied;
    ForEachJob<JobState>([&](const JobState& job) { occupied[job.number] = job.occupied; });
    return occupied;
}

double
AtpProgram::GetSlotSeconds(uint8_t job) const
{
    auto* const known = FindJob<JobState>(job);
    if (!known)
    {
        return 0;
    }
    Occupy(*known, 0);
    return known->slotPicoseconds * 1e-12;
}

void
AtpProgram::AddJob(const AtpJob& description)
{
    NS_LOG_FUNCTION(this << +description.number);
    if (m_elements % PASSES != 0)
    {
        throw ConfigurationError(GetJobName(description.number) + ": " +
                                 std::to_string(m_elements) +
                                 " elements per packet (allowed: even numbers up to " +
                                 std::to_string(MAX_ELEMENTS) + ")");
    }
    CheckJobNumberIsFree(description.number);
    auto job = MakeJob<JobState>(description.number, 0, 0, description.workers);
    job->description = description;
    for (uint32_t endpoint : description.otherSwitches)
    {
        job->targets.push_back(MakeTarget(endpoint, description.number));
    }
    for (uint32_t endpoint : description.localServers)
    {
        job->servers.Add(endpoint);
    }
    AggregationProgram::AddJob(std::move(job));
    m_pool.Resize(m_slotCount, m_elements);
}

void
AtpProgram::RemoveJob(uint8_t number)
{
    NS_LOG_FUNCTION(this << +number);
    for (AtpPool::Slot& slot : m_pool.GetSlots())
    {
        if (slot.used && slot.header.job == number)
        {
            Free(slot); // a late duplicate has claimed it
        }
    }
    EndJob(number);
}

void
AtpProgram::Reset()
{
    NS_LOG_FUNCTION(this);
    for (AtpPool::Slot& slot : m_pool.GetSlots())
    {
        if (slot.used)
        {
            Free(slot);
        }
    }
}

bool
AtpProgram::Receive(Frame* frame)
{
    auto* const job =
        frame->Is<AtpHeader>() ? FindJob<JobState>(frame->As<AtpHeader>().job) : nullptr;
    if (!job)
    {
        if (frame->Is<AtpHeader>() && frame->destination == GetEndpoint())
        {
            Refuse(frame, "no such job");
            return true;
        }
        return false;
    }
    auto& header = frame->As<AtpHeader>();
    const bool isServers = job->servers.Find(frame->destination) != EndpointTable::NONE;
    const bool isRack =
        !header.isRackSum && !isServers && job->children.Find(frame->source) != EndpointTable::NONE;
    if (header.isResult ? frame->destination != GetEndpoint() : !isServers && !isRack)
    {
        return false; // forwarded unchanged, or on its last hop
    }
    Count(*job, &AtpCounters::received);
    if (header.slot >= m_slotCount || frame->payloadBytes != 4 * m_elements)
    {
        Count(*job, &AtpCounters::refused);
        Refuse(frame, "no such slot or size");
        return true;
    }
    if (header.isResult)
    {
        TakeResult(frame, *job);
        return true;
    }
    if (header.overflow)
    {
        Count(*job, &AtpCounters::passed);
        return false;
    }
    header.congested |= frame->ecn == Ecn::CE;
    AtpPool::Slot& slot = m_pool.GetSlots()[header.slot];
    const bool isMine = slot.IsOf(header);
    if (!isRack && !header.isRackSum)
    {
        // Part of a rack's sum for the server only. The slot's sum would wait for the rest forever.
        if (header.resend && isMine)
        {
            Count(*job, &AtpCounters::evicted);
            Evict(slot, *frame);
        }
        Count(*job, &AtpCounters::passed);
        Forward(frame);
        return true;
    }
    if (header.resend)
    {
        if (isMine)
        {
            TakeResend(frame, *job, slot, isRack);
        }
        else
        {
            Count(*job, &AtpCounters::passed);
            Forward(frame);
        }
        return true;
    }
    Contribute(frame, *job, slot, isRack);
    return true;
}

void
AtpProgram::TakeResend(Frame* frame, JobState& job, AtpPool::Slot& slot, bool isRack)
{
    const auto& header = frame->As<AtpHeader>();
    const uint32_t bits = isRack ? header.workers : header.children;
    if (!(slot.seen & bits))
    {
        Add(job, slot, *frame);
        m_addTrace(header.job, header.packet, bits, isRack);
    }
    else
    {
        Count(job, &AtpCounters::repeated);
    }
    Count(job, &AtpCounters::evicted);
    m_pool.Fill(*frame, slot);
    frame->As<AtpHeader>().resend = true;
    Free(slot);
    Forward(frame);
}

void
AtpProgram::Contribute(Frame* frame, JobState& job, AtpPool::Slot& slot, bool isRack)
{
    auto& header = frame->As<AtpHeader>();
    const bool isOwn = slot.used && slot.header.job == header.job;
    if (slot.used && !slot.IsOf(header))
    {
        const auto ahead = static_cast<int32_t>(header.packet - slot.header.packet);
        if (isOwn && m_reclaims && ahead >= static_cast<int32_t>(2 * job.description.window))
        {
            Count(job, &AtpCounters::reclaimed);
            NS_LOG_LOGIC("slot " << header.slot << ": packet " << slot.header.packet
                                 << " is a late duplicate, and gives way to " << header.packet);
            Free(slot);
        }
        else if (!isOwn && m_preemption && header.priority > slot.header.priority)
        {
            Count(*FindJob<JobState>(slot.header.job), &AtpCounters::preempted);
            NS_LOG_LOGIC("slot " << header.slot << ": job " << +header.job << " preempts job "
                                 << +slot.header.job);
            Evict(slot, *frame);
        }
        else
        {
            slot.header.contested |= !isOwn && m_stickyCollisions;
            Count(job, &AtpCounters::collisions);
            NS_LOG_LOGIC("slot " << header.slot << ": packet " << header.packet << " of job "
                                 << +header.job << " collides with packet " << slot.header.packet
                                 << " of job " << +slot.header.job);
            header.collision = true;
            Forward(frame);
            return;
        }
    }
    if (!slot.used)
    {
        AtpPool::Claim(slot, *frame, isRack);
        Occupy(job, 1);
    }
    const uint32_t bits = isRack ? header.workers : header.children;
    const auto count = static_cast<uint32_t>(__builtin_popcount(slot.seen));
    const bool isNew = !(slot.seen & bits);
    if (m_verify)
    {
        NS_ABORT_MSG_IF(__builtin_popcount(bits) != 1,
                        "packet " << header.packet << ": not of one contributor, " << bits);
        NS_ABORT_MSG_IF(slot.isRack != isRack, "packet " << header.packet << ": at both levels");
        NS_ABORT_MSG_IF(count > header.fanIn[isRack ? 0 : 1],
                        "packet " << header.packet << ": more contributors than there are");
    }
    slot.header.congested |= header.congested;
    if (isNew)
    {
        Add(job, slot, *frame);
        m_addTrace(header.job, header.packet, bits, isRack);
    }
    else
    {
        Count(job, &AtpCounters::repeated);
        m_repeatTrace(header.job, header.packet, bits, isRack);
    }
    if (count + isNew < header.fanIn[isRack ? 0 : 1])
    {
        Count(job, &AtpCounters::held, isNew);
        Frame::Free(frame);
        return;
    }
    Count(job, &AtpCounters::completed);
    NS_LOG_LOGIC("slot " << header.slot << ": sum of packet " << header.packet << " of job "
                         << +header.job << " is complete");
    m_pool.Fill(*frame, slot); // twice if the last contribution was retransmitted
    Forward(frame);
}

void
AtpProgram::Free(AtpPool::Slot& slot)
{
    Occupy(*FindJob<JobState>(slot.header.job), -1);
    slot.used = false;
}

void
AtpProgram::Occupy(JobState& job, int32_t slots)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    job.slotPicoseconds += static_cast<double>(now - job.since) * job.occupied;
    job.since = now;
    job.occupied += slots;
}

void
AtpProgram::Add(JobState& job, AtpPool::Slot& slot, const Frame& frame)
{
    NS_ABORT_MSG_IF(m_verify && frame.As<AtpHeader>().overflow, "floats are not added in a switch");
    Count(job, &AtpCounters::added);
    if (m_pool.Add(slot, frame))
    {
        Count(job, &AtpCounters::saturated);
    }
}

void
AtpProgram::Evict(AtpPool::Slot& slot, const Frame& cause)
{
    const AtpJob& job = FindJob<JobState>(slot.header.job)->description;
    Frame* frame = cause.Clone();
    AtpHeader header = slot.header;
    header.resend = true;
    frame->Set(header);
    frame->source = GetEndpoint();
    frame->destination = job.servers[slot.header.packet % job.servers.size()];
    frame->flowHash = HashFlow(frame->source, frame->destination, slot.header.job);
    m_pool.Fill(*frame, slot);
    Free(slot);
    Forward(frame);
}

void
AtpProgram::TakeResult(Frame* frame, JobState& job)
{
    auto& header = frame->As<AtpHeader>();
    AtpPool::Slot& slot = m_pool.GetSlots()[header.slot];
    const bool isFinal = !header.overflow || header.resend;
    if (isFinal && slot.IsOf(header))
    {
        header.contested |= slot.header.contested;
        Count(job, &AtpCounters::released);
        Free(slot);
    }
    Count(job, &AtpCounters::multicasts);
    const bool isFromServer = job.servers.Find(frame->source) != EndpointTable::NONE;
    const std::size_t targets = isFromServer ? job.targets.size() : job.children.GetCount();
    MulticastAfter(frame, PASSES * m_passLatency, job, static_cast<uint32_t>(targets));
}

void
AtpProgram::Forward(Frame* frame)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    const int64_t latency = m_passLatency.GetTimeStep();
    const int64_t ready = GetSwitch().ReserveRecirculation(frame->ingress % m_loopbackPorts,
                                                           frame->bytes,
                                                           now + latency);
    SendAfter(frame, TimeStep(ready + latency - now));
}

} // namespace ns3::training
