/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_REPETITION_H
#define DISTRIBUTED_TRAINING_JOB_REPETITION_H

#include "ns3/collective-replay.h"
#include "ns3/in-network-figures.h"
#include "ns3/network-repetition.h"
#include "ns3/run-files.h"
#include "ns3/training-application.h"
#include "ns3/training-cluster.h"
#include "ns3/training-job.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Derives iterations that are like earlier ones. When the last rank ends an iteration, the state of
 * the ranks and of the network is compared with those at the ends of up to MAX_PERIOD iterations
 * before. If one of them is the same, and the iteration that has left it did the same, to the
 * picosecond, the iterations since then would come again and again. The later ones are recorded
 * like them: all counters grow as in them.
 *
 * If at the end of each of these iterations the network is idle, and no rank has communicated in
 * the next one, the job ends at once, as its last iteration is like any other. Otherwise ranks may
 * know that no iteration follows: the last ones are simulated, with the times and numbers that they
 * have in the whole job.
 *
 * If no iteration is exactly like an earlier one for long, because the phases of what counts
 * packets come together late, the last eight come again if they are about the same; then derived
 * results differ from those of a simulation by about as much as these iterations among each other.
 *
 * The state is: the tasks of every rank, and how long they have run; and the state of the network,
 * see NetworkRepetition. Nothing is derived if something in the job is drawn at random or if
 * packets are lost, or if other traffic uses the network.
 */
class JobRepetition
{
  public:
    /** What a job consists of; all must outlive the repetition. */
    struct Parts
    {
        const Cluster& cluster;                                    ///< network of the job
        TrainingJob& job;                                          ///< whose iterations repeat
        RunFiles& files;                                           ///< records of the run
        const std::vector<Ptr<TrainingApplication>>& applications; ///< of all ranks
        /// Collectives that are derived.
        const std::vector<std::shared_ptr<CollectiveReplay>>& replays;
        uint32_t iterations; ///< of the job
    };

    /**
     * @param cluster of a job
     * @param computeJitter jitter of its compute times, "none": there is none
     * @return why no iteration will be derived; empty: some may be
     */
    static std::string FindObstacle(const Cluster& cluster, const std::string& computeJitter);

    /**
     * @param cluster of a job
     * @param computeJitter jitter of its compute times, "none": there is none
     * @return why nothing need be like what was before, whatever is sent; empty: it may
     */
    static std::string FindVariation(const Cluster& cluster, const std::string& computeJitter);

    /**
     * @param parts of the job
     * @param obstacle see FindObstacle()
     */
    JobRepetition(const Parts& parts, std::string obstacle);
    ~JobRepetition();
    JobRepetition(const JobRepetition&) = delete;
    JobRepetition& operator=(const JobRepetition&) = delete;

    /** The last rank has ended an iteration, now. */
    void OnIteration();

    /** @return number of iterations that were derived */
    uint32_t GetDerived() const
    {
        return m_derived;
    }

    /**
     * @return why no iteration was derived, or if some were, why their results are not exact;
     * empty: they are exact
     */
    const std::string& GetReason() const
    {
        return m_reason;
    }

    /** @return packet-hops of the derived iterations */
    uint64_t GetPacketHops() const
    {
        return m_packetHops;
    }

    /** @return packets that senders would have sent in the derived iterations */
    uint64_t GetPackets() const
    {
        return m_packets;
    }

    /** @return collectives that replays would have counted in the derived iterations */
    uint64_t GetCollectives() const
    {
        return m_collectives;
    }

    /** @param figures of what was simulated; receives what the derived iterations add */
    void AddTo(InNetworkFigures& figures) const;

  private:
    /** An iteration that is over. */
    struct Iteration
    {
        Time start;
        Time length;
        NetworkRepetition::Span network; // with the state of ranks
        InNetworkFigures inNetwork;      // what it has added
        uint64_t collectives{0};         // in it
        uint64_t packets{0};             // sent in it, those of derived collectives included
        uint64_t tasks{0};               // hash of the tasks that have ended in it, and when
        bool isQuiet{false};             // at its end: nothing of the next one is on the network
        std::vector<PathStep> path;      // critical path
    };

    void OnTaskEnd(uint32_t rank, const GraphTask& task);
    void Look();
    Iteration Take();
    std::string FindDisturbance(const Iteration& last) const;
    static bool AreSame(const Iteration& one, const Iteration& other);
    static bool AreAbout(const Iteration& one, const Iteration& other);
    void Derive(uint32_t period);
    void Repeat(uint32_t count, uint32_t period);
    void Stop();

    Parts m_parts;
    std::optional<NetworkRepetition> m_network; // none: all is simulated
    std::string m_reason;
    bool m_isActive{false}; // looks at every end of an iteration
    std::deque<Iteration> m_last;
    Time m_start;                     // of the present iteration
    InNetworkFigures m_before;        // at its start
    uint64_t m_collectivesBefore{0};  // at its start
    uint64_t m_packetsBefore{0};      // at its start
    uint64_t m_tasks{0};              // hash, so far
    std::vector<uint64_t> m_posted;   // by rank, messages at the end of its last iteration
    std::vector<bool> m_communicates; // by rank, whether it has since
    uint32_t m_derived{0};
    uint64_t m_packetHops{0};
    uint64_t m_packets{0};
    uint64_t m_collectives{0};
    InNetworkFigures m_inNetwork;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_REPETITION_H
