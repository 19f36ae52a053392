/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IDLE_PATHS_H
#define DISTRIBUTED_TRAINING_IDLE_PATHS_H

#include "ns3/nstime.h"
#include "ns3/packet-size.h"
#include "ns3/shortest-paths.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3::training
{

/** @ingroup distributed-training-traffic What a flow adds to the headers of its packets. */
struct FlowHeaders
{
    uint32_t first{0};    ///< bytes that only its first packet has
    uint32_t multiple{1}; ///< the payload of a packet is padded to a multiple of it, bytes
};

/**
 * @ingroup distributed-training-traffic
 *
 * Completion times of flows on an idle network: from the first bit at the sender to the last bit at
 * the receiver, at full rate, over the best route. Switches store and forward packets. All packets
 * have the headers of a full one, and the first one those of its flow.
 */
class IdlePaths
{
  public:
    /**
     * @param topology of the network; must outlive this object
     * @param packet full packet of the transport
     * @param pipelineDelay time from a packet's last bit in a switch until it can leave
     * @param headers of a flow
     */
    IdlePaths(const TopologyGraph& topology,
              const PacketSize& packet,
              Time pipelineDelay,
              const FlowHeaders& headers = {});

    /**
     * @param source host
     * @param destination another host
     * @param bytes of a flow, at least 1
     * @return its completion time, s. If n packets go over links of rates r, all full (F bits) but
     *         the last one (L bits), and the first one H bits longer: sum(delays) + (F + H)
     *         sum(1 / r) + ((n - 2) F + L) / min(r), and sum(delays) + (L + H) sum(1 / r) if n is
     *         1. This is exact if the last link is a slowest one
     */
    double GetTime(uint32_t source, uint32_t destination, uint64_t bytes);

  private:
    const TopologyGraph& m_topology;
    PacketSize m_packet;
    FlowHeaders m_headers;
    double m_pipelineDelay; // s
    ShortestPaths m_paths;
    std::map<uint32_t, std::vector<ShortestPaths::Path>> m_found; // by destination, then source
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IDLE_PATHS_H
