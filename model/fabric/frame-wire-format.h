/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FRAME_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_FRAME_WIRE_FORMAT_H

#include "wire-bytes.h"

#include "ns3/packet.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup distributed-training-fabric
 * Frames as the bytes that are on a cable: packets of stock ns-3 stacks, IEEE 802.1Qbb pause
 * frames, and the protocols that have registered a WireFormat, with RoCEv2 among them. Needed only
 * where someone reads bytes, such as a capture file.
 *
 * Fields that a Frame does not have get fixed values: see doc/wire-format.rst, also for the fields
 * that are not on the wire and therefore do not come back.
 */
namespace ns3::training
{

/**
 * @param frame whose `bytes` have room for its contents
 * @return its bytes from the destination address on, without frame check sequence
 * @throw ConfigurationError if its protocol has not registered a WireFormat
 */
Ptr<Packet> ToPacket(const Frame& frame);

/** The outcome of FromPacket(). */
struct ParsedFrame
{
    Frame* frame{nullptr}; ///< owned by the caller; null if they are not a frame of the fabric
    std::string error;     ///< why they are not
};

/**
 * Reads bytes that ToPacket() has written. A payload is taken for a real one.
 * @param packet the bytes
 * @return a frame, or an error: lengths, checksums, an unknown protocol
 */
ParsedFrame FromPacket(const Packet& packet);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_WIRE_FORMAT_H
