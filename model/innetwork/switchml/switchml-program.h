/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCHML_PROGRAM_H
#define DISTRIBUTED_TRAINING_SWITCHML_PROGRAM_H

#include "ns3/aggregation-program.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"
#include "ns3/unreliable-receiver.h"

#include <limits>
#include <vector>

namespace ns3::training
{

/** A job as one of its switches knows it; set up by a controller before the simulation. */
struct SwitchMlJob
{
    /// Instead of an endpoint.
    static constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

    uint8_t number{0};              ///< which job
    uint32_t firstSlot{0};          ///< its part of the pool begins here
    uint32_t slots{0};              ///< and has so many slots
    std::vector<uint32_t> children; ///< endpoints that send to it: workers, or switches below
    uint32_t parent{NONE};          ///< endpoint of the switch above, if this is not the root
    uint32_t queuePairs{0};         ///< RDMA framing: of each child; 0: UDP
};

/** Counters of a SwitchMlProgram. */
struct SwitchMlCounters
{
    uint64_t received{0};   ///< frames addressed to it
    uint64_t added{0};      ///< of these, contributions added
    uint64_t repeated{0};   ///< contributions that it had already
    uint64_t stale{0};      ///< contributions to a sum that the worker has had (RoundTag)
    uint64_t broken{0};     ///< RDMA: behind a packet of their message that is missing
    uint64_t refused{0};    ///< of no job, worker, slot or size that it knows
    uint64_t completed{0};  ///< sums with all children in
    uint64_t multicasts{0}; ///< sums sent to all children
    uint64_t unicasts{0};   ///< sums sent again to one child
    uint64_t forwarded{0};  ///< sums sent to the switch above, again included
    uint64_t overflows{0};  ///< sums in which a number left the range of 32 bits
};

/**
 * @ingroup distributed-training-innetwork
 *
 * SwitchML's switch program: adds packets of 32-bit integers slot by slot and multicasts the sum
 * (Sapio et al., Scaling Distributed Machine Learning with In-Network Aggregation, NSDI 2021,
 * algorithm 3, with the counters, exponents and passes of the released P4 program). Each slot has
 * two versions, of which one is the shadow copy: it answers retransmissions until all workers are
 * known to have the result.
 *
 * Below another switch it sends its sum up instead, and what comes back to its children; then the
 * shadow copy holds the final sum.
 *
 * With RoundTag (not in the released program) a contribution that the network has delayed until
 * its worker had the sum is recognized by its packet number; without it, it would be added to the
 * next sum of the slot, so then the paths from workers to the switch must be in order.
 */
class SwitchMlProgram : public AggregationProgram
{
  public:
    /// Children of a switch, bits of the released program's bitmaps.
    static constexpr uint32_t MAX_CHILDREN = 32;

    /** @return the type */
    static TypeId GetTypeId();
    SwitchMlProgram();
    ~SwitchMlProgram() override;

    /**
     * @param job to work for
     * @throw ConfigurationError if its number or slots are taken, or it has too many children
     */
    void AddJob(const SwitchMlJob& job);

    /** @return 32-bit integers in a packet */
    uint32_t GetElements() const;

    /** @return slots of all jobs together */
    uint32_t GetSlots() const;

    /** @return its counters */
    const SwitchMlCounters& GetCounters() const;

    // AggregationProgram
    std::string GetName() const override;
    Resources GetResources() const override;
    bool Receive(Frame* frame) override;

    /**
     * A contribution has been added, or recognized as one that is there. (job, packet, child)
     */
    typedef void (*ContributionTracedCallback)(uint8_t job, uint32_t packet, uint32_t child);

  private:
    /** A sum, under way or complete: one of the two versions of a slot. */
    struct Version
    {
        uint64_t check{0};   ///< sum of the contributions' checks
        uint32_t packet{0};  ///< number of the packet, which is its tag
        uint32_t seen{0};    ///< bit c: child c's contribution is in
        uint8_t left{0};     ///< contributions missing; 0: complete, or never used
        int8_t exponents[2]; ///< largest so far
        bool used{false};    ///< there has been one
        bool isFinal{false}; ///< it is the sum of all workers
        bool overflow{false};
    };

    struct Slot
    {
        Version versions[2];
    };

    /** A job of this program. */
    struct JobState : public Job
    {
        Target parent{SwitchMlJob::NONE, 0};       ///< the switch above, or NONE
        uint32_t queuePairs{0};                    ///< RDMA framing: of each child; 0: UDP
        std::vector<UnreliableReceiver> receivers; ///< RDMA: by child and queue pair
        std::vector<uint32_t> psns;                ///< RDMA: next ones to send, likewise

        /** @return whether no switch adds above this one */
        bool IsRoot() const
        {
            return parent.endpoint == SwitchMlJob::NONE;
        }
    };

    void DoDispose() override;
    void Reset() override;
    bool Accept(const Frame& frame, JobState& job, uint32_t child) const;
    void Contribute(Frame* frame, JobState& job, uint32_t child);
    void TakeResult(Frame* frame, JobState& job);
    bool IsStale(const Version& mine, const Version& other, uint32_t packet, uint32_t bit) const;
    void Add(Version& version, const Frame& frame, bool first);
    void Store(Version& version, const Frame& frame);
    void Fill(Frame& frame, const Version& version);
    int32_t* GetValues(const Frame& frame);
    Time Consume(const Frame& frame);
    Time Harvest(Time consumed);
    void SendResult(Frame* frame, Job& job, uint32_t child) override;

    uint32_t m_elements;
    uint32_t m_slotCount;
    uint32_t m_workers;
    Time m_passLatency;
    bool m_roundTag;
    bool m_verify;
    std::vector<Slot> m_slots;
    std::vector<int32_t> m_values; // real payload: those of each slot and version
    SwitchMlCounters m_counters;
    TracedCallback<uint8_t, uint32_t, uint32_t> m_addTrace;
    TracedCallback<uint8_t, uint32_t, uint32_t> m_repeatTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCHML_PROGRAM_H
