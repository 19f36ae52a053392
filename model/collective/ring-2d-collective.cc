/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * The 2D-ring of TPU pods (Ying, Kumar, Chen, Wang and Cheng, "Image classification at
 * supercomputer scale", 2018, as the MULTITREE paper's simulator has it): one half of the vector is
 * all-reduced along the rows, then along the columns, the other half the other way around; of each
 * half one quarter goes in either direction. All four links of a node are busy, with twice the
 * least volume.
 */

#include "collective-phases.h"
#include "rank-placement.h"

#include "ns3/log.h"

#include <algorithm>
#include <numeric>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRing2dCollective");

namespace
{

using Operation = CollectiveOperation;

/** @return the sides of the grid that are longer than 1 */
std::vector<uint32_t>
GetSides(const TopologyGraph& topology)
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

void
CheckRing2d(const CollectiveRequest& request)
{
    const RankPlacement placement(request);
    const TopologyGraph& topology = placement.GetTopology();
    if (GetSides(topology).size() != 2 || !placement.IsFull())
    {
        throw ConfigurationError("ring-2d: " + std::to_string(request.ranks) +
                                 " ranks on topology '" + topology.name +
                                 "' (allowed: a torus or mesh of two dimensions with a rank on "
                                 "every node)");
    }
}

/** The four quarters of the vector on their way through a grid. */
class Grid
{
  public:
    Grid(const CollectiveRequest& request, CollectiveSchedule& schedule)
        : m_schedule(schedule),
          m_placement(request),
          m_sides(GetSides(m_placement.GetTopology())),
          m_quarter(std::lcm(m_sides[0], m_sides[1]))
    {
        schedule.chunks = 4 * m_quarter;
    }

    /**
     * All-reduces a quarter along all rows or columns.
     * @param quarter 0 to 3; the odd ones go against the order of hosts
     * @param dimension 0: along columns, 1: along rows
     * @param step the first
     * @return step behind the last
     */
    uint32_t AddAllReduce(uint32_t quarter, uint32_t dimension, uint32_t step)
    {
        const uint32_t length = m_sides[dimension];
        uint32_t last = step;
        for (uint32_t line = 0; line < m_sides[1 - dimension]; line++)
        {
            std::vector<uint32_t> hosts;
            for (uint32_t i = 0; i < length; i++)
            {
                hosts.push_back(dimension == 0 ? i * m_sides[1] + line : line * length + i);
            }
            if (quarter % 2 == 1)
            {
                std::reverse(hosts.begin(), hosts.end());
            }
            PhaseGroup group;
            group.ranks = m_placement.GetRanks(hosts);
            const uint32_t part = m_quarter / length;
            for (uint32_t i = 0; i < length; i++)
            {
                group.parts.emplace_back(ChunkRun{quarter * m_quarter + i * part, part});
            }
            last = AddRingReduceScatter(m_schedule, group, step, quarter);
            last = AddRingAllGather(m_schedule, group, last, quarter);
        }
        return last;
    }

  private:
    CollectiveSchedule& m_schedule;
    RankPlacement m_placement;
    std::vector<uint32_t> m_sides;
    uint32_t m_quarter; // chunks of a quarter
};

void
BuildRing2d(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    Grid grid(request, schedule);
    for (uint32_t quarter = 0; quarter < 4; quarter++)
    {
        const uint32_t first = quarter / 2; // dimension
        grid.AddAllReduce(quarter, 1 - first, grid.AddAllReduce(quarter, first, 0));
    }
}

const Registry<CollectiveAlgorithm>::Entry g_ring2d(
    "ring-2d",
    {"all-reduces along rows and columns, half of the vector first here, half first there (TPU); "
     "needs a torus or mesh of two dimensions",
     {Operation::ALL_REDUCE},
     &BuildRing2d,
     &CheckRing2d});

} // namespace

} // namespace ns3::training
