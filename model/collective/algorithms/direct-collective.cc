/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Every rank exchanges directly with every other rank: one phase for a reduce-scatter, all-gather
 * or all-to-all, two phases for an all-reduce, 2(N-1)/N * S bytes per rank. With `window` w a rank
 * sends message t after it has received message t - w (ASTRA-sim's direct). Broadcast and reduce
 * use star trees.
 */

#include "collective/tree-phases.h"

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

void
BuildDirect(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const uint32_t n = request.ranks;
    const PhaseGroup all = AllRanks(schedule);
    if (HasRoot(request.operation))
    {
        schedule.chunks = 1;
        const PhaseTree star = MakeStar(StartAt(all.ranks, request.root));
        if (request.operation == Operation::BROADCAST)
        {
            AddTreeBroadcast(schedule, star, 0, 0);
        }
        else
        {
            AddTreeReduce(schedule, star, 0, 0);
        }
        return;
    }
    const bool exchanges = IsExchange(request.operation);
    const bool isBarrier = request.operation == Operation::BARRIER;
    schedule.UseRotation(!isBarrier);
    DirectOrder order;
    order.window = static_cast<uint32_t>(request.keys.GetCount("window"));
    uint32_t step = 0;
    if (exchanges)
    {
        const auto chunksOf = [n](uint32_t from, uint32_t to) -> ChunkList {
            return from * n + (to + n - from) % n;
        };
        AddDirectExchange(schedule, all.ranks, step, Kind::RECEIVE, chunksOf, order);
        return;
    }
    if (request.operation != Operation::ALL_GATHER)
    {
        const auto chunksOf = [&](uint32_t, uint32_t to) -> ChunkList {
            return isBarrier ? ChunkList(0) : all.parts[to];
        };
        step = AddDirectExchange(schedule, all.ranks, step, Kind::RECEIVE_REDUCE, chunksOf, order);
    }
    if (request.operation == Operation::ALL_REDUCE || request.operation == Operation::ALL_GATHER)
    {
        const auto chunksOf = [&](uint32_t from, uint32_t) { return all.parts[from]; };
        AddDirectExchange(schedule, all.ranks, step, Kind::RECEIVE, chunksOf, order);
    }
}

const Registry<CollectiveAlgorithm>::Entry g_direct(
    "direct",
    {"every rank exchanges with every other directly; for full crossbars",
     {Operation::ALL_REDUCE,
      Operation::REDUCE_SCATTER,
      Operation::ALL_GATHER,
      Operation::BROADCAST,
      Operation::REDUCE,
      Operation::ALL_TO_ALL,
      Operation::ALL_TO_ALL_V,
      Operation::BARRIER},
     &BuildDirect,
     {Key::Count("window", 0, 0, 65535, "maximum messages in flight to a rank; 0: unlimited")}});

} // namespace

} // namespace ns3::training
