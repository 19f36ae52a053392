/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Reduce-scatter and all-gather on circulant graphs (Traeff, "Optimal, non-pipelined reduce-scatter
 * and allreduce algorithms", 2024): with skips N, ceil(N/2), ..., 1 a rank sends the blocks of the
 * farthest ranks ahead by the next skip. For any N, a rank sends every block except its own exactly
 * once in ceil(log2 N) steps. An all-reduce takes twice as many steps and 2(N-1)/N * S bytes per
 * rank.
 */

#include "ns3/collective-algorithm.h"

#include <vector>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

/** @return the skips N, ceil(N/2), ..., 1 */
std::vector<uint32_t>
GetSkips(uint32_t ranks)
{
    std::vector<uint32_t> skips{ranks};
    while (skips.back() > 1)
    {
        skips.push_back((skips.back() + 1) / 2);
    }
    return skips;
}

void
BuildCirculant(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    schedule.stepwise = true;
    schedule.UseRotation(true);
    const uint32_t n = request.ranks;
    const auto skips = GetSkips(n);
    uint32_t step = 0;
    if (request.operation != Operation::ALL_GATHER)
    {
        for (std::size_t i = 1; i < skips.size(); i++, step++)
        {
            const uint32_t skip = skips[i];
            const uint32_t count = skips[i - 1] - skip;
            schedule.Add(0, Kind::SEND, skip, ChunkRun{skip, count}, step);
            schedule.Add(0, Kind::RECEIVE_REDUCE, n - skip, ChunkRun{0, count}, step);
        }
    }
    if (request.operation != Operation::REDUCE_SCATTER)
    {
        for (std::size_t i = skips.size() - 1; i > 0; i--, step++)
        {
            const uint32_t skip = skips[i];
            const uint32_t count = skips[i - 1] - skip;
            schedule.Add(0, Kind::SEND, n - skip, ChunkRun{0, count}, step);
            schedule.Add(0, Kind::RECEIVE, skip, ChunkRun{skip, count}, step);
        }
    }
}

const Registry<CollectiveAlgorithm>::Entry g_circulant(
    "circulant",
    {"2 ceil(log2 N) steps, optimal in bandwidth for any number of ranks",
     {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER},
     &BuildCirculant});

} // namespace

} // namespace ns3::training
