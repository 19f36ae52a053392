/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_PROGRAM_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_PROGRAM_H

#include "optimizer-attributes.h"
#include "switch-ps-lane-timing.h"
#include "switch-ps-sums.h"
#include "switch-ps-vector-clocks.h"
#include "switch-ps-wire-format.h"

#include "ns3/aggregation-program.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <vector>

namespace ns3::training
{

/** A job as seen by the switch that is its parameter server; configured before the simulation. */
struct SwitchPsJob
{
    uint8_t number{0};             ///< number of the job
    uint32_t firstSlot{0};         ///< first slot of the job
    uint32_t slots{0};             ///< number of its slots
    uint32_t firstRange{0};        ///< first key range of the job
    uint32_t ranges{0};            ///< number of its key ranges; 0 without an optimizer
    std::vector<uint32_t> workers; ///< endpoints, in the order of addition
};

/** Counters of a SwitchPsProgram. */
struct SwitchPsCounters
{
    uint64_t received{0};   ///< frames addressed to it
    uint64_t added{0};      ///< gradients added
    uint64_t repeated{0};   ///< duplicate gradients
    uint64_t stale{0};      ///< gradients of steps that their worker has completed
    uint64_t refused{0};    ///< invalid job, worker, slot, range or size, or weights lost
    uint64_t steps{0};      ///< optimizer steps, each of one key range
    uint64_t multicasts{0}; ///< sums or weights sent to all workers
    uint64_t unicasts{0};   ///< sums or weights sent to one worker
    uint64_t blocked{0};    ///< answers delayed until slower workers catch up
};

/**
 * @ingroup distributed-training-innetwork
 *
 * A parameter server in an FPGA switch, as proposed by Hashmi (Towards Alleviating Bottlenecks in
 * Distributed Training of Deep Neural Nets, sections 3 and 4) and built by Itsubo et al. (IEICE
 * Trans. 2021). It adds float32 gradients at line speed, runs the optimizer step, stores the
 * weights, and sends them to the workers. A packet is one key range.
 *
 * Synchronous (Staleness 0): gradients of a step are added in the order of the workers, whatever
 * the order of arrival, so results are bitwise reproducible. A gradient that arrives early waits in
 * its slot. When all have arrived, the optimizer applies the sum, and the new weights (without an
 * optimizer the sum) are multicast. Slots have two versions as in SwitchML: the shadow copy answers
 * workers that have lost the result.
 *
 * Bounded staleness s (Ho et al., NIPS 2013): each gradient is a separate step on arrival. Each key
 * range has a vector clock, the steps of each worker. A worker gets its answer when it is at most s
 * steps ahead of the slowest worker.
 *
 * Each lane adds one number per clock cycle. Weights are stored in off-chip memory. A restart of
 * the switch loses the weights, and the switch answers no more requests.
 */
class SwitchPsProgram : public AggregationProgram, public OptimizerAttributes
{
  public:
    /// Maximum workers of a job: bits of a bitmap.
    static constexpr uint32_t MAX_WORKERS = SwitchPsVectorClocks::MAX_WORKERS;

    /** @return the type */
    static TypeId GetTypeId();

    /**
     * @param job to serve
     * @throw ConfigurationError if its number, slots or key ranges are in use or do not exist, it
     *        has too many workers, or attributes contradict each other
     */
    void AddJob(const SwitchPsJob& job);

    /** @return float32 numbers per packet */
    uint32_t GetElements() const
    {
        return m_elements;
    }

    /** @return lowest key range above those of all jobs */
    uint32_t GetFirstFreeRange() const;

    /** @return number of key ranges of all jobs */
    uint32_t GetRanges() const
    {
        return GetOptimizer().KeepsWeights()
                   ? static_cast<uint32_t>((m_weights + m_elements - 1) / m_elements)
                   : 0;
    }

    /** @return staleness bound: steps that a worker may be ahead of the slowest one */
    uint32_t GetStaleness() const
    {
        return m_staleness;
    }

    /**
     * @param rate sum of the workers' link rates, bit/s
     * @return number of lanes that add at this rate
     */
    uint32_t GetLanesFor(uint64_t rate) const;

    /** @return its counters */
    const SwitchPsCounters& GetCounters() const
    {
        return m_counters;
    }

    /**
     * @param job number of a job
     * @param range number of one of its key ranges
     * @return with bounded staleness: the range's vector clock, the steps of each worker
     */
    std::vector<uint32_t> GetVectorClock(uint8_t job, uint32_t range) const
    {
        return FindJob<JobState>(job)->clocks.GetSteps(range);
    }

    // AggregationProgram
    std::map<uint8_t, uint32_t> GetOccupiedSlots() const override;

    std::string GetName() const override
    {
        return "switch-ps";
    }

    Resources GetResources() const override;
    bool Receive(Frame* frame) override;

    /** A gradient was added to the sum, or to the weights. (job, packet, worker) */
    typedef void (*PushTracedCallback)(uint8_t job, uint32_t packet, uint32_t worker);

  private:
    /** A job of this program. */
    struct JobState : public Job
    {
        uint32_t firstRange{0};      ///< first key range of the job
        uint32_t ranges{0};          ///< number of its key ranges; 0 without an optimizer
        SwitchPsVectorClocks clocks; ///< bounded staleness: clocks of its key ranges
        bool lost{false};            ///< its weights were lost by a restart
    };

    void Reset() override;
    bool IsKnown(const Frame& frame, const JobState& job) const;
    void Accumulate(Frame* frame, JobState& job, uint32_t worker);
    void Complete(Frame* frame, JobState& job, SwitchPsSums::Sum& sum);
    void Apply(Frame* frame, JobState& job, uint32_t worker);
    void Answer(Frame* frame, JobState& job, uint32_t worker, int64_t when);
    void Fill(Frame& frame, const float* values) const;
    void FillSum(Frame& frame, const SwitchPsSums::Sum& sum);
    Time GetDelay(int64_t ready) const;

    uint32_t m_elements;
    uint32_t m_slotCount;
    uint32_t m_workers;
    uint32_t m_lanes;
    double m_clockMhz;
    Time m_passLatency;
    DataRate m_memoryRate;
    uint64_t m_weights;
    uint32_t m_staleness;

    SwitchPsSums m_sums;           // of the slots
    std::vector<float> m_gradient; // real payload: of the current frame
    OptimizerMemory m_memory;      // real payload: by key range
    SwitchPsLaneTiming m_timing;
    SwitchPsCounters m_counters;
    TracedCallback<uint8_t, uint32_t, uint32_t> m_pushTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_PROGRAM_H
