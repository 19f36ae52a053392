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

/** An order in which the actions of one segment of a schedule can be executed. */
struct ScheduleOrder
{
    /** An action in the order; with rotation, this action of every rank. */
    struct Entry
    {
        uint32_t rank;  ///< rank of the action; 0 with rotation
        uint32_t index; ///< number of the action
        uint32_t other; ///< SEND: number of the action that receives the message
    };

    std::vector<Entry> entries; ///< in order: a receive follows its send
    std::string fault;          ///< empty if there is such an order; otherwise rank, step and fault
};

/**
 * @ingroup distributed-training-collective
 *
 * Finds an order of all actions. With rotation the graphs of all ranks are folded into one; as
 * rotation maps the whole graph to itself, the folded graph has a cycle exactly if the whole graph
 * has one.
 *
 * @param schedule to be ordered
 * @return the order. The faults are: an action on a chunk or peer that does not exist, an action
 * that waits for a later one or for itself, a message that is sent or received never or twice
 */
ScheduleOrder OrderSchedule(const CollectiveSchedule& schedule);

/**
 * @ingroup distributed-training-collective
 * @param rank of the action
 * @param action to be described
 * @return such as "rank 3, step 2: sends to rank 4 chunk 1"
 */
std::string DescribeAction(uint32_t rank, const ScheduleAction& action);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_ORDER_H
