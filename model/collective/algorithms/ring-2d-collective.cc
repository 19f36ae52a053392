/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * The 2D-ring of TPU pods (Ying, Kumar, Chen, Wang and Cheng, "Image classification at
 * supercomputer scale", 2018, as in the MULTITREE paper's simulator): one half of the vector is
 * all-reduced along the rows, then along the columns, the other half along the columns first; each
 * half is split into two quarters, one per ring direction. All four links of a node are in use, at
 * twice the minimum traffic.
 */

#include "collective/algorithm-needs.h"
#include "collective/rank-placement.h"

#include <algorithm>
#include <numeric>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

/** @return the sides of the grid that are longer than 1 */
std::vector<uint32_t>
GetGridSides(const TopologyGraph& topology)
{
    std::vector<uint32_t> sides;
    for (uint32_t side : topology.shape.sides)
    {
        if (side > 1)
        {
            sides.push_back(side);
        }
    }
    return sides;
}

/** The four quarters of the vector in a grid. */
class Grid
{
  public:
    Grid(const CollectiveRequest& request, CollectiveSchedule& schedule)
        : m_schedule(schedule),
          m_placement(request),
          m_sides(GetGridSides(m_placement.GetTopology())),
          m_quarter(std::lcm(m_sides[0], m_sides[1])),
          m_lastReceives(request.ranks),
          m_awaited(request.ranks)
    {
        schedule.chunks = 4 * m_quarter;
    }

    /**
     * All-reduces the quarters: the first two along one dimension, the last two along the other.
     * @param dimension dimension of the first half; 0: along columns, 1: along rows
     * @param step the first step
     * @return the step after the last step
     */
    uint32_t AddPhase(uint32_t dimension, uint32_t step)
    {
        // Phase barrier: no rank runs ahead on links that others still need for the previous phase.
        m_awaited.swap(m_lastReceives);
        m_lastReceives.assign(m_awaited.size(), {});
        uint32_t end = step;
        for (uint32_t quarter = 0; quarter < 4; quarter++)
        {
            const uint32_t along = quarter < 2 ? dimension : 1 - dimension;
            for (uint32_t line = 0; line < m_sides[1 - along]; line++)
            {
                AddLine(quarter, GetLine(quarter, along, line), step);
            }
            end = std::max(end, step + 2 * (m_sides[along] - 1));
        }
        return end;
    }

  private:
    /** @return the ranks of a row or column; in reverse order for odd quarters */
    std::vector<uint32_t> GetLine(uint32_t quarter, uint32_t dimension, uint32_t line) const
    {
        std::vector<uint32_t> hosts;
        for (uint32_t i = 0; i < m_sides[dimension]; i++)
        {
            hosts.push_back(dimension == 0 ? i * m_sides[1] + line : line * m_sides[1] + i);
        }
        if (quarter % 2 == 1)
        {
            std::reverse(hosts.begin(), hosts.end());
        }
        return m_placement.GetRanks(hosts);
    }

    /**
     * Appends a ring all-reduce: each rank sends 2 (n - 1) messages to the next rank, first partial
     * sums, then results.
     */
    void AddLine(uint32_t quarter, const std::vector<uint32_t>& ranks, uint32_t step)
    {
        const auto n = static_cast<uint32_t>(ranks.size());
        const uint32_t part = m_quarter / n;
        for (uint32_t i = 0; i < n; i++)
        {
            const uint32_t rank = ranks[i];
            std::vector<uint32_t> after = m_awaited[rank];
            uint32_t receive = 0;
            for (uint32_t t = 0; t < 2 * (n - 1); t++)
            {
                const auto getPart = [&](uint32_t ahead) {
                    return ChunkRun{quarter * m_quarter + (i + 3 * n - ahead - t) % n * part, part};
                };
                m_schedule.Add(rank,
                               Kind::SEND,
                               ranks[(i + 1) % n],
                               getPart(1),
                               step + t,
                               after,
                               quarter);
                receive = m_schedule.Add(rank,
                                         t < n - 1 ? Kind::RECEIVE_REDUCE : Kind::RECEIVE,
                                         ranks[(i + n - 1) % n],
                                         getPart(2),
                                         step + t,
                                         {},
                                         quarter);
                after.clear();
            }
            m_lastReceives[rank].push_back(receive);
        }
    }

    CollectiveSchedule& m_schedule;
    RankPlacement m_placement;
    std::vector<uint32_t> m_sides;
    uint32_t m_quarter;                                // number of chunks per quarter
    std::vector<std::vector<uint32_t>> m_lastReceives; // per rank, in this phase
    std::vector<std::vector<uint32_t>> m_awaited;      // per rank, in the previous phase
};

void
BuildRing2d(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    Grid grid(request, schedule);
    grid.AddPhase(1, grid.AddPhase(0, 0));
}

const Registry<CollectiveAlgorithm>::Entry g_ring2d(
    "ring-2d",
    {"all-reduces along rows and columns; one half of the vector starts with the rows, the other "
     "with the columns (TPU)",
     {Operation::ALL_REDUCE},
     &BuildRing2d,
     {},
     {NEEDS_TWO_DIMENSIONS, NEEDS_RANK_ON_EVERY_HOST}});

} // namespace

} // namespace ns3::training
