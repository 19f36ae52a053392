/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Processes one dimension after the other (RankPlacement::GetPlaces()). An all-reduce reduces the
 * whole vector in each dimension, like ASTRA-sim's "baseline" collectives (Rashidi et al., ISPASS
 * 2020). An all-gather forwards all parts gathered so far. Each dimension runs a ring; with
 * local=hou the innermost dimension runs the exchange of Hou et al., "Co-designing the
 * topology/algorithm to accelerate distributed training", section III, whose messages may be
 * divided into `stripes`.
 *
 * The dimensions run from innermost to outermost, as in the paper; ASTRA-sim's all-gathers run from
 * outermost to innermost (gather-first=outer).
 */

#include "collective/algorithm-needs.h"
#include "collective/collective-phases.h"
#include "collective/dissemination-phases.h"
#include "collective/rank-placement.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;
using Ranks = std::vector<uint32_t>;
using Coordinates = std::vector<uint32_t>;

/** Builds a schedule, one dimension at a time. */
class Dimensions
{
  public:
    Dimensions(const CollectiveRequest& request, CollectiveSchedule& schedule)
        : m_schedule(schedule),
          m_coordinates(RankPlacement(request).GetPlaces()),
          m_sizes(RankPlacement::GetSizes(m_coordinates)),
          m_isLocalRing(request.keys.GetText("local") == "ring"),
          m_stripes(m_isLocalRing ? 1 : static_cast<uint32_t>(request.keys.GetCount("stripes")))
    {
        if (request.operation == Operation::ALL_GATHER)
        {
            m_schedule.chunks = request.ranks * m_stripes;
            for (uint32_t rank = 0; rank < request.ranks; rank++)
            {
                m_known.push_back({rank});
            }
            return;
        }
        m_schedule.chunks = m_stripes;
        for (std::size_t level = 0; level < m_sizes.size(); level++)
        {
            const uint32_t parts = IsRing(level) ? m_sizes[level] : 1;
            m_schedule.chunks = std::lcm(m_schedule.chunks, parts);
        }
    }

    /** @return number of dimensions; the last dimension is the innermost */
    std::size_t GetLevels() const
    {
        return m_sizes.size();
    }

    /** Appends the all-reduces along a dimension. @return the step after the last */
    uint32_t AddAllReduce(std::size_t level, uint32_t step)
    {
        uint32_t end = step;
        for (const Ranks& ranks : GetLines(level))
        {
            if (IsRing(level))
            {
                PhaseGroup group{ranks, {}};
                for (uint32_t i = 0; i < ranks.size(); i++)
                {
                    group.parts.emplace_back(GetPart(i, static_cast<uint32_t>(ranks.size())));
                }
                end = AddRingAllGather(m_schedule,
                                       group,
                                       AddRingReduceScatter(m_schedule, group, step));
                continue;
            }
            for (uint32_t stripe = 0; stripe < m_stripes; stripe++)
            {
                const ChunkRun part = GetPart(stripe, m_stripes);
                end = AddDisseminationAllReduce(m_schedule, ranks, part, step, stripe);
            }
        }
        return end;
    }

    /** Appends the all-gathers along a dimension. @return the step after the last */
    uint32_t AddAllGather(std::size_t level, uint32_t step)
    {
        uint32_t end = step;
        for (const Ranks& ranks : GetLines(level))
        {
            if (IsRing(level))
            {
                end = AddRingAllGather(m_schedule, GetGroup(ranks, 0, m_stripes), step);
            }
            else
            {
                for (uint32_t stripe = 0; stripe < m_stripes; stripe++)
                {
                    const PhaseGroup group = GetGroup(ranks, stripe, 1);
                    end = AddDisseminationAllGather(m_schedule, group, step, stripe);
                }
            }
            Ranks together;
            for (uint32_t rank : ranks)
            {
                together.insert(together.end(), m_known[rank].begin(), m_known[rank].end());
            }
            for (uint32_t rank : ranks)
            {
                m_known[rank] = together;
            }
        }
        return end;
    }

  private:
    bool IsRing(std::size_t level) const
    {
        return m_isLocalRing || level + 1 < m_sizes.size();
    }

    /** @return the chunks of a part of the all-reduce vector */
    ChunkRun GetPart(uint32_t part, uint32_t parts) const
    {
        const uint32_t each = m_schedule.chunks / parts;
        return {part * each, each};
    }

    /** @return some ranks, each with some stripes of the parts it has gathered so far */
    PhaseGroup GetGroup(const Ranks& ranks, uint32_t stripe, uint32_t count) const
    {
        PhaseGroup group{ranks, {}};
        for (uint32_t rank : ranks)
        {
            std::vector<ChunkRun> runs;
            for (uint32_t owner : m_known[rank])
            {
                runs.push_back({owner * m_stripes + stripe, count});
            }
            group.parts.emplace_back(runs);
        }
        return group;
    }

    /**
     * @return lines of ranks that differ in one coordinate only, sorted by it; without lines of a
     *         single rank
     */
    std::vector<Ranks> GetLines(std::size_t level) const
    {
        std::map<Coordinates, Ranks> byCoordinates;
        for (uint32_t rank = 0; rank < m_coordinates.size(); rank++)
        {
            Coordinates others = m_coordinates[rank];
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(level));
            byCoordinates[others].push_back(rank);
        }
        std::vector<Ranks> lines;
        for (auto& [place, ranks] : byCoordinates)
        {
            std::sort(ranks.begin(), ranks.end(), [&](uint32_t a, uint32_t b) {
                return m_coordinates[a][level] < m_coordinates[b][level];
            });
            if (ranks.size() > 1)
            {
                lines.push_back(ranks);
            }
        }
        return lines;
    }

    CollectiveSchedule& m_schedule;
    std::vector<Coordinates> m_coordinates;
    std::vector<uint32_t> m_sizes;
    bool m_isLocalRing;
    uint32_t m_stripes;
    std::vector<Ranks> m_known; // all-gather: per rank, the ranks whose parts it has
};

void
BuildDimensionWise(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    Dimensions dimensions(request, schedule);
    const bool gathers = request.operation == Operation::ALL_GATHER;
    const bool isOuterFirst = gathers && request.keys.GetText("gather-first") == "outer";
    const std::size_t levels = dimensions.GetLevels();
    uint32_t step = 0;
    for (std::size_t i = 0; i < levels; i++)
    {
        const std::size_t level = isOuterFirst ? i : levels - 1 - i;
        step =
            gathers ? dimensions.AddAllGather(level, step) : dimensions.AddAllReduce(level, step);
    }
}

const Registry<CollectiveAlgorithm>::Entry g_dimensionWise(
    "dimension-wise",
    {"the whole vector, one dimension after the other (ASTRA-sim's baseline, Hou et al.)",
     {Operation::ALL_REDUCE, Operation::ALL_GATHER},
     &BuildDimensionWise,
     {Key::Word("gather-first",
                "inner",
                {"inner", "outer"},
                "dimension that an all-gather begins with"),
      Key::Word("local", "ring", {"ring", "hou"}, "algorithm in the innermost dimension"),
      Key::Count("stripes", 1, 1, 64, "local=hou: messages that each step's message is cut into")},
     {NEEDS_RANK_IN_EVERY_PLACE}});

} // namespace

} // namespace ns3::training
