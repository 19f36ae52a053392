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
 * The border of this process in a parallel simulation. It takes over frames sent to a peer port in
 * another process.
 */
class FrameBorder
{
  public:
    virtual ~FrameBorder() = default;

    /**
     * Takes over a frame sent to another process.
     * @param frame the frame; owned by the callee; `port` is the peer port, simulated by another
     *        process
     * @param arrival arrival time at the peer, ps
     */
    virtual void Cross(Frame* frame, int64_t arrival) = 0;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_BORDER_H
