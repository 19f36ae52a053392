/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ALGORITHM_SWEEP_H
#define DISTRIBUTED_TRAINING_ALGORITHM_SWEEP_H

#include "collective-measurement.h"

#include "ns3/run-cost.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3::training
{

/** Measurements of all algorithms on one cluster. */
struct AlgorithmSweep
{
    std::vector<CollectiveMeasurement> rows;  ///< by algorithm, then size, up to a failure
    std::map<std::string, std::string> unfit; ///< unsupported algorithms, with the reason
    std::map<uint64_t, std::string> choices;  ///< choice of AlgorithmChooser, by size
    std::vector<std::string> warnings;        ///< of algorithms, each with its name
    RunCost cost;                             ///< total cost of the simulations that completed
    std::exception_ptr interruption;          ///< a SimulationInterrupted that ended it, or null

    /**
     * @param bytes one of the sizes
     * @return the fastest measurement without failure, or null if there is none
     */
    const CollectiveMeasurement* FindFastest(uint64_t bytes) const;

    /**
     * @param bytes one of the sizes
     * @param algorithm name of an algorithm
     * @return its measurement without failure, or null
     */
    const CollectiveMeasurement* Find(uint64_t bytes, const std::string& algorithm) const;
};

/** The collectives to measure with each algorithm. */
struct SweepRequest
{
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< collective operation
    std::vector<uint64_t> sizes;                                    ///< of the whole vector, bytes
    bool real{false};                                               ///< real payload
    uint64_t warmup{1};            ///< unmeasured runs of each size
    uint64_t seed{1};              ///< seed of the payload
    std::string gradients{"hash"}; ///< numbers of a real payload, see MakeGradientSource()
};

/// Receives a measurement and its cluster.
using SweepRowHandler = std::function<void(const Cluster&, const CollectiveMeasurement&)>;

/**
 * @ingroup distributed-training-helper
 *
 * Measures every registered algorithm that supports an operation on a cluster, with its default
 * keys. Each gets its own simulation, with a new network at time 0, which is destroyed afterwards.
 * No other simulation may exist. Algorithms that search for their schedule are skipped above
 * AlgorithmChooser::MAX_SEARCHED_RANKS.
 *
 * A stuck simulation is a row with its failure, after which the next algorithm follows.
 *
 * @param options of the cluster; the algorithm is ignored
 * @param request the collectives to measure
 * @param onRow called after each measurement with its cluster; may be null
 * @return the measurements
 * @throw ConfigurationError if no algorithm supports the operation, or the options are wrong
 */
AlgorithmSweep SweepAlgorithms(ClusterOptions options,
                               const SweepRequest& request,
                               const SweepRowHandler& onRow);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ALGORITHM_SWEEP_H
