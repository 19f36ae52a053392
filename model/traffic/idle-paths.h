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

/** What a flow adds to the headers of its packets. @ingroup distributed-training-traffic */
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
 * have the headers of a full one, and the first one also those of its flow.
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
     * @return its completion time, s: the delays of the links and switches, and the transmission
     *         of its packets. If n packets go over links of w s/bit, all full (F bits) but the last
     *         one (L bits), and the first one H bits longer, the transmission takes the maximum,
     *         over all links c and k not before c, of (F + H) sum(w up to c) + F (sum(w from c to
     *         k) + (n - 3) max(w from c to k)) + L sum(w from k on): the longest chain of packets
     *         that wait for each other or for their links. Two packets: c = k, without F; one
     *         packet: (L + H) sum(w)
     */
    double GetTime(uint32_t source, uint32_t destination, uint64_t bytes);

    /**
     * As HPCC's simulator calculates it: an idle round trip of a full packet and an
     * acknowledgement, and all packets at the rate of the slowest link.
     * @param source host
     * @param destination another host
     * @param bytes of a flow, at least 1
     * @param ackBytes acknowledgement on the line
     * @return time until the sender has the last acknowledgement, s; about one packet too much
     */
    double GetAcknowledgedTime(uint32_t source,
                               uint32_t destination,
                               uint64_t bytes,
                               uint32_t ackBytes);

  private:
    /** Bits of the packets of a flow. */
    struct Bits
    {
        double first;     // of the first packet
        double full;      // of each one between
        double last;      // of the last one
        uint64_t packets; // number of all
    };

    /** @return time that the packets take on the links, whose s/bit are in m_links */
    double GetTransmission(const Bits& bits) const;

    /** @return the route between two hosts */
    const ShortestPaths::Path& FindPath(uint32_t source, uint32_t destination);

    /** Lists the links of the route between two hosts in m_links. */
    void FollowRoute(uint32_t source, uint32_t destination);

    const TopologyGraph& m_topology;
    PacketSize m_packet;
    FlowHeaders m_headers;
    double m_pipelineDelay; // s
    ShortestPaths m_paths;
    std::map<uint32_t, std::vector<ShortestPaths::Path>> m_found; // by destination, then node
    std::vector<double> m_links;                                  // of a route, s/bit
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IDLE_PATHS_H
