/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REMAINING_TIME_H
#define DISTRIBUTED_TRAINING_REMAINING_TIME_H

#include <optional>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Estimates how long some work will still take, from its completed part. It knows no clock. At a
 * constant speed the estimate falls by as much as time passes. Work that comes in lumps does not
 * lift it, and a new speed is known after some time constants.
 */
class RemainingTime
{
  public:
    /// Least time constant, s.
    static constexpr double LEAST_CONSTANT = 5;
    /// Time constant as part of the time so far, or left, so that long runs have steady estimates.
    static constexpr double CONSTANT = 0.1;
    /// What is left is wrong if it is so many times what the mean speed so far tells.
    static constexpr double WRONG = 2;

    /**
     * @param now time since the work began, s; grows
     * @param fraction completed part of the work, 0 to 1; does not fall
     * @return remaining time, s; none as long as nothing is complete
     */
    std::optional<double> Update(double now, double fraction);

  private:
    double m_now{0};
    double m_fraction{0};
    double m_speed{0}; // smoothed, 1/s
    std::optional<double> m_left;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_REMAINING_TIME_H
