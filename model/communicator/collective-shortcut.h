/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_SHORTCUT_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_SHORTCUT_H

#include "ns3/collective-operation.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <tuple>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Decides which collectives of a group of ranks are simulated, and knows how long the others take.
 */
class CollectiveShortcut
{
  public:
    /// Operation, bytes of the whole vector, root.
    using Kind = std::tuple<CollectiveOperation, uint64_t, uint32_t>;

    /** What a rank can do with a collective. */
    struct Member
    {
        std::function<void()> simulate;       ///< starts it
        std::function<void(Time)> completeIn; ///< completes it after this time, without packets
    };

    virtual ~CollectiveShortcut() = default;

    /**
     * A rank is ready to start a collective. The answer is one call of the member.
     * @param rank in the group
     * @param number of the collective, from 0
     * @param kind of the collective
     * @param member what the rank can do
     */
    virtual void Arrive(uint32_t rank, uint64_t number, const Kind& kind, Member member) = 0;

    /**
     * A simulated collective is complete at a rank.
     * @param rank in the group
     * @param number of the collective
     */
    virtual void End(uint32_t rank, uint64_t number) = 0;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_SHORTCUT_H
