/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-program.h"

#include "ns3/abort.h"
#include "ns3/attribute-choice.h"
#include "ns3/boolean.h"
#include "ns3/configuration-error.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/switch-device.h"
#include "ns3/switch-ps-wire-format.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitchPsProgram");
NS_OBJECT_ENSURE_REGISTERED(SwitchPsProgram);

namespace
{

float
GetFloat(const uint8_t* from)
{
    const uint32_t bits = GetWord(from);
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

void
SetFloat(uint8_t* to, float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    SetWord(to, bits);
}

} // namespace

TypeId
SwitchPsProgram::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::SwitchPsProgram")
            .SetParent<SwitchProgram>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<SwitchPsProgram>()
            .AddAttribute("ElementsPerPacket",
                          "Float32 numbers in a packet, which are a key range",
                          UintegerValue(64),
                          MakeUintegerAccessor(&SwitchPsProgram::m_elements),
                          MakeUintegerChecker<uint32_t>(1, SWITCH_PS_MOST_ELEMENTS))
            .AddAttribute("Slots",
                          "Sums under way, each in memory of its own on the chip",
                          UintegerValue(512),
                          MakeUintegerAccessor(&SwitchPsProgram::m_slotCount),
                          MakeUintegerChecker<uint32_t>(1, SWITCH_PS_MOST_SLOTS))
            .AddAttribute("Workers",
                          "Most workers of a job: each slot has memory for the parts of all",
                          UintegerValue(16),
                          MakeUintegerAccessor(&SwitchPsProgram::m_workers),
                          MakeUintegerChecker<uint32_t>(1, MOST_WORKERS))
            .AddAttribute("Lanes",
                          "Numbers that are added at a time, by a float32 adder each and those of "
                          "the optimizer; 0: as many as the switch's ports can bring (the helper "
                          "works it out)",
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
                          "Factor of the weights in what is added to their gradients",
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

SwitchPsProgram::SwitchPsProgram()
    : m_jobOf(256, nullptr)
{
}

SwitchPsProgram::~SwitchPsProgram() = default;

void
SwitchPsProgram::DoDispose()
{
    m_jobOf.assign(256, nullptr);
    m_jobs.clear();
    m_sums.clear();
    m_parts.clear();
    SwitchProgram::DoDispose();
}

void
SwitchPsProgram::SetOptimizer(std::string name)
{
    const auto& known = Registry<SwitchOptimizer>::All();
    if (name != "none" && known.find(name) == known.end())
    {
        RefuseAttribute("SwitchPsProgram::Optimizer",
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
        // Both versions with bitmap, packet, range and count; the parts of all workers but one.
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

uint32_t
SwitchPsProgram::GetFirstFreeSlot() const
{
    uint32_t slot = 0;
    for (const auto& [number, job] : m_jobs)
    {
        slot = std::max(slot, job.description.firstSlot + job.description.slots);
    }
    return slot;
}

uint32_t
SwitchPsProgram::GetFirstFreeRange() const
{
    uint32_t range = 0;
    for (const auto& [number, job] : m_jobs)
    {
        range = std::max(range, job.description.firstRange + job.description.ranges);
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
    const Job& known = m_jobs.at(job);
    std::vector<uint32_t> steps(known.targets.size(), 0);
    if (range < known.clocks.size())
    {
        const auto& progress = known.clocks[range].progress;
        std::transform(progress.begin(), progress.end(), steps.begin(), [](const Progress& p) {
            return p.clock;
        });
    }
    return steps;
}

void
SwitchPsProgram::AddJob(const SwitchPsJob& description)
{
    const std::string name = "switch-ps job " + std::to_string(description.number);
    const uint64_t end = uint64_t{description.firstSlot} + description.slots;
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
    if (m_jobs.count(description.number))
    {
        throw ConfigurationError(name + " is there already (allowed: another number)");
    }
    if (description.slots == 0 || end > m_slotCount || description.firstSlot < GetFirstFreeSlot())
    {
        throw ConfigurationError(name + " needs slots " + std::to_string(description.firstSlot) +
                                 " to " + std::to_string(end - 1) +
                                 " (allowed: " + std::to_string(GetFirstFreeSlot()) + " to " +
                                 std::to_string(m_slotCount - 1) + ")");
    }
    if (optimizer.KeepsWeights() && (description.ranges == 0 || endRange > GetRanges() ||
                                     description.firstRange < GetFirstFreeRange()))
    {
        throw ConfigurationError(name + " needs key ranges " +
                                 std::to_string(description.firstRange) + " to " +
                                 std::to_string(endRange - 1) + " of the memory for weights " +
                                 "(allowed: " + std::to_string(GetFirstFreeRange()) + " to " +
                                 std::to_string(int64_t{GetRanges()} - 1) + ")");
    }
    Job job;
    job.description = description;
    for (uint32_t worker = 0; worker < description.workers.size(); worker++)
    {
        const uint32_t endpoint = description.workers[worker];
        job.targets.push_back(MakeTarget(endpoint, description.number));
        job.workerOf.resize(std::max<std::size_t>(job.workerOf.size(), endpoint + 1), MOST_WORKERS);
        job.workerOf[endpoint] = static_cast<uint8_t>(worker);
    }
    m_jobOf[description.number] = &m_jobs.emplace(description.number, std::move(job)).first->second;
    m_sums.resize(2 * m_slotCount);
    m_laneTime = std::llround(1e6 * m_elements / (m_lanes * m_clockMhz));
    if (optimizer.KeepsWeights() && m_jobs.size() == 1)
    {
        const auto& entry = Registry<SwitchOptimizer>::Find(optimizer.name);
        m_memory.Configure(optimizer, m_elements);
        m_memoryTime = std::llround(8e12 * sizeof(float) * m_elements * entry.arrays /
                                    static_cast<double>(m_memoryRate.GetBitRate()));
    }
}

void
SwitchPsProgram::Reset()
{
    NS_LOG_FUNCTION(this);
    std::fill(m_sums.begin(), m_sums.end(), Sum());
    std::fill(m_values.begin(), m_values.end(), 0);
    m_parts.assign(m_parts.size(), Part());
    for (auto& [number, job] : m_jobs)
    {
        job.lost = m_optimizer != "none";
        job.clocks.clear();
    }
    m_lanesFree = 0;
    m_memoryFree = 0;
}

bool
SwitchPsProgram::IsKnown(const Frame& frame, const Job& job) const
{
    const AggregationHeader& header = frame.aggregation;
    const bool isPull = header.type == AggregationHeader::Type::PULL;
    const bool hasWeights = job.description.ranges > 0;
    return (isPull ? hasWeights : header.type == AggregationHeader::Type::DATA) &&
           frame.payloadBytes == (isPull ? 0 : sizeof(float) * m_elements) && !job.lost &&
           header.slot - job.description.firstSlot < job.description.slots &&
           (!hasWeights || frame.keyRange < job.description.ranges);
}

bool
SwitchPsProgram::Receive(Frame* frame)
{
    if (frame->destination != GetEndpoint() || frame->kind != FrameKind::SWITCH_PS)
    {
        return false;
    }
    m_counters.received++;
    Job* job = m_jobOf[frame->aggregation.job];
    const uint32_t worker =
        job && frame->source < job->workerOf.size() ? job->workerOf[frame->source] : MOST_WORKERS;
    if (worker == MOST_WORKERS || !IsKnown(*frame, *job))
    {
        m_counters.refused++;
        Frame::Free(frame);
    }
    else if (frame->aggregation.type == AggregationHeader::Type::PULL)
    {
        const uint32_t range = job->description.firstRange + frame->keyRange;
        Fill(*frame, frame->payload ? m_memory.Get(range) : nullptr);
        m_counters.unicasts++;
        SendLater(frame, TakeMemory(Simulator::Now().GetTimeStep(), 1), *job, worker);
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
SwitchPsProgram::Accumulate(Frame* frame, Job& job, uint32_t worker)
{
    const AggregationHeader& header = frame->aggregation;
    Sum& sum = m_sums[2 * header.slot + header.set];
    const Sum& other = m_sums[2 * header.slot + 1 - header.set];
    const uint64_t bit = uint64_t{1} << worker;
    const auto age = static_cast<int32_t>(header.packet - sum.packet);
    // After a restart the slot may hold a part of this worker for the other version.
    const bool isTaken = other.used && !other.complete && other.seen & bit && worker >= other.added;
    if ((sum.used && age < 0) || isTaken)
    {
        m_counters.stale++;
        Frame::Free(frame);
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
        sum.range = frame->keyRange;
        sum.exponent = header.exponents[0];
    }
    if (sum.seen & bit)
    {
        m_counters.repeated++;
        if (!sum.complete)
        {
            Frame::Free(frame);
            return;
        }
        frame->aggregation.check = sum.check;
        frame->aggregation.exponents[0] = sum.exponent;
        frame->aggregation.overflow = sum.overflow;
        Fill(*frame, frame->payload ? GetValues(header) : nullptr);
        m_counters.unicasts++;
        SendLater(frame, Simulator::Now().GetTimeStep(), job, worker);
        return;
    }
    NS_ABORT_MSG_IF(m_verify && sum.range != frame->keyRange,
                    "packet " << header.packet << " of key range " << frame->keyRange << ", not "
                              << sum.range);
    sum.seen |= bit;
    sum.check += header.check;
    sum.exponent = std::max(sum.exponent, header.exponents[0]);
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
SwitchPsProgram::AddPart(const Job& job, Sum& sum, uint32_t slot, float* values)
{
    const uint32_t worker = sum.added++;
    TakeLanes();
    m_counters.added++;
    m_pushTrace(job.description.number, sum.packet, worker);
    if (!values)
    {
        return;
    }
    Part& part = m_parts[slot * m_workers + worker];
    const uint8_t* from = part.payload->bytes.data() + part.offset;
    for (uint32_t i = 0; i < m_elements; i++, from += sizeof(float))
    {
        values[i] = worker == 0 ? GetFloat(from) : values[i] + GetFloat(from);
    }
    part.payload = nullptr;
}

void
SwitchPsProgram::Complete(Frame* frame, Job& job, Sum& sum)
{
    AggregationHeader& header = frame->aggregation;
    sum.complete = true;
    int64_t ready = m_lanesFree;
    float* const values = frame->payload ? GetValues(header) : nullptr;
    if (job.description.ranges > 0)
    {
        m_counters.steps++;
        ready = TakeMemory(ready, 2);
        if (values)
        {
            const float* weights =
                m_memory.Step(job.description.firstRange + frame->keyRange, values);
            std::copy(weights, weights + m_elements, values);
        }
    }
    header.check = sum.check;
    header.exponents[0] = sum.exponent;
    header.overflow = sum.overflow;
    Fill(*frame, values);
    m_counters.multicasts++;
    SendLater(frame, ready, job, ALL);
}

void
SwitchPsProgram::Apply(Frame* frame, Job& job, uint32_t worker)
{
    const AggregationHeader& header = frame->aggregation;
    if (frame->keyRange >= job.clocks.size())
    {
        job.clocks.resize(frame->keyRange + 1);
    }
    VectorClock& clock = job.clocks[frame->keyRange];
    if (clock.progress.empty())
    {
        clock.progress.resize(job.targets.size());
        clock.slowest = static_cast<uint32_t>(job.targets.size());
    }
    Progress& mine = clock.progress[worker];
    const uint64_t bit = uint64_t{1} << worker;
    if (frame->clock != mine.clock)
    {
        const bool isLatest = frame->clock + 1 == mine.clock;
        (isLatest ? m_counters.repeated : m_counters.stale)++;
        if (isLatest && !(clock.blocked & bit))
        {
            const int64_t now = Simulator::Now().GetTimeStep();
            Answer(frame, job, clock, worker, TakeMemory(now, 1));
            return;
        }
        Frame::Free(frame);
        return;
    }
    m_counters.added++;
    m_counters.steps++;
    m_pushTrace(job.description.number, header.packet, worker);
    if (frame->payload)
    {
        m_memory.Step(job.description.firstRange + frame->keyRange, ReadValues(*frame));
    }
    const int64_t ready = TakeMemory(TakeLanes(), 2);
    mine.clock++;
    mine.packet = header.packet;
    if (frame->clock == clock.least && --clock.slowest == 0)
    {
        clock.least++;
        clock.slowest = static_cast<uint32_t>(
            std::count_if(clock.progress.begin(), clock.progress.end(), [&](const Progress& p) {
                return p.clock == clock.least;
            }));
        Unblock(*frame, job, clock);
    }
    if (mine.clock - clock.least <= m_staleness)
    {
        Answer(frame, job, clock, worker, ready);
        return;
    }
    clock.blocked |= bit;
    m_counters.blocked++;
    Frame::Free(frame);
}

void
SwitchPsProgram::Unblock(const Frame& frame, Job& job, VectorClock& clock)
{
    for (uint32_t worker = 0; worker < job.targets.size(); worker++)
    {
        const uint64_t bit = uint64_t{1} << worker;
        if (clock.blocked & bit && clock.progress[worker].clock - clock.least <= m_staleness)
        {
            clock.blocked &= ~bit;
            Answer(frame.Clone(), job, clock, worker, m_memoryFree);
        }
    }
}

void
SwitchPsProgram::Answer(Frame* frame,
                        Job& job,
                        const VectorClock& clock,
                        uint32_t worker,
                        int64_t when)
{
    AggregationHeader& header = frame->aggregation;
    header.packet = clock.progress[worker].packet;
    frame->clock = clock.least;
    const uint32_t range = job.description.firstRange + frame->keyRange;
    Fill(*frame, frame->payload ? m_memory.Get(range) : nullptr);
    m_counters.unicasts++;
    SendLater(frame, when, job, worker);
}

const float*
SwitchPsProgram::ReadValues(const Frame& frame)
{
    m_gradient.resize(m_elements);
    const uint8_t* from = frame.payload->bytes.data() + frame.payloadOffset;
    for (uint32_t i = 0; i < m_elements; i++, from += sizeof(float))
    {
        m_gradient[i] = GetFloat(from);
    }
    return m_gradient.data();
}

float*
SwitchPsProgram::GetValues(const AggregationHeader& header)
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
        frame.payload = Create<ByteBuffer>();
        frame.payload->bytes.resize(frame.payloadBytes);
        frame.payloadOffset = 0;
        for (uint32_t i = 0; i < m_elements; i++)
        {
            SetFloat(frame.payload->bytes.data() + sizeof(float) * i, values[i]);
        }
    }
}

int64_t
SwitchPsProgram::TakeLanes()
{
    m_lanesFree = std::max(m_lanesFree, Simulator::Now().GetTimeStep()) + m_laneTime;
    return m_lanesFree;
}

int64_t
SwitchPsProgram::TakeMemory(int64_t ready, uint32_t accesses)
{
    m_memoryFree = std::max(m_memoryFree, ready) + accesses * m_memoryTime;
    return m_memoryFree;
}

void
SwitchPsProgram::SendLater(Frame* frame, int64_t when, Job& job, uint32_t worker)
{
    Simulator::Schedule(m_passLatency + TimeStep(when - Simulator::Now().GetTimeStep()),
                        &SwitchPsProgram::SendNow,
                        this,
                        frame,
                        &job,
                        worker,
                        GetLife());
}

void
SwitchPsProgram::SendNow(Frame* frame, Job* job, uint32_t worker, uint32_t life)
{
    if (life != GetLife())
    {
        Frame::Free(frame); // it was in the switch when that restarted
        return;
    }
    if (worker != ALL)
    {
        EmitTo(frame, job->targets[worker]);
        return;
    }
    const auto last = static_cast<uint32_t>(job->targets.size() - 1);
    for (uint32_t i = 0; i < last; i++)
    {
        EmitTo(frame->Clone(), job->targets[i]);
    }
    EmitTo(frame, job->targets[last]);
}

} // namespace ns3::training
