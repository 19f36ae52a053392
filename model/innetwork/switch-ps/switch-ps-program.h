/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_PROGRAM_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_PROGRAM_H

#include "switch-ps-lane-timing.h"
#include "switch-ps-optimizer.h"
#include "switch-ps-vector-clocks.h"
#include "switch-ps-wire-format.h"

#include "ns3/aggregation-program.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <vector>

namespace ns3::training
{

/** A job as the switch that is its parameter server knows it, set up before the simulation. */
struct SwitchPsJob
{
    uint8_t number{0};             ///< which job
    uint32_t firstSlot{0};         ///< its part of the slots begins here
    uint32_t slots{0};             ///< and has so many
    uint32_t firstRange{0};        ///< its part of the key ranges begins here
    uint32_t ranges{0};            ///< and has so many; 0 without an optimizer
    std::vector<uint32_t> workers; ///< endpoints, in the order in which their parts are added
};

/** Counters of a SwitchPsProgram. */
struct SwitchPsCounters
{
    uint64_t received{0};   ///< frames addressed to it
    uint64_t added{0};      ///< of these, gradients added
    uint64_t repeated{0};   ///< gradients that it had already
    uint64_t stale{0};      ///< gradients of steps that their worker has done with
    uint64_t refused{0};    ///< of no job, worker, slot, range or size that it knows, or lost
    uint64_t steps{0};      ///< steps of the optimizer, of a key range each
    uint64_t multicasts{0}; ///< sums or weights sent to all workers
    uint64_t unicasts{0};   ///< sums or weights sent to one worker
    uint64_t blocked{0};    ///< answers held back until slower workers had come nearer
};

/**
 * @ingroup distributed-training-innetwork
 *
 * A parameter server in an FPGA switch, as Hashmi proposes it (Towards Alleviating Bottlenecks in
 * Distributed Training of Deep Neural Nets, sections 3 and 4) and Itsubo et al. have built one
 * (IEICE Trans. 2021): it adds float32 gradients as frames pass, makes the optimizer's step, keeps
 * the weights, and sends them to the workers. A packet is a key range.
 *
 * Synchronous (Staleness 0): the parts of a step are added in the order of the workers, whatever
 * the order they come in, so results are the same bits each time; a part that comes before its turn
 * waits in its slot. When all are in, the optimizer makes its step with the sum, and the new
 * weights (without an optimizer the sum) are sent to all. Slots have two versions as SwitchML's:
 * the one not in use answers those that have lost their answer.
 *
 * Bounded staleness s (Ho et al., NIPS 2013): each gradient is a step of its own as it comes. Each
 * key range has a vector clock, the steps of each worker. A worker gets its answer when the
 * slowest one is s steps behind it at most.
 *
 * Lanes add a number per clock each; weights are read from and written to memory beside the
 * chip. When the switch restarts the weights are lost, and nobody is answered any more.
 */
class SwitchPsProgram : public AggregationProgram
{
  public:
    /// Workers of a job, bits of a bitmap.
    static constexpr uint32_t MAX_WORKERS = SwitchPsVectorClocks::MAX_WORKERS;

    /** @return the type */
    static TypeId GetTypeId();
    SwitchPsProgram();
    ~SwitchPsProgram() override;

    /**
     * @param job to work for
     * @throw ConfigurationError if its number, slots or key ranges are taken or not there, it has
     *        too many workers, or attributes contradict each other
     */
    void AddJob(const SwitchPsJob& job);

    /** @return float32 numbers in a packet */
    uint32_t GetElements() const;

    /** @return the least key range that no job has */
    uint32_t GetFirstFreeRange() const;

    /** @return key ranges of all jobs together */
    uint32_t GetRanges() const;

    /** @return the optimizer and its constants */
    OptimizerSettings GetOptimizer() const;

    /** @return steps that a worker may be ahead of the slowest one */
    uint32_t GetStaleness() const;

    /**
     * @param rate of all workers' links together, bit/s
     * @return lanes with which it adds as fast as numbers can come
     */
    uint32_t GetLanesFor(uint64_t rate) const;

    /** @return its counters */
    const SwitchPsCounters& GetCounters() const;

    /**
     * @param job number of a job
     * @param range number of one of its key ranges
     * @return with bounded staleness, the range's vector clock: steps that each worker has made
     */
    std::vector<uint32_t> GetVectorClock(uint8_t job, uint32_t range) const;

    // AggregationProgram
    std::string GetName() const override;
    Resources GetResources() const override;
    bool Receive(Frame* frame) override;

    /** A gradient has been added to the sum, or to the weights. (job, packet, worker) */
    typedef void (*PushTracedCallback)(uint8_t job, uint32_t packet, uint32_t worker);

  private:
    /** A sum of gradients, under way or complete: one of the two versions of a slot. */
    struct Sum
    {
        uint64_t check{0};  ///< sum of the parts' checks
        uint64_t seen{0};   ///< bit w: worker w's part is here
        uint32_t packet{0}; ///< which packet it is
        uint32_t range{0};  ///< which key range
        uint8_t added{0};   ///< parts that are added: those of workers 0 to added - 1
        int8_t exponent{0}; ///< largest of the parts
        bool used{false};   ///< there has been one
        bool complete{false};
        bool overflow{false}; ///< a part was beyond the range of exponents
    };

    /** A part that waits for its turn. */
    struct Part
    {
        Ptr<ByteBuffer> payload;
        uint64_t offset{0};
    };

    /** A job of this program. */
    struct JobState : public Job
    {
        uint32_t firstRange{0};      ///< its range of the key ranges begins here
        uint32_t ranges{0};          ///< size of that range; 0 without an optimizer
        SwitchPsVectorClocks clocks; ///< bounded staleness: of its key ranges
        bool lost{false};            ///< a restart has lost its weights
    };

    void DoDispose() override;
    void Reset() override;
    void SetOptimizer(std::string name);
    std::string GetOptimizerName() const;
    bool IsKnown(const Frame& frame, const JobState& job) const;
    void Accumulate(Frame* frame, JobState& job, uint32_t worker);
    void AddPart(const JobState& job, Sum& sum, uint32_t slot, float* values);
    void Complete(Frame* frame, JobState& job, Sum& sum);
    void Apply(Frame* frame, JobState& job, uint32_t worker);
    void Answer(Frame* frame, JobState& job, uint32_t worker, int64_t when);
    void Fill(Frame& frame, const float* values) const;
    float* GetValues(const SwitchPsHeader& header);
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
    std::string m_optimizer{"none"};
    double m_learningRate;
    double m_momentum;
    double m_beta1;
    double m_beta2;
    double m_epsilon;
    double m_weightDecay;
    bool m_verify;

    std::vector<Sum> m_sums;       // by slot and version
    std::vector<float> m_values;   // real payload: those of each slot and version
    std::vector<Part> m_parts;     // real payload: by slot and worker
    std::vector<float> m_gradient; // real payload: of the frame under way
    OptimizerMemory m_memory;      // real payload: by key range
    SwitchPsLaneTiming m_timing;
    SwitchPsCounters m_counters;
    TracedCallback<uint8_t, uint32_t, uint32_t> m_pushTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_PROGRAM_H
