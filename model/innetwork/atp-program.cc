/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-program.h"

#include "saturating-sum.h"

#include "ns3/abort.h"
#include "ns3/atp-wire-format.h"
#include "ns3/boolean.h"
#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/switch-device.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingAtpProgram");
NS_OBJECT_ENSURE_REGISTERED(AtpProgram);

namespace
{

// The released program on Tofino: each pass adds half of a packet's integers.
constexpr uint32_t PASSES = 2;
/// Registers of an integer that a stage can hold.
constexpr uint32_t REGISTERS_PER_STAGE = 4;
/// Stages for owner, bitmap, counter, congestion.
constexpr uint32_t CONTROL_STAGES = 4;
/// Most integers that leave these stages free.
constexpr uint32_t MOST_ELEMENTS = PASSES * 8 * REGISTERS_PER_STAGE;
/// Bitmap, owner, counter, congestion bit of each half, bytes.
constexpr uint32_t CONTROL_BYTES = 4 + 4 + 1 + 1;

} // namespace

TypeId
AtpProgram::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::AtpProgram")
            .SetParent<SwitchProgram>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<AtpProgram>()
            .AddAttribute("ElementsPerPacket",
                          "32-bit integers in a packet, an even number up to 64 (released program: "
                          "62)",
                          UintegerValue(ATP_ELEMENTS),
                          MakeUintegerAccessor(&AtpProgram::m_elements),
                          MakeUintegerChecker<uint32_t>(2, MOST_ELEMENTS))
            .AddAttribute("Slots",
                          "Slots (aggregators) that all jobs share (released program: 20000)",
                          UintegerValue(20000),
                          MakeUintegerAccessor(&AtpProgram::m_slotCount),
                          MakeUintegerChecker<uint32_t>(1, ATP_MOST_SLOTS))
            .AddAttribute("PassLatency",
                          "Latency of a pass through the pipeline (Tofino: 400 to 800 ns); each "
                          "packet takes two",
                          TimeValue(NanoSeconds(400)),
                          MakeTimeAccessor(&AtpProgram::m_passLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("LoopbackPorts",
                          "Recirculation ports that share the second passes of what is sent on to "
                          "servers, by the port that it came in by",
                          UintegerValue(16),
                          MakeUintegerAccessor(&AtpProgram::m_loopbackPorts),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("StickyCollisions",
                          "Whether a result says that another job has asked for its slot (A2TP)",
                          BooleanValue(false),
                          MakeBooleanAccessor(&AtpProgram::m_stickyCollisions),
                          MakeBooleanChecker())
            .AddAttribute("Preemption",
                          "Whether a packet of a higher priority takes a slot (ESA)",
                          BooleanValue(false),
                          MakeBooleanAccessor(&AtpProgram::m_preemption),
                          MakeBooleanChecker())
            .AddAttribute("ReclaimStale",
                          "Whether a slot that holds a late duplicate is taken over by its own job "
                          "(not in the released program)",
                          BooleanValue(true),
                          MakeBooleanAccessor(&AtpProgram::m_reclaims),
                          MakeBooleanChecker())
            .AddAttribute("Verify",
                          "Whether the program ends when an invariant does not hold, for debugging",
                          BooleanValue(false),
                          MakeBooleanAccessor(&AtpProgram::m_verify),
                          MakeBooleanChecker())
            .AddTraceSource("Add",
                            "A contribution has been added to a slot",
                            MakeTraceSourceAccessor(&AtpProgram::m_addTrace),
                            "ns3::training::AtpProgram::ContributionTracedCallback")
            .AddTraceSource("Repeat",
                            "A contribution has come to a slot again",
                            MakeTraceSourceAccessor(&AtpProgram::m_repeatTrace),
                            "ns3::training::AtpProgram::ContributionTracedCallback");
    return tid;
}

AtpProgram::AtpProgram()
    : m_jobOf(256, nullptr)
{
}

AtpProgram::~AtpProgram() = default;

void
AtpProgram::DoDispose()
{
    m_jobOf.assign(256, nullptr);
    m_jobs.clear();
    m_slots.clear();
    m_values.clear();
    SwitchProgram::DoDispose();
}

std::string
AtpProgram::GetName() const
{
    return "atp";
}

SwitchProgram::Resources
AtpProgram::GetResources() const
{
    const uint32_t half = (m_elements + 1) / PASSES;
    Resources resources;
    resources.stages = (half + REGISTERS_PER_STAGE - 1) / REGISTERS_PER_STAGE + CONTROL_STAGES;
    const uint64_t extra = (m_stickyCollisions ? 1 : 0) + (m_preemption ? 1 : 0);
    resources.registerBytes = m_slotCount * (4 * m_elements + PASSES * (CONTROL_BYTES + extra));
    resources.recirculationPorts = m_loopbackPorts;
    resources.latency = PASSES * m_passLatency;
    return resources;
}

uint32_t
AtpProgram::GetSlots() const
{
    return m_slotCount;
}

uint32_t
AtpProgram::GetElements() const
{
    return m_elements;
}

const AtpCounters&
AtpProgram::GetCounters() const
{
    return m_counters;
}

uint32_t
AtpProgram::GetOccupied(uint8_t job) const
{
    return m_jobOf[job] ? m_jobOf[job]->occupied : 0;
}

double
AtpProgram::GetSlotSeconds(uint8_t job) const
{
    if (!m_jobOf[job])
    {
        return 0;
    }
    Count(*m_jobOf[job]);
    return m_jobOf[job]->slotPicoseconds * 1e-12;
}

void
AtpProgram::AddJob(const AtpJob& description)
{
    const std::string name = "atp job " + std::to_string(description.number);
    if (m_elements % PASSES != 0)
    {
        throw ConfigurationError(name + ": " + std::to_string(m_elements) +
                                 " elements per packet (allowed: even numbers up to " +
                                 std::to_string(MOST_ELEMENTS) + ")");
    }
    if (m_jobs.count(description.number))
    {
        throw ConfigurationError(name + " is there already (allowed: another number)");
    }
    Job job;
    job.description = description;
    const auto add = [&](const std::vector<uint32_t>& endpoints, std::vector<Target>& targets) {
        for (uint32_t endpoint : endpoints)
        {
            targets.push_back(MakeTarget(endpoint, description.number));
        }
    };
    add(description.workers, job.workers);
    add(description.otherSwitches, job.others);
    const auto mark = [&](const std::vector<uint32_t>& endpoints, Kind kind) {
        for (uint32_t endpoint : endpoints)
        {
            job.kinds.resize(std::max<std::size_t>(job.kinds.size(), endpoint + 1), 0);
            job.kinds[endpoint] |= kind;
        }
    };
    mark(description.workers, WORKER);
    mark(description.localServers, SERVER);
    m_jobOf[description.number] = &m_jobs.emplace(description.number, std::move(job)).first->second;
    m_slots.resize(m_slotCount);
}

void
AtpProgram::Reset()
{
    NS_LOG_FUNCTION(this);
    for (Aggregator& slot : m_slots)
    {
        if (slot.used)
        {
            Free(slot);
        }
    }
}

bool
AtpProgram::Is(const Job& job, uint32_t endpoint, Kind kind)
{
    return endpoint < job.kinds.size() && job.kinds[endpoint] & kind;
}

bool
AtpProgram::Receive(Frame* frame)
{
    Job* job = frame->kind == FrameKind::ATP ? m_jobOf[frame->aggregation.job] : nullptr;
    if (!job)
    {
        return false;
    }
    AggregationHeader& header = frame->aggregation;
    const bool isResult = header.type == AggregationHeader::Type::RESULT;
    const bool isServers = Is(*job, frame->destination, SERVER);
    const bool isRack = !header.isRackSum && Is(*job, frame->source, WORKER) && !isServers;
    if (isResult ? frame->destination != GetEndpoint() : !isServers && !isRack)
    {
        return false; // passes through, or is on its last hop
    }
    m_counters.received++;
    if (header.slot >= m_slotCount || frame->payloadBytes != 4 * m_elements)
    {
        m_counters.refused++;
        Frame::Free(frame);
        return true;
    }
    if (isResult)
    {
        TakeResult(frame, *job);
        return true;
    }
    if (header.overflow)
    {
        m_counters.passed++;
        return false;
    }
    header.congested |= frame->ecn == Ecn::CE;
    Aggregator& slot = m_slots[header.slot];
    const bool isMine = slot.used && slot.job == header.job && slot.packet == header.packet;
    if (!isRack && !header.isRackSum)
    {
        // A part of a rack's sum for the server alone. What is here would wait for the rest.
        if (header.resend && isMine)
        {
            m_counters.evicted++;
            SendOut(slot, *frame);
        }
        m_counters.passed++;
        SendOn(frame);
        return true;
    }
    if (header.resend)
    {
        if (isMine)
        {
            TakeResend(frame, slot, isRack);
        }
        else
        {
            m_counters.passed++;
            SendOn(frame);
        }
        return true;
    }
    Contribute(frame, *job, slot, isRack);
    return true;
}

void
AtpProgram::TakeResend(Frame* frame, Aggregator& slot, bool isRack)
{
    const AggregationHeader& header = frame->aggregation;
    const uint32_t bits = isRack ? header.workers : header.children;
    if (!(slot.seen & bits))
    {
        Add(slot, *frame);
        m_addTrace(header.job, header.packet, bits, isRack);
    }
    m_counters.evicted++;
    Fill(*frame, slot);
    frame->aggregation.resend = true;
    Free(slot);
    SendOn(frame);
}

void
AtpProgram::Contribute(Frame* frame, Job& job, Aggregator& slot, bool isRack)
{
    AggregationHeader& header = frame->aggregation;
    const bool isOwn = slot.used && slot.job == header.job;
    if (slot.used && !(isOwn && slot.packet == header.packet))
    {
        const auto ahead = static_cast<int32_t>(header.packet - slot.packet);
        if (isOwn && m_reclaims && ahead >= static_cast<int32_t>(2 * job.description.window))
        {
            m_counters.reclaimed++;
            Free(slot);
        }
        else if (!isOwn && m_preemption && header.priority > slot.priority)
        {
            m_counters.preempted++;
            SendOut(slot, *frame);
        }
        else
        {
            slot.contested |= !isOwn && m_stickyCollisions;
            m_counters.collisions++;
            header.collision = true;
            SendOn(frame);
            return;
        }
    }
    if (!slot.used)
    {
        Claim(slot, job, *frame, isRack);
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
    slot.congested |= header.congested;
    if (isNew)
    {
        Add(slot, *frame);
        m_addTrace(header.job, header.packet, bits, isRack);
    }
    else
    {
        m_counters.repeated++;
        m_repeatTrace(header.job, header.packet, bits, isRack);
    }
    if (count + isNew < header.fanIn[isRack ? 0 : 1])
    {
        m_counters.held += isNew;
        Frame::Free(frame);
        return;
    }
    m_counters.completed++;
    Fill(*frame, slot); // a second time if its last contribution has come again
    SendOn(frame);
}

void
AtpProgram::Claim(Aggregator& slot, Job& job, const Frame& frame, bool isRack)
{
    const AggregationHeader& header = frame.aggregation;
    slot = Aggregator();
    slot.used = true;
    slot.job = header.job;
    slot.packet = header.packet;
    slot.child = header.children;
    slot.fanIn[0] = header.fanIn[0];
    slot.fanIn[1] = header.fanIn[1];
    slot.priority = header.priority;
    slot.isRack = isRack;
    slot.isReal = frame.payload != nullptr;
    Count(job);
    job.occupied++;
}

void
AtpProgram::Free(Aggregator& slot)
{
    Job& job = *m_jobOf[slot.job];
    Count(job);
    job.occupied--;
    slot.used = false;
}

void
AtpProgram::Count(Job& job)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    job.slotPicoseconds += static_cast<double>(now - job.since) * job.occupied;
    job.since = now;
}

int32_t*
AtpProgram::GetValues(const Aggregator& slot)
{
    if (m_values.empty())
    {
        m_values.resize(uint64_t{m_slotCount} * m_elements);
    }
    return m_values.data() + (&slot - m_slots.data()) * m_elements;
}

void
AtpProgram::Add(Aggregator& slot, const Frame& frame)
{
    const AggregationHeader& header = frame.aggregation;
    const bool isFirst = slot.seen == 0;
    slot.seen |= slot.isRack ? header.workers : header.children;
    slot.check += header.check;
    if (!frame.payload || !slot.isReal)
    {
        return;
    }
    NS_ABORT_MSG_IF(m_verify && header.overflow, "floats are not added in a switch");
    int32_t* const values = GetValues(slot);
    const uint8_t* const from = frame.payload->bytes.data() + frame.payloadOffset;
    if (isFirst)
    {
        for (uint32_t i = 0; i < m_elements; i++)
        {
            values[i] = static_cast<int32_t>(GetWord(from + 4 * i));
        }
    }
    else
    {
        m_counters.saturated += AddSaturating(values, from, m_elements);
    }
}

void
AtpProgram::Fill(Frame& frame, const Aggregator& slot)
{
    AggregationHeader& header = frame.aggregation;
    header.check = slot.check;
    header.congested |= slot.congested;
    header.contested |= slot.contested;
    if (slot.isRack)
    {
        header.workers = slot.seen;
        header.children = slot.child;
        header.isRackSum = __builtin_popcount(slot.seen) == slot.fanIn[0];
    }
    else
    {
        header.children = slot.seen;
        header.isRackSum = true;
    }
    frame.ecn = Ecn::ECT;
    frame.payload = nullptr;
    if (slot.isReal)
    {
        const int32_t* const values = GetValues(slot);
        frame.payload = Create<ByteBuffer>();
        frame.payload->bytes.resize(frame.payloadBytes);
        frame.payloadOffset = 0;
        for (uint32_t i = 0; i < m_elements; i++)
        {
            SetWord(frame.payload->bytes.data() + 4 * i, static_cast<uint32_t>(values[i]));
        }
    }
}

void
AtpProgram::SendOut(Aggregator& slot, const Frame& cause)
{
    const AtpJob& job = m_jobOf[slot.job]->description;
    Frame* frame = cause.Clone();
    AggregationHeader header;
    header.job = slot.job;
    header.packet = slot.packet;
    header.slot = cause.aggregation.slot;
    header.fanIn[0] = slot.fanIn[0];
    header.fanIn[1] = slot.fanIn[1];
    header.priority = slot.priority;
    header.resend = true;
    frame->aggregation = header;
    frame->source = GetEndpoint();
    frame->destination = job.servers[slot.packet % job.servers.size()];
    frame->flowHash = HashFlow(frame->source, frame->destination, slot.job);
    Fill(*frame, slot);
    Free(slot);
    SendOn(frame);
}

void
AtpProgram::TakeResult(Frame* frame, Job& job)
{
    AggregationHeader& header = frame->aggregation;
    Aggregator& slot = m_slots[header.slot];
    const bool isFinal = !header.overflow || header.resend;
    if (isFinal && slot.used && slot.job == header.job && slot.packet == header.packet)
    {
        header.contested |= slot.contested;
        m_counters.released++;
        Free(slot);
    }
    m_counters.multicasts++;
    Simulator::Schedule(PASSES * m_passLatency,
                        &AtpProgram::Multicast,
                        this,
                        frame,
                        &job,
                        Is(job, frame->source, SERVER),
                        GetLife());
}

void
AtpProgram::Multicast(Frame* frame, Job* job, bool toAll, uint32_t life)
{
    if (life == GetLife())
    {
        const auto send = [&](const Target& target) { EmitTo(frame->Clone(), target); };
        std::for_each(job->workers.begin(), job->workers.end(), send);
        if (toAll)
        {
            std::for_each(job->others.begin(), job->others.end(), send);
        }
    }
    Frame::Free(frame);
}

void
AtpProgram::SendOn(Frame* frame)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    const int64_t latency = m_passLatency.GetTimeStep();
    const int64_t ready = GetSwitch().ReserveRecirculation(frame->ingress % m_loopbackPorts,
                                                           frame->bytes,
                                                           now + latency);
    Simulator::Schedule(TimeStep(ready + latency - now),
                        &AtpProgram::SendNow,
                        this,
                        frame,
                        GetLife());
}

void
AtpProgram::SendNow(Frame* frame, uint32_t life)
{
    if (life != GetLife())
    {
        Frame::Free(frame); // it was in the pipeline when the switch restarted
        return;
    }
    Emit(frame);
}

} // namespace ns3::training
