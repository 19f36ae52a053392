/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RECORDED_COLLECTIVES_H
#define DISTRIBUTED_TRAINING_RECORDED_COLLECTIVES_H

#include "collective-measurement.h"

#include "ns3/iteration-record.h"
#include "ns3/run-cost.h"
#include "ns3/run-files.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param row a measurement that has just ended
 * @param number of the measurement, from 0
 * @param warmup whether it is left out of results
 * @return the measurement as an iteration without computation, for results files
 */
IterationRecord MakeIterationRecord(const CollectiveMeasurement& row, uint64_t number, bool warmup);

/**
 * @ingroup distributed-training-helper
 *
 * Records the collectives of a cluster into the files of an experiment (RunOutputs::GetCurrent()),
 * if it has any: each as an iteration.
 */
class RecordedCollectives
{
  public:
    /** @param cluster is recorded; must outlive this object */
    explicit RecordedCollectives(const Cluster& cluster);

    /**
     * @param measure measures a collective
     * @return its result
     * @throw SimulationStuck if it does; the files then have the reason
     */
    CollectiveMeasurement Measure(const std::function<CollectiveMeasurement()>& measure);

    /** Completes the run. Call before the cluster ends. */
    void Close();

  private:
    void Complete(const std::string& failure);

    const Cluster& m_cluster;
    uint64_t m_done{0};
    std::unique_ptr<RunFiles> m_files; // null: none
};

/** Collectives that ran on a cluster of their own. */
struct CollectiveRun
{
    std::vector<CollectiveMeasurement> measurements; ///< in the order in which they ran
    RunCost cost;                                    ///< of the simulation
};

/**
 * @ingroup distributed-training-helper
 *
 * Creates a cluster, runs collectives on it, one after the other, and ends the simulation. Shows
 * the progress on a terminal.
 *
 * @param options of the cluster
 * @param operation collective operation
 * @param sizes of the whole vectors, bytes; with real payload multiples of 4
 * @param real whether the payload is real
 * @param inspect reads the cluster when the collectives have ended; empty: nothing
 * @return the measurements and the cost
 * @throw SimulationStuck if one cannot complete
 */
CollectiveRun RunCollectives(const ClusterOptions& options,
                             CollectiveOperation operation,
                             const std::vector<uint64_t>& sizes,
                             bool real = false,
                             const std::function<void(const Cluster&)>& inspect = {});

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RECORDED_COLLECTIVES_H
