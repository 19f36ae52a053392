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
 * The placement of the ranks of a request on hosts. Without a topology, all ranks are on one
 * switch.
 */
class RankPlacement
{
  public:
    /** @param request request whose ranks are placed; must outlive this */
    explicit RankPlacement(const CollectiveRequest& request);

    /** @return the topology */
    const TopologyGraph& GetTopology() const;

    /** @return the host of each rank */
    const std::vector<uint32_t>& GetHosts() const;

    /** @return whether there is a rank on every host */
    bool IsFull() const;

    /**
     * @param hosts ordered list of hosts
     * @return the ranks on them, in that order
     */
    std::vector<uint32_t> GetRanks(const std::vector<uint32_t>& hosts) const;

    /**
     * Computes the position of each rank in the hierarchy of the topology. In a grid: its
     * coordinates, without sides of 1. With groups: the number of its group and its number in the
     * group. Otherwise: the number of its switch and its number on the switch.
     *
     * @return per rank, one coordinate per level, outermost level first
     */
    std::vector<std::vector<uint32_t>> GetCoordinates() const;

    /** @return GetCoordinates(), renumbered from 0 without gaps on each level */
    std::vector<std::vector<uint32_t>> GetPlaces() const;

    /**
     * @param places result of GetPlaces()
     * @return number of places on each level
     */
    static std::vector<uint32_t> GetSizes(const std::vector<std::vector<uint32_t>>& places);

    /** @return GetSizes() of the ranks from the innermost level on, without levels of one place */
    std::vector<uint32_t> GetDimensions() const;

  private:
    const TopologyGraph* m_topology;
    TopologyGraph m_switch; // single-switch topology, used if the request has none
    std::vector<uint32_t> m_hosts;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANK_PLACEMENT_H
