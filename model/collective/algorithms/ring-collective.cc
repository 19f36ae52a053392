/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Ring algorithms (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
 * workstations", 2009; NCCL's runRing). Rank r sends to r + 1 only. In the reduce-scatter, chunk c
 * starts at rank c + 1 and accumulates around the ring until rank c has the sum; the all-gather
 * sends the sum around once more. An all-reduce takes 2(N-1) steps of S/N bytes. Broadcast and
 * reduce are pipelined chains. In an all-to-all the chunks of a rank travel together and are
 * delivered one by one: N(N-1)/2 chunks cross each link (ASTRA-sim's Ring; Hou et al.).
 */

#include "collective/tree-phases.h"

#include <vector>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

/**
 * Appends a token barrier: the token travels around the ring twice. After the first round, rank N -
 * 1 knows that all ranks have arrived.
 */
void
AddBarrier(CollectiveSchedule& schedule)
{
    const uint32_t n = schedule.GetSize();
    for (uint32_t step = 0; step < 2 * n - 2; step++)
    {
        schedule.Add(step % n, Kind::SEND, (step + 1) % n, 0, step);
        schedule.Add((step + 1) % n, Kind::RECEIVE_REDUCE, step % n, 0, step);
    }
}

void
BuildRing(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const PhaseGroup all = AllRanks(schedule);
    switch (request.operation)
    {
    case Operation::ALL_REDUCE:
        schedule.UseRotation(true);
        AddRingAllGather(schedule, all, AddRingReduceScatter(schedule, all, 0));
        break;
    case Operation::REDUCE_SCATTER:
        schedule.UseRotation(true);
        AddRingReduceScatter(schedule, all, 0);
        break;
    case Operation::ALL_GATHER:
        schedule.UseRotation(true);
        AddRingAllGather(schedule, all, 0);
        break;
    case Operation::BROADCAST:
        schedule.chunks = 1;
        AddTreeBroadcast(schedule, MakeChain(StartAt(all.ranks, request.root)), 0, 0);
        break;
    case Operation::REDUCE: {
        schedule.chunks = 1;
        // The chain starts at the rank after the root; each rank adds its vector and forwards the
        // sum.
        std::vector<uint32_t> down(all.ranks.rbegin(), all.ranks.rend());
        AddTreeReduce(schedule, MakeChain(StartAt(down, request.root)), 0, 0);
        break;
    }
    case Operation::ALL_TO_ALL:
    case Operation::ALL_TO_ALL_V:
        AddRingAllToAll(schedule, request.ranks - 1, 0);
        break;
    case Operation::BARRIER:
        AddBarrier(schedule);
        break;
    case Operation::SEND_RECEIVE:
        schedule.UseRotation(true);
        schedule.Add(0, Kind::SEND, 1, 0, 0);
        schedule.Add(0, Kind::RECEIVE, request.ranks - 1, request.ranks - 1, 0);
        break;
    }
}

const Registry<CollectiveAlgorithm>::Entry g_ring(
    "ring",
    {"2(N-1) steps around a ring of ranks, S/N bytes each; optimal in bandwidth",
     GetCollectiveOperations(),
     &BuildRing,
     {},
     {},
     &GetChainSegments});

} // namespace

} // namespace ns3::training
