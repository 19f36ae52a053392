/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FRAME_SOURCE_H
#define DISTRIBUTED_TRAINING_FRAME_SOURCE_H

#include "fabric-frame.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * A source that creates frames on demand when the line is free, such as the queue pairs of a NIC.
 * Its frames compete with the frames queued in the port.
 */
class FrameSource
{
  public:
    virtual ~FrameSource() = default;

    /**
     * @param now simulated time, ps
     * @return bit p is set if a frame of priority p is ready
     */
    virtual uint8_t GetReady(int64_t now) = 0;

    /**
     * @param priority a priority reported by GetReady()
     * @param now simulated time, ps
     * @return a frame of that priority, owned by the caller
     */
    virtual Frame* Pull(uint8_t priority, int64_t now) = 0;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_SOURCE_H
