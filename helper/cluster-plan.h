/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_PLAN_H
#define DISTRIBUTED_TRAINING_CLUSTER_PLAN_H

#include "cluster-options.h"

#include "ns3/collective-planner.h"
#include "ns3/packet-size.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The plans of a cluster's collectives: by the schedule of a file, by an algorithm, or by the
 * algorithm that is expected to be fastest. Operations that a system offloads to the network are
 * planned, too, by a ring: the hosts carry them out after a failure of the network.
 */
class ClusterPlan
{
  public:
    /**
     * @param options of the cluster
     * @param topology of the cluster; outlives this
     * @param packet full packet of the transport, for the choice of an algorithm
     * @throw ConfigurationError if there is no plan for the cluster
     */
    ClusterPlan(const ClusterOptions& options,
                const TopologyGraph& topology,
                const PacketSize& packet);

    /** @return the plans for all ranks */
    const std::shared_ptr<CollectivePlanner>& Get() const;

    /**
     * @param hosts of the ranks of a group
     * @param algorithm of their collectives; empty: that of all
     * @return the plans for the group
     * @throw ConfigurationError if the plan of all is a file's, or the algorithm has none for it
     */
    std::shared_ptr<CollectivePlanner> MakeForGroup(const std::vector<uint32_t>& hosts,
                                                    const std::string& algorithm) const;

    /** @return the algorithm as the options say, or the name in the file's schedule */
    const std::string& GetAlgorithm() const;

  private:
    void LoadFile();
    std::shared_ptr<CollectivePlanner> Make(const std::vector<uint32_t>& hosts,
                                            const std::string& algorithm) const;

    ClusterOptions m_options;
    const TopologyGraph& m_topology;
    PacketSize m_packet;
    std::string m_algorithm;     // of the hosts
    std::string m_algorithmName; // as the options say, or of the file
    std::shared_ptr<CollectivePlanner> m_planner;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_PLAN_H
