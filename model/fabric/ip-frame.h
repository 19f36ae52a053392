/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IP_FRAME_H
#define DISTRIBUTED_TRAINING_IP_FRAME_H

#include "fabric-frame.h"

#include "ns3/packet.h"
#include "ns3/ptr.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * @param packet of the IP stack, from its IPv4 header on
 * @param source endpoint that sends it
 * @return frame of the packet, with the endpoint and flow hash of its addresses and its ECN field
 */
Frame* MakeIpFrame(Ptr<Packet> packet, uint32_t source);

/**
 * @ingroup distributed-training-fabric
 * @param frame of a packet of the IP stack
 * @return the packet, with the frame's congestion mark in its IPv4 header
 */
Ptr<Packet> GetIpPacket(const Frame& frame);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IP_FRAME_H
