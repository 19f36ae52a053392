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
 * Of one priority, its frames and those that others queue in the port have an equal share of the
 * bytes.
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

    /**
     * @param frame queued in the port
     * @return whether it is of the source itself, such as an acknowledgement, so that it precedes
     *         what the source creates; all others share the line with that
     */
    virtual bool IsOwn([[maybe_unused]] const Frame& frame) const
    {
        return false;
    }

    /**
     * A program in the NIC has changed the size of the frame that was pulled last, before its
     * transmission: what the source paces, it must count anew.
     * @param frame the frame, with its size on the line
     * @param before its size when it was pulled, bytes
     * @param now simulated time, ps
     */
    virtual void OnResize([[maybe_unused]] const Frame& frame,
                          [[maybe_unused]] uint32_t before,
                          [[maybe_unused]] int64_t now)
    {
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_SOURCE_H
