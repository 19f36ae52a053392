/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_ORDER_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_ORDER_H

#include "ns3/collective-operation.h"
#include "ns3/training-registry.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** A collective that has been issued and waits for its turn. */
struct WaitingCollective
{
    uint64_t number;               ///< in issue order at this rank, from 0
    CollectiveOperation operation; ///< operation
    uint64_t bytes;                ///< size of the whole vector, bytes
    int32_t priority;              ///< Tensor::priority
};

/**
 * @ingroup distributed-training-collective
 *
 * A named rule that picks the next of the waiting collectives: `fifo`, `lifo`, `priority`.
 * Registered in Registry<CollectiveOrder>.
 */
struct CollectiveOrder
{
    static constexpr const char* KIND = "order of collectives"; ///< for messages
    std::string help;                                           ///< one line
    /// Whether every rank picks the same collective without communication. Otherwise rank 0 picks
    /// and announces its choice.
    bool isAgreed;
    /// Picks from a non-empty list in issue order; returns a position in the list.
    std::size_t (*pick)(const std::vector<WaitingCollective>& waiting);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_ORDER_H
