/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULE_ORDER_H
#define DISTRIBUTED_TRAINING_SCHEDULE_ORDER_H

#include "collective-schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** A topological order of the actions of one segment of a schedule. */
struct ScheduleOrder
{
    /** An action in the order; with rotation, the action of every rank. */
    struct Entry
    {
        uint32_t rank;  ///< rank of the action; 0 with rotation
        uint32_t index; ///< number of the action
        uint32_t other; ///< SEND: number of the matching receive action
    };

    std::vector<Entry> entries; ///< in order: each receive follows its send
    std::string fault;          ///< empty if an order exists; otherwise rank, step and fault
};

/**
 * @ingroup distributed-training-collective
 *
 * Sorts all actions topologically. With rotation, the graphs of all ranks are folded into one:
 * rotation maps the whole graph to itself, so the folded graph has a cycle if and only if the whole
 * graph has one.
 *
 * @param schedule schedule to sort
 * @return the order. The faults are: an action with an invalid chunk or peer, an action that
 *         depends on a later action or on itself, and a message that is not sent or received
 *         exactly once
 */
ScheduleOrder OrderSchedule(const CollectiveSchedule& schedule);

/**
 * @ingroup distributed-training-collective
 * @param rank rank that performs the action
 * @param action action to describe
 * @return a description such as "rank 3, step 2: sends to rank 4 chunk 1"
 */
std::string DescribeAction(uint32_t rank, const ScheduleAction& action);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_ORDER_H
