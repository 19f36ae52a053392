/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IP_FRAME_H
#define DISTRIBUTED_TRAINING_IP_FRAME_H

#include "fabric-frame.h"

#include "ns3/ipv4-header.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * @param packet packet of the IP stack, starting with its IPv4 header
 * @param source sending endpoint
 * @param destination endpoint of the next hop
 * @return a frame with the packet; its flow hash and ECN field are taken from the packet
 */
Frame* MakeIpFrame(Ptr<Packet> packet, uint32_t source, uint32_t destination);

/**
 * @ingroup distributed-training-fabric
 * @param packet as above
 * @param header its IPv4 header
 * @param source as above
 * @param destination as above
 * @return as above
 */
Frame* MakeIpFrame(Ptr<Packet> packet,
                   const Ipv4Header& header,
                   uint32_t source,
                   uint32_t destination);

/**
 * @ingroup distributed-training-fabric
 * @param frame frame that carries a packet of the IP stack
 * @return the packet, with the ECN mark of the frame in its IPv4 header; others may hold it, so it
 *         must not be modified
 */
Ptr<Packet> GetIpPacket(const Frame& frame);

/**
 * @ingroup distributed-training-fabric
 * @param packet starting with its IPv4 header
 * @return size of its IPv4 and TCP headers, bytes; 0 if it is not TCP
 */
uint32_t GetTcpHeaderBytes(const Packet& packet);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IP_FRAME_H
