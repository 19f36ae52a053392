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

class StateVisitor;

/** Counters of one priority of a port, a cache line. */
struct PriorityCounters
{
    uint64_t transmittedFrames{0}; ///< frames sent
    uint64_t transmittedBytes{0};  ///< bytes sent, excluding preamble and gap
    uint64_t peakQueueBytes{0};    ///< peak queue length, bytes
    uint64_t droppedFrames{0};     ///< frames dropped by the owner of the port
    uint64_t markedFrames{0};      ///< frames ECN-marked on transmission
    int64_t pausedTime{0};         ///< total time paused by the peer, until the last resume, ps
    uint64_t answerFrames{0};  ///< RoCE ACKs, NAKs and CNPs sent, which are among the frames sent
    uint32_t losslessDrops{0}; ///< frames dropped for lack of buffer space though lossless
    uint32_t pauseStorms{0};   ///< pauses that the watchdog took for a storm

    /**
     * Visits the counters, of which frames and bytes grow in a steady state.
     * @param visitor visits them
     * @param grows whether frames and bytes may grow
     */
    void Visit(StateVisitor& visitor, bool grows);
};

/** Frames at both ends of the line of a port, pause frames included. */
struct LineCounters
{
    uint64_t transmittedFrames{0}; ///< frames sent
    uint64_t transmittedBytes{0};  ///< bytes sent, excluding preamble and gap
    uint64_t receivedFrames{0};    ///< frames received
    uint64_t receivedBytes{0};     ///< bytes received

    /**
     * Visits the counters.
     * @param visitor visits them
     * @param grows whether they may grow in a steady state
     */
    void Visit(StateVisitor& visitor, bool grows);
};

/** What befell frames of a port, all priorities together. */
struct PortTotals
{
    uint64_t lostFrames{0};       ///< frames lost on the link, on sending or in flight
    uint64_t lostBytes{0};        ///< bytes lost
    uint64_t droppedFrames{0};    ///< frames dropped by the owner of the port, see DropReason
    uint64_t droppedBytes{0};     ///< bytes dropped
    uint64_t markedFrames{0};     ///< frames ECN-marked on transmission
    uint64_t pausesSent{0};       ///< pause frames sent, resumes included
    uint64_t pausesReceived{0};   ///< pause frames received, resumes included
    uint64_t peakQueueBytes{0};   ///< peak length of all queues together, bytes
    uint64_t duplicatedFrames{0}; ///< frames duplicated by the link
    uint64_t trimmedFrames{0};    ///< frames that the owner cut to their header for this port

    /**
     * Visits the counters, all of which stay in a steady state.
     * @param visitor visits them
     */
    void Visit(StateVisitor& visitor) const;
};

/// Counters by priority, which exclude pause frames.
using CountersByPriority = std::array<PriorityCounters, PRIORITIES>;

/**
 * @ingroup distributed-training-fabric
 *
 * Counters of one port. Conservation for one direction of a link, over both ends: transmitted +
 * duplicated = received + lost + in flight.
 */
struct PortCounters : LineCounters, PortTotals
{
    CountersByPriority byPriority{}; ///< the same by priority

    /**
     * Adds the counters of another port; a peak becomes the maximum of both.
     * @param other counters of the other port
     * @return this
     */
    PortCounters& operator+=(const PortCounters& other);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PORT_COUNTERS_H
