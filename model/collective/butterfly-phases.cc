/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "butterfly-phases.h"

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;

/**
 * @param ahead a step, or the number of steps for no step
 * @return for each position, the parts of all positions reachable from it in that step or later,
 *         including its own
 */
std::vector<ChunkList>
GetReach(const PhaseGroup& group, const Butterfly& butterfly, uint32_t ahead)
{
    std::vector<ChunkList> reach;
    for (uint32_t i = 0; i < group.ranks.size(); i++)
    {
        std::vector<uint32_t> members{i};
        for (uint32_t step = ahead; step < butterfly.steps; step++)
        {
            const std::size_t count = members.size();
            for (std::size_t j = 0; j < count; j++)
            {
                members.push_back(butterfly.partner(members[j], step));
            }
        }
        std::vector<const ChunkList*> parts;
        for (uint32_t member : members)
        {
            parts.push_back(&group.parts[member]);
        }
        reach.push_back(Join(parts));
    }
    return reach;
}

uint32_t
GetFolded(std::size_t ranks)
{
    const auto n = static_cast<uint32_t>(ranks);
    return n - (1U << FloorLog2(n));
}

} // namespace

Butterfly
MakeDistanceDoubling(uint32_t size)
{
    return {FloorLog2(size),
            [](uint32_t position, uint32_t step) { return position ^ 1U << step; }};
}

Butterfly
MakeDistanceHalving(uint32_t size)
{
    return {FloorLog2(size),
            [size](uint32_t position, uint32_t step) { return position ^ size / 2 >> step; }};
}

uint32_t
AddButterflyAllReduce(CollectiveSchedule& schedule,
                      const std::vector<uint32_t>& ranks,
                      const Butterfly& butterfly,
                      const ChunkList& chunks,
                      uint32_t step,
                      uint32_t message)
{
    for (uint32_t i = 0; i < ranks.size(); i++)
    {
        for (uint32_t s = 0; s < butterfly.steps; s++)
        {
            const uint32_t peer = ranks[butterfly.partner(i, s)];
            schedule.Add(ranks[i], Kind::SEND, peer, chunks, step + s, {}, message);
            schedule.Add(ranks[i], Kind::RECEIVE_REDUCE, peer, chunks, step + s, {}, message);
        }
    }
    return step + butterfly.steps;
}

uint32_t
AddButterflyReduceScatter(CollectiveSchedule& schedule,
                          const PhaseGroup& group,
                          const Butterfly& butterfly,
                          uint32_t step,
                          uint32_t message)
{
    for (uint32_t s = 0; s < butterfly.steps; s++)
    {
        const auto reach = GetReach(group, butterfly, s + 1);
        for (uint32_t i = 0; i < group.ranks.size(); i++)
        {
            const uint32_t rank = group.ranks[i];
            const uint32_t partner = butterfly.partner(i, s);
            const uint32_t peer = group.ranks[partner];
            schedule.Add(rank, Kind::SEND, peer, reach[partner], step + s, {}, message);
            schedule.Add(rank, Kind::RECEIVE_REDUCE, peer, reach[i], step + s, {}, message);
        }
    }
    return step + butterfly.steps;
}

uint32_t
AddButterflyAllGather(CollectiveSchedule& schedule,
                      const PhaseGroup& group,
                      const Butterfly& butterfly,
                      uint32_t step,
                      uint32_t message)
{
    for (uint32_t s = butterfly.steps; s-- > 0; step++)
    {
        const auto reach = GetReach(group, butterfly, s + 1);
        for (uint32_t i = 0; i < group.ranks.size(); i++)
        {
            const uint32_t rank = group.ranks[i];
            const uint32_t partner = butterfly.partner(i, s);
            const uint32_t peer = group.ranks[partner];
            schedule.Add(rank, Kind::SEND, peer, reach[i], step, {}, message);
            schedule.Add(rank, Kind::RECEIVE, peer, reach[partner], step, {}, message);
        }
    }
    return step;
}

uint32_t
Folding::GetWorker(uint32_t rank) const
{
    for (const Pair& pair : pairs)
    {
        if (pair.idle == rank)
        {
            return pair.worker;
        }
    }
    return rank;
}

Folding
Fold(const PhaseGroup& all)
{
    Folding folding;
    const uint32_t folded = GetFolded(all.ranks.size());
    for (uint32_t i = 0; i < all.ranks.size(); i++)
    {
        if (i < 2 * folded && i % 2 == 0)
        {
            folding.pairs.push_back({all.ranks[i], all.ranks[i + 1], all.parts[i]});
            continue;
        }
        folding.group.ranks.push_back(all.ranks[i]);
        folding.group.parts.push_back(i < 2 * folded ? Join({&all.parts[i - 1], &all.parts[i]})
                                                     : all.parts[i]);
    }
    return folding;
}

uint32_t
AddFold(CollectiveSchedule& schedule, const Folding& folding, uint32_t step)
{
    const bool gathers = schedule.operation == CollectiveOperation::ALL_GATHER;
    const ChunkList vector = ChunkRun{0, schedule.chunks};
    for (const auto& [idle, worker, part] : folding.pairs)
    {
        const ChunkList& chunks = gathers ? part : vector;
        schedule.Add(idle, Kind::SEND, worker, chunks, step);
        schedule.Add(worker, gathers ? Kind::RECEIVE : Kind::RECEIVE_REDUCE, idle, chunks, step);
    }
    return folding.pairs.empty() ? step : step + 1;
}

uint32_t
AddUnfold(CollectiveSchedule& schedule, const Folding& folding, uint32_t step)
{
    const bool scatters = schedule.operation == CollectiveOperation::REDUCE_SCATTER;
    const ChunkList vector = ChunkRun{0, schedule.chunks};
    for (const auto& [idle, worker, part] : folding.pairs)
    {
        const ChunkList& chunks = scatters ? part : vector;
        schedule.Add(worker, Kind::SEND, idle, chunks, step);
        schedule.Add(idle, Kind::RECEIVE, worker, chunks, step);
    }
    return folding.pairs.empty() ? step : step + 1;
}

} // namespace ns3::training
