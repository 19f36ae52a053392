/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MESSAGE_CODING_H
#define DISTRIBUTED_TRAINING_MESSAGE_CODING_H

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 * A message of a schedule.
 */
struct MessagePlace
{
    uint32_t sender{0};   ///< its rank
    uint32_t receiver{0}; ///< its rank
    uint32_t step{0};     ///< of the schedule
    uint32_t message{0};  ///< see ScheduleAction
};

/**
 * @ingroup distributed-training-collective
 * What becomes of numbers on their way from rank to rank, if engines code them.
 */
struct MessageCoding
{
    /// Replaces the contents of a message, float32 numbers, by what the receiver gets; empty:
    /// messages arrive unchanged.
    std::function<void(std::vector<uint8_t>&, const MessagePlace&)> roundTrip;
    /// Whether the sender replaces its own copy as well, so that copies of a sum are equal.
    bool codesOwner{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MESSAGE_CODING_H
