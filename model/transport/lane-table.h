/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LANE_TABLE_H
#define DISTRIBUTED_TRAINING_LANE_TABLE_H

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** A way between two ranks: a port of each, and what the network between them carries. */
struct Lane
{
    uint32_t rail;           ///< of this rank's host: which of its ports
    uint32_t localEndpoint;  ///< endpoint of that port
    uint32_t remoteEndpoint; ///< endpoint of the other rank's port
    uint64_t rate;           ///< of the slowest link on the way, bit/s; 0: that of the port
};

/**
 * @ingroup distributed-training-transport
 * The lanes between the ranks of a group.
 */
class LaneTable
{
  public:
    virtual ~LaneTable() = default;

    /** @return number of ranks */
    virtual uint32_t GetRanks() const = 0;

    /**
     * @param rank one rank
     * @param peer another one
     * @return the lanes from rank to peer, one at least; lane i is lane i from peer to rank, too
     */
    virtual std::vector<Lane> GetLanes(uint32_t rank, uint32_t peer) = 0;

    /**
     * @param endpoint number of an endpoint
     * @return the rank whose port it is; GetRanks() if there is none
     */
    virtual uint32_t GetRank(uint32_t endpoint) const = 0;
};

/**
 * @ingroup distributed-training-transport
 * One lane between each two ranks, which have one port each.
 */
class SingleLanes : public LaneTable
{
  public:
    /** @param endpoints endpoint of each rank */
    explicit SingleLanes(std::vector<uint32_t> endpoints);

    uint32_t GetRanks() const override;
    std::vector<Lane> GetLanes(uint32_t rank, uint32_t peer) override;
    uint32_t GetRank(uint32_t endpoint) const override;

  private:
    std::vector<uint32_t> m_endpoints;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LANE_TABLE_H
