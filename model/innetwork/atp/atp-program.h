/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_PROGRAM_H
#define DISTRIBUTED_TRAINING_ATP_PROGRAM_H

#include "ns3/aggregation-program.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <vector>

namespace ns3::training
{

/** A job as a switch knows it: where results go. What it adds, packets say themselves. */
struct AtpJob
{
    uint8_t number{0};                   ///< which job
    uint32_t window{0};                  ///< packets by which a worker can be ahead of an answer
    std::vector<uint32_t> servers;       ///< endpoints of all; server of packet p: p modulo number
    std::vector<uint32_t> workers;       ///< endpoints of those linked to this switch
    std::vector<uint32_t> localServers;  ///< endpoints of the servers linked to this switch
    std::vector<uint32_t> otherSwitches; ///< endpoints of the other switches with workers
};

/** Counters of an AtpProgram. */
struct AtpCounters
{
    uint64_t received{0};   ///< frames of its jobs
    uint64_t refused{0};    ///< of these, of a size or slot that it has not
    uint64_t held{0};       ///< contributions added and kept
    uint64_t completed{0};  ///< sums with all contributions, sent on
    uint64_t repeated{0};   ///< contributions that were there already
    uint64_t collisions{0}; ///< contributions sent on because the slot was taken
    uint64_t evicted{0};    ///< sums sent on because a contribution was sent again
    uint64_t passed{0};     ///< contributions sent on unchanged: sent again, or floats
    uint64_t preempted{0};  ///< sums sent on because of a job of higher priority
    uint64_t reclaimed{0};  ///< slots taken from a sum that all workers have had
    uint64_t released{0};   ///< slots freed by a result
    uint64_t multicasts{0}; ///< results sent on to workers
    uint64_t saturated{0};  ///< sums in which a number left the range of 32 bits
};

/**
 * @ingroup distributed-training-innetwork
 *
 * ATP's switch program (Lao et al., ATP: In-network Aggregation for Multi-tenant Learning, NSDI
 * 2021; the released P4 program): jobs share a pool of slots, which packets find by a hash that
 * their workers compute. A slot belongs to the first packet of a job and number until the server's
 * result comes by. Who finds it taken goes on to the server unadded. A contribution that is sent
 * again takes what the slot has with it to the server and frees it.
 *
 * The switch that a worker is linked to adds for its rack; that of the server adds racks and its
 * own workers.
 *
 * With StickyCollisions a slot that another job has asked for says so in its result (A2TP, EuroSys
 * 2023). With Preemption a packet of a higher priority takes the slot, and what was in it goes to
 * its server (ESA, ICNP 2023).
 *
 * ReclaimStale is not in the released program: a slot whose packet is two windows behind one of its
 * job that asks for it holds a late duplicate, which nobody waits for, and is taken over.
 */
class AtpProgram : public AggregationProgram
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    AtpProgram();
    ~AtpProgram() override;

    /**
     * @param job to work for
     * @throw ConfigurationError if its number is taken or a packet has too many elements
     */
    void AddJob(const AtpJob& job);

    /** @return slots of the pool */
    uint32_t GetSlots() const;

    /** @return 32-bit integers in a packet */
    uint32_t GetElements() const;

    /** @return its counters */
    const AtpCounters& GetCounters() const;

    /**
     * @param job number of a job
     * @return slots that it has now
     */
    uint32_t GetOccupied(uint8_t job) const;

    /**
     * @param job number of a job
     * @return slots that it has had since the simulation began, times time, slots * s
     */
    double GetSlotSeconds(uint8_t job) const;

    // AggregationProgram
    std::string GetName() const override;
    Resources GetResources() const override;
    bool Receive(Frame* frame) override;

    /**
     * A contribution has been added to a slot, or recognized as one that is there.
     * (job, packet, bit of the contributor, whether it is a worker of the rack)
     */
    typedef void (*ContributionTracedCallback)(uint8_t job,
                                               uint32_t packet,
                                               uint32_t bit,
                                               bool isRack);

  private:
    /** A slot and what is in it. */
    struct Aggregator
    {
        uint64_t check{0};  ///< sum of the contributions' checks
        uint32_t packet{0}; ///< number of the packet
        uint32_t seen{0};   ///< bit c: contributor c's is in
        uint32_t child{0};  ///< of a rack: its bit at the server's switch
        uint8_t job{0};
        uint8_t fanIn[2]{};
        uint8_t priority{0};
        bool used{false};
        bool isRack{false}; ///< contributors are workers of a rack
        bool isReal{false}; ///< there are values
        bool congested{false};
        bool contested{false};
    };

    /** A job of this program: its workers are children, and other switches targets behind them. */
    struct JobState : public Job
    {
        AtpJob description;        ///< as it was added
        EndpointTable servers;     ///< those linked to this switch
        uint32_t occupied{0};      ///< slots it has
        int64_t since{0};          ///< when that changed, ps
        double slotPicoseconds{0}; ///< slots it has had until then, times time
    };

    void DoDispose() override;
    void Reset() override;
    void TakeResult(Frame* frame, JobState& job);
    void TakeResend(Frame* frame, Aggregator& slot, bool isRack);
    void Contribute(Frame* frame, JobState& job, Aggregator& slot, bool isRack);
    void Add(Aggregator& slot, const Frame& frame);
    void Claim(Aggregator& slot, JobState& job, const Frame& frame, bool isRack);
    void Free(Aggregator& slot);
    void Fill(Frame& frame, const Aggregator& slot);
    void SendOut(Aggregator& slot, const Frame& cause);
    int32_t* GetValues(const Aggregator& slot);
    static void Count(JobState& job);
    void SendOn(Frame* frame);

    uint32_t m_elements;
    uint32_t m_slotCount;
    uint32_t m_loopbackPorts;
    Time m_passLatency;
    bool m_stickyCollisions;
    bool m_preemption;
    bool m_reclaims;
    bool m_verify;
    std::vector<Aggregator> m_slots;
    std::vector<int32_t> m_values; // real payload: those of each slot
    AtpCounters m_counters;
    TracedCallback<uint8_t, uint32_t, uint32_t, bool> m_addTrace;
    TracedCallback<uint8_t, uint32_t, uint32_t, bool> m_repeatTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_PROGRAM_H
