/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUNS_H
#define DISTRIBUTED_TRAINING_RUNS_H

#include "record/run-statistics.h"
#include "training-run-result.h"

#include "ns3/iteration-record.h"
#include "ns3/run-cost.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Results of a TrainingRun repeated with other run numbers (RepeatedRuns).
 */
class TrainingRuns
{
  public:
    /**
     * @param run run number
     * @param result results of that run
     */
    void Add(uint64_t run, const TrainingRunResult& result);

    /**
     * @param reason why no more runs follow, one line
     * @param configuration of the run that failed
     */
    void Fail(const std::string& reason, const JsonValue& configuration);

    /** @return means over the runs of the quantities of TrainingRunResult::mean */
    IterationRecord GetMean() const;

    /** @return of each quantity, half the width of the 95 % confidence interval of its mean */
    IterationRecord GetHalfWidth() const;

    /** @return lines that make results questionable, each once */
    const std::vector<std::string>& GetWarnings() const;

    /** @return cost of all runs */
    const RunCost& GetCost() const;

    /** @return the JSON document of several runs, see doc/json.rst */
    JsonValue ToJson() const;

  private:
    IterationRecord Estimate(double MeanEstimate::*part) const;

    std::vector<std::pair<uint64_t, TrainingRunResult>> m_runs; // by run number
    std::vector<std::string> m_warnings;
    std::string m_failure;     // empty: none
    JsonValue m_configuration; // of the last run
    RunCost m_cost;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUNS_H
