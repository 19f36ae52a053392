/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "port-counters.h"

#include "state-visitor.h"

#include <algorithm>

namespace ns3::training
{

PortCounters&
PortCounters::operator+=(const PortCounters& other)
{
    transmittedFrames += other.transmittedFrames;
    transmittedBytes += other.transmittedBytes;
    receivedFrames += other.receivedFrames;
    receivedBytes += other.receivedBytes;
    lostFrames += other.lostFrames;
    lostBytes += other.lostBytes;
    duplicatedFrames += other.duplicatedFrames;
    droppedFrames += other.droppedFrames;
    droppedBytes += other.droppedBytes;
    markedFrames += other.markedFrames;
    trimmedFrames += other.trimmedFrames;
    pausesSent += other.pausesSent;
    pausesReceived += other.pausesReceived;
    peakQueueBytes = std::max(peakQueueBytes, other.peakQueueBytes);
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        PriorityCounters& mine = byPriority[priority];
        const PriorityCounters& theirs = other.byPriority[priority];
        mine.transmittedFrames += theirs.transmittedFrames;
        mine.transmittedBytes += theirs.transmittedBytes;
        mine.droppedFrames += theirs.droppedFrames;
        mine.markedFrames += theirs.markedFrames;
        mine.peakQueueBytes = std::max(mine.peakQueueBytes, theirs.peakQueueBytes);
        mine.pausedTime += theirs.pausedTime;
        mine.answerFrames += theirs.answerFrames;
        mine.losslessDrops += theirs.losslessDrops;
        mine.pauseStorms += theirs.pauseStorms;
    }
    return *this;
}

void
LineCounters::Visit(StateVisitor& visitor, bool grows)
{
    for (uint64_t* count : {&transmittedFrames, &transmittedBytes, &receivedFrames, &receivedBytes})
    {
        visitor.CountIf(grows, *count);
    }
}

void
PortTotals::Visit(StateVisitor& visitor) const
{
    static_assert(StateVisitor::IsSize(sizeof(PortTotals), 80),
                  "a new member: visit it unless it stays, then correct the size");
    visitor.Same({lostFrames,
                  droppedFrames,
                  duplicatedFrames,
                  markedFrames,
                  trimmedFrames,
                  pausesSent,
                  pausesReceived,
                  peakQueueBytes});
}

void
PriorityCounters::Visit(StateVisitor& visitor, bool grows)
{
    static_assert(StateVisitor::IsSize(sizeof(PriorityCounters), 64),
                  "a new member: visit it unless it stays, then correct the size");
    if (transmittedFrames > 0)
    {
        visitor.CountIf(grows, transmittedFrames);
        visitor.CountIf(grows, transmittedBytes);
        visitor.CountIf(grows, answerFrames);
        auto paused = static_cast<uint64_t>(pausedTime);
        visitor.CountIf(grows, paused);
        pausedTime = static_cast<int64_t>(paused);
        visitor.Same(peakQueueBytes);
    }
}

} // namespace ns3::training
