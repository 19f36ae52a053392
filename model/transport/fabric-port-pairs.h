/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_PORT_PAIRS_H
#define DISTRIBUTED_TRAINING_FABRIC_PORT_PAIRS_H

#include "port-pair-table.h"

#include "ns3/rank-images.h"
#include "ns3/shortest-paths.h"
#include "ns3/training-fabric.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The port pairs between the ranks of a fabric, where rank r is on host r. Candidates are all pairs
 * of a port of one host and a port of the other that are on the best path: the path of least cost,
 * and among those the path whose slowest link is fastest. If both hosts have equally many such
 * ports, each port is in one port pair; otherwise ports are shared as little as possible.
 *
 * Faults do not change the table: a port pair stays when its path fails.
 *
 * If ranks are images of others, a simulated rank sends to a simulated one in place of its peer,
 * and is known there as the rank that sends to this one. Behind other switches, its peer keeps its
 * address: a switch on the way turns what is sent to it (SwitchDevice::Readdress()).
 */
class FabricPortPairs : public PortPairTable
{
  public:
    /**
     * @param fabric must outlive this
     * @param ranks number of ranks
     * @param images ranks that are not simulated
     */
    FabricPortPairs(const Fabric& fabric, uint32_t ranks, RankImages images = {});

    uint32_t GetRanks() const override;
    std::vector<PortPair> GetPortPairs(uint32_t rank, uint32_t peer) override;
    uint32_t GetRank(uint32_t endpoint) const override;
    uint32_t GetRankAt(uint32_t rank, uint32_t peer) const override;

  private:
    /** A path between two nodes or ports. */
    struct Path
    {
        uint32_t cost; ///< FAR: no path
        uint64_t rate; ///< rate of the slowest link, bit/s
    };

    static constexpr uint32_t FAR = UINT32_MAX;

    std::vector<PortPair> Find(uint32_t rank, uint32_t peer);
    uint32_t FindRail(uint32_t rank, uint32_t endpoint) const;
    bool IsScaleUp(uint32_t endpoint) const;
    Path GetPath(uint32_t from, uint32_t to);
    Path GetPathOfSwitches(uint32_t from, uint32_t to);

    const Fabric& m_fabric;
    uint32_t m_ranks;
    const RankImages m_images;
    uint64_t m_rate{0}; // common rate of all links between switches; 0 if they differ
    std::unique_ptr<ShortestPaths> m_paths;        // null until one is needed
    std::map<uint32_t, std::vector<Path>> m_found; // by destination switch, then source switch
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PORT_PAIRS_H
