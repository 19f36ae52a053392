/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODED_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_CODED_TEST_COMMON_H

#include "test-case.h"

#include "ns3/collective-measurement.h"
#include "ns3/guarded-run.h"
#include "ns3/simulator.h"
#include "ns3/training-cluster.h"

namespace ns3::training::tests
{

/** @return a cluster of so many ranks with links of 10 Gbit/s */
inline ClusterOptions
MakeSlowCluster(uint32_t ranks, const std::string& transport)
{
    ClusterOptions options;
    options.ranks = ranks;
    options.transport = transport;
    options.rate = DataRate("10Gbps");
    return options;
}

/**
 * Measures a collective.
 * @param bytes of the whole vector
 * @param isReal whether messages carry numbers
 * @param observe called with the cluster and the measurement before the cluster ends
 * @return the measurement
 */
template <class Observe>
CollectiveMeasurement
MeasureCoded(const ClusterOptions& options,
             CollectiveOperation operation,
             uint64_t bytes,
             bool isReal,
             Observe observe)
{
    CollectiveMeasurement row;
    {
        const Cluster cluster(options);
        GuardedRun run(cluster);
        row = MeasureCollective(cluster, run, operation, bytes, isReal, 1);
        observe(cluster, row);
    }
    Simulator::Destroy();
    return row;
}

/** Expects the refusal of a cluster before the simulation. */
inline void
ExpectRefusedCluster(const ClusterOptions& options, const std::string& part)
{
    ExpectPart(GetRefusal([&] { const Cluster cluster(options); }), part);
    Simulator::Destroy();
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_CODED_TEST_COMMON_H
