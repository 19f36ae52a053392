/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Collectives synthesized for the topology by SynthesizeAllGather(). A reduce-scatter is an
 * all-gather with time and direction reversed, an all-reduce is a reduce-scatter followed by an
 * all-gather.
 */

#include "collective/gather-synthesizer.h"
#include "collective/rank-placement.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/// Attempts by default, for at most so many ranks; with more ranks, one attempt takes as long.
constexpr uint32_t DEFAULT_RUNS = 20;
constexpr uint32_t MAX_RANKS_OF_RUNS = 256;

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

/** @return the transfers reversed in time and direction, sorted by start */
std::vector<ChunkTransfer>
Reverse(std::vector<ChunkTransfer> transfers)
{
    uint64_t end = 0;
    for (const auto& transfer : transfers)
    {
        end = std::max(end, transfer.end);
    }
    for (auto& transfer : transfers)
    {
        std::swap(transfer.source, transfer.target);
        transfer.start = end - std::exchange(transfer.end, end - transfer.start);
    }
    std::stable_sort(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) {
        return a.start < b.start;
    });
    return transfers;
}

/**
 * Appends transfers in order of start time. Transfers with equal start time share a step. Messages
 * between two ranks keep the order of time.
 */
uint32_t
AddTransfers(const std::vector<ChunkTransfer>& transfers,
             Kind receive,
             uint32_t step,
             CollectiveSchedule& schedule)
{
    /** The latest message from a rank to another. */
    struct Last
    {
        uint32_t send;
        uint32_t step;
        uint32_t message;
    };

    std::unordered_map<uint64_t, Last> lastOf; // by pair
    std::vector<uint32_t> after;
    for (std::size_t i = 0; i < transfers.size(); i++)
    {
        const ChunkTransfer& transfer = transfers[i];
        if (i > 0 && transfer.start > transfers[i - 1].start)
        {
            step++;
        }
        const auto [found, isFirst] =
            lastOf.try_emplace(uint64_t{transfer.source} << 32 | transfer.target);
        Last& last = found->second;
        after.clear();
        if (!isFirst)
        {
            after.push_back(last.send);
        }
        last.message = !isFirst && last.step == step ? last.message + 1 : 0;
        last.step = step;
        const ChunkRun chunk{transfer.chunk, 1};
        last.send = schedule.Add(transfer.source,
                                 Kind::SEND,
                                 transfer.target,
                                 chunk,
                                 step,
                                 after,
                                 last.message);
        schedule.Add(transfer.target, receive, transfer.source, chunk, step, {}, last.message);
    }
    return step + 1;
}

void
BuildTacos(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const RankPlacement placement(request);
    const auto chunks = static_cast<uint32_t>(request.keys.GetCount("chunks"));
    schedule.chunks = request.ranks * chunks;
    const uint64_t bytes = request.bytes / schedule.chunks / schedule.segments;
    auto runs = static_cast<uint32_t>(request.keys.GetCount("runs"));
    if (runs == 0)
    {
        runs = request.ranks <= MAX_RANKS_OF_RUNS ? DEFAULT_RUNS : 1;
    }
    const auto gather = SynthesizeAllGather({placement.GetTopology(),
                                             placement.GetHosts(),
                                             chunks,
                                             std::max<uint64_t>(1, bytes),
                                             runs,
                                             static_cast<uint32_t>(request.keys.GetCount("seed"))});
    uint32_t step = 0;
    if (request.operation != Operation::ALL_GATHER)
    {
        step = AddTransfers(Reverse(gather), Kind::RECEIVE_REDUCE, step, schedule);
    }
    if (request.operation != Operation::REDUCE_SCATTER)
    {
        AddTransfers(gather, Kind::RECEIVE, step, schedule);
    }
}

const Registry<CollectiveAlgorithm>::Entry g_tacos(
    "tacos",
    {"synthesized for the topology, its rates and delays, by a greedy match of chunks and links "
     "(TACOS)",
     {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER},
     &BuildTacos,
     {Key::Count("chunks", 1, 1, 64, "chunks per rank"),
      Key::Count("runs",
                 0,
                 0,
                 10000,
                 "attempts, of which the best is taken; 0: 20 for up to 256 ranks, otherwise 1"),
      Key::Count("seed", 1, 0, 1000000, "seed of the random numbers")},
     {},
     nullptr,
     true,
     true});

} // namespace

} // namespace ns3::training
