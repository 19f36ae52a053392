/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-program.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/number-format.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/switch-device.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/training-attribute-choice.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"
#include "ns3/wire-bytes.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitchPsProgram");
NS_OBJECT_ENSURE_REGISTERED(SwitchPsProgram);

TypeId
SwitchPsProgram::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::SwitchPsProgram")
            .SetParent<AggregationProgram>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<SwitchPsProgram>()
            .AddAttribute("ElementsPerPacket",
                          "Float32 numbers in a packet, which are a key range",
                          UintegerValue(64),
                          MakeUintegerAccessor(&SwitchPsProgram::m_elements),
                          MakeUintegerChecker<uint32_t>(1, SWITCH_PS_MAX_ELEMENTS))
            .AddAttribute("Slots",
                          "Slots: concurrent sums in on-chip memory",
                          UintegerValue(512),
                          MakeUintegerAccessor(&SwitchPsProgram::m_slotCount),
                          MakeUintegerChecker<uint32_t>(1, SWITCH_PS_MAX_SLOTS))
            .AddAttribute("Workers",
                          "Most workers of a job: each slot has memory for the parts of all",
                          UintegerValue(16),
                          MakeUintegerAccessor(&SwitchPsProgram::m_workers),
                          MakeUintegerChecker<uint32_t>(1, MAX_WORKERS))
            .AddAttribute(
                "Lanes",
                "Lanes: numbers added per clock cycle, each by a float32 adder and those of the "
                "optimizer; 0: enough for the line rate of all ports (set by the helper)",
                UintegerValue(0),
                MakeUintegerAccessor(&SwitchPsProgram::m_lanes),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("Clock",
                          "Clock of the lanes, MHz (NetFPGA-SUME's data path: 200)",
                          DoubleValue(200),
                          MakeDoubleAccessor(&SwitchPsProgram::m_clockMhz),
                          MakeDoubleChecker<double>(1, 10000))
            .AddAttribute("PassLatency",
                          "From a packet's arrival to its answer, beside the time of lanes and "
                          "memory (not published: 100 clocks)",
                          TimeValue(NanoSeconds(500)),
                          MakeTimeAccessor(&SwitchPsProgram::m_passLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("MemoryRate",
                          "Rate of the memory that keeps the weights (two DDR3-1866 modules of 64 "
                          "bits)",
                          DataRateValue(DataRate("238.9Gbps")),
                          MakeDataRateAccessor(&SwitchPsProgram::m_memoryRate),
                          MakeDataRateChecker())
            .AddAttribute("Weights",
                          "With an optimizer: weights of all jobs that there is memory for",
                          UintegerValue(1 << 25),
                          MakeUintegerAccessor(&SwitchPsProgram::m_weights),
                          MakeUintegerChecker<uint64_t>(1, 1ULL << 36))
            .AddAttribute("Staleness",
                          "Steps that a worker may be ahead of the slowest one; 0: synchronous",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SwitchPsProgram::m_staleness),
                          MakeUintegerChecker<uint32_t>(0, 1 << 20))
            .AddAttribute("Optimizer",
                          "none (workers get the sum of gradients), sgd, momentum or adam (they "
                          "get the weights after a step)",
                          StringValue("none"),
                          MakeStringAccessor(&SwitchPsProgram::SetOptimizer,
                                             &SwitchPsProgram::GetOptimizerName),
                          MakeStringChecker())
            .AddAttribute("LearningRate",
                          "Factor of a step",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&SwitchPsProgram::m_learningRate),
                          MakeDoubleChecker<double>())
            .AddAttribute("Momentum",
                          "momentum: part of the velocity that is kept",
                          DoubleValue(0.9),
                          MakeDoubleAccessor(&SwitchPsProgram::m_momentum),
                          MakeDoubleChecker<double>())
            .AddAttribute("Beta1",
                          "adam: decay of the mean of gradients",
                          DoubleValue(0.9),
                          MakeDoubleAccessor(&SwitchPsProgram::m_beta1),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Beta2",
                          "adam: decay of the mean of their squares",
                          DoubleValue(0.999),
                          MakeDoubleAccessor(&SwitchPsProgram::m_beta2),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Epsilon",
                          "adam: added to the root",
                          DoubleValue(1e-8),
                          MakeDoubleAccessor(&SwitchPsProgram::m_epsilon),
                          MakeDoubleChecker<double>())
            .AddAttribute("WeightDecay",
                          "Weight decay: weights times this factor are added to the gradients",
                          DoubleValue(0),
                          MakeDoubleAccessor(&SwitchPsProgram::m_weightDecay),
                          MakeDoubleChecker<double>())
            .AddAttribute("Verify",
                          "Whether the program ends when an invariant does not hold, for debugging",
                          BooleanValue(false),
                          MakeBooleanAccessor(&SwitchPsProgram::m_verify),
                          MakeBooleanChecker())
            .AddTraceSource("Push",
                            "A gradient has been added to the sum, or to the weights",
                            MakeTraceSourceAccessor(&SwitchPsProgram::m_pushTrace),
                            "ns3::training::SwitchPsProgram::PushTracedCallback");
    return tid;
}

SwitchPsProgram::SwitchPsProgram() = default;

SwitchPsProgram::~SwitchPsProgram() = default;

void
SwitchPsProgram::DoDispose()
{
    m_sums.clear();
    m_parts.clear();
    AggregationProgram::DoDispose();
}

void
SwitchPsProgram::SetOptimizer(std::string name)
{
    const auto& known = Registry<SwitchOptimizer>::All();
    if (name != "none" && known.find(name) == known.end())
    {
        ThrowInvalidAttribute("SwitchPsProgram::Optimizer",
                              name,
                              "none, " + Registry<SwitchOptimizer>::Names());
    }
    m_optimizer = name;
}

std::string
SwitchPsProgram::GetOptimizerName() const
{
    return m_optimizer;
}

OptimizerSettings
SwitchPsProgram::GetOptimizer() const
{
    OptimizerSettings settings;
    settings.name = m_optimizer;
    settings.learningRate = static_cast<float>(m_learningRate);
    settings.momentum = static_cast<float>(m_momentum);
    settings.beta1 = static_cast<float>(m_beta1);
    settings.beta2 = static_cast<float>(m_beta2);
    settings.epsilon = static_cast<float>(m_epsilon);
    settings.weightDecay = static_cast<float>(m_weightDecay);
    return settings;
}

std::string
SwitchPsProgram::GetName() const
{
    return "switch-ps";
}

SwitchProgram::Resources
SwitchPsProgram::GetResources() const
{
    const uint64_t bytes = sizeof(float) * m_elements;
    Resources resources;
    resources.latency = m_passLatency;
    resources.floatAdders = m_lanes;
    if (m_staleness == 0)
    {
        // Both versions with bitmap, packet, range and count; contributions of all workers but one.
        resources.registerBytes =
            m_slotCount * (2 * (bytes + 8 + 4 + 4 + 1) + (m_workers - 1) * bytes);
    }
    if (m_optimizer != "none")
    {
        const auto& optimizer = Registry<SwitchOptimizer>::Find(m_optimizer);
        resources.floatAdders += m_lanes * optimizer.adders;
        const uint64_t clocks = m_staleness > 0 ? 8 * m_workers + 16 : 0;
        resources.externalBytes =
            GetRanges() * (bytes * optimizer.arrays + sizeof(OptimizerPowers) + clocks);
    }
    return resources;
}

std::map<uint8_t, uint32_t>
SwitchPsProgram::GetOccupiedSlots() const
{
    // With bounded staleness no gradient waits in a slot.
    std::map<uint8_t, uint32_t> occupied;
    for (const auto& job : GetJobs())
    {
        for (uint32_t i = 0; job && i < job->slots; i++)
        {
            const Sum* const sums = &m_sums[2 * (job->firstSlot + i)];
            const bool isTaken =
                (sums[0].used && !sums[0].complete) || (sums[1].used && !sums[1].complete);
            occupied[job->number] += isTaken ? 1 : 0;
        }
    }
    return occupied;
}

uint32_t
SwitchPsProgram::GetElements() const
{
    return m_elements;
}

uint32_t
SwitchPsProgram::GetFirstFreeRange() const
{
    uint32_t range = 0;
    for (const auto& job : GetJobs())
    {
        if (job)
        {
            const auto& mine = static_cast<const JobState&>(*job);
            range = std::max(range, mine.firstRange + mine.ranges);
        }
    }
    return range;
}

uint32_t
SwitchPsProgram::GetRanges() const
{
    return m_optimizer == "none" ? 0
                                 : static_cast<uint32_t>((m_weights + m_elements - 1) / m_elements);
}

uint32_t
SwitchPsProgram::GetStaleness() const
{
    return m_staleness;
}

uint32_t
SwitchPsProgram::GetLanesFor(uint64_t rate) const
{
    return static_cast<uint32_t>(std::ceil(static_cast<double>(rate) / (32e6 * m_clockMhz)));
}

const SwitchPsCounters&
SwitchPsProgram::GetCounters() const
{
    return m_counters;
}

std::vector<uint32_t>
SwitchPsProgram::GetVectorClock(uint8_t job, uint32_t range) const
{
    const auto& known = *FindJob<JobState>(job);
    std::vector<uint32_t> steps;
    for (uint32_t worker = 0; worker < known.targets.size(); worker++)
    {
        steps.push_back(known.clocks.GetSteps(range, worker));
    }
    return steps;
}

void
SwitchPsProgram::AddJob(const SwitchPsJob& description)
{
    NS_LOG_FUNCTION(this << +description.number);
    const std::string name = GetJobName(description.number);
    const uint64_t endRange = uint64_t{description.firstRange} + description.ranges;
    const OptimizerSettings optimizer = GetOptimizer();
    if (m_lanes == 0)
    {
        throw ConfigurationError(name + ": Lanes=0 (allowed: 1 and more)");
    }
    if (m_staleness > 0 && !optimizer.KeepsWeights())
    {
        throw ConfigurationError(name + ": Staleness=" + std::to_string(m_staleness) +
                                 " without an Optimizer (allowed: 0)");
    }
    if (description.workers.empty() || description.workers.size() > m_workers)
    {
        throw ConfigurationError(name + " has " + std::to_string(description.workers.size()) +
                                 " workers at a switch (allowed: 1 to " +
                                 std::to_string(m_workers) + ")");
    }
    CheckJobNumberIsFree(description.number);
    CheckSlots(description.number, description.firstSlot, description.slots, m_slotCount);
    if (optimizer.KeepsWeights() && (description.ranges == 0 || endRange > GetRanges() ||
                                     description.firstRange < GetFirstFreeRange()))
    {
        throw ConfigurationError(name + " needs key ranges " +
                                 std::to_string(description.firstRange) + " to " +
                                 std::to_string(endRange - 1) + " of the memory for weights " +
                                 "(allowed: " + std::to_string(GetFirstFreeRange()) + " to " +
                                 std::to_string(int64_t{GetRanges()} - 1) + ")");
    }
    if (m_sums.empty())
    {
        m_sums.resize(2 * m_slotCount);
        m_timing.ConfigureLanes(m_elements, m_lanes, m_clockMhz);
        if (optimizer.KeepsWeights())
        {
            const auto& entry = Registry<SwitchOptimizer>::Find(optimizer.name);
            m_memory.Configure(optimizer, m_elements);
            m_timing.ConfigureMemory(sizeof(float) * m_elements * entry.arrays,
                                     m_memoryRate.GetBitRate());
        }
    }
    auto job = std::make_unique<JobState>();
    job->number = description.number;
    job->firstSlot = description.firstSlot;
    job->slots = description.slots;
    job->firstRange = description.firstRange;
    job->ranges = description.ranges;
    AddChildren(*job, description.workers);
    job->clocks.Configure(static_cast<uint32_t>(description.workers.size()), m_staleness);
    AggregationProgram::AddJob(std::move(job));
}

void
SwitchPsProgram::Reset()
{
    NS_LOG_FUNCTION(this);
    std::fill(m_sums.begin(), m_sums.end(), Sum());
    std::fill(m_values.begin(), m_values.end(), 0);
    m_parts.assign(m_parts.size(), Part());
    for (const auto& job : GetJobs())
    {
        if (job)
        {
            auto& mine = static_cast<JobState&>(*job);
            mine.lost = m_optimizer != "none";
            mine.clocks.Clear();
        }
    }
    m_timing.Reset();
}

bool
SwitchPsProgram::IsKnown(const Frame& frame, const JobState& job) const
{
    const auto& header = frame.As<SwitchPsHeader>();
    const bool hasWeights = job.ranges > 0;
    return (hasWeights || !header.isPull) &&
           frame.payloadBytes == (header.isPull ? 0 : sizeof(float) * m_elements) && !job.lost &&
           job.HasSlot(header.slot) && (!hasWeights || header.keyRange < job.ranges);
}

bool
SwitchPsProgram::Receive(Frame* frame)
{
    if (frame->destination != GetEndpoint() || !frame->Is<SwitchPsHeader>())
    {
        return false;
    }
    m_counters.received++;
    const auto& header = frame->As<SwitchPsHeader>();
    auto* const job = FindJob<JobState>(header.job);
    const uint32_t worker = job ? job->children.Find(frame->source) : EndpointTable::NONE;
    if (worker == EndpointTable::NONE || !IsKnown(*frame, *job))
    {
        m_counters.refused++;
        Refuse(frame, "no such job, worker, slot, range or size, or its weights are lost");
    }
    else if (header.isPull)
    {
        Fill(*frame, frame->payload ? m_memory.Get(job->firstRange + header.keyRange) : nullptr);
        m_counters.unicasts++;
        const int64_t now = Simulator::Now().GetTimeStep();
        SendAfter(frame, GetDelay(m_timing.ReserveMemory(now, 1)), *job, worker);
    }
    else if (m_staleness > 0)
    {
        Apply(frame, *job, worker);
    }
    else
    {
        Accumulate(frame, *job, worker);
    }
    return true;
}

void
SwitchPsProgram::Accumulate(Frame* frame, JobState& job, uint32_t worker)
{
    auto& header = frame->As<SwitchPsHeader>();
    Sum& sum = m_sums[2 * header.slot + header.set];
    const Sum& other = m_sums[2 * header.slot + 1 - header.set];
    const uint64_t bit = uint64_t{1} << worker;
    const auto age = static_cast<int32_t>(header.packet - sum.packet);
    // After a restart the slot may hold a contribution of this worker to the other version.
    const bool isTaken = other.used && !other.complete && other.seen & bit && worker >= other.added;
    if ((sum.used && age < 0) || isTaken)
    {
        m_counters.stale++;
        Refuse(frame, "its worker has done with this step");
        return;
    }
    if (!sum.used || age > 0)
    {
        NS_ABORT_MSG_IF(m_verify && sum.used && !sum.complete,
                        "slot " << header.slot << ": packet " << header.packet
                                << " before the sum of " << sum.packet << " is complete");
        sum = Sum();
        sum.used = true;
        sum.packet = header.packet;
        sum.range = header.keyRange;
        sum.exponent = header.exponent;
    }
    if (sum.seen & bit)
    {
        m_counters.repeated++;
        if (!sum.complete)
        {
            Frame::Free(frame);
            return;
        }
        NS_LOG_LOGIC("slot " << header.slot << ": sum of packet " << sum.packet
                             << " again, for worker " << worker);
        header.check = sum.check;
        header.exponent = sum.exponent;
        header.overflow = sum.overflow;
        Fill(*frame, frame->payload ? GetValues(header) : nullptr);
        m_counters.unicasts++;
        SendAfter(frame, m_passLatency, job, worker);
        return;
    }
    NS_ABORT_MSG_IF(m_verify && sum.range != header.keyRange,
                    "packet " << header.packet << " of key range " << header.keyRange << ", not "
                              << sum.range);
    sum.seen |= bit;
    sum.check += header.check;
    sum.exponent = std::max(sum.exponent, header.exponent);
    sum.overflow |= header.overflow;
    float* const values = frame->payload ? GetValues(header) : nullptr;
    if (values)
    {
        m_parts[header.slot * m_workers + worker] = {frame->payload, frame->payloadOffset};
    }
    while (sum.added < job.targets.size() && sum.seen >> sum.added & 1)
    {
        AddPart(job, sum, header.slot, values);
    }
    if (sum.added < job.targets.size())
    {
        Frame::Free(frame);
        return;
    }
    Complete(frame, job, sum);
}

void
SwitchPsProgram::AddPart(const JobState& job, Sum& sum, uint32_t slot, float* values)
{
    const uint32_t worker = sum.added++;
    m_timing.ReserveLanes(Simulator::Now().GetTimeStep());
    m_counters.added++;
    m_pushTrace(job.number, sum.packet, worker);
    if (!values)
    {
        return;
    }
    Part& part = m_parts[slot * m_workers + worker];
    const uint8_t* from = part.payload->bytes.data() + part.offset;
    for (uint32_t i = 0; i < m_elements; i++, from += sizeof(float))
    {
        const float value = ToFloat(GetWord(from));
        values[i] = worker == 0 ? value : values[i] + value;
    }
    part.payload = nullptr;
}

void
SwitchPsProgram::Complete(Frame* frame, JobState& job, Sum& sum)
{
    auto& header = frame->As<SwitchPsHeader>();
    sum.complete = true;
    int64_t ready = m_timing.GetLanesFree();
    float* const values = frame->payload ? GetValues(header) : nullptr;
    if (job.ranges > 0)
    {
        m_counters.steps++;
        ready = m_timing.ReserveMemory(ready, 2);
        if (values)
        {
            const float* weights = m_memory.Step(job.firstRange + header.keyRange, values);
            std::copy(weights, weights + m_elements, values);
        }
    }
    header.check = sum.check;
    header.exponent = sum.exponent;
    header.overflow = sum.overflow;
    Fill(*frame, values);
    m_counters.multicasts++;
    NS_LOG_LOGIC("slot " << header.slot << ": sum of packet " << sum.packet << " is complete");
    MulticastAfter(frame, GetDelay(ready), job, static_cast<uint32_t>(job.targets.size()));
}

void
SwitchPsProgram::Apply(Frame* frame, JobState& job, uint32_t worker)
{
    const auto& header = frame->As<SwitchPsHeader>();
    const uint32_t range = header.keyRange;
    const int64_t now = Simulator::Now().GetTimeStep();
    const uint32_t steps = job.clocks.GetSteps(range, worker);
    if (header.clock != steps)
    {
        const bool isLatest = header.clock + 1 == steps;
        (isLatest ? m_counters.repeated : m_counters.stale)++;
        if (isLatest && !job.clocks.IsBlocked(range, worker))
        {
            Answer(frame, job, worker, m_timing.ReserveMemory(now, 1));
            return;
        }
        Refuse(frame, isLatest ? "its answer is held back" : "its worker has done with this step");
        return;
    }
    m_counters.added++;
    m_counters.steps++;
    m_pushTrace(job.number, header.packet, worker);
    if (frame->payload)
    {
        m_gradient.resize(m_elements);
        ReadValues(*frame, m_gradient.data(), m_elements);
        m_memory.Step(job.firstRange + range, m_gradient.data());
    }
    const int64_t ready = m_timing.ReserveMemory(m_timing.ReserveLanes(now), 2);
    const uint64_t unblocked = job.clocks.Advance(range, worker, header.packet);
    for (uint64_t bits = unblocked; bits; bits &= bits - 1)
    {
        Answer(frame->Clone(),
               job,
               static_cast<uint32_t>(__builtin_ctzll(bits)),
               m_timing.GetMemoryFree());
    }
    if (!job.clocks.IsBlocked(range, worker))
    {
        Answer(frame, job, worker, ready);
        return;
    }
    m_counters.blocked++;
    NS_LOG_LOGIC("key range " << range << ": worker " << worker << " waits, "
                              << steps + 1 - job.clocks.GetLeast(range) << " steps ahead");
    Frame::Free(frame);
}

void
SwitchPsProgram::Answer(Frame* frame, JobState& job, uint32_t worker, int64_t when)
{
    auto& header = frame->As<SwitchPsHeader>();
    header.packet = job.clocks.GetPacket(header.keyRange, worker);
    header.clock = job.clocks.GetLeast(header.keyRange);
    Fill(*frame, frame->payload ? m_memory.Get(job.firstRange + header.keyRange) : nullptr);
    m_counters.unicasts++;
    SendAfter(frame, GetDelay(when), job, worker);
}

float*
SwitchPsProgram::GetValues(const SwitchPsHeader& header)
{
    if (m_values.empty())
    {
        m_values.resize(2ULL * m_slotCount * m_elements);
        m_parts.resize(1ULL * m_slotCount * m_workers);
    }
    return m_values.data() + (2ULL * header.slot + header.set) * m_elements;
}

void
SwitchPsProgram::Fill(Frame& frame, const float* values) const
{
    frame.payloadBytes = sizeof(float) * m_elements;
    frame.bytes = GetSwitchPsFrameBytes(m_elements);
    if (values)
    {
        WriteValues(frame, values, m_elements);
    }
}

Time
SwitchPsProgram::GetDelay(int64_t ready) const
{
    return m_passLatency + TimeStep(ready - Simulator::Now().GetTimeStep());
}

} // namespace ns3::training
