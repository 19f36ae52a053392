/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Bruck's algorithms (Bruck et al., "Efficient algorithms for all-to-all communications in
 * multiport message-passing systems", 1997), ceil(log2 N) steps for any N. All-gather: with
 * distance d = 1, 2, 4, ... a rank sends its first d blocks to rank - d. All-to-all: with distance
 * d = 1, 2, 4, ... a rank sends to rank + d all blocks whose remaining distance has bit d set,
 * about S/2 bytes per step. Chunks are identified by number instead of position, so the rotations
 * of the original algorithm are unnecessary.
 */

#include "ns3/collective-algorithm.h"

#include <algorithm>
#include <vector>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

void
BuildBruck(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    schedule.stepwise = true;
    const uint32_t n = request.ranks;
    schedule.UseRotation(true);
    uint32_t step = 0;
    for (uint32_t distance = 1; distance < n; distance *= 2, step++)
    {
        if (request.operation == Operation::ALL_GATHER)
        {
            const uint32_t count = std::min(distance, n - distance);
            schedule.Add(0, Kind::SEND, n - distance, ChunkRun{0, count}, step);
            schedule.Add(0, Kind::RECEIVE, distance, ChunkRun{distance, count}, step);
            continue;
        }
        std::vector<ChunkRun> sent;
        std::vector<ChunkRun> received;
        for (uint32_t whole = distance; whole < n; whole++)
        {
            if ((whole & distance) != 0)
            {
                const uint32_t gone = whole & (distance - 1); // distance traveled from its source
                sent.push_back({(n - gone) % n * n + whole, 1});
                received.push_back({(n - gone - distance) * n + whole, 1});
            }
        }
        schedule.Add(0, Kind::SEND, distance, sent, step);
        schedule.Add(0, Kind::RECEIVE, n - distance, received, step);
    }
}

const Registry<CollectiveAlgorithm>::Entry g_bruck(
    "bruck",
    {"ceil(log2 N) steps of blocks that travel together; for short vectors",
     {Operation::ALL_GATHER, Operation::ALL_TO_ALL, Operation::ALL_TO_ALL_V},
     &BuildBruck});

} // namespace

} // namespace ns3::training
