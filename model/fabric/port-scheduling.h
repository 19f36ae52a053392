/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PORT_SCHEDULING_H
#define DISTRIBUTED_TRAINING_PORT_SCHEDULING_H

#include "frame-queue.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The order in which a port serves its priorities: strict priorities first, from highest to lowest;
 * the others share the line by weight (deficit round robin, Shreedhar and Varghese, 1996).
 */
struct PortScheduling
{
    /// Bytes that a priority of weight 1 may send per round; at least a jumbo frame.
    static constexpr int64_t QUANTUM = 9216;

    /// Bit p: priority p is strict: served before all non-strict and all lower strict priorities.
    uint8_t strict{0xc0};
    /// Relative share of each non-strict priority.
    std::array<uint16_t, PRIORITIES> weights{1, 1, 1, 1, 1, 1, 1, 1};

    /**
     * @param attribute name of the attribute, such as SwitchDevice::Weights, for messages
     * @param text eight weights of 1 to 1000, separated by spaces
     * @throw ConfigurationError if the text is malformed; the weights are then unchanged
     */
    void ReadWeights(const std::string& attribute, const std::string& text);

    /** @return the weights as text */
    std::string WriteWeights() const;

    /**
     * Chooses the priority to serve.
     * @param eligible bit p is set if priority p may send; at least one bit is set
     * @param current round-robin position; updated
     * @param queues queues with the credit of each priority; updated. The caller subtracts the
     *        bytes sent
     * @return the priority to serve
     */
    uint8_t Choose(uint8_t eligible, uint8_t& current, FrameQueues& queues) const
    {
        if (!(eligible & (eligible - 1)))
        {
            const uint8_t only = GetHighest(eligible);
            queues[only].credit = QUANTUM * weights[only];
            return only;
        }
        if (eligible & strict)
        {
            return GetHighest(eligible & strict);
        }
        // A priority may send while its credit is positive and is charged afterwards, so the size
        // of the next frame need not be known in advance.
        while (!(eligible >> current & 1) || queues[current].credit <= 0)
        {
            current = (current + 1) % PRIORITIES;
            FrameQueue& queue = queues[current];
            const int64_t quantum = QUANTUM * weights[current];
            queue.credit = eligible >> current & 1 ? std::min(queue.credit + quantum, quantum) : 0;
        }
        return current;
    }

    /**
     * @param priorities bit p: priority p; at least one bit is set
     * @return the highest priority
     */
    static uint8_t GetHighest(uint8_t priorities)
    {
        return 31 - __builtin_clz(priorities);
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PORT_SCHEDULING_H
