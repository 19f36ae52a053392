/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/butterfly-phases.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;

/**
 * The parts that each position of a butterfly exchanges. After the steps below `ahead`, position i
 * is left with the parts of all positions reachable from it in the steps from `ahead` on: its own
 * at the end, and in each step before it those of its partner, too. Positions that reach the same
 * parts share the list.
 */
class Reach
{
  public:
    Reach(CollectiveSchedule& schedule, const PhaseGroup& group, const Butterfly& butterfly)
        : m_listOf(butterfly.steps + 1)
    {
        std::vector<ChunkList> lists; // of one step
        for (uint32_t i = 0; i < group.ranks.size(); i++)
        {
            m_listOf[butterfly.steps].push_back(i);
            lists.push_back(Join({&group.parts[i]}));
        }
        Keep(schedule, lists);
        for (uint32_t ahead = butterfly.steps; ahead-- > 1;)
        {
            std::map<std::pair<uint32_t, uint32_t>, uint32_t> known; // by the lists that are joined
            std::vector<ChunkList> joined;
            const auto& before = m_listOf[ahead + 1];
            for (uint32_t i = 0; i < group.ranks.size(); i++)
            {
                const auto [low, high] =
                    std::minmax({before[i], before[butterfly.partner(i, ahead)]});
                const auto [list, isNew] = known.try_emplace({low, high}, joined.size());
                if (isNew)
                {
                    joined.push_back(Join({&lists[low], &lists[high]}));
                }
                m_listOf[ahead].push_back(list->second);
            }
            lists = std::move(joined);
            Keep(schedule, lists);
        }
    }

    /** @return the parts left at a position after the steps below `ahead`, 1 or more */
    SharedChunks Get(uint32_t ahead, uint32_t position) const
    {
        return m_lists[m_lists.size() - ahead][m_listOf[ahead][position]];
    }

  private:
    void Keep(CollectiveSchedule& schedule, const std::vector<ChunkList>& lists)
    {
        m_lists.emplace_back();
        for (const ChunkList& list : lists)
        {
            m_lists.back().push_back(schedule.Share(list));
        }
    }

    std::vector<std::vector<uint32_t>> m_listOf;    // by step ahead, position
    std::vector<std::vector<SharedChunks>> m_lists; // by step ahead, the last step first
};

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
    const Reach reach(schedule, group, butterfly);
    for (uint32_t s = 0; s < butterfly.steps; s++)
    {
        for (uint32_t i = 0; i < group.ranks.size(); i++)
        {
            const uint32_t rank = group.ranks[i];
            const uint32_t partner = butterfly.partner(i, s);
            const uint32_t peer = group.ranks[partner];
            const SharedChunks mine = reach.Get(s + 1, i);
            const SharedChunks theirs = reach.Get(s + 1, partner);
            schedule.Add(rank, Kind::SEND, peer, theirs, step + s, {}, message);
            schedule.Add(rank, Kind::RECEIVE_REDUCE, peer, mine, step + s, {}, message);
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
    const Reach reach(schedule, group, butterfly);
    for (uint32_t s = butterfly.steps; s-- > 0; step++)
    {
        for (uint32_t i = 0; i < group.ranks.size(); i++)
        {
            const uint32_t rank = group.ranks[i];
            const uint32_t partner = butterfly.partner(i, s);
            const uint32_t peer = group.ranks[partner];
            const SharedChunks mine = reach.Get(s + 1, i);
            const SharedChunks theirs = reach.Get(s + 1, partner);
            schedule.Add(rank, Kind::SEND, peer, mine, step, {}, message);
            schedule.Add(rank, Kind::RECEIVE, peer, theirs, step, {}, message);
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
