/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-program.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/switch-device.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

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
        AddVerify(
            AddOptimizer(
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
                    .AddAttribute(
                        "Workers",
                        "Most workers of a job: each slot has memory for the parts of all",
                        UintegerValue(16),
                        MakeUintegerAccessor(&SwitchPsProgram::m_workers),
                        MakeUintegerChecker<uint32_t>(1, MAX_WORKERS))
                    .AddAttribute(
                        "Lanes",
                        "Lanes: numbers added per clock cycle, each by a float32 adder and those "
                        "of "
                        "the "
                        "optimizer; 0: enough for the line rate of all ports (set by the helper)",
                        UintegerValue(0),
                        MakeUintegerAccessor(&SwitchPsProgram::m_lanes),
                        MakeUintegerChecker<uint32_t>())
                    .AddAttribute("Clock",
                                  "Clock of the lanes, MHz (NetFPGA-SUME's data path: 200)",
                                  DoubleValue(200),
                                  MakeDoubleAccessor(&SwitchPsProgram::m_clockMhz),
                                  MakeDoubleChecker<double>(1, 10000))
                    .AddAttribute(
                        "PassLatency",
                        "From a packet's arrival to its answer, beside the time of lanes and "
                        "memory (not published: 100 clocks)",
                        TimeValue(NanoSeconds(500)),
                        MakeTimeAccessor(&SwitchPsProgram::m_passLatency),
                        MakeTimeChecker(Time(0)))
                    .AddAttribute(
                        "MemoryRate",
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
                    .AddAttribute(
                        "Staleness",
                        "Steps that a worker may be ahead of the slowest one; 0: synchronous",
                        UintegerValue(0),
                        MakeUintegerAccessor(&SwitchPsProgram::m_staleness),
                        MakeUintegerChecker<uint32_t>(0, 1 << 20))))
            .AddTraceSource("Push",
                            "A gradient has been added to the sum, or to the weights",
                            MakeTraceSourceAccessor(&SwitchPsProgram::m_pushTrace),
                            "ns3::training::SwitchPsProgram::PushTracedCallback");
    return tid;
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
    const OptimizerSettings settings = GetOptimizer();
    if (settings.KeepsWeights())
    {
        const auto& optimizer = Registry<SwitchOptimizer>::Find(settings.name);
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
    ForEachJob<Job>([&](const Job& job) {
        for (uint32_t i = 0; i < job.slots; i++)
        {
            occupied[job.number] += m_sums.IsTaken(job.firstSlot + i) ? 1 : 0;
        }
    });
    return occupied;
}

uint32_t
SwitchPsProgram::GetFirstFreeRange() const
{
    uint32_t range = 0;
    ForEachJob<JobState>(
        [&](const JobState& job) { range = std::max(range, job.firstRange + job.ranges); });
    return range;
}

uint32_t
SwitchPsProgram::GetLanesFor(uint64_t rate) const
{
    return static_cast<uint32_t>(std::ceil(static_cast<double>(rate) / (32e6 * m_clockMhz)));
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
    CheckChildren(description.number, description.workers.size(), m_workers, "workers");
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
    if (!m_sums.IsConfigured())
    {
        m_sums.Configure(m_slotCount, m_elements, m_workers, m_verify);
        m_timing.ConfigureLanes(m_elements, m_lanes, m_clockMhz);
        if (optimizer.KeepsWeights())
        {
            const auto& entry = Registry<SwitchOptimizer>::Find(optimizer.name);
            m_memory.Configure(optimizer, m_elements);
            m_timing.ConfigureMemory(sizeof(float) * m_elements * entry.arrays,
                                     m_memoryRate.GetBitRate());
        }
    }
    auto job = MakeJob<JobState>(description.number,
                                 description.firstSlot,
                                 description.slots,
                                 description.workers);
    job->firstRange = description.firstRange;
    job->ranges = description.ranges;
    job->clocks.Configure(static_cast<uint32_t>(description.workers.size()), m_staleness);
    AggregationProgram::AddJob(std::move(job));
}

void
SwitchPsProgram::Reset()
{
    NS_LOG_FUNCTION(this);
    m_sums.Clear();
    const bool keepsWeights = GetOptimizer().KeepsWeights();
    ForEachJob<JobState>([&](JobState& job) {
        job.lost = keepsWeights;
        job.clocks.Clear();
    });
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
    const auto& header = frame->As<SwitchPsHeader>();
    if (m_sums.IsStale(header, worker))
    {
        m_counters.stale++;
        Refuse(frame, "its worker has done with this step");
        return;
    }
    SwitchPsSums::Sum& sum = m_sums.Find(header);
    if (sum.seen >> worker & 1)
    {
        m_counters.repeated++;
        if (!sum.complete)
        {
            Frame::Free(frame);
            return;
        }
        NS_LOG_LOGIC("slot " << header.slot << ": sum of packet " << sum.packet
                             << " again, for worker " << worker);
        FillSum(*frame, sum);
        m_counters.unicasts++;
        SendAfter(frame, m_passLatency, job, worker);
        return;
    }
    uint32_t part = sum.added;
    m_sums.Add(sum, *frame, worker, static_cast<uint32_t>(job.targets.size()));
    for (; part < sum.added; part++)
    {
        m_timing.ReserveLanes(Simulator::Now().GetTimeStep());
        m_counters.added++;
        m_pushTrace(job.number, sum.packet, part);
    }
    if (sum.added < job.targets.size())
    {
        Frame::Free(frame);
        return;
    }
    Complete(frame, job, sum);
}

void
SwitchPsProgram::Complete(Frame* frame, JobState& job, SwitchPsSums::Sum& sum)
{
    const auto& header = frame->As<SwitchPsHeader>();
    sum.complete = true;
    int64_t ready = m_timing.GetLanesFree();
    if (job.ranges > 0)
    {
        m_counters.steps++;
        ready = m_timing.ReserveMemory(ready, 2);
        if (frame->payload)
        {
            float* const values = m_sums.GetValues(header);
            const float* weights = m_memory.Step(job.firstRange + header.keyRange, values);
            std::copy(weights, weights + m_elements, values);
        }
    }
    FillSum(*frame, sum);
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

void
SwitchPsProgram::FillSum(Frame& frame, const SwitchPsSums::Sum& sum)
{
    auto& header = frame.As<SwitchPsHeader>();
    header.check = sum.check;
    header.exponent = sum.exponent;
    header.overflow = sum.overflow;
    Fill(frame, frame.payload ? m_sums.GetValues(header) : nullptr);
}

Time
SwitchPsProgram::GetDelay(int64_t ready) const
{
    return m_passLatency + TimeStep(ready - Simulator::Now().GetTimeStep());
}

} // namespace ns3::training
