/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Broadcast of long vectors (van de Geijn; MPICH): a binomial scatter of N parts, then an all-
 * gather around a ring; ceil(log2 N) + N-1 steps and about 2(N-1)/N * S bytes. The reduce runs in
 * reverse: a ring reduce-scatter, then a binomial gather.
 */

#include "collective/tree-phases.h"

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

void
BuildScatterAllGather(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    schedule.stepwise = true;
    PhaseGroup group = AllRanks(schedule);
    group.ranks = StartAt(group.ranks, request.root); // the root has part 0, the next rank part 1
    const PhaseTree tree = MakeBinomialTree(group.ranks);
    if (request.operation == Operation::BROADCAST)
    {
        AddRingAllGather(schedule, group, AddTreeScatter(schedule, tree, group, 0));
    }
    else
    {
        AddTreeGather(schedule, tree, group, AddRingReduceScatter(schedule, group, 0));
    }
}

const Registry<CollectiveAlgorithm>::Entry g_scatterAllGather(
    "scatter-all-gather",
    {"a binomial scatter and a ring all-gather, or a ring reduce-scatter and a binomial gather",
     {Operation::BROADCAST, Operation::REDUCE},
     &BuildScatterAllGather});

} // namespace

} // namespace ns3::training
