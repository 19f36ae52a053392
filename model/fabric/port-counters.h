/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PORT_COUNTERS_H
#define DISTRIBUTED_TRAINING_PORT_COUNTERS_H

#include "fabric-traffic-class.h"

#include <array>
#include <cstdint>

namespace ns3::training
{

/** Counts of one priority of a port. */
struct PriorityCounters
{
    uint64_t transmittedFrames{0}; ///< frames sent
    uint64_t transmittedBytes{0};  ///< their bytes, without preamble and gap
    uint64_t peakQueueBytes{0};    ///< most bytes that ever waited
    uint64_t droppedFrames{0};     ///< frames that the owner of the port dropped
    uint64_t markedFrames{0};      ///< frames marked congestion experienced on leaving
    int64_t pausedTime{0};         ///< total time paused by the peer, until the last resume, ps
};

/**
 * @ingroup distributed-training-fabric
 *
 * Counts of one port; those of a priority leave out pause frames. Conservation, over both ends of
 * one direction of a link: transmitted + duplicated = received + lost + in flight.
 */
struct PortCounters
{
    uint64_t transmittedFrames{0}; ///< frames sent, pause frames included
    uint64_t transmittedBytes{0};  ///< their bytes, without preamble and gap
    uint64_t receivedFrames{0};    ///< frames that arrived
    uint64_t receivedBytes{0};     ///< their bytes
    uint64_t lostFrames{0};        ///< frames lost on the link: on sending, or before they arrived
    uint64_t lostBytes{0};         ///< their bytes
    uint64_t duplicatedFrames{0};  ///< frames sent that the link duplicated
    uint64_t droppedFrames{0};     ///< frames that the owner of the port dropped, see DropReason
    uint64_t droppedBytes{0};      ///< their bytes
    uint64_t markedFrames{0};      ///< frames marked congestion experienced on leaving
    uint64_t pausesSent{0};        ///< pause frames sent, resumes included
    uint64_t pausesReceived{0};    ///< pause frames that arrived, resumes included
    uint64_t peakQueueBytes{0};    ///< most bytes that ever waited for the line
    std::array<PriorityCounters, PRIORITIES> byPriority{}; ///< of these, by priority

    /**
     * Adds the counts of another port; a peak becomes the higher of the two.
     * @param other the other port's
     * @return this
     */
    PortCounters& operator+=(const PortCounters& other);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PORT_COUNTERS_H
