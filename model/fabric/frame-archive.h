/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FRAME_ARCHIVE_H
#define DISTRIBUTED_TRAINING_FRAME_ARCHIVE_H

#include "byte-archive.h"
#include "fabric-frame.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Packs a frame for another process of the same simulation: everything that its next port and those
 * behind can see, with the bytes of a real payload, a packet of the IP stack and telemetry. This is
 * not the wire format, which has no room for what the simulator adds.
 * @param writer where to
 * @param frame the frame; fields that belong to a place (next, port, ingress) are left out
 */
void WriteFrame(ByteWriter& writer, const Frame& frame);

/**
 * @ingroup distributed-training-fabric
 * @param reader where WriteFrame() has packed one
 * @return a new frame like it, owned by the caller
 */
Frame* ReadFrame(ByteReader& reader);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_ARCHIVE_H
