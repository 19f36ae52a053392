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
 * Conversion between frames and their bytes on the wire: packets of stock ns-3 stacks, IEEE
 * 802.1Qbb pause frames, and protocols with a registered WireFormat, including RoCEv2. Used only
 * where real bytes are needed, such as in capture files.
 *
 * Wire fields without a counterpart in Frame get fixed values. doc/wire-format.rst lists them, and
 * also the Frame fields that are not on the wire and are therefore lost.
 */
namespace ns3::training
{

/**
 * Appends a frame's bytes, starting with the destination address, without frame check sequence.
 * @param out empty buffer
 * @param frame frame to convert; `bytes` must be large enough for its contents
 * @throw ConfigurationError if its protocol has not registered a WireFormat
 */
void PutFrame(WireBytes& out, const Frame& frame);

/**
 * @param frame frame to convert; `bytes` must be large enough for its contents
 * @return its bytes, starting with the destination address, without frame check sequence
 * @throw ConfigurationError if its protocol has not registered a WireFormat
 */
Ptr<Packet> ToPacket(const Frame& frame);

/** Result of FromPacket(). */
struct ParsedFrame
{
    Frame* frame{nullptr}; ///< owned by the caller; null on error
    std::string error;     ///< error message if the bytes are not a frame of the fabric
};

/**
 * Parses the output of ToPacket(). The payload becomes a real payload.
 * @param packet the bytes
 * @return a frame, or an error: invalid lengths or checksums, or an unknown protocol
 */
ParsedFrame FromPacket(const Packet& packet);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_WIRE_FORMAT_H
