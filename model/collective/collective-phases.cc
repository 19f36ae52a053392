/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/collective-phases.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;

/// Maximum number of messages in a chain.
constexpr uint64_t MAX_SEGMENTS = 1024;

/**
 * Appends N - 1 steps in each of which every rank sends to the next rank.
 * @param ahead in step 0, the rank at position i sends the part of position i - ahead
 */
uint32_t
AddRing(CollectiveSchedule& schedule,
        const PhaseGroup& group,
        uint32_t step,
        uint32_t message,
        uint32_t ahead,
        Kind receive)
{
    const auto n = static_cast<uint32_t>(group.ranks.size());
    for (uint32_t i = 0; i < n; i++)
    {
        const uint32_t rank = group.ranks[i];
        if (rank >= schedule.GetStoredRanks())
        {
            continue; // implied by rank 0 and rotation
        }
        const uint32_t next = group.ranks[(i + 1) % n];
        const uint32_t previous = group.ranks[(i + n - 1) % n];
        for (uint32_t t = 0; t + 1 < n; t++)
        {
            const ChunkList& sent = group.parts[(i + 2 * n - ahead - t) % n];
            const ChunkList& received = group.parts[(i + 2 * n - ahead - t - 1) % n];
            schedule.Add(rank, Kind::SEND, next, sent, step + t, {}, message);
            schedule.Add(rank, receive, previous, received, step + t, {}, message);
        }
    }
    return step + n - 1;
}

} // namespace

PhaseGroup
AllRanks(const CollectiveSchedule& schedule)
{
    PhaseGroup group;
    const uint32_t each = schedule.chunks / schedule.GetSize();
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        group.ranks.push_back(rank);
        group.parts.emplace_back(ChunkRun{rank * each, each});
    }
    return group;
}

PhaseGroup
AllRanksOfStripe(const CollectiveSchedule& schedule, uint32_t stripe)
{
    PhaseGroup group;
    const uint32_t each = schedule.chunks / schedule.GetSize();
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        group.ranks.push_back(rank);
        group.parts.emplace_back(rank * each + stripe);
    }
    return group;
}

std::vector<uint32_t>
StartAt(std::vector<uint32_t> ranks, uint32_t first)
{
    std::rotate(ranks.begin(), std::find(ranks.begin(), ranks.end(), first), ranks.end());
    return ranks;
}

ChunkList
Join(const std::vector<const ChunkList*>& lists)
{
    std::vector<ChunkRun> runs;
    for (const ChunkList* list : lists)
    {
        runs.insert(runs.end(), list->runs.begin(), list->runs.end());
    }
    std::sort(runs.begin(), runs.end(), [](const ChunkRun& a, const ChunkRun& b) {
        return a.first < b.first;
    });
    std::vector<ChunkRun> joined;
    for (const ChunkRun& run : runs)
    {
        if (!joined.empty() && joined.back().first + joined.back().count == run.first)
        {
            joined.back().count += run.count;
        }
        else
        {
            joined.push_back(run);
        }
    }
    return joined;
}

uint32_t
AddRingReduceScatter(CollectiveSchedule& schedule,
                     const PhaseGroup& group,
                     uint32_t step,
                     uint32_t message)
{
    return AddRing(schedule, group, step, message, 1, Kind::RECEIVE_REDUCE);
}

uint32_t
AddRingAllGather(CollectiveSchedule& schedule,
                 const PhaseGroup& group,
                 uint32_t step,
                 uint32_t message)
{
    return AddRing(schedule, group, step, message, 0, Kind::RECEIVE);
}

void
AddRingAllToAll(CollectiveSchedule& schedule, uint32_t up, uint32_t down)
{
    const uint32_t n = schedule.GetSize();
    schedule.UseRotation(true);
    // Step t forwards the chunks from rank r - t or r + t, except those for this rank.
    for (uint32_t t = 0; t < up; t++)
    {
        const uint32_t from = (n - t) % n;
        schedule.Add(0, Kind::SEND, 1, ChunkRun{from * n + t + 1, up - t}, t);
        schedule.Add(0, Kind::RECEIVE, n - 1, ChunkRun{(n - t - 1) * n + t + 1, up - t}, t);
    }
    for (uint32_t t = 0; t < down; t++)
    {
        const uint32_t first = n - down; // ascending distance to the farthest rank
        schedule.Add(0, Kind::SEND, n - 1, ChunkRun{t * n + first, down - t}, t);
        schedule.Add(0, Kind::RECEIVE, 1, ChunkRun{(t + 1) * n + first, down - t}, t);
    }
}

uint32_t
AddRingExchange(CollectiveSchedule& schedule,
                const std::vector<uint32_t>& ranks,
                uint32_t step,
                const std::function<ChunkList(uint32_t from, uint32_t to)>& chunksOf)
{
    const auto n = static_cast<uint32_t>(ranks.size());
    // The chunks from a position that are still in transit after some steps.
    const auto rest = [&](uint32_t from, uint32_t done) {
        std::vector<ChunkRun> runs;
        for (uint32_t distance = done + 1; distance < n; distance++)
        {
            const auto part = chunksOf(from, (from + distance) % n).runs;
            runs.insert(runs.end(), part.begin(), part.end());
        }
        return ChunkList(runs);
    };
    for (uint32_t i = 0; i < n; i++)
    {
        const uint32_t next = ranks[(i + 1) % n];
        const uint32_t previous = ranks[(i + n - 1) % n];
        for (uint32_t t = 0; t + 1 < n; t++)
        {
            schedule.Add(ranks[i], Kind::SEND, next, rest((i + n - t) % n, t), step + t);
            schedule.Add(ranks[i],
                         Kind::RECEIVE,
                         previous,
                         rest((i + 2 * n - t - 1) % n, t),
                         step + t);
        }
    }
    return n < 2 ? step : step + n - 1;
}

uint32_t
AddDirectExchange(CollectiveSchedule& schedule,
                  const std::vector<uint32_t>& ranks,
                  uint32_t step,
                  Kind receive,
                  const std::function<ChunkList(uint32_t from, uint32_t to)>& chunksOf,
                  const DirectOrder& order)
{
    const auto n = static_cast<uint32_t>(ranks.size());
    const uint32_t window = order.window == 0 ? n : order.window;
    for (uint32_t i = 0; i < n; i++)
    {
        if (ranks[i] >= schedule.GetStoredRanks())
        {
            continue; // implied by rank 0 and rotation
        }
        std::vector<uint32_t> receives;
        uint32_t sent = 0;
        for (uint32_t t = 0; t + 1 < n; t++)
        {
            for (; sent + 1 < n && sent < t + window; sent++)
            {
                const uint32_t to = order.exclusive ? i ^ (sent + 1) : (i + sent + 1) % n;
                std::vector<uint32_t> after;
                if (sent >= window)
                {
                    after.push_back(receives[sent - window]);
                }
                const uint32_t at = step + sent / window;
                schedule.Add(ranks[i], Kind::SEND, ranks[to], chunksOf(i, to), at, after);
            }
            const uint32_t from = order.exclusive ? i ^ (t + 1) : (i + n - t - 1) % n;
            const uint32_t at = step + t / window;
            receives.push_back(schedule.Add(ranks[i], receive, ranks[from], chunksOf(from, i), at));
        }
    }
    return n < 2 ? step : step + (n - 2) / window + 1;
}

uint32_t
GetPipelineSegments(uint64_t bytes)
{
    return static_cast<uint32_t>(std::clamp<uint64_t>(bytes / PIPELINE_SEGMENT, 1, MAX_SEGMENTS));
}

uint32_t
GetChainSegments(const CollectiveRequest& request)
{
    return HasRoot(request.operation) ? GetPipelineSegments(request.bytes) : 1;
}

bool
IsPowerOfTwo(uint32_t number)
{
    return (number & (number - 1)) == 0;
}

uint32_t
FloorLog2(uint32_t number)
{
    uint32_t log = 0;
    while (number >>= 1)
    {
        log++;
    }
    return log;
}

uint32_t
CeilLog2(uint32_t number)
{
    return FloorLog2(number) + (IsPowerOfTwo(number) ? 0 : 1);
}

} // namespace ns3::training
