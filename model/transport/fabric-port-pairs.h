/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_PORT_PAIRS_H
#define DISTRIBUTED_TRAINING_FABRIC_PORT_PAIRS_H

#include "port-pair-table.h"

#include "ns3/shortest-paths.h"
#include "ns3/training-fabric.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The port pairs between the ranks of a fabric, of which rank r is on host r. Of all pairs of a
 * port of one host and a port of the other, those on the best path are looked at: that of least
 * cost, of these of the highest rate of the slowest link. Each port of these pairs is in one port
 * pair if both hosts have as many, otherwise in as few as can be.
 *
 * Faults do not matter: a port pair stays when its path dies.
 */
class FabricPortPairs : public PortPairTable
{
  public:
    /**
     * @param fabric must outlive this
     * @param ranks number of ranks
     */
    FabricPortPairs(const Fabric& fabric, uint32_t ranks);

    uint32_t GetRanks() const override;
    std::vector<PortPair> GetPortPairs(uint32_t rank, uint32_t peer) override;
    uint32_t GetRank(uint32_t endpoint) const override;

  private:
    /** A path between two nodes or ports. */
    struct Path
    {
        uint32_t cost; ///< FAR: there is none
        uint64_t rate; ///< of its slowest link, bit/s
    };

    static constexpr uint32_t FAR = UINT32_MAX;

    std::vector<PortPair> Find(uint32_t rank, uint32_t peer);
    Path GetPath(uint32_t from, uint32_t to);
    Path GetPathOfSwitches(uint32_t from, uint32_t to);

    const Fabric& m_fabric;
    uint32_t m_ranks;
    uint64_t m_rate{0}; // of all links between switches, if they are equal
    ShortestPaths m_paths;
    std::map<uint32_t, std::vector<Path>> m_found; // by destination switch, from each switch
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PORT_PAIRS_H
