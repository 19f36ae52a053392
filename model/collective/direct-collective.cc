/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Every rank exchanges with every other one directly: a phase for a reduce-scatter, an all-gather
 * or an all-to-all, two for an all-reduce, 2(N-1)/N * S bytes. With `window` a rank sends its next
 * message when it has received all but that many of those that belong to the ones before (ASTRA-
 * sim's direct). Broadcast and reduce are stars.
 */

#include "tree-phases.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingDirectCollective");

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
    order.window = static_cast<uint32_t>(request.GetNumber("window"));
    uint32_t step = 0;
    if (exchanges)
    {
        const auto what = [n](uint32_t from, uint32_t to) -> ChunkList {
            return from * n + (to + n - from) % n;
        };
        AddDirectExchange(schedule, all.ranks, step, Kind::RECEIVE, what, order);
        return;
    }
    if (request.operation != Operation::ALL_GATHER)
    {
        const auto what = [&](uint32_t, uint32_t to) -> ChunkList {
            return isBarrier ? ChunkList(0) : all.parts[to];
        };
        step = AddDirectExchange(schedule, all.ranks, step, Kind::RECEIVE_REDUCE, what, order);
    }
    if (request.operation == Operation::ALL_REDUCE || request.operation == Operation::ALL_GATHER)
    {
        const auto what = [&](uint32_t from, uint32_t) { return all.parts[from]; };
        AddDirectExchange(schedule, all.ranks, step, Kind::RECEIVE, what, order);
    }
}

const Registry<CollectiveAlgorithm>::Entry g_direct(
    "direct",
    {"all pairs of ranks exchange directly; for full crossbars",
     {Operation::ALL_REDUCE,
      Operation::REDUCE_SCATTER,
      Operation::ALL_GATHER,
      Operation::BROADCAST,
      Operation::REDUCE,
      Operation::ALL_TO_ALL,
      Operation::ALL_TO_ALL_V,
      Operation::BARRIER},
     &BuildDirect,
     nullptr,
     nullptr,
     {{"window", {"messages on their way to a rank; 0: any number", "0", {}, 0, 65535}}}});

} // namespace

} // namespace ns3::training
