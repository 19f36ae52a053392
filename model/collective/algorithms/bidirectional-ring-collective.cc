/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Two rings in opposite directions, each with half of the vector, use both directions of every link
 * of a ring: 2(N-1) steps in which a rank sends S/2N bytes in each direction. In an all-to-all each
 * message takes the shorter direction.
 */

#include "collective/tree-phases.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

void
BuildBidirectionalRing(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const uint32_t n = request.ranks;
    if (IsExchange(request.operation))
    {
        AddRingAllToAll(schedule, n / 2, n - 1 - n / 2);
        return;
    }
    const bool rooted = HasRoot(request.operation);
    schedule.chunks = rooted ? 2 : 2 * n;
    if (!rooted)
    {
        schedule.UseRotation(true);
    }
    for (uint32_t direction = 0; direction < 2; direction++)
    {
        PhaseGroup ring = rooted ? PhaseGroup() : AllRanksOfStripe(schedule, direction);
        if (rooted)
        {
            for (uint32_t rank = 0; rank < n; rank++)
            {
                ring.ranks.push_back(rank);
            }
        }
        if (direction == 1)
        {
            std::reverse(ring.ranks.begin(), ring.ranks.end());
            std::reverse(ring.parts.begin(), ring.parts.end());
        }
        uint32_t step = 0;
        switch (request.operation)
        {
        case Operation::BROADCAST:
            AddTreeBroadcast(schedule,
                             MakeChain(StartAt(ring.ranks, request.root)),
                             direction,
                             0,
                             direction);
            break;
        case Operation::REDUCE:
            AddTreeReduce(schedule,
                          MakeChain(StartAt(ring.ranks, request.root)),
                          direction,
                          0,
                          direction);
            break;
        case Operation::ALL_GATHER:
            AddRingAllGather(schedule, ring, 0, direction);
            break;
        default:
            step = AddRingReduceScatter(schedule, ring, 0, direction);
            if (request.operation == Operation::ALL_REDUCE)
            {
                AddRingAllGather(schedule, ring, step, direction);
            }
        }
    }
}

const Registry<CollectiveAlgorithm>::Entry g_bidirectionalRing(
    "bidirectional-ring",
    {"two mirrored rings, each with half of the vector",
     {Operation::ALL_REDUCE,
      Operation::REDUCE_SCATTER,
      Operation::ALL_GATHER,
      Operation::BROADCAST,
      Operation::REDUCE,
      Operation::ALL_TO_ALL,
      Operation::ALL_TO_ALL_V},
     &BuildBidirectionalRing,
     {},
     {},
     &GetChainSegments});

} // namespace

} // namespace ns3::training
