/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PORT_PAIR_TABLE_H
#define DISTRIBUTED_TRAINING_PORT_PAIR_TABLE_H

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** A connection between two ranks: one port of each, and the rate of the path between them. */
struct PortPair
{
    uint32_t rail;           ///< local port, by number
    uint32_t localEndpoint;  ///< endpoint of the local port
    uint32_t remoteEndpoint; ///< endpoint of the remote port
    uint64_t rate;           ///< rate of the local port, bit/s; 0: unknown
    uint64_t pathRate;       ///< rate of the slowest link on the path, bit/s; 0: unknown
};

/**
 * @ingroup distributed-training-transport
 * The port pairs between the ranks of a group.
 */
class PortPairTable
{
  public:
    virtual ~PortPairTable() = default;

    /** @return number of ranks */
    virtual uint32_t GetRanks() const = 0;

    /**
     * @param rank local rank
     * @param peer remote rank
     * @return the port pairs from rank to peer, at least one; both directions have the same order
     */
    virtual std::vector<PortPair> GetPortPairs(uint32_t rank, uint32_t peer) = 0;

    /**
     * @param endpoint number of an endpoint
     * @return the rank that owns it; GetRanks() if there is none
     */
    virtual uint32_t GetRank(uint32_t endpoint) const = 0;

    /**
     * @param rank local rank
     * @param peer remote rank
     * @return the rank as which the remote ports know the local one
     */
    virtual uint32_t GetRankAt(uint32_t rank, [[maybe_unused]] uint32_t peer) const
    {
        return rank;
    }
};

/**
 * @ingroup distributed-training-transport
 * One port pair between any two ranks, each of which has one port.
 */
class SinglePortPairs : public PortPairTable
{
  public:
    /** @param endpoints endpoint of each rank */
    explicit SinglePortPairs(std::vector<uint32_t> endpoints);

    uint32_t GetRanks() const override;
    std::vector<PortPair> GetPortPairs(uint32_t rank, uint32_t peer) override;
    uint32_t GetRank(uint32_t endpoint) const override;

  private:
    std::vector<uint32_t> m_endpoints;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PORT_PAIR_TABLE_H
