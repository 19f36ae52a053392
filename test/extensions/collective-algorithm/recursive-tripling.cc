/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * All-reduce by recursive tripling (a case of recursive multiplying: Ruefenacht, Bull, Booth,
 * "Generalisation of recursive doubling for AllReduce", 2017). In each of log3 N steps a rank
 * exchanges the whole vector with the two ranks whose numbers differ in one base-3 digit. Suited to
 * short vectors.
 */

#include "ns3/collective-algorithm.h"

namespace
{

using namespace ns3::training;

bool
HasPowerOfThreeRanks(const CollectiveRequest& request)
{
    uint32_t rest = request.ranks;
    while (rest % 3 == 0)
    {
        rest /= 3;
    }
    return rest == 1;
}

void
Build(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    using Kind = ScheduleAction::Kind;
    schedule.chunks = 1; // the vector is not split
    for (uint32_t rank = 0; rank < request.ranks; rank++)
    {
        uint32_t step = 0;
        for (uint32_t weight = 1; weight < request.ranks; weight *= 3, step++)
        {
            const uint32_t digit = rank / weight % 3;
            const uint32_t others = rank - digit * weight; // all digits except this one
            const uint32_t next = others + (digit + 1) % 3 * weight;
            const uint32_t previous = others + (digit + 2) % 3 * weight;
            schedule.Add(rank, Kind::SEND, next, 0, step);
            schedule.Add(rank, Kind::SEND, previous, 0, step);
            schedule.Add(rank, Kind::RECEIVE_REDUCE, next, 0, step);
            schedule.Add(rank, Kind::RECEIVE_REDUCE, previous, 0, step);
        }
    }
}

const Registry<CollectiveAlgorithm>::Entry g_recursiveTripling(
    "recursive-tripling",
    {"log3 N steps of the whole vector; for short vectors and 3^n ranks",
     {CollectiveOperation::ALL_REDUCE},
     &Build,
     {},
     {{"a number of ranks that is a power of three", &HasPowerOfThreeRanks}}});

} // namespace
