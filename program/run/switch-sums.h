/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_SUMS_H
#define DISTRIBUTED_TRAINING_SWITCH_SUMS_H

#include "run/simulated-work.h"

#include "ns3/cluster-options.h"
#include "ns3/collective-operation.h"
#include "ns3/host-model.h"
#include "ns3/in-network-system.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/** The collectives that switches sum, as far as they are known without a simulation. */
class SwitchSums
{
  public:
    /**
     * @param cluster of a job
     * @param topology of it
     */
    SwitchSums(const ClusterOptions& cluster, const TopologyGraph& topology);

    /** @return packets of a rank in a collective of a group; none: hosts execute it */
    std::optional<SimulatedMessages> Find(CollectiveOperation operation,
                                          const std::vector<uint32_t>& group,
                                          double bytes);

  private:
    /** What is known of a group. */
    struct Group
    {
        std::string system;                     // empty: hosts sum
        std::shared_ptr<const HostModel> hosts; // which choose; null: switches sum always
        double links{0};                        // that a packet of a rank crosses
    };

    Group MakeGroup(const std::vector<uint32_t>& ranks) const;
    double CountLinks(SumPlace place, const std::vector<uint32_t>& group) const;

    const ClusterOptions& m_cluster;
    const TopologyGraph& m_topology;
    std::map<std::vector<uint32_t>, Group> m_groups; // by ranks
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_SUMS_H
