/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Hierarchical all-reduce over the levels of the topology (RankPlacement::GetCoordinates()), with a
 * ring per phase.
 *
 * variant=scatter: reduce-scatter within each server, then among the ranks of equal local rank in
 * all servers, each on its own part only; then all-gathers in reverse order (Cho, Finkler, Serrano,
 * Kung and Hunter, "BlueConnect: decomposing all-reduce for deep learning on heterogeneous network
 * hierarchy", 2019). In a grid the levels are its dimensions, from the last to the first.
 *
 * variant=leader: a pipelined chain to the leader (the first rank) of each server, a ring among the
 * leaders, and a chain back. It transfers more bytes between servers, but with only one flow per
 * server, and servers may differ in size.
 */

#include "collective/algorithm-needs.h"
#include "collective/collective-phases.h"
#include "collective/rank-placement.h"

#include <algorithm>
#include <map>
#include <set>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;
using Coordinates = std::vector<uint32_t>;

/// Minimum number of parts in a chain, for pipelining.
constexpr uint32_t MIN_PARTS = 8;

bool
IsLeader(const CollectiveRequest& request)
{
    return request.keys.GetText("variant") == "leader";
}

bool
HasOperation(const CollectiveRequest& request)
{
    return !IsLeader(request) || request.operation == Operation::ALL_REDUCE;
}

std::string
DescribeOperation(const CollectiveRequest& request)
{
    return GetName(request.operation);
}

bool
HasPlaces(const CollectiveRequest& request)
{
    return IsLeader(request) || HasRankInEveryPlace(request);
}

/** Builds variant=scatter. */
class LevelRings
{
  public:
    LevelRings(const CollectiveRequest& request, CollectiveSchedule& schedule)
        : m_schedule(schedule),
          m_coordinates(RankPlacement(request).GetPlaces()),
          m_sizes(RankPlacement::GetSizes(m_coordinates))
    {
        for (uint32_t rank = 0; rank < request.ranks; rank++)
        {
            // An all-reduce may assign any part to any rank: parts that the first phase sends
            // together get consecutive numbers.
            uint32_t number = 0;
            for (std::size_t level = m_sizes.size(); level-- > 0;)
            {
                number = number * m_sizes[level] + m_coordinates[rank][level];
            }
            m_chunks.emplace_back(request.operation == Operation::ALL_REDUCE ? number : rank);
        }
    }

    /**
     * Appends a ring phase in each group of ranks that differ in one level only.
     * @param level level of the rings; the levels after it are already scattered
     * @param step the first step
     * @param gather whether it is an all-gather instead of a reduce-scatter
     * @return the step after the last step
     */
    uint32_t Add(std::size_t level, uint32_t step, bool gather)
    {
        std::map<Coordinates, std::vector<uint32_t>> groups;
        // Chunks owned jointly by the ranks with equal coordinates after this level.
        std::map<Coordinates, std::vector<const ChunkList*>> chunks;
        for (uint32_t rank = 0; rank < m_coordinates.size(); rank++)
        {
            Coordinates others = m_coordinates[rank];
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(level));
            groups[others].push_back(rank);
            chunks[GetTail(rank, level)].push_back(&m_chunks[rank]);
        }
        uint32_t end = step;
        for (auto& [others, ranks] : groups)
        {
            std::sort(ranks.begin(), ranks.end(), [&](uint32_t a, uint32_t b) {
                return m_coordinates[a][level] < m_coordinates[b][level];
            });
            PhaseGroup group;
            group.ranks = ranks;
            for (uint32_t rank : ranks)
            {
                group.parts.push_back(Join(chunks[GetTail(rank, level)]));
            }
            end = gather ? AddRingAllGather(m_schedule, group, step)
                         : AddRingReduceScatter(m_schedule, group, step);
        }
        return end;
    }

    /** @return number of levels */
    std::size_t GetLevels() const
    {
        return m_sizes.size();
    }

  private:
    Coordinates GetTail(uint32_t rank, std::size_t level) const
    {
        const Coordinates& place = m_coordinates[rank];
        return {place.begin() + static_cast<std::ptrdiff_t>(level), place.end()};
    }

    CollectiveSchedule& m_schedule;
    std::vector<Coordinates> m_coordinates;
    std::vector<uint32_t> m_sizes;
    std::vector<ChunkList> m_chunks; // per rank, the chunk it owns after the reduce-scatter
};

/** Appends one chain per group, with one message per hop and chunk. */
uint32_t
AddChains(const std::vector<std::vector<uint32_t>>& groups,
          bool up,
          uint32_t step,
          CollectiveSchedule& schedule)
{
    uint32_t end = step;
    for (const auto& ranks : groups)
    {
        const auto hops = static_cast<uint32_t>(ranks.size() - 1);
        for (uint32_t hop = 0; hop < hops; hop++)
        {
            const uint32_t from = up ? ranks[hops - hop] : ranks[hop];
            const uint32_t to = up ? ranks[hops - hop - 1] : ranks[hop + 1];
            for (uint32_t chunk = 0; chunk < schedule.chunks; chunk++)
            {
                schedule.Add(from, Kind::SEND, to, chunk, step + hop + chunk);
                schedule.Add(to,
                             up ? Kind::RECEIVE_REDUCE : Kind::RECEIVE,
                             from,
                             chunk,
                             step + hop + chunk);
            }
        }
        end = std::max(end, hops > 0 ? step + hops - 1 + schedule.chunks : step);
    }
    return end;
}

void
BuildLeaders(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const auto places = RankPlacement(request).GetPlaces();
    std::map<Coordinates, std::vector<uint32_t>> byCoordinates;
    for (uint32_t rank = 0; rank < request.ranks; rank++)
    {
        byCoordinates[{places[rank].begin(), places[rank].end() - 1}].push_back(rank);
    }
    std::vector<std::vector<uint32_t>> groups;
    for (const auto& [place, ranks] : byCoordinates)
    {
        groups.push_back(ranks);
    }
    const auto count = static_cast<uint32_t>(groups.size());
    const uint32_t part = (MIN_PARTS + count - 1) / count;
    schedule.chunks = count * part;
    PhaseGroup leaders;
    for (uint32_t i = 0; i < count; i++)
    {
        leaders.ranks.push_back(groups[i].front());
        leaders.parts.emplace_back(ChunkRun{i * part, part});
    }
    uint32_t step = AddChains(groups, true, 0, schedule);
    if (count > 1)
    {
        step = AddRingReduceScatter(schedule, leaders, step);
        step = AddRingAllGather(schedule, leaders, step);
    }
    AddChains(groups, false, step, schedule);
}

void
BuildHierarchical(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    if (IsLeader(request))
    {
        BuildLeaders(request, schedule);
        return;
    }
    LevelRings rings(request, schedule);
    uint32_t step = 0;
    if (request.operation != Operation::ALL_GATHER)
    {
        for (std::size_t level = rings.GetLevels(); level-- > 0;)
        {
            step = rings.Add(level, step, false);
        }
    }
    if (request.operation != Operation::REDUCE_SCATTER)
    {
        for (std::size_t level = 0; level < rings.GetLevels(); level++)
        {
            step = rings.Add(level, step, true);
        }
    }
}

const Registry<CollectiveAlgorithm>::Entry g_hierarchical(
    "hierarchical",
    {"level by level: within servers, leaves or dimensions of a grid, then between them",
     {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER},
     &BuildHierarchical,
     {Key::Word("variant",
                "scatter",
                {"scatter", "leader"},
                "scatter: reduce-scatters, then all-gathers; leader: the first rank of each server "
                "works between the servers")},
     {{"an all-reduce, with variant=leader", &HasOperation, &DescribeOperation},
      {"a rank in every place of the topology's levels, or variant=leader",
       &HasPlaces,
       &DescribePlaces}}});

} // namespace

} // namespace ns3::training
