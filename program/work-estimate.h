/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WORK_ESTIMATE_H
#define DISTRIBUTED_TRAINING_WORK_ESTIMATE_H

#include "job-check.h"
#include "training-run-options.h"
#include "training-run.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param options of a job
 * @return what is known of it without a simulation, see CheckJob()
 * @throw ConfigurationError as CheckJob()
 */
JobCheck CheckJob(const TrainingRunOptions& options);

/**
 * @ingroup distributed-training-helper
 *
 * How far the simulation of a job is, by the packet-hops of its iterations. An iteration is
 * expected to take as many as the mean of those before it, the first one as many as CheckJob()
 * estimates.
 */
class WorkEstimate
{
  public:
    /// CPU time above which Describe() has a line, s.
    static constexpr double LONG_SECONDS = 20;

    /**
     * @param options of a job; the estimate of its first iteration is made if standard error is a
     *        terminal, where it is shown
     */
    explicit WorkEstimate(const TrainingRunOptions& options);

    /** @return packet-hops, CPU time and memory of the whole run, one line; empty if it is short */
    std::string Describe() const;

    /**
     * @param run of the job
     * @return completed part of it, 0 to 1; it does not fall
     */
    double GetFraction(const TrainingRun& run);

  private:
    uint64_t m_iterations;
    std::optional<JobCheck> m_check; // none: unknown
    double m_complete{0};            // iterations that were complete at the last call
    double m_completeHops{0};        // packet-hops until then
    double m_fraction{0};            // of the last call
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WORK_ESTIMATE_H
