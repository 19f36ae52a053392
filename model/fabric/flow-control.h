/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FLOW_CONTROL_H
#define DISTRIBUTED_TRAINING_FLOW_CONTROL_H

#include "ns3/nstime.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * How the receiver at the end of a link keeps the sender from overrunning its lossless classes.
 */
enum class FlowControl : uint8_t
{
    NONE,  ///< not at all: all classes are lossy
    PFC,   ///< by pause frames, IEEE 802.1Qbb
    CREDIT ///< by credits for free buffer space, as NVLink, InfiniBand and UALink
};

/**
 * @ingroup distributed-training-fabric
 * Maximum time from the arrival of a pause frame until the port starts no more frame of the class:
 * the limits in pause quanta of IEEE Std 802.3, 31B.3.7, which also hold for priority flow control.
 * At a rate between those of the standard, the time at the next lower one.
 * @param bitsPerSecond line rate
 * @return the limit
 */
Time GetPauseResponseLimit(uint64_t bitsPerSecond);

/**
 * @ingroup distributed-training-fabric
 * @param response attribute of a device; negative: the limit
 * @param bitsPerSecond line rate of a port
 * @return time from the arrival of a pause until the port obeys it
 */
inline Time
ResolvePauseResponse(Time response, uint64_t bitsPerSecond)
{
    return response.IsStrictlyNegative() ? GetPauseResponseLimit(bitsPerSecond) : response;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FLOW_CONTROL_H
