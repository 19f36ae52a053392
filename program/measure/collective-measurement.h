/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_MEASUREMENT_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_MEASUREMENT_H

#include "ns3/guarded-run.h"
#include "ns3/nic-figures.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/** Measurement of one collective, as in nccl-tests. GB is 10^9 bytes. */
struct CollectiveMeasurement
{
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< collective operation
    std::string algorithm;                                          ///< or in-network system
    uint64_t bytes{0};                                              ///< size of the whole vector
    uint64_t requested{0};        ///< requested size: `bytes`, except for a barrier
    double seconds{0};            ///< from the common start to the completion at the last rank
    double algorithmBandwidth{0}; ///< bytes / time, GB/s
    double busBandwidth{0};       ///< algorithm bandwidth times GetBusFactor(), GB/s
    double lowerBound{0};         ///< lower bound of the time, s
    double efficiency{0};         ///< lower bound / time; 1 if nothing was to be done
    double largestError{0}; ///< real all-reduce: maximum difference from the exact sum, at rank 0
    std::optional<CodingErrors> codingErrors; ///< real all-reduce that is coded
    std::string mismatch; ///< real payload: first wrong result; empty if all are correct
    std::string failure;  ///< why it could not complete; then other results are missing
    bool verified{false}; ///< results were compared, or the schedule proven; see doc/
};

/**
 * @ingroup distributed-training-helper
 *
 * Sizes for an all-to-all-v: rank s sends to rank d in proportion to 1 + (s + d) mod N. Each rank
 * sends and receives `bytes`, including its own part.
 *
 * @param ranks number of ranks N
 * @param bytes at each rank; parts are 4-byte aligned if it is a multiple of 4
 * @return bytes from each rank to each
 */
ByteMatrix MakeUnevenMatrix(uint32_t ranks, uint64_t bytes);

/**
 * @ingroup distributed-training-helper
 * @param cluster the cluster
 * @param operation collective operation
 * @param bytes size of the whole vector; of an all-to-all-v see MakeUnevenMatrix()
 * @return lower bound of the time of the collective, s
 */
double GetLowerBound(const Cluster& cluster, CollectiveOperation operation, uint64_t bytes);

/**
 * @ingroup distributed-training-helper
 *
 * Refuses a collective that takes longer than a simulation may, or more memory than there is.
 * @param cluster the cluster
 * @param operation collective operation
 * @param bytes size of the whole vector
 * @param times how often it runs
 * @param real whether the payload is real
 * @throw ConfigurationError if it is too large
 */
void CheckSize(const Cluster& cluster,
               CollectiveOperation operation,
               uint64_t bytes,
               uint64_t times,
               bool real);

/**
 * @ingroup distributed-training-helper
 *
 * Runs one collective on all ranks of a cluster, from the current time, and measures it. With real
 * payload every rank's result is compared bit by bit with a reference that adds in the same order.
 * An all-to-all-v has the sizes of MakeUnevenMatrix(); the root is rank 0.
 *
 * @param cluster the cluster
 * @param run the cluster's simulation
 * @param operation collective operation
 * @param bytes size of the whole vector; with real payload a multiple of 4
 * @param real whether the payload is real
 * @param seed of a real payload
 * @param gradients its numbers, see MakeGradientSource()
 * @return the measurement
 * @throw SimulationStuck if it cannot complete
 */
CollectiveMeasurement MeasureCollective(const Cluster& cluster,
                                        GuardedRun& run,
                                        CollectiveOperation operation,
                                        uint64_t bytes,
                                        bool real,
                                        uint64_t seed,
                                        const std::string& gradients = "hash");

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_MEASUREMENT_H
