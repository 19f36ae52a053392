/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Swing (De Sensi et al., "Swing: short-cutting rings for higher bandwidth allreduce", NSDI 2024):
 * in step s rank r exchanges with r + rho(s) if it is even, r - rho(s) if odd, where rho(s) = (1 -
 * (-2)^(s+1)) / 3 = 1, -1, 3, -5, 11, ...; partners are closer on a ring than in recursive
 * doubling. Bandwidth variant: reduce-scatter and all-gather as in Rabenseifner's algorithm;
 * latency variant: exchange of whole vectors. N must be a power of two.
 *
 * On a torus of D dimensions with a rank on every node the vector is divided into 2D parts, one per
 * initial dimension and direction; the steps alternate between dimensions.
 */

#include "collective/algorithm-needs.h"
#include "collective/butterfly-phases.h"

#include "ns3/topology-graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

/**
 * @return the sides of the torus if the ranks fill it in order; otherwise the number of ranks, as
 *         for a ring
 */
std::vector<uint32_t>
GetTorusSides(const CollectiveRequest& request)
{
    if (request.topology && request.topology->shape.wraps)
    {
        std::vector<uint32_t> sides;
        uint32_t nodes = 1;
        for (uint32_t side : request.topology->shape.sides)
        {
            nodes *= side;
            if (side > 1)
            {
                sides.push_back(side);
            }
        }
        bool fills = nodes == request.ranks;
        for (uint32_t rank = 0; rank < request.ranks; rank++)
        {
            fills = fills && request.GetHost(rank) == rank;
        }
        if (fills)
        {
            return sides;
        }
    }
    return {request.ranks};
}

/**
 * @param sides lengths of the sides, powers of two
 * @param first dimension of the first step
 * @param mirrored whether even positions send in descending direction
 */
Butterfly
MakeSwing(const std::vector<uint32_t>& sides, uint32_t first, bool mirrored)
{
    /** Parameters of the exchange in one step. */
    struct Turn
    {
        uint32_t stride; // rank distance of neighbors along the dimension
        uint32_t side;   // length of the dimension
        int64_t rho;     // signed distance from even positions to their partner
    };

    std::vector<Turn> turns;
    std::vector<uint32_t> done(sides.size());
    uint32_t steps = 0;
    for (uint32_t side : sides)
    {
        steps += FloorLog2(side);
    }
    for (uint32_t dimension = first; turns.size() < steps; dimension++)
    {
        const uint32_t d = dimension % sides.size();
        if (done[d] == FloorLog2(sides[d]))
        {
            continue; // a shorter dimension, already complete
        }
        Turn turn{1, sides[d], 0};
        for (std::size_t inner = d + 1; inner < sides.size(); inner++)
        {
            turn.stride *= sides[inner];
        }
        int64_t power = 1; // (-2)^(s+1)
        for (uint32_t s = 0; s <= done[d]; s++)
        {
            power *= -2;
        }
        turn.rho = (mirrored ? -1 : 1) * (1 - power) / 3;
        turns.push_back(turn);
        done[d]++;
    }
    return {steps, [turns](uint32_t position, uint32_t step) {
                const Turn& turn = turns[step];
                const int64_t mine = position / turn.stride % turn.side;
                const int64_t side = turn.side;
                const int64_t to = (mine + (mine % 2 == 0 ? turn.rho : -turn.rho)) % side;
                return static_cast<uint32_t>(position + ((to + side) % side - mine) * turn.stride);
            }};
}

void
BuildSwing(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const auto sides = GetTorusSides(request);
    const bool isTorus = sides.size() > 1 || (request.topology && request.topology->shape.wraps);
    const auto dimensions = static_cast<uint32_t>(sides.size());
    const uint32_t copies = isTorus ? 2 * dimensions : 1;
    const bool whole =
        request.operation == Operation::ALL_REDUCE && request.keys.GetText("variant") == "latency";
    const PhaseGroup all = AllRanks(schedule);
    schedule.chunks = copies * (whole ? 1 : request.ranks);
    for (uint32_t copy = 0; copy < copies; copy++)
    {
        const Butterfly swing = MakeSwing(sides, copy % dimensions, copy >= dimensions);
        if (whole)
        {
            AddButterflyAllReduce(schedule, all.ranks, swing, copy, 0, copy);
            continue;
        }
        const PhaseGroup group = AllRanksOfStripe(schedule, copy);
        uint32_t step = 0;
        if (request.operation != Operation::ALL_GATHER)
        {
            step = AddButterflyReduceScatter(schedule, group, swing, step, copy);
        }
        if (request.operation != Operation::REDUCE_SCATTER)
        {
            AddButterflyAllGather(schedule, group, swing, step, copy);
        }
    }
}

const Registry<CollectiveAlgorithm>::Entry g_swing(
    "swing",
    {"exchanges with ranks 1, 1, 3, 5, 11, ... away; for rings and tori of 2^k ranks",
     {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER},
     &BuildSwing,
     {Key::Word("variant",
                "bandwidth",
                {"bandwidth", "latency"},
                "of an all-reduce: parts of the vector, or the whole vector in half of the steps")},
     {NEEDS_POWER_OF_TWO_RANKS}});

} // namespace

} // namespace ns3::training
