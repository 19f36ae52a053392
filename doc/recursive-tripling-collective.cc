/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * All-reduce by recursive tripling (a case of recursive multiplying: Ruefenacht, Bull, Booth,
 * "Generalisation of recursive doubling for AllReduce", 2017): log3 N steps, in each of which a
 * rank exchanges the whole vector with two others, those whose numbers differ in one digit to the
 * base 3. For short vectors.
 */

#include "ns3/collective-algorithm.h"
#include "ns3/configuration-error.h"
#include "ns3/log.h"

#include <string>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRecursiveTriplingCollective");

namespace
{

void
CheckRecursiveTripling(const CollectiveRequest& request)
{
    uint32_t rest = request.ranks;
    while (rest % 3 == 0)
    {
        rest /= 3;
    }
    if (rest != 1)
    {
        throw ConfigurationError("recursive-tripling with " + std::to_string(request.ranks) +
                                 " ranks (allowed: powers of 3)");
    }
}

void
BuildRecursiveTripling(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    using Kind = ScheduleAction::Kind;
    schedule.chunks = 1; // the vector is not cut
    for (uint32_t rank = 0; rank < request.ranks; rank++)
    {
        uint32_t step = 0;
        for (uint32_t place = 1; place < request.ranks; place *= 3, step++)
        {
            const uint32_t digit = rank / place % 3;
            const uint32_t others = rank - digit * place; // all digits but that one
            const uint32_t next = others + (digit + 1) % 3 * place;
            const uint32_t last = others + (digit + 2) % 3 * place;
            schedule.Add(rank, Kind::SEND, next, 0, step);
            schedule.Add(rank, Kind::SEND, last, 0, step);
            schedule.Add(rank, Kind::RECEIVE_REDUCE, next, 0, step);
            schedule.Add(rank, Kind::RECEIVE_REDUCE, last, 0, step);
        }
    }
}

const Registry<CollectiveAlgorithm>::Entry g_recursiveTripling(
    "recursive-tripling",
    {"log3 N steps of the whole vector; for short vectors and 3^n ranks",
     {CollectiveOperation::ALL_REDUCE},
     &BuildRecursiveTripling,
     &CheckRecursiveTripling});

} // namespace

} // namespace ns3::training
