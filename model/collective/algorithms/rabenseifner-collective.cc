/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Rabenseifner's algorithm ("Optimization of collective reduction operations", ICCS 2004; MPICH): a
 * reduce-scatter by recursive halving, nearest ranks first, then an all-gather by recursive
 * doubling, or a binomial gather in case of a reduce. 2 log2 N steps and 2(N-1)/N * S bytes per
 * rank. If N is not a power of two, the excess ranks are folded into others, with 2 more steps of S
 * bytes.
 */

#include "collective/butterfly-phases.h"
#include "collective/tree-phases.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

/** @return a number with its bits in reverse order */
uint32_t
Reverse(uint32_t number, uint32_t bits)
{
    uint32_t reversed = 0;
    for (uint32_t i = 0; i < bits; i++)
    {
        reversed |= (number >> i & 1) << (bits - 1 - i);
    }
    return reversed;
}

/** @return tree of a gather that matches a reduce-scatter with nearest ranks first */
PhaseTree
MakeGatherTree(const std::vector<uint32_t>& ranks, uint32_t root)
{
    PhaseTree tree;
    for (uint32_t step = 0; 1U << step < ranks.size(); step++)
    {
        for (uint32_t v = 0; v < 1U << step; v++)
        {
            tree.edges.push_back({ranks[root ^ v], ranks[root ^ v ^ 1U << step], step});
        }
    }
    return tree;
}

void
BuildRabenseifner(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    schedule.stepwise = true;
    const uint32_t bits = FloorLog2(request.ranks);
    const bool anyOwner =
        request.operation == Operation::ALL_REDUCE || request.operation == Operation::REDUCE;
    Folding folding = Fold(AllRanks(schedule));
    PhaseGroup& group = folding.group;
    if (anyOwner)
    {
        schedule.chunks = 1U << bits;
        // With this assignment of parts, the chunks of each message are a single run.
        for (uint32_t i = 0; i < group.parts.size(); i++)
        {
            group.parts[i] = Reverse(i, bits);
        }
    }
    const Butterfly halves = MakeDistanceDoubling(1U << bits);
    uint32_t step = AddFold(schedule, folding, 0);
    if (request.operation != Operation::ALL_GATHER)
    {
        step = AddButterflyReduceScatter(schedule, group, halves, step);
    }
    if (request.operation == Operation::REDUCE)
    {
        const uint32_t worker = folding.GetWorker(request.root);
        const auto position = std::find(group.ranks.begin(), group.ranks.end(), worker);
        const auto root = static_cast<uint32_t>(position - group.ranks.begin());
        step = AddTreeGather(schedule, MakeGatherTree(group.ranks, root), group, step);
        if (worker != request.root)
        {
            const ChunkRun vector{0, schedule.chunks};
            schedule.Add(worker, Kind::SEND, request.root, vector, step);
            schedule.Add(request.root, Kind::RECEIVE, worker, vector, step);
        }
        return;
    }
    if (request.operation != Operation::REDUCE_SCATTER)
    {
        step = AddButterflyAllGather(schedule, group, halves, step);
    }
    AddUnfold(schedule, folding, step);
}

const Registry<CollectiveAlgorithm>::Entry g_rabenseifner(
    "rabenseifner",
    {"recursive halving, then doubling: 2 log2 N steps, optimal in bandwidth for 2^k ranks",
     {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER, Operation::REDUCE},
     &BuildRabenseifner});

} // namespace

} // namespace ns3::training
