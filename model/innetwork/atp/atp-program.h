/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_PROGRAM_H
#define DISTRIBUTED_TRAINING_ATP_PROGRAM_H

#include "atp-pool.h"

#include "ns3/counting-program.h"
#include "ns3/traced-callback.h"

#include <vector>

namespace ns3::training
{

/** A job's result routing at one switch. Packets themselves say which sums to make. */
struct AtpJob
{
    uint8_t number{0};                   ///< number of the job
    uint32_t window{0};                  ///< maximum packets of a worker without a result
    std::vector<uint32_t> servers;       ///< endpoints of all; server of packet p: p modulo number
    std::vector<uint32_t> workers;       ///< endpoints of the workers on this switch
    std::vector<uint32_t> localServers;  ///< endpoints of the servers on this switch
    std::vector<uint32_t> otherSwitches; ///< endpoints of the other switches with workers
};

/** Counters of an AtpProgram. */
struct AtpCounters
{
    uint64_t received{0};   ///< frames of its jobs
    uint64_t refused{0};    ///< frames with an invalid size or slot
    uint64_t added{0};      ///< contributions added in a slot
    uint64_t held{0};       ///< of these, held there: neither the last one, nor a retransmission
    uint64_t completed{0};  ///< sums with all contributions, sent on
    uint64_t repeated{0};   ///< duplicate contributions
    uint64_t collisions{0}; ///< contributions sent on unaggregated because the slot was taken
    uint64_t evicted{0};    ///< partial sums sent on because of a retransmission
    uint64_t passed{0};     ///< contributions sent on unchanged: retransmissions or floats
    uint64_t preempted{0};  ///< partial sums sent on because of a job of higher priority
    uint64_t reclaimed{0};  ///< slots taken from a sum whose result all workers have
    uint64_t released{0};   ///< slots freed by a result
    uint64_t multicasts{0}; ///< results multicast to workers
    uint64_t saturated{0};  ///< sums that saturated at 32 bits
};

/**
 * @ingroup distributed-training-innetwork
 *
 * ATP's switch program (Lao et al., ATP: In-network Aggregation for Multi-tenant Learning, NSDI
 * 2021; the released P4 program). Jobs share a pool of slots (aggregators). Workers compute a
 * packet's slot by a hash. A slot belongs to the first packet that claims it, by job and packet
 * number, until the server's result passes. A packet that finds its slot taken continues to the
 * server unaggregated. A retransmission takes the slot's partial sum with it to the server and
 * frees the slot.
 *
 * The leaf switch of a worker aggregates its rack. The leaf switch of the server aggregates the
 * racks and its own workers.
 *
 * With StickyCollisions a slot that another job has requested reports the contention in its result
 * (A2TP, EuroSys 2023). With Preemption a packet of a higher priority takes the slot, and the
 * partial sum of the old job goes to its server (ESA, ICNP 2023).
 *
 * ReclaimStale is not in the released program. A slot is taken over if its packet is two windows
 * behind a packet of the same job that requests it: it holds a late duplicate that no worker needs.
 */
class AtpProgram : public CountingProgram<AtpCounters>
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /**
     * @param job to serve
     * @throw ConfigurationError if its number is in use or a packet has too many elements
     */
    void AddJob(const AtpJob& job);

    /**
     * Ends a job: its slots are free. Later frames of the job are forwarded or dropped.
     * @param number of the job
     */
    void RemoveJob(uint8_t number);

    /** @return number of slots in the pool */
    uint32_t GetSlots() const
    {
        return m_slotCount;
    }

    /** @return 32-bit integers per packet */
    uint32_t GetElements() const
    {
        return m_elements;
    }

    /**
     * @param job number of a job
     * @return slots it occupies now
     */
    uint32_t GetOccupied(uint8_t job) const
    {
        const auto* const known = FindJob<JobState>(job);
        return known ? known->occupied : 0;
    }

    /**
     * @param job number of a job
     * @return integral of its occupied slots over time since the start of the simulation, slots * s
     */
    double GetSlotSeconds(uint8_t job) const;

    // AggregationProgram
    std::map<uint8_t, uint32_t> GetOccupiedSlots() const override;

    std::string GetName() const override
    {
        return "atp";
    }

    Resources GetResources() const override;
    bool Receive(Frame* frame) override;

    /**
     * A contribution was added to a slot, or recognized as a duplicate.
     * (job, packet, bit of the contributor, whether it is a worker of the rack)
     */
    typedef void (*ContributionTracedCallback)(uint8_t job,
                                               uint32_t packet,
                                               uint32_t bit,
                                               bool isRack);

  private:
    /** A job of this program. Its workers are children; other switches are targets after them. */
    struct JobState : public CountedJob
    {
        AtpJob description;        ///< the job as added
        EndpointTable servers;     ///< servers on this switch
        uint32_t occupied{0};      ///< slots it occupies
        int64_t since{0};          ///< time of the last change of `occupied`, ps
        double slotPicoseconds{0}; ///< integral of `occupied` up to `since`
    };

    void Reset() override;
    void TakeResult(Frame* frame, JobState& job);
    void TakeResend(Frame* frame, JobState& job, AtpPool::Slot& slot, bool isRack);
    void Contribute(Frame* frame, JobState& job, AtpPool::Slot& slot, bool isRack);
    void Add(JobState& job, AtpPool::Slot& slot, const Frame& frame);
    void Free(AtpPool::Slot& slot);
    void Evict(AtpPool::Slot& slot, const Frame& cause);
    static void Occupy(JobState& job, int32_t slots);
    void Forward(Frame* frame);

    uint32_t m_elements;
    uint32_t m_slotCount;
    uint32_t m_loopbackPorts;
    Time m_passLatency;
    bool m_stickyCollisions;
    bool m_preemption;
    bool m_reclaims;
    AtpPool m_pool;
    TracedCallback<uint8_t, uint32_t, uint32_t, bool> m_addTrace;
    TracedCallback<uint8_t, uint32_t, uint32_t, bool> m_repeatTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_PROGRAM_H
