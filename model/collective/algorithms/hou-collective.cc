/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Hou et al., "Co-designing the topology/algorithm to accelerate distributed training", for
 * packages whose nodes have a link to each of several local switches: in step s a rank sends its
 * partial sum to the rank 2^(s-1) ahead, in log2 N steps of S bytes. (The paper's text says 2(s-1),
 * which is equal for its 4 and 8 nodes but counts contributions twice from 16 nodes on.) For other
 * N see AddDisseminationAllReduce(). With `stripes` k each message is divided into k stripes, one
 * per switch.
 */

#include "collective/dissemination-phases.h"

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

void
BuildHou(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const auto stripes = static_cast<uint32_t>(request.keys.GetCount("stripes"));
    const bool gathers = request.operation == Operation::ALL_GATHER;
    const PhaseGroup all = AllRanks(schedule);
    schedule.chunks = gathers ? request.ranks * stripes : stripes;
    schedule.UseRotation(gathers);
    for (uint32_t stripe = 0; stripe < stripes; stripe++)
    {
        if (gathers)
        {
            AddDisseminationAllGather(schedule, AllRanksOfStripe(schedule, stripe), 0, stripe);
        }
        else
        {
            AddDisseminationAllReduce(schedule, all.ranks, stripe, 0, stripe);
        }
    }
}

const Registry<CollectiveAlgorithm>::Entry g_hou(
    "hou",
    {"log2 N steps of the whole vector, 2^s ranks ahead; for local switches (Hou et al.)",
     {Operation::ALL_REDUCE, Operation::ALL_GATHER},
     &BuildHou,
     {Key::Count("stripes", 1, 1, 64, "messages that each step's message is cut into")}});

} // namespace

} // namespace ns3::training
