/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCHML_PROGRAM_H
#define DISTRIBUTED_TRAINING_SWITCHML_PROGRAM_H

#include "switchml-passes.h"
#include "switchml-wire-format.h"
#include "unreliable-receiver.h"

#include "ns3/counting-program.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <limits>
#include <vector>

namespace ns3::training
{

/** A job as seen by one of its switches; configured by a controller before the simulation. */
struct SwitchMlJob
{
    /// Endpoint of a missing parent.
    static constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

    uint8_t number{0};              ///< number of the job
    uint32_t firstSlot{0};          ///< first slot of the job in the pool
    uint32_t slots{0};              ///< number of its slots
    std::vector<uint32_t> children; ///< endpoints of the contributors: workers or child switches
    uint32_t parent{NONE};          ///< endpoint of the parent switch; NONE at the root
    uint32_t queuePairs{0};         ///< RDMA framing: queue pairs per child; 0: UDP
};

/** Counters of a SwitchMlProgram. */
struct SwitchMlCounters
{
    uint64_t received{0};   ///< frames addressed to it
    uint64_t added{0};      ///< contributions added
    uint64_t repeated{0};   ///< duplicate contributions
    uint64_t stale{0};      ///< contributions to a sum that the worker has received (RoundTag)
    uint64_t broken{0};     ///< RDMA: packets after a gap in their message
    uint64_t refused{0};    ///< frames with an invalid job, worker, slot or size
    uint64_t completed{0};  ///< sums with all contributions
    uint64_t multicasts{0}; ///< sums multicast to all children
    uint64_t unicasts{0};   ///< sums resent to one child
    uint64_t forwarded{0};  ///< sums sent to the parent switch, including retransmissions
    uint64_t overflows{0};  ///< sums that overflowed 32 bits
};

/**
 * @ingroup distributed-training-innetwork
 *
 * SwitchML's switch program: adds packets of 32-bit integers slot by slot and multicasts the sum
 * (Sapio et al., Scaling Distributed Machine Learning with In-Network Aggregation, NSDI 2021,
 * algorithm 3, with the counters, exponents and passes of the released P4 program). Each slot has
 * two versions. One of them is the shadow copy, which answers retransmissions until all workers are
 * known to have the result.
 *
 * A switch with a parent sends its sum up and forwards the result to its children; the shadow copy
 * then holds the final sum.
 *
 * RoundTag (not in the released program) detects a contribution that the network has delayed until
 * after its worker had the sum, by its packet number. Without RoundTag it would be added to the
 * slot's next sum, so paths from workers to the switch must then preserve order.
 */
class SwitchMlProgram : public CountingProgram<SwitchMlCounters>
{
  public:
    /// Maximum children of a switch: bits of the released program's bitmaps.
    static constexpr uint32_t MAX_CHILDREN = 32;

    /** @return the type */
    static TypeId GetTypeId();

    /**
     * @param job to serve
     * @throw ConfigurationError if its number or slots are in use, or it has too many children
     */
    void AddJob(const SwitchMlJob& job);

    /**
     * Ends a job: its slots are free. Later frames of the job are refused.
     * @param number of the job
     */
    void RemoveJob(uint8_t number);

    /** @return 32-bit integers per packet */
    uint32_t GetElements() const
    {
        return m_elements;
    }

    /** @return bytes of a packet on the line of the busiest recirculation port; 0: none */
    uint32_t GetRecirculatedBytes() const
    {
        return GetPasses().GetRecirculatedBytes();
    }

    /** @return number of slots of all jobs */
    uint32_t GetSlots() const
    {
        return m_slotCount;
    }

    // AggregationProgram
    std::map<uint8_t, uint32_t> GetOccupiedSlots() const override;

    std::string GetName() const override
    {
        return "switchml";
    }

    Resources GetResources() const override
    {
        return GetPasses().GetResources(m_slotCount, m_roundTag);
    }

    bool Receive(Frame* frame) override;

    /**
     * A contribution was added, or recognized as a duplicate. (job, packet, child)
     */
    typedef void (*ContributionTracedCallback)(uint8_t job, uint32_t packet, uint32_t child);

  private:
    /** A sum, partial or complete: one of the two versions of a slot. */
    struct Version
    {
        SwitchMlHeader header; ///< of the sum; its packet is the round tag
        uint32_t seen{0};      ///< bit c: child c has contributed
        uint8_t left{0};       ///< missing contributions; 0: complete, or never used
        bool used{false};      ///< the version has been used
        bool isFinal{false};   ///< it is the sum of all workers
    };

    struct Slot
    {
        Version versions[2];
    };

    /** A job of this program. */
    struct JobState : public CountedJob
    {
        Target parent{SwitchMlJob::NONE, 0};       ///< the parent switch, or NONE
        uint32_t queuePairs{0};                    ///< RDMA framing: queue pairs per child; 0: UDP
        std::vector<UnreliableReceiver> receivers; ///< RDMA: by child and queue pair
        std::vector<uint32_t> psns;                ///< RDMA: next to send, by child and queue pair

        /** @return whether this switch is the root of the tree */
        bool IsRoot() const
        {
            return parent.endpoint == SwitchMlJob::NONE;
        }
    };

    /// In place of a child: all of them.
    static constexpr uint32_t ALL = MAX_CHILDREN;

    void Reset() override;

    SwitchMlPasses GetPasses() const
    {
        return {m_elements, m_workers, m_passLatency};
    }

    bool Accept(const Frame& frame, JobState& job, uint32_t child) const;
    void Contribute(Frame* frame, JobState& job, uint32_t child);
    void TakeResult(Frame* frame, JobState& job);
    bool IsStale(const Version& mine, const Version& other, uint32_t packet, uint32_t bit) const;
    void Add(Version& version, const Frame& frame, bool first);
    void Store(Version& version, const Frame& frame);
    int32_t* GetValues(const Frame& frame);
    void SendSum(Frame* frame, JobState& job, const Version& version, Time ready, uint32_t child);
    void SendResult(Frame* frame, Job& job, uint32_t child) override;

    uint32_t m_elements;
    uint32_t m_slotCount;
    uint32_t m_workers;
    Time m_passLatency;
    bool m_roundTag;
    std::vector<Slot> m_slots;
    std::vector<int32_t> m_values; // real payload: those of each slot and version
    TracedCallback<uint8_t, uint32_t, uint32_t> m_addTrace;
    TracedCallback<uint8_t, uint32_t, uint32_t> m_repeatTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCHML_PROGRAM_H
