/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Dissemination barrier (Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization",
 * 1988): with distance d = 1, 2, 4, ... every rank tells rank + d which ranks are known to have
 * arrived; ceil(log2 N) steps for any N.
 */

#include "ns3/collective-algorithm.h"

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

void
BuildDissemination(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    schedule.stepwise = true;
    schedule.UseRotation(false);
    uint32_t step = 0;
    for (uint32_t distance = 1; distance < request.ranks; distance *= 2, step++)
    {
        schedule.Add(0, Kind::SEND, distance, 0, step);
        schedule.Add(0, Kind::RECEIVE_REDUCE, request.ranks - distance, 0, step);
    }
}

const Registry<CollectiveAlgorithm>::Entry g_dissemination("dissemination",
                                                           {"ceil(log2 N) steps of a barrier",
                                                            {Operation::BARRIER},
                                                            &BuildDissemination});

} // namespace

} // namespace ns3::training
