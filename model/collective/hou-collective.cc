/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Hou et al., "Co-designing the topology/algorithm to accelerate distributed training", for
 * packages whose nodes have a link to each of some local switches: in step s a rank sends what it
 * has summed up so far 2^(s-1) ranks ahead, log2 N steps of S bytes. (The paper's text says 2(s-1),
 * which is the same for its 4 and 8 nodes and counts twice from 16 on.) For other N see
 * AddDisseminationAllReduce(). With `stripes` k each step's message is cut into k, one a switch.
 */

#include "dissemination-phases.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingHouCollective");

namespace
{

using Operation = CollectiveOperation;

void
BuildHou(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const auto stripes = static_cast<uint32_t>(request.GetNumber("stripes"));
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
    {"Hou et al.: log2 N steps of the whole vector, 2^s ranks ahead; for local switches",
     {Operation::ALL_REDUCE, Operation::ALL_GATHER},
     &BuildHou,
     nullptr,
     nullptr,
     {{"stripes", {"messages that each step's message is cut into", "1", {}, 1, 64}}}});

} // namespace

} // namespace ns3::training
