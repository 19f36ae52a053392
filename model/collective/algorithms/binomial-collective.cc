/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Binomial trees (MPICH): ceil(log2 N) steps, for a broadcast or reduce of short vectors. The root
 * sends or receives up to S log2 N bytes. All-reduce and barrier are a reduce to rank 0 followed by
 * a broadcast from rank 0.
 */

#include "collective/tree-phases.h"

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

void
BuildBinomial(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const PhaseTree tree = MakeBinomialTree(StartAt(AllRanks(schedule).ranks, request.root));
    schedule.stepwise = true;
    schedule.chunks = 1;
    uint32_t step = 0;
    if (request.operation != Operation::BROADCAST)
    {
        step = AddTreeReduce(schedule, tree, 0, step);
    }
    if (request.operation != Operation::REDUCE)
    {
        AddTreeBroadcast(schedule, tree, 0, step);
    }
}

const Registry<CollectiveAlgorithm>::Entry g_binomial(
    "binomial",
    {"a binomial tree: ceil(log2 N) steps of the whole vector; for short vectors",
     {Operation::BROADCAST, Operation::REDUCE, Operation::ALL_REDUCE, Operation::BARRIER},
     &BuildBinomial});

} // namespace

} // namespace ns3::training
