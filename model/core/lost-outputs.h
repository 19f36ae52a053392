/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LOST_OUTPUTS_H
#define DISTRIBUTED_TRAINING_LOST_OUTPUTS_H

#include <functional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * Lets each output of a program fail alone: what cannot be written is told, and the simulation and
 * the other outputs go on.
 */
class LostOutputs
{
  public:
    /**
     * @param tell called with the message of each output that is lost; null: writers throw, as in a
     *        program that has not set it
     */
    static void SetHandler(std::function<void(const std::string&)> tell);

    /**
     * @param write writes a part of an output
     * @return whether it has; false: write no more of it
     * @throw std::runtime_error of the writer, without a handler
     */
    static bool Try(const std::function<void()>& write);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LOST_OUTPUTS_H
