/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/dissemination-phases.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;

/** @return the chunk numbers of a copy of some chunks */
ChunkList
GetCopy(const CollectiveSchedule& schedule, ChunkList list, uint32_t copy)
{
    for (ChunkRun& run : list.runs)
    {
        run.first += copy * schedule.chunks;
    }
    return list;
}

} // namespace

uint32_t
AddDisseminationAllReduce(CollectiveSchedule& schedule,
                          const std::vector<uint32_t>& ranks,
                          const ChunkList& chunks,
                          uint32_t step,
                          uint32_t message)
{
    const auto n = static_cast<uint32_t>(ranks.size());
    const uint32_t top = 1U << FloorLog2(n);
    uint32_t end = step;
    for (uint32_t i = 0; i < n; i++)
    {
        const uint32_t rank = ranks[i];
        if (rank >= schedule.GetStoredRanks())
        {
            continue; // implied by rank 0 and rotation
        }
        uint32_t at = step;
        const auto exchange = [&](uint32_t distance, const ChunkList& sent) {
            const uint32_t to = ranks[(i + distance) % n];
            const uint32_t from = ranks[(i + n - distance) % n];
            schedule.Add(rank, Kind::SEND, to, sent, at, {}, message);
            schedule.Add(rank, Kind::RECEIVE_REDUCE, from, chunks, at, {}, message);
            at++;
        };
        uint32_t copies = 0;
        for (uint32_t distance = 1; distance < top; distance *= 2)
        {
            if ((n & distance) != 0)
            {
                copies++;
                schedule.Add(rank, Kind::COPY, 0, GetCopy(schedule, chunks, copies), at);
            }
            exchange(distance, chunks);
        }
        // Invariant: the rank has the sum of the last `length` ranks.
        for (uint32_t length = top, digit = top / 2; digit > 0; digit /= 2)
        {
            if ((n & digit) != 0)
            {
                exchange(length, GetCopy(schedule, chunks, copies--));
                length += digit;
            }
        }
        end = at;
    }
    return end;
}

uint32_t
AddDisseminationAllGather(CollectiveSchedule& schedule,
                          const PhaseGroup& group,
                          uint32_t step,
                          uint32_t message)
{
    const auto n = static_cast<uint32_t>(group.ranks.size());
    for (uint32_t distance = 1; distance < n; distance *= 2, step++)
    {
        const uint32_t count = std::min(distance, n - distance);
        // The parts at a position: its own part and the parts of the ranks before it.
        const auto latest = [&](uint32_t position) {
            std::vector<ChunkRun> runs;
            for (uint32_t back = 0; back < count; back++)
            {
                const auto& part = group.parts[(position + n - back) % n].runs;
                runs.insert(runs.end(), part.begin(), part.end());
            }
            return ChunkList(runs);
        };
        for (uint32_t i = 0; i < n; i++)
        {
            const uint32_t rank = group.ranks[i];
            if (rank < schedule.GetStoredRanks()) // others are implied by rank 0 and rotation
            {
                const uint32_t from = (i + n - distance) % n;
                const uint32_t to = (i + distance) % n;
                schedule.Add(rank, Kind::SEND, group.ranks[to], latest(i), step, {}, message);
                schedule
                    .Add(rank, Kind::RECEIVE, group.ranks[from], latest(from), step, {}, message);
            }
        }
    }
    return step;
}

} // namespace ns3::training
