/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_QUIET_GROUPS_H
#define DISTRIBUTED_TRAINING_QUIET_GROUPS_H

#include "training-cluster.h"

#include "ns3/collective-replay.h"
#include "ns3/rank-images.h"
#include "ns3/task-graph.h"
#include "ns3/training-application.h"

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The groups of a job that are each in one server, and may share its scale-up network with other
 * messages of the job. It proves that such a group has its links for itself for the length of a
 * collective. No queue pair between one of its ranks and a rank outside has an open message, and
 * none of their tasks can send one before the end. Tasks that run or wait bound the time until
 * then: computations take their time, communication takes none. Where computations make collectives
 * slower, none of its ranks may begin or end one in this time. What a rank sends to the image of
 * another one arrives at that one.
 */
class QuietGroups : public std::enable_shared_from_this<QuietGroups>
{
  public:
    /**
     * @param cluster whose ranks run the job, each on its host; outlives this
     * @param graph the job
     * @param isLoaded whether computations of a rank make its collectives slower
     */
    QuietGroups(const Cluster& cluster, std::shared_ptr<const TaskGraph> graph, bool isLoaded);

    /**
     * @param groups index of groups
     * @param group ranks of one of them, all in one server
     * @return what knows the other traffic on its links; null: this can not be known
     */
    std::unique_ptr<CollectiveReplay::Guard> MakeGuard(uint32_t groups,
                                                       const std::vector<uint32_t>& group);

    /** @param application of a rank, before it starts; outlives the simulation */
    void Add(TrainingApplication& application);

  private:
    class GroupGuard;

    /** What a rank does. */
    struct Rank
    {
        const RankExecution* execution{nullptr};
        bool isOrdered{true};     // messages wait for the computation before
        std::set<uint32_t> peers; // in its server, of messages
        std::set<uint32_t> used;  // indices of groups of its collectives
    };

    void List(uint32_t rank);
    const RankImages& GetImages() const;
    bool AreInServer(uint32_t one, uint32_t other) const;
    bool Meet(const std::vector<uint32_t>& ranks,
              uint32_t rank,
              const std::vector<bool>& group) const;

    const Cluster& m_cluster;
    bool m_isLoaded;
    std::shared_ptr<const TaskGraph> m_graph;
    std::vector<uint32_t> m_servers; // by rank
    std::vector<Rank> m_ranks;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_QUIET_GROUPS_H
