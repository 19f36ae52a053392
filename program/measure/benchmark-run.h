/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BENCHMARK_RUN_H
#define DISTRIBUTED_TRAINING_BENCHMARK_RUN_H

#include "collective-measurement.h"
#include "measure/benchmark-options.h"
#include "record/run-statistics.h"

#include "ns3/coding-errors.h"
#include "ns3/collective-planner.h"
#include "ns3/run-cost.h"
#include "ns3/run-figures.h"
#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Measurements of a collective of several sizes, in one simulation.
 */
class BenchmarkRun
{
  public:
    /** Receives the measurement of a size, and why algorithm auto chose its algorithm, or empty. */
    using Listener =
        std::function<void(const CollectiveMeasurement& row, const std::string& choice)>;

    /**
     * Measures all sizes, up to the first wrong result, or until the simulation is stuck.
     * @param cluster to measure; must outlive this object
     * @param configuration of the program, for the records, see GetConfiguration()
     * @param benchmark the options
     * @param sizes of the vector, bytes
     * @param onRow called after each size
     */
    BenchmarkRun(const Cluster& cluster,
                 const JsonValue& configuration,
                 const BenchmarkOptions& benchmark,
                 const std::vector<uint64_t>& sizes,
                 const Listener& onRow);

    /** @return the warnings of the cluster, and a better algorithm for the largest size if known */
    std::vector<std::string> GetWarnings() const;

    /** @return the rows as JSON */
    JsonValue ToJson() const;

    std::vector<CollectiveMeasurement> rows; ///< by size
    std::vector<std::string> choices;        ///< of algorithm auto, by row; otherwise empty
    std::vector<PlannedChoice> planned;      ///< of algorithm auto, with all candidates
    std::string mismatch;                    ///< the first wrong result, or empty
    std::exception_ptr stuck;                ///< SimulationStuck, which ended it, or null
    std::string failure;                     ///< its text, or empty
    RunCost cost;                            ///< of the simulation
    RunFigures figures;                      ///< of the cluster

  private:
    void Measure(const JsonValue& configuration,
                 const BenchmarkOptions& benchmark,
                 const std::vector<uint64_t>& sizes,
                 const Listener& onRow);

    const Cluster& m_cluster;
    double m_largestError{-1};                  // with a real payload
    std::optional<CodingErrors> m_codingErrors; // of codecs, with a real payload
};

/** @return a measurement as JSON @ingroup distributed-training-helper */
JsonValue ToJson(const CollectiveMeasurement& row, const std::string& choice);

/**
 * @ingroup distributed-training-helper
 * Prints the headings of PrintRow().
 * @param what is measured
 * @param options of the cluster
 * @param first heading of a column before the others
 * @param notes see FormatNotes()
 */
void PrintHead(const std::string& what,
               const ClusterOptions& options,
               const std::string& first,
               const std::vector<std::string>& notes);

/**
 * @ingroup distributed-training-helper
 * @param row to print
 * @param isReal whether its results were compared
 */
void PrintRow(const CollectiveMeasurement& row, bool isReal);

/**
 * @ingroup distributed-training-helper
 * Merges the measurements of one size.
 * @param runs measurements of several runs
 * @param index of the size
 * @param part of the estimates
 * @return the first run's row with the part of each quantity
 */
CollectiveMeasurement Estimate(const std::vector<BenchmarkRun>& runs,
                               std::size_t index,
                               double MeanEstimate::*part);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BENCHMARK_RUN_H
