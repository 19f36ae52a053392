/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROGRAM_HOST_H
#define DISTRIBUTED_TRAINING_PROGRAM_HOST_H

#include "fabric-frame.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <limits>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * The interface of a switch to the programs in its data plane.
 */
class ProgramHost
{
  public:
    /// Value in place of a port: forward by the routes of the switch.
    static constexpr uint16_t BY_ROUTE = std::numeric_limits<uint16_t>::max();

    virtual ~ProgramHost() = default;

    /**
     * Sends a frame of a program.
     * @param frame the frame; owned by the switch from now on
     * @param port number of the egress port, or BY_ROUTE
     * @param latency latency until the frame is forwarded
     */
    virtual void Emit(Frame* frame, uint16_t port, Time latency) = 0;

    /**
     * Frames emitted until EndMulticast() are copies of one frame: they share its space in the
     * packet memory.
     */
    virtual void BeginMulticast() = 0;

    /** Ends BeginMulticast(). */
    virtual void EndMulticast() = 0;

    /**
     * Sends a frame through the pipeline again, at the rate of the first recirculation port.
     * @param frame frame to recirculate; owned by the switch until the programs receive it again
     */
    virtual void Recirculate(Frame* frame) = 0;

    /**
     * Reserves a recirculation port for a frame that the program keeps, so that several consecutive
     * passes need no events.
     * @param port number of the recirculation port
     * @param bytes size of the frame, which may change from pass to pass
     * @param ready time at which the frame reaches the port, ps; non-decreasing per port
     * @return time at which the frame has passed the port, ps
     */
    virtual int64_t ReserveRecirculation(uint32_t port, uint32_t bytes, int64_t ready) = 0;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRAM_HOST_H
