/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROGRESS_LINE_H
#define DISTRIBUTED_TRAINING_PROGRESS_LINE_H

#include "ns3/event-id.h"
#include "ns3/fabric-helper.h"
#include "ns3/nstime.h"

#include <chrono>
#include <functional>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Shows how far a simulation is, on one line of standard error that is written over about twice a
 * second: simulated time, packet-hops, events per second, and the time left. Does nothing unless
 * standard error is a terminal. Its own events change no result.
 */
class ProgressLine
{
  public:
    /**
     * @param fabric whose packet-hops are shown
     * @param fraction how much of the work is done, 0 to 1
     */
    ProgressLine(const Fabric& fabric, std::function<double()> fraction);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /** Clears the line, so that something else can be printed. */
    void Clear();

  private:
    using Clock = std::chrono::steady_clock;

    void Tick();

    const Fabric& m_fabric;
    std::function<double()> m_fraction;
    bool m_shown{false};
    Time m_interval;
    EventId m_event;
    Clock::time_point m_start;
    Clock::time_point m_last;
    uint64_t m_lastEvents{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRESS_LINE_H
