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
 * A source of frames that are made only when the line can take them, such as the queue pairs of a
 * NIC. They compete with the frames that wait in the queues of the port.
 */
class FrameSource
{
  public:
    virtual ~FrameSource() = default;

    /**
     * @param now simulated time, ps
     * @return bit p is set if there is a frame of priority p now
     */
    virtual uint8_t GetReady(int64_t now) = 0;

    /**
     * @param priority one that GetReady() named
     * @param now simulated time, ps
     * @return a frame of that priority, owned by the caller
     */
    virtual Frame* Pull(uint8_t priority, int64_t now) = 0;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_SOURCE_H
