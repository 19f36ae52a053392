/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Pairwise exchange (MPICH): N-1 steps, in each of which a rank exchanges with one partner. A step
 * begins when the message of the previous step has arrived. In form `xor` the partner in step t is
 * rank xor t (N must be a power of two); in form `shift` a rank sends to rank + t and receives from
 * rank - t.
 */

#include "collective/collective-phases.h"

#include <string>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

bool
HasPartners(const CollectiveRequest& request)
{
    return request.keys.GetText("form") != "xor" || IsPowerOfTwo(request.ranks);
}

void
BuildPairwise(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const uint32_t n = request.ranks;
    DirectOrder order;
    order.window = 1;
    order.exclusive = request.keys.GetText("form") != "shift" && IsPowerOfTwo(n);
    const PhaseGroup all = AllRanks(schedule);
    if (order.exclusive)
    {
        schedule.UseExclusiveOr();
    }
    else
    {
        schedule.UseRotation(true);
    }
    if (request.operation == Operation::REDUCE_SCATTER)
    {
        const auto chunksOf = [&](uint32_t, uint32_t to) { return all.parts[to]; };
        AddDirectExchange(schedule, all.ranks, 0, Kind::RECEIVE_REDUCE, chunksOf, order);
        return;
    }
    const auto chunksOf = [n](uint32_t from, uint32_t to) -> ChunkList {
        return from * n + (to + n - from) % n;
    };
    AddDirectExchange(schedule, all.ranks, 0, Kind::RECEIVE, chunksOf, order);
}

const Registry<CollectiveAlgorithm>::Entry g_pairwise(
    "pairwise",
    {"N-1 steps, each an exchange with one other rank",
     {Operation::ALL_TO_ALL, Operation::ALL_TO_ALL_V, Operation::REDUCE_SCATTER},
     &BuildPairwise,
     {Key::Word("form",
                "auto",
                {"auto", "shift", "xor"},
                "partners of a step; auto: xor if the number of ranks is a power of two")},
     {{"a number of ranks that is a power of two, with form=xor", &HasPartners}}});

} // namespace

} // namespace ns3::training
