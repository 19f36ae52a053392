/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Recursive doubling (Thakur, Rabenseifner, Gropp, "Optimization of collective communication
 * operations in MPICH", 2005): in step s a rank exchanges all its data with the rank whose number
 * differs in bit s. An all-reduce takes log2 N steps of S bytes, an all-gather log2 N steps of S/N,
 * 2S/N, 4S/N, ... If N is not a power of two, the excess ranks are folded into others.
 */

#include "collective/butterfly-phases.h"

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

void
BuildRecursiveDoubling(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    if (request.operation == Operation::ALL_REDUCE)
    {
        schedule.chunks = 1; // the vector is not divided
    }
    schedule.stepwise = true;
    const bool gathers = request.operation == Operation::ALL_GATHER;
    const Folding folding = Fold(AllRanks(schedule));
    const auto size = static_cast<uint32_t>(folding.group.ranks.size());
    uint32_t step = AddFold(schedule, folding, 0);
    step = gathers ? AddButterflyAllGather(schedule, folding.group, MakeDistanceHalving(size), step)
                   : AddButterflyAllReduce(schedule,
                                           folding.group.ranks,
                                           MakeDistanceDoubling(size),
                                           0,
                                           step);
    AddUnfold(schedule, folding, step);
}

const Registry<CollectiveAlgorithm>::Entry g_recursiveDoubling(
    "recursive-doubling",
    {"log2 N exchanges of all data of a rank; for short vectors",
     {Operation::ALL_REDUCE, Operation::ALL_GATHER, Operation::BARRIER},
     &BuildRecursiveDoubling});

} // namespace

} // namespace ns3::training
