/*
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
 * Where the ranks of a request are. If it names no topology they are on one switch.
 */
class RankPlacement
{
  public:
    /** @param request what to look at; must outlive this */
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
     * The place of each rank in a hierarchy: in a grid its coordinates, without sides of 1; in
     * servers or packages their number and its number within; otherwise the number of its switch
     * and its number on it.
     *
     * @return per rank, from the outermost level to the innermost
     */
    std::vector<std::vector<uint32_t>> GetCoordinates() const;

    /** @return GetCoordinates(), on each level numbered from 0 without gaps */
    std::vector<std::vector<uint32_t>> GetPlaces() const;

    /**
     * @param places GetPlaces()
     * @return how many places there are on each level
     */
    static std::vector<uint32_t> GetSizes(const std::vector<std::vector<uint32_t>>& places);

    /**
     * Checks that there is a rank in every place of a grid with all levels.
     * @param algorithm that needs it, for the message
     * @param otherwise what else would help, or empty
     * @throw ConfigurationError if there is not
     */
    void CheckAllPlaces(const std::string& algorithm, const std::string& otherwise) const;

  private:
    const TopologyGraph* m_topology;
    TopologyGraph m_switch; // if there is no other
    std::vector<uint32_t> m_hosts;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANK_PLACEMENT_H
