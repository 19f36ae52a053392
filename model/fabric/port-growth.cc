/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/port-growth.h"

#include <cstddef>
#include <type_traits>
#include <vector>

namespace ns3::training
{

namespace
{

/** @return all counts of a port */
std::vector<uint64_t>
GetCounts(const PortCounters& counters)
{
    std::vector<uint64_t> counts;
    ForEachCount(counters,
                 [&](const auto& count) { counts.push_back(static_cast<uint64_t>(count)); });
    return counts;
}

} // namespace

PortCounters
GetGrowth(const PortCounters& before, const PortCounters& after)
{
    const std::vector<uint64_t> old = GetCounts(before);
    PortCounters growth = after;
    std::size_t next = 0;
    ForEachCount(growth, [&](auto& count) {
        count -= static_cast<std::remove_reference_t<decltype(count)>>(old[next++]);
    });
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
    const std::vector<uint64_t> added = GetCounts(growth);
    std::size_t next = 0;
    ForEachCount(counters, [&](auto& count) {
        count += static_cast<std::remove_reference_t<decltype(count)>>(added[next++]);
    });
}

bool
HasEqualCounts(const PortCounters& one, const PortCounters& other)
{
    return GetCounts(one) == GetCounts(other);
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
