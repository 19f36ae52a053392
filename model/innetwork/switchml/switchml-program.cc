/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-program.h"

#include "switchml-wire-format.h"

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

namespace
{

// Resources of the released program on Tofino: a pass adds 64 integers and reads back half of them.
constexpr uint32_t ELEMENTS_PER_PASS = 64;
constexpr uint32_t ELEMENTS_READ_PER_PASS = 32;
/// Integer pair registers per pipeline stage.
constexpr uint32_t REGISTERS_PER_STAGE = 4;
/// Pipeline stages for job and worker, bitmap, counter and exponents.
constexpr uint32_t CONTROL_STAGES = 4;

uint32_t
DivideUp(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

} // namespace

TypeId
SwitchMlProgram::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::SwitchMlProgram")
            .SetParent<AggregationProgram>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<SwitchMlProgram>()
            .AddAttribute("ElementsPerPacket",
                          "32-bit integers in a packet: 32, 64 or 256",
                          UintegerValue(64),
                          MakeUintegerAccessor(&SwitchMlProgram::m_elements),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Slots",
                          "Slots of the pool, each with two versions (paper: 128 at 10 Gbit/s, 512 "
                          "at 100 Gbit/s; released program: 8192)",
                          UintegerValue(512),
                          MakeUintegerAccessor(&SwitchMlProgram::m_slotCount),
                          MakeUintegerChecker<uint32_t>(1, SWITCHML_MAX_SLOTS))
            .AddAttribute("Workers",
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
            .AddAttribute("RoundTag",
                          "Whether a slot keeps the number of its packet, so that a contribution "
                          "that is late cannot get into the next sum (not in the released program)",
                          BooleanValue(true),
                          MakeBooleanAccessor(&SwitchMlProgram::m_roundTag),
                          MakeBooleanChecker())
            .AddAttribute("Verify",
                          "Whether the program ends when an invariant does not hold, for debugging",
                          BooleanValue(false),
                          MakeBooleanAccessor(&SwitchMlProgram::m_verify),
                          MakeBooleanChecker())
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

SwitchMlProgram::SwitchMlProgram() = default;

SwitchMlProgram::~SwitchMlProgram() = default;

void
SwitchMlProgram::DoDispose()
{
    m_slots.clear();
    m_values.clear();
    AggregationProgram::DoDispose();
}

std::string
SwitchMlProgram::GetName() const
{
    return "switchml";
}

SwitchProgram::Resources
SwitchMlProgram::GetResources() const
{
    const uint32_t consuming = DivideUp(m_elements, ELEMENTS_PER_PASS);
    const uint32_t harvesting = DivideUp(m_elements, ELEMENTS_READ_PER_PASS) - 1;
    Resources resources;
    resources.stages =
        DivideUp(std::min(m_elements, ELEMENTS_PER_PASS) / 2, REGISTERS_PER_STAGE) + CONTROL_STAGES;
    // Integers, bitmap, counter, exponents and round tag, bytes.
    const uint64_t version = 4 * m_elements + 4 + 1 + 2 + (m_roundTag ? 4 : 0);
    resources.registerBytes = 2 * version * m_slotCount;
    resources.recirculationPorts = harvesting + (consuming - 1) * m_workers;
    resources.latency = m_passLatency;
    return resources;
}

uint32_t
SwitchMlProgram::GetRecirculatedBytes() const
{
    // See Consume() and ReserveHarvestPass(): each pass of them has a port.
    const uint32_t overhead = Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
    const uint32_t reading = DivideUp(m_elements, ELEMENTS_READ_PER_PASS) - 1;
    uint32_t bytes = 0;
    if (reading > 0)
    {
        bytes = GetSwitchMlFrameBytes(ELEMENTS_READ_PER_PASS * reading) + overhead;
    }
    if (m_elements > ELEMENTS_PER_PASS)
    {
        bytes = std::max(bytes, GetSwitchMlFrameBytes(m_elements - ELEMENTS_PER_PASS) + overhead);
    }
    return bytes;
}

uint32_t
SwitchMlProgram::GetElements() const
{
    return m_elements;
}

uint32_t
SwitchMlProgram::GetSlots() const
{
    return m_slotCount;
}

std::map<uint8_t, uint32_t>
SwitchMlProgram::GetOccupiedSlots() const
{
    std::map<uint8_t, uint32_t> occupied;
    for (const auto& job : GetJobs())
    {
        if (job)
        {
            const auto first = m_slots.begin() + job->firstSlot;
            occupied[job->number] = static_cast<uint32_t>(
                std::count_if(first, first + job->slots, [](const Slot& slot) {
                    return slot.versions[0].left > 0 || slot.versions[1].left > 0;
                }));
        }
    }
    return occupied;
}

const SwitchMlCounters&
SwitchMlProgram::GetCounters() const
{
    return m_counters;
}

SwitchMlCounters
SwitchMlProgram::GetCountersOf(uint8_t job) const
{
    const auto* const known = FindJob<JobState>(job);
    return known ? known->counters : SwitchMlCounters();
}

void
SwitchMlProgram::Count(JobState& job, uint64_t SwitchMlCounters::*counter)
{
    m_counters.*counter += 1;
    job.counters.*counter += 1;
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
    if (description.children.empty() || description.children.size() > m_workers)
    {
        throw ConfigurationError(name + " has " + std::to_string(description.children.size()) +
                                 " children at a switch (allowed: 1 to " +
                                 std::to_string(m_workers) + ")");
    }
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
    auto job = std::make_unique<JobState>();
    job->number = description.number;
    job->firstSlot = description.firstSlot;
    job->slots = description.slots;
    job->queuePairs = description.queuePairs;
    AddChildren(*job, description.children);
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
    for (const auto& job : GetJobs())
    {
        if (job)
        {
            auto& mine = static_cast<JobState&>(*job);
            std::fill(mine.receivers.begin(), mine.receivers.end(), UnreliableReceiver());
            std::fill(mine.psns.begin(), mine.psns.end(), 0);
        }
    }
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
    return (mine.used && static_cast<int32_t>(packet - mine.packet) < 0) ||
           (other.used && static_cast<int32_t>(other.packet - packet) > 0 && other.seen & bit);
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
    const Time ready = Consume(*frame);
    if (before & bit)
    {
        Count(job, &SwitchMlCounters::repeated);
        m_repeatTrace(header.job, header.packet, child);
        if (mine.left == 0)
        {
            // Complete: the shadow copy answers, or the sum is resent because the parent may have
            // lost it.
            Fill(*frame, mine);
            NS_LOG_LOGIC("slot " << header.slot << ": sum of packet " << mine.packet
                                 << " again, for child " << child);
            const Time delay = ReserveHarvestPass(ready) - Simulator::Now();
            if (mine.isFinal)
            {
                Count(job, &SwitchMlCounters::unicasts);
                SendAfter(frame, delay, job, child);
            }
            else
            {
                Count(job, &SwitchMlCounters::forwarded);
                SendAfter(frame, delay, job.parent);
            }
            return;
        }
        if (mine.left == 1)
        {
            ReserveHarvestPass(ready); // harvest pass: the frame is dropped afterwards
        }
        Frame::Free(frame);
        return;
    }
    if (m_verify)
    {
        // A restart loses sums that some workers have already received, so they are ahead.
        NS_ABORT_MSG_IF(GetRestarts() == 0 && before == 0 && other.used && other.left != 0,
                        "slot " << header.slot << ": workers are more than one phase apart");
        NS_ABORT_MSG_IF(before != 0 && mine.packet != header.packet,
                        "slot " << header.slot << ": packet " << header.packet << " in the sum of "
                                << mine.packet);
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
    if (mine.overflow)
    {
        Count(job, &SwitchMlCounters::overflows);
    }
    NS_LOG_LOGIC("slot " << header.slot << ": sum of packet " << mine.packet << " is complete"
                         << (mine.overflow ? ", with an overflow" : ""));
    Fill(*frame, mine);
    mine.isFinal = job.IsRoot();
    const Time delay = ReserveHarvestPass(ready) - Simulator::Now();
    if (mine.isFinal)
    {
        Count(job, &SwitchMlCounters::multicasts);
        MulticastAfter(frame, delay, job, children);
    }
    else
    {
        Count(job, &SwitchMlCounters::forwarded);
        SendAfter(frame, delay, job.parent);
    }
}

void
SwitchMlProgram::TakeResult(Frame* frame, JobState& job)
{
    const auto& header = frame->As<SwitchMlHeader>();
    Version& mine = m_slots[header.slot].versions[header.set];
    const bool isWanted = mine.used && mine.left == 0 && !mine.isFinal &&
                          (!m_roundTag || mine.packet == header.packet);
    const Time ready = Consume(*frame);
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
    version.check += header.check;
    version.exponents[0] = std::max(version.exponents[0], header.exponents[0]);
    version.exponents[1] = std::max(version.exponents[1], header.exponents[1]);
    version.overflow |= header.overflow;
    if (frame.payload)
    {
        int32_t* const values = GetValues(frame);
        const uint8_t* from = frame.payload->bytes.data() + frame.payloadOffset;
        for (uint32_t i = 0; i < m_elements; i++, from += 4)
        {
            version.overflow |=
                __builtin_add_overflow(values[i], static_cast<int32_t>(GetWord(from)), &values[i]);
        }
    }
}

void
SwitchMlProgram::Store(Version& version, const Frame& frame)
{
    const auto& header = frame.As<SwitchMlHeader>();
    version.used = true;
    version.packet = header.packet;
    version.check = header.check;
    version.exponents[0] = header.exponents[0];
    version.exponents[1] = header.exponents[1];
    version.overflow = header.overflow;
    if (frame.payload)
    {
        ReadValues(frame, GetValues(frame), m_elements);
    }
}

void
SwitchMlProgram::Fill(Frame& frame, const Version& version)
{
    auto& header = frame.As<SwitchMlHeader>();
    header.packet = version.packet;
    header.check = version.check;
    header.exponents[0] = version.exponents[0];
    header.exponents[1] = version.exponents[1];
    header.overflow = version.overflow;
    if (frame.payload)
    {
        WriteValues(frame, GetValues(frame), m_elements);
    }
}

Time
SwitchMlProgram::Consume(const Frame& frame)
{
    int64_t ready = (Simulator::Now() + m_passLatency).GetTimeStep();
    const uint32_t harvesting = DivideUp(m_elements, ELEMENTS_READ_PER_PASS) - 1;
    uint32_t bytes = frame.bytes;
    uint32_t port = harvesting + frame.ingress % m_workers;
    for (uint32_t left = m_elements; left > ELEMENTS_PER_PASS; left -= ELEMENTS_PER_PASS)
    {
        bytes -= 4 * ELEMENTS_PER_PASS; // added elements are cut off
        ready = GetSwitch().ReserveRecirculation(port, bytes, ready) + m_passLatency.GetTimeStep();
        port += m_workers;
    }
    return TimeStep(ready);
}

Time
SwitchMlProgram::ReserveHarvestPass(Time consumed)
{
    int64_t ready = consumed.GetTimeStep();
    const uint32_t harvesting = DivideUp(m_elements, ELEMENTS_READ_PER_PASS) - 1;
    for (uint32_t pass = 0; pass < harvesting; pass++)
    {
        const uint32_t bytes = GetSwitchMlFrameBytes(ELEMENTS_READ_PER_PASS * (pass + 1));
        ready = GetSwitch().ReserveRecirculation(pass, bytes, ready) + m_passLatency.GetTimeStep();
    }
    return TimeStep(ready);
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
