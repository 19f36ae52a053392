/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PRIVATE_GROUPS_H
#define DISTRIBUTED_TRAINING_PRIVATE_GROUPS_H

#include "ns3/task-graph.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Which groups of a job share no link with its other traffic: groups whose ranks are all in one
 * server with a scale-up network that nobody else uses, and the only group of all ranks of a job
 * without messages. There are none with faults, loss, traffic beside the job, jitter of hosts,
 * codecs, or captures.
 */
class PrivateGroups
{
  public:
    /** Where a job runs. */
    struct Place
    {
        bool varies{false};            ///< whether the network or the hosts vary, see above
        bool isWhole{true};            ///< whether no other job may run beside it
        std::vector<uint32_t> servers; ///< by rank of the job, as of TopologyGraph::GetServers()
    };

    /**
     * @param place where the job runs
     * @param graph the job
     * @param senders ranks whose tasks are looked at: all, or those that all others are like
     */
    PrivateGroups(Place place, const TaskGraph& graph, const std::vector<uint32_t>& senders);

    /**
     * @param groups index of groups
     * @param rank a rank of the job
     * @return whether the group of the rank has its links for itself
     */
    bool IsPrivate(uint32_t groups, uint32_t rank) const;

    /**
     * @param groups index of groups
     * @param rank a rank
     * @return whether the group of the rank is in one server
     */
    bool IsInServer(uint32_t groups, uint32_t rank) const
    {
        return m_inside[groups][rank];
    }

    /**
     * @param groups index of groups
     * @return whether they are the only group, of all ranks, of a job without other traffic
     */
    bool IsAlone(uint32_t groups) const
    {
        return m_isAlone[groups];
    }

  private:
    void AddMessage(uint32_t from, uint32_t to);
    void AddCollectives(const TaskGraph& graph, const std::set<uint32_t>& used);

    std::vector<uint32_t> m_servers;                // by rank, as of TopologyGraph::GetServers()
    std::map<uint32_t, std::set<uint32_t>> m_users; // by server, groups that use its network
    std::vector<std::vector<bool>> m_inside; // by groups and rank: the group is in one server
    std::vector<bool> m_isAlone;             // by groups: there is no other traffic
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PRIVATE_GROUPS_H
