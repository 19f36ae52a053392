/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FRAME_BORDER_H
#define DISTRIBUTED_TRAINING_FRAME_BORDER_H

#include "fabric-frame.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * The border of the part of a simulation that this process runs: takes the frames sent to a peer
 * in another process.
 */
class FrameBorder
{
  public:
    virtual ~FrameBorder() = default;

    /**
     * @param frame owned by the callee; `port` is the peer, which lives in another process
     * @param arrival time of its arrival there, ps
     */
    virtual void Cross(Frame* frame, int64_t arrival) = 0;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_BORDER_H
