/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/port-growth.h"

#include <cstddef>

namespace ns3::training
{

namespace
{

/**
 * Calls a function for every count of ports but marks; peaks are no counts.
 * @param visit gets a reference to the count of each
 * @param counters of the ports
 */
template <class Visit, class... Counters>
void
ForEachCount(const Visit& visit, Counters&... counters)
{
    visit(counters.transmittedFrames...);
    visit(counters.transmittedBytes...);
    visit(counters.receivedFrames...);
    visit(counters.receivedBytes...);
    visit(counters.lostFrames...);
    visit(counters.lostBytes...);
    visit(counters.droppedFrames...);
    visit(counters.droppedBytes...);
    visit(counters.pausesSent...);
    visit(counters.pausesReceived...);
    visit(counters.duplicatedFrames...);
    visit(counters.trimmedFrames...);
    for (std::size_t i = 0; i < PRIORITIES; i++)
    {
        visit(counters.byPriority[i].transmittedFrames...);
        visit(counters.byPriority[i].transmittedBytes...);
        visit(counters.byPriority[i].droppedFrames...);
        visit(counters.byPriority[i].pausedTime...);
        visit(counters.byPriority[i].answerFrames...);
        visit(counters.byPriority[i].losslessDrops...);
        visit(counters.byPriority[i].pauseStorms...);
    }
}

/** Likewise for counts of marked frames. */
template <class Visit, class... Counters>
void
ForEachMarkCount(const Visit& visit, Counters&... counters)
{
    visit(counters.markedFrames...);
    for (std::size_t i = 0; i < PRIORITIES; i++)
    {
        visit(counters.byPriority[i].markedFrames...);
    }
}

} // namespace

PortCounters
GetGrowth(const PortCounters& before, const PortCounters& after)
{
    PortCounters growth = after;
    const auto subtract = [](auto& count, const auto& old) { count -= old; };
    ForEachCount(subtract, growth, before);
    ForEachMarkCount(subtract, growth, before);
    growth.peakQueueBytes = 0;
    for (PriorityCounters& ofClass : growth.byPriority)
    {
        ofClass.peakQueueBytes = 0;
    }
    return growth;
}

void
Grow(PortCounters& counters, const PortCounters& growth)
{
    const auto add = [](auto& count, const auto& added) { count += added; };
    ForEachCount(add, counters, growth);
    ForEachMarkCount(add, counters, growth);
}

bool
HasEqualCounts(const PortCounters& one, const PortCounters& other, bool comparesMarks)
{
    bool areEqual = true;
    const auto compare = [&](const auto& a, const auto& b) { areEqual &= a == b; };
    ForEachCount(compare, one, other);
    if (comparesMarks)
    {
        ForEachMarkCount(compare, one, other);
    }
    return areEqual;
}

bool
HasEqualPeaks(const PortCounters& one, const PortCounters& other)
{
    bool areEqual = one.peakQueueBytes == other.peakQueueBytes;
    for (std::size_t i = 0; i < one.byPriority.size(); i++)
    {
        areEqual &= one.byPriority[i].peakQueueBytes == other.byPriority[i].peakQueueBytes;
    }
    return areEqual;
}

} // namespace ns3::training
