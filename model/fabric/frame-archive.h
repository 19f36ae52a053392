/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FRAME_ARCHIVE_H
#define DISTRIBUTED_TRAINING_FRAME_ARCHIVE_H

#include "fabric-frame.h"

#include "ns3/training-byte-archive.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Packs a frame for another process of the same simulation and the same build: its headers as they
 * are in memory, and the bytes of a real payload, a packet of the IP stack and telemetry. This is
 * not the wire format, which has no room for fields that only the simulator has.
 * @param writer to append to
 * @param frame the frame; its position (FrameInTransit) is left out
 */
void WriteFrame(ByteWriter& writer, const Frame& frame);

/**
 * @ingroup distributed-training-fabric
 * @param reader at the beginning of a frame that WriteFrame() has packed
 * @return a new frame with the same contents, owned by the caller
 */
Frame* ReadFrame(ByteReader& reader);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_ARCHIVE_H
