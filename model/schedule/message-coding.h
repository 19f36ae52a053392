/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MESSAGE_CODING_H
#define DISTRIBUTED_TRAINING_MESSAGE_CODING_H

#include "collective-operation.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::training
{

/// Type of service of gradients: DSCP 10 (AF11), as INCEPTIONN's hosts set it.
static constexpr uint8_t GRADIENT_TYPE_OF_SERVICE = 0x28;

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
    /**
     * @param operation a collective
     * @return whether its messages are numbers to add and their sums
     */
    static bool IsSum(CollectiveOperation operation)
    {
        return operation == CollectiveOperation::ALL_REDUCE ||
               operation == CollectiveOperation::REDUCE_SCATTER ||
               operation == CollectiveOperation::REDUCE;
    }

    /**
     * @param operation a collective
     * @return whether its messages are coded
     */
    bool Codes(CollectiveOperation operation) const
    {
        return roundTrip && (codesCopies || IsSum(operation));
    }

    /**
     * @param operation a collective
     * @return whether hosts mark its messages for an engine
     */
    bool Marks(CollectiveOperation operation) const
    {
        return marks && (codesCopies || IsSum(operation));
    }

    /// Replaces the contents of a message, float32 numbers, by what the receiver gets; empty:
    /// messages arrive unchanged.
    std::function<void(std::vector<uint8_t>&, const MessagePlace&)> roundTrip;
    /// Whether the sender replaces its own copy as well, so that copies of a sum are equal.
    bool codesOwner{false};
    /// Whether messages of collectives are coded that copy numbers, such as weights.
    bool codesCopies{false};
    /// Whether ranks replace their own numbers first, as for adders of fewer bits.
    bool codesInputs{false};
    /// Whether hosts mark messages, by a type of service, for an engine in the NIC.
    bool marks{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MESSAGE_CODING_H
