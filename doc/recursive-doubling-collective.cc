/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * All-reduce by recursive doubling (Thakur, Rabenseifner, Gropp, "Optimization of collective
 * communication operations in MPICH", 2005): log2 N steps, in each of which a rank exchanges the
 * whole vector with the rank whose number differs in one bit. Best for short vectors.
 */

#include "ns3/collective-algorithm.h"
#include "ns3/configuration-error.h"
#include "ns3/log.h"

#include <string>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRecursiveDoublingCollective");

namespace
{

void
BuildRecursiveDoubling(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    using Kind = ScheduleAction::Kind;
    const uint32_t n = request.ranks;
    if ((n & (n - 1)) != 0)
    {
        throw ConfigurationError("recursive-doubling with " + std::to_string(n) +
                                 " ranks (allowed: powers of 2)");
    }
    schedule.chunks = 1; // the vector is not cut
    for (uint32_t rank = 0; rank < n; rank++)
    {
        uint32_t step = 0;
        for (uint32_t bit = 1; bit < n; bit *= 2, step++)
        {
            const uint32_t peer = rank ^ bit;
            schedule.Add(rank, Kind::SEND, peer, 0, step);
            schedule.Add(rank, Kind::RECEIVE_REDUCE, peer, 0, step);
        }
    }
}

const Registry<CollectiveAlgorithm>::Entry g_recursiveDoubling(
    "recursive-doubling",
    {"log2 N steps of the whole vector; for short vectors and 2^n ranks",
     {CollectiveOperation::ALL_REDUCE},
     &BuildRecursiveDoubling});

} // namespace

} // namespace ns3::training
