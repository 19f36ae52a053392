/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ITERATION_STATISTICS_H
#define DISTRIBUTED_TRAINING_ITERATION_STATISTICS_H

#include "ns3/iteration-record.h"
#include "ns3/training-byte-archive.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * Merges the measurements of ranks into iterations of the job. An iteration is complete when all
 * ranks have reported it, in this process or another one (Pack(), Merge()).
 */
class IterationStatistics
{
  public:
    /** Receives a complete iteration. */
    using Complete = std::function<void(const IterationRecord& record)>;

    /**
     * @param ranks number of ranks, at least 1
     * @param warmup number of initial warm-up iterations
     */
    IterationStatistics(uint32_t ranks, uint32_t warmup);

    /** @param seconds lower bound of the communication time of an iteration, s */
    void SetLowerBound(double seconds);

    /** @param bytes bytes per iteration for the bus bandwidth, see GetBusFactor() */
    void SetBusBytes(double bytes);

    /**
     * @param sums number of sums of an iteration, over all ranks. It is complete when all have been
     *        compared, and verified if they are right
     */
    void SetExpectedSums(uint64_t sums);

    /** @param isRight whether all results so far were compared and right */
    void SetVerifier(std::function<bool()> isRight);

    /** @param callback called when an iteration is complete */
    void OnComplete(Complete callback);

    /**
     * @param iteration number of the iteration
     * @param measured measurements of a rank of this process
     */
    void AddRank(uint32_t iteration, const RankIteration& measured);

    /**
     * Reports a sum that was compared; it may come after the rank's AddRank() of the iteration.
     * @param iteration number of the iteration in which it started
     * @param isRight whether it is right
     */
    void AddSum(uint32_t iteration, bool isRight);

    /**
     * Forgets iterations that are lost, and reports of those that are not complete.
     * @param first number of the first iteration that is lost
     */
    void Rewind(uint32_t first);

    /** @param start when the next iteration begins, rather than at the end of the last one */
    void BeginAt(Time start);

    /// Largest period of Repeat().
    static constexpr uint32_t MAX_PERIOD = 16;

    /**
     * Adds an iteration like an earlier one. Ranks report later ones without it: with lower numbers
     * and earlier times than the records have.
     * @param period number of iterations from the earlier one to this one, 1 to MAX_PERIOD; as many
     *        must be complete
     */
    void Repeat(uint32_t period);

    /**
     * Ranks leave out a part of the present iteration: later times are without it.
     * @param time of the part; the reports of the iteration begin so much earlier than it has
     */
    void LeaveOut(Time time)
    {
        m_repeatedTime += time;
    }

    /** @return end of the last complete iteration; 0: there is none */
    Time GetEnd() const
    {
        return m_previousEnd.value_or(Time(0));
    }

    /** @return number of iterations that Repeat() has added */
    uint32_t GetRepeated() const
    {
        return m_repeated;
    }

    /** @return their time */
    Time GetRepeatedTime() const
    {
        return m_repeatedTime;
    }

    /** @param writer receives the reports of this process since the last call */
    void Pack(ByteWriter& writer);

    /** @param reader reports packed by another process */
    void Merge(ByteReader& reader);

    /** @return the complete iterations */
    const std::vector<IterationRecord>& GetRecords() const;

  private:
    /** Reports of some ranks of one iteration. */
    struct Report
    {
        uint32_t ranks{0};      // ranks that have finished it
        uint64_t sums{0};       // compared sums of any rank
        uint64_t rightSums{0};  // those that are right
        RankIteration measured; // merged over these ranks

        void Add(const Report& other);
    };

    void Note(uint32_t iteration, const Report& report);
    void Add(uint32_t iteration, const Report& report);
    void Finish(uint32_t iteration, const Report& report, bool isDerived = false);

    uint32_t m_ranks;
    uint32_t m_warmup;
    double m_lowerBoundS{0};
    double m_busBytes{0};
    std::optional<uint64_t> m_expectedSums; // none: sums are not compared
    std::function<bool()> m_isRight;        // or empty
    Complete m_complete;
    std::optional<Time> m_previousEnd;    // end of the last complete iteration; none: there is none
    std::map<uint32_t, Report> m_pending; // by iteration, of all processes
    std::map<uint32_t, Report> m_unpacked; // by iteration, of this process since Pack()
    std::vector<IterationRecord> m_records;
    std::deque<Report> m_last; // of the last records, MAX_PERIOD at most
    uint32_t m_repeated{0};    // see GetRepeated()
    Time m_repeatedTime;       // see GetRepeatedTime()
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ITERATION_STATISTICS_H
