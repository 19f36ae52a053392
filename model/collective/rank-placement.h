/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RANK_PLACEMENT_H
#define DISTRIBUTED_TRAINING_RANK_PLACEMENT_H

#include "collective-algorithm.h"

#include "ns3/topology-graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The hosts of the ranks of a request. Without a topology, the ranks are on one switch.
 */
class RankPlacement
{
  public:
    /** @param request whose ranks are placed; must outlive this */
    explicit RankPlacement(const CollectiveRequest& request);

    /** @return the topology */
    const TopologyGraph& GetTopology() const;

    /** @return the host of each rank */
    const std::vector<uint32_t>& GetHosts() const;

    /** @return whether there is a rank on every host */
    bool IsFull() const;

    /**
     * @param hosts some hosts in an order
     * @return the ranks on them, in that order
     */
    std::vector<uint32_t> GetRanks(const std::vector<uint32_t>& hosts) const;

    /**
     * The place of each rank in a hierarchy: its coordinates in a grid, without sides of 1; the
     * numbers of its group and within its group; otherwise the number of its switch and its number
     * on the switch.
     *
     * @return per rank, from the outermost level to the innermost
     */
    std::vector<std::vector<uint32_t>> GetCoordinates() const;

    /** @return GetCoordinates(), on each level numbered from 0 without gaps */
    std::vector<std::vector<uint32_t>> GetPlaces() const;

    /**
     * @param places GetPlaces()
     * @return number of places on each level
     */
    static std::vector<uint32_t> GetSizes(const std::vector<std::vector<uint32_t>>& places);

  private:
    const TopologyGraph* m_topology;
    TopologyGraph m_switch; // used without another topology
    std::vector<uint32_t> m_hosts;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANK_PLACEMENT_H
