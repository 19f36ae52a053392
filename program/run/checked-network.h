/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHECKED_NETWORK_H
#define DISTRIBUTED_TRAINING_CHECKED_NETWORK_H

#include "ns3/cluster-options.h"
#include "ns3/lower-bound.h"
#include "ns3/nstime.h"
#include "ns3/shortest-paths.h"
#include "ns3/task-graph.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3::training
{

/** The network of a job, as far as it is known without a simulation. */
class CheckedNetwork
{
  public:
    /**
     * @param graph the job; outlives this object
     * @param cluster its network
     */
    CheckedNetwork(const TaskGraph& graph, const ClusterOptions& cluster);

    /** @return lower bound of a collective of the group of a rank */
    Time GetTime(const GraphTask& task, uint32_t rank);

    /** @return lower bound of a message between two ranks, s for each byte */
    double GetSecondsPerByte(uint32_t from, uint32_t to);

    /** @return links on the way between two ranks */
    uint32_t GetHops(uint32_t from, uint32_t to);

    /** @return links between neighbours of a rank's group, mean of some of them */
    double GetHopsInGroup(uint32_t groups, uint32_t rank);

    /** @return hosts, switches and links */
    const TopologyGraph& GetTopology() const
    {
        return m_topology;
    }

  private:
    /** @return the ranks of a group, found once */
    const std::vector<uint32_t>& GetGroup(uint32_t groups, uint32_t rank);

    const TaskGraph& m_graph;
    TopologyGraph m_topology;
    ShortestPaths m_paths;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> m_groups;
    std::map<std::vector<uint32_t>, LowerBound> m_bounds;          // by ranks of a group
    std::map<uint32_t, std::vector<ShortestPaths::Path>> m_toRank; // by destination
    std::map<std::pair<uint32_t, uint32_t>, double> m_hops;        // by groups and rank
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHECKED_NETWORK_H
