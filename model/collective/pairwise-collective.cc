/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Pairwise exchange (MPICH): N-1 steps, in each of which a rank exchanges with one other, and the
 * next one begins when the message of the one before is there. In form `xor` the partner in step t
 * is rank xor t (N a power of two), in form `shift` a rank sends to rank + t and receives from rank
 * - t.
 */

#include "collective-phases.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"

#include <string>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPairwiseCollective");

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

void
CheckPairwise(const CollectiveRequest& request)
{
    if (request.Get("form") == "xor" && !IsPowerOfTwo(request.ranks))
    {
        throw ConfigurationError("pairwise:form=xor with " + std::to_string(request.ranks) +
                                 " ranks (allowed: powers of 2; form=shift takes any number)");
    }
}

void
BuildPairwise(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const uint32_t n = request.ranks;
    DirectOrder order;
    order.window = 1;
    order.exclusive = request.Get("form") != "shift" && IsPowerOfTwo(n);
    const PhaseGroup all = AllRanks(schedule);
    if (!order.exclusive)
    {
        schedule.UseRotation(true);
    }
    if (request.operation == Operation::REDUCE_SCATTER)
    {
        const auto what = [&](uint32_t, uint32_t to) { return all.parts[to]; };
        AddDirectExchange(schedule, all.ranks, 0, Kind::RECEIVE_REDUCE, what, order);
        return;
    }
    const auto what = [n](uint32_t from, uint32_t to) -> ChunkList {
        return from * n + (to + n - from) % n;
    };
    AddDirectExchange(schedule, all.ranks, 0, Kind::RECEIVE, what, order);
}

const Registry<CollectiveAlgorithm>::Entry g_pairwise(
    "pairwise",
    {"N-1 steps, each an exchange with one other rank",
     {Operation::ALL_TO_ALL, Operation::ALL_TO_ALL_V, Operation::REDUCE_SCATTER},
     &BuildPairwise,
     &CheckPairwise,
     nullptr,
     {{"form", {"partners; auto: xor if the ranks are 2^k", "auto", {"auto", "shift", "xor"}}}}});

} // namespace

} // namespace ns3::training
