/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_PLAN_H
#define DISTRIBUTED_TRAINING_CLUSTER_PLAN_H

#include "cluster-options.h"
#include "nic-helper.h"

#include "ns3/collective-planner.h"
#include "ns3/host-model.h"
#include "ns3/packet-size.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The schedules of a cluster's collectives: from a file, from an algorithm, or from the algorithm
 * with the lowest expected time. Operations offloaded to the network get a ring schedule too, which
 * the hosts run after a failure of the network. NICs execute the schedules of their algorithm.
 */
class ClusterPlan
{
  public:
    /**
     * @param options of the cluster
     * @param topology of the cluster; must outlive this object
     * @param packet full packet of the transport, for the choice of an algorithm
     * @param engines in the NICs, likewise
     * @throw ConfigurationError if no schedule exists for the cluster
     */
    ClusterPlan(const ClusterOptions& options,
                const TopologyGraph& topology,
                const PacketSize& packet,
                const NicHelper& engines);

    /** @return the planner of all ranks */
    const std::shared_ptr<CollectivePlanner>& Get() const;

    /** @return a planner of all-gathers of all ranks: by a ring, if the algorithm has none */
    std::shared_ptr<CollectivePlanner> MakeGathers() const;

    /**
     * @param hosts of the ranks of a group
     * @param algorithm of their collectives; empty: that of the cluster
     * @return the planner of the group
     * @throw ConfigurationError if the cluster uses a schedule file, or the algorithm does not
     *        support the group
     */
    std::shared_ptr<CollectivePlanner> MakeForGroup(const std::vector<uint32_t>& hosts,
                                                    const std::string& algorithm) const;

    /**
     * @param hosts of the ranks of a group; empty: of all ranks
     * @return the model of their hosts, made once; null: hosts add no time
     * @throw ConfigurationError if the options name no host model
     */
    std::shared_ptr<const HostModel> GetHostModel(const std::vector<uint32_t>& hosts) const;

    /** @return parameters of the network, by which algorithms are chosen */
    const NetworkCost& GetNetworkCost() const;

    /**
     * @return the choices of algorithms that all planners have made so far, each once: by number of
     *         ranks, operation and size
     */
    std::vector<PlannedChoice> GetChoices() const;

    /** @return the algorithm of the options, or the name in the schedule file */
    const std::string& GetAlgorithm() const;

  private:
    void LoadFile();
    std::unique_ptr<AlgorithmSelector> MakeSelector(const std::vector<uint32_t>& hosts,
                                                    const std::string& algorithm) const;
    std::shared_ptr<CollectivePlanner> Make(const std::vector<uint32_t>& hosts,
                                            const std::string& algorithm) const;

    ClusterOptions m_options;
    const TopologyGraph& m_topology;
    std::unique_ptr<TopologyGraph> m_limited; // by engines in NICs, to choose by; null: no engines
    NetworkCost m_network;
    std::string m_algorithm;     // of collectives on hosts
    std::string m_algorithmName; // from the options or the schedule file
    std::shared_ptr<CollectivePlanner> m_planner;
    mutable std::vector<std::shared_ptr<CollectivePlanner>> m_choosers; // planners that choose
    /// By hosts of a group.
    mutable std::map<std::vector<uint32_t>, std::shared_ptr<const HostModel>> m_hostModels;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_PLAN_H
