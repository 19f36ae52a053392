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
 * The switch, as the programs in its data plane see it.
 */
class ProgramHost
{
  public:
    /// Instead of a port: the switch's routes decide.
    static constexpr uint16_t BY_ROUTE = std::numeric_limits<uint16_t>::max();

    virtual ~ProgramHost() = default;

    /**
     * Sends a frame of a program.
     * @param frame owned by the switch from now on
     * @param port number of the egress port, or BY_ROUTE
     * @param latency from now until it is forwarded
     */
    virtual void Emit(Frame* frame, uint16_t port, Time latency) = 0;

    /**
     * Sends a frame through the pipeline again, at the rate of the first recirculation port.
     * @param frame owned by the switch until the programs have it back
     */
    virtual void Recirculate(Frame* frame) = 0;

    /**
     * Occupies a recirculation port with a frame that the program keeps: several passes in a row
     * cost no events.
     * @param port number of the recirculation port
     * @param bytes of the frame, which may shrink or grow from pass to pass
     * @param ready time at which the frame reaches the port, ps; of one port in rising order
     * @return time at which it has gone through, ps
     */
    virtual int64_t ReserveRecirculation(uint32_t port, uint32_t bytes, int64_t ready) = 0;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRAM_HOST_H
