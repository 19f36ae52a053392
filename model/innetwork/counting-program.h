/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COUNTING_PROGRAM_H
#define DISTRIBUTED_TRAINING_COUNTING_PROGRAM_H

#include "aggregation-program.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * Base of programs that count what they do, in all and for each job.
 * @tparam Counters a struct of numbers, all uint64_t
 */
template <class Counters>
class CountingProgram : public AggregationProgram
{
  public:
    /** @return its counters */
    const Counters& GetCounters() const
    {
        return m_counters;
    }

    /**
     * Adds the counters of a job that has not ended.
     * @param job its number
     * @param sum receives its counters; `received` is only contributions to the job
     */
    void AddCountersOf(uint8_t job, Counters& sum) const
    {
        static_assert(sizeof(Counters) % sizeof(uint64_t) == 0, "counters are uint64_t");
        static_assert(std::is_trivially_copyable_v<Counters>, "counters are copied as bytes");
        if (const auto* const known = FindJob<CountedJob>(job))
        {
            std::array<uint64_t, sizeof(Counters) / sizeof(uint64_t)> sums;
            std::array<uint64_t, sizeof(Counters) / sizeof(uint64_t)> mine;
            std::memcpy(sums.data(), &sum, sizeof(Counters));
            std::memcpy(mine.data(), &known->counters, sizeof(Counters));
            for (std::size_t i = 0; i < sums.size(); i++)
            {
                sums[i] += mine[i];
            }
            std::memcpy(static_cast<void*>(&sum), sums.data(), sizeof(Counters));
        }
    }

  protected:
    /** A job; subclasses add their own state. */
    struct CountedJob : public Job
    {
        Counters counters; ///< of the job
    };

    /**
     * Counts events of a job.
     * @param job the job
     * @param counter of the events
     * @param events how many
     */
    void Count(CountedJob& job, uint64_t Counters::*counter, uint64_t events = 1)
    {
        m_counters.*counter += events;
        job.counters.*counter += events;
    }

    Counters m_counters; ///< of all jobs
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COUNTING_PROGRAM_H
