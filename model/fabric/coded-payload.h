/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODED_PAYLOAD_H
#define DISTRIBUTED_TRAINING_CODED_PAYLOAD_H

#include "fabric-frame.h"

#include <cstdint>

/**
 * @file
 * @ingroup distributed-training-fabric
 *
 * How a frame says that an engine in the sending NIC has coded its payload. The headers are those
 * of the payload as the host sent it, but for the length of the IPv4 packet and its checksum. Its
 * type of service is that by which the host has marked gradients (INCEPTIONN: Li et al., MICRO
 * 2018, section on the NIC): Frame::typeOfService, or GradientTag. The IPv4 identification, which
 * has no meaning with "don't fragment" (RFC 6864), carries the length of the payload in its upper
 * 14 bits; the lower two are the position of its first byte in a number, 0. Frame::payloadBytes is
 * the size of the code. A frame of kind IP keeps its packet; of that only the headers are on the
 * line, and the code follows them.
 */
namespace ns3::training
{

/// Bits of the type of service that a host may set; the others are the ECN field.
static constexpr uint8_t MAX_TYPE_OF_SERVICE = 0xfc;
/// Largest payload whose length the identification can carry, bytes.
static constexpr uint32_t MAX_CODED_PAYLOAD = 0x3fff;

/**
 * @param frame a frame
 * @return whether its payload is coded
 */
inline bool
IsCoded(const Frame& frame)
{
    return frame.kind != FrameKind::PAUSE && frame.identification != 0;
}

/**
 * @param frame a coded frame
 * @return size of its payload without code, bytes
 */
inline uint32_t
GetPlainBytes(const Frame& frame)
{
    return frame.identification >> 2;
}

/**
 * Marks a frame as coded.
 * @param frame a frame whose payload has been replaced by its code
 * @param plain former size of the payload, bytes, 1 to MAX_CODED_PAYLOAD
 */
inline void
MarkCoded(Frame& frame, uint32_t plain)
{
    frame.identification = static_cast<uint16_t>(plain << 2);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CODED_PAYLOAD_H
