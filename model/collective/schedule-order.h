/*
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

/** An order in which the actions of one segment of a schedule can be carried out. */
struct ScheduleOrder
{
    /** An action in the order. With rotation it stands for this action of every rank. */
    struct Entry
    {
        uint32_t rank;  ///< whose; 0 with rotation
        uint32_t index; ///< number of the action
        uint32_t other; ///< SEND: number of the action that receives the message
    };

    std::vector<Entry> entries; ///< in order: a receive comes behind its send
    std::string fault; ///< empty if there is such an order; otherwise why not: rank, step, fault
};

/**
 * @ingroup distributed-training-collective
 *
 * Finds an order of all actions. With rotation the ranks' graphs are folded into one; as rotation
 * brings every rank back to itself, that has a circle exactly if the whole graph has one.
 *
 * @param schedule whose actions
 * @return the order; found are: an action about what does not exist, one that waits for a later one
 *         or for itself, a message that is never sent or never received, or twice
 */
ScheduleOrder OrderSchedule(const CollectiveSchedule& schedule);

/**
 * @ingroup distributed-training-collective
 * @param rank who does it
 * @param action what it does
 * @return such as "rank 3, step 2: sends to rank 4 chunk 1"
 */
std::string DescribeAction(uint32_t rank, const ScheduleAction& action);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_ORDER_H
