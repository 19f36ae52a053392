/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ALGORITHM_SWEEP_H
#define DISTRIBUTED_TRAINING_ALGORITHM_SWEEP_H

#include "collective-measurement.h"
#include "run-cost.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3::training
{

/** Every algorithm on one cluster. */
struct AlgorithmSweep
{
    std::vector<CollectiveMeasurement> rows;  ///< by algorithm, then size
    std::map<std::string, std::string> unfit; ///< algorithms that cannot do it, and why
    std::map<uint64_t, std::string> choices;  ///< by size, the choice of AlgorithmChooser
    RunCost cost;                             ///< of all simulations

    /**
     * @param bytes one of the sizes
     * @return what has taken least time, or null if nothing was measured
     */
    const CollectiveMeasurement* FindFastest(uint64_t bytes) const;

    /**
     * @param bytes one of the sizes
     * @param algorithm its name
     * @return what was measured, or null
     */
    const CollectiveMeasurement* Find(uint64_t bytes, const std::string& algorithm) const;
};

/** What is to be measured of each algorithm. */
struct SweepRequest
{
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< what to do
    std::vector<uint64_t> sizes;                                    ///< of the whole vector, bytes
    bool real{false};                                               ///< whether numbers are carried
    uint64_t warmup{1}; ///< runs of each size that are not measured
    uint64_t seed{1};   ///< of the numbers
};

/**
 * @ingroup distributed-training-helper
 *
 * Measures every registered algorithm that can do an operation on a cluster, with its default keys,
 * one simulation after the other: each begins on a new network at time 0 and is destroyed. No other
 * simulation may be under way. Algorithms that search for their plan are left out above
 * AlgorithmChooser::MAX_SEARCHED_RANKS.
 *
 * @param options of the cluster; its algorithm is of no meaning
 * @param request what to measure
 * @param onRow called with each measurement as it is made; may be null
 * @return what was measured
 * @throw ConfigurationError if no algorithm can do it, or the options are wrong
 * @throw SimulationStuck as MeasureCollective()
 */
AlgorithmSweep SweepAlgorithms(ClusterOptions options,
                               const SweepRequest& request,
                               const std::function<void(const CollectiveMeasurement&)>& onRow);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ALGORITHM_SWEEP_H
