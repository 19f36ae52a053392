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
 * Serializes a frame for another process of the same simulation and build: the in-memory headers,
 * and the bytes of a real payload, an IP packet and telemetry. This is not the wire format, which
 * cannot represent simulator-only fields.
 * @param writer writer to append to
 * @param frame the frame; its FrameInTransit state is not written
 */
void WriteFrame(ByteWriter& writer, const Frame& frame);

/**
 * @ingroup distributed-training-fabric
 * @param reader reader at the beginning of a frame written by WriteFrame()
 * @return a new frame with the same contents, owned by the caller
 */
Frame* ReadFrame(ByteReader& reader);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_ARCHIVE_H
