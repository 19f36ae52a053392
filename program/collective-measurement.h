/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_MEASUREMENT_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_MEASUREMENT_H

#include "guarded-run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** One collective, measured as nccl-tests does. GB is 10^9 bytes. */
struct CollectiveMeasurement
{
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< what was done
    std::string algorithm;                                          ///< how
    uint64_t bytes{0};                                              ///< size of the whole vector
    uint64_t requested{0};        ///< the size asked for: `bytes`, but for a barrier
    double seconds{0};            ///< from the common start until the last rank is complete
    double algorithmBandwidth{0}; ///< bytes / time, GB/s
    double busBandwidth{0};       ///< algorithm bandwidth times GetBusFactor(), GB/s
    double lowerBound{0};         ///< least time, s
    double efficiency{0};         ///< least time / time; 1 if nothing was to be done
    double largestError{0}; ///< real all-reduce: largest difference from the exact sum, at rank 0
    std::string mismatch;   ///< real payload: where a rank's result is wrong; empty if nowhere
    bool verified{false};   ///< results were compared, or the schedule proven; see doc/
};

/**
 * @ingroup distributed-training-helper
 *
 * Sizes for an all-to-all-v: what rank s sends to rank d is in proportion to 1 + (s + d) mod N.
 * Each rank sends and receives `bytes`, its own part included.
 *
 * @param ranks number of ranks N
 * @param bytes at each rank; parts are on 4-byte borders if it is a multiple of 4
 * @return bytes from each rank to each
 */
ByteMatrix MakeUnevenMatrix(uint32_t ranks, uint64_t bytes);

/**
 * @ingroup distributed-training-helper
 *
 * Runs one collective on all ranks of a cluster, from now on, and measures it. With real payload
 * every rank's result is compared bit by bit with a reference that adds in the same order. An
 * all-to-all-v has the sizes of MakeUnevenMatrix(); a root is rank 0.
 *
 * @param cluster where to run it
 * @param run the cluster's simulation
 * @param operation what to do
 * @param bytes size of the whole vector; with real payload a multiple of 4
 * @param real whether numbers are carried
 * @param seed of the numbers
 * @return what was measured
 * @throw SimulationStuck if it cannot complete
 */
CollectiveMeasurement MeasureCollective(const Cluster& cluster,
                                        GuardedRun& run,
                                        CollectiveOperation operation,
                                        uint64_t bytes,
                                        bool real,
                                        uint64_t seed);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_MEASUREMENT_H
