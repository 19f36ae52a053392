/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SETUP_PROGRESS_H
#define DISTRIBUTED_TRAINING_SETUP_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 *
 * Shows the progress of a long part of the set-up, such as the routes of a large network, as one
 * line on standard error. Nothing is shown unless a program has called Enable(), standard error is
 * a terminal, and the part takes longer than a second.
 */
class SetupProgress
{
  public:
    /** Lets later objects show their progress. */
    static void Enable();

    /**
     * @param what name of the part, such as "routes"
     * @param total number of its steps
     */
    SetupProgress(const std::string& what, uint64_t total);
    /** Erases the line. */
    ~SetupProgress();
    SetupProgress(const SetupProgress&) = delete;
    SetupProgress& operator=(const SetupProgress&) = delete;

    /** Counts a step. */
    void Advance();

  private:
    using Clock = std::chrono::steady_clock;

    std::string m_what;
    uint64_t m_total;
    uint64_t m_done{0};
    bool m_isShown{false};
    Clock::time_point m_start; // of the part
    Clock::time_point m_next;  // of the next update of the line
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SETUP_PROGRESS_H
