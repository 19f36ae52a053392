/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REPORT_PERIODS_H
#define DISTRIBUTED_TRAINING_REPORT_PERIODS_H

#include "report-writer.h"

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The reports of the last periods of a run, whether those of a period are like earlier ones, and
 * what they are when the periods come once more.
 */
class ReportPeriods
{
  public:
    /** Keeps reports from now on. */
    void Begin();

    /** Keeps no more reports. Times and numbers go on as they follow. */
    void Forget();

    /** @return whether reports are kept */
    bool IsKeeping() const
    {
        return m_isKeeping;
    }

    /** @param report of the present period */
    void Add(const TraceReport& report);

    /** A period of the run ends now, and another one begins. */
    void End();

    /** @param cycle see RunRecorder::IsLike() @return see there */
    bool IsLike(uint32_t cycle);

    /** @return number of periods that IsLike() was asked for last */
    uint32_t GetCycle() const
    {
        return m_cycle;
    }

    /** @return the reports of the next period that comes once more, before Continue() */
    const std::vector<TraceReport>& Repeat();

    /** @return whether Repeat() was called */
    bool HasRepeated() const
    {
        return m_cycles > 0;
    }

    /**
     * @param report of the simulation
     * @return with the times and numbers that follow from repeated periods
     */
    TraceReport Continue(TraceReport report) const;

  private:
    /// What is numbered one after the other: rank or source, destination, communicator, and 1 and
    /// more for messages that are in no collective.
    using Sequence = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;

    /** Reports between two ends of periods. */
    struct Period
    {
        Time start;
        std::vector<TraceReport> reports;
    };

    static Sequence GetSequence(const CollectiveRecord& record);
    static Sequence GetSequence(const MessageRecord& record);
    bool Follows(const TraceReport& before, const TraceReport& report);
    uint64_t GetAdded(const Sequence& sequence) const;

    bool m_isKeeping{false};
    std::deque<Period> m_last;             // complete periods
    Period m_period;                       // the present one
    uint32_t m_cycle{1};                   // see IsLike()
    Time m_cycleTime;                      // of so many periods
    std::map<Sequence, uint64_t> m_growth; // of numbers, in this time
    uint32_t m_repeats{0};                 // calls of Repeat()
    uint32_t m_cycles{0};                  // these times, begun with these calls
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_REPORT_PERIODS_H
