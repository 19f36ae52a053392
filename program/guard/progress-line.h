/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROGRESS_LINE_H
#define DISTRIBUTED_TRAINING_PROGRESS_LINE_H

#include "guard/remaining-time.h"

#include "ns3/training-fabric.h"

#include <chrono>
#include <functional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Shows the progress of a simulation on one line of standard error, rewritten about twice a second:
 * simulated time, packet-hops, events per second, and the remaining time. Does nothing unless
 * standard error is a terminal. Needs a GuardedRun.
 */
class ProgressLine
{
  public:
    /**
     * @param fabric its packet-hops are shown
     * @param fraction returns the completed part of the work, 0 to 1
     * @param label of this simulation among several, which the line begins with
     */
    ProgressLine(const Fabric& fabric,
                 std::function<double()> fraction,
                 const std::string& label = "");
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /** Clears the line before other output. */
    void Clear();

  private:
    using Clock = std::chrono::steady_clock;

    void Show();

    const Fabric& m_fabric;
    std::function<double()> m_fraction;
    std::string m_label;
    bool m_shown{false};
    Clock::time_point m_start;
    Clock::time_point m_last;
    uint64_t m_lastEvents{0};
    RemainingTime m_remaining;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRESS_LINE_H
