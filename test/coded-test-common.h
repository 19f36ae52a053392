/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODED_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_CODED_TEST_COMMON_H

#include "record/codec-figures.h"
#include "test-case.h"

#include "ns3/collective-measurement.h"
#include "ns3/guarded-run.h"
#include "ns3/nic-figures.h"
#include "ns3/run-figures.h"
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

/** A measurement, and what engines in NICs and hosts coded. */
struct CodedResult
{
    CollectiveMeasurement row;
    NicFigures engines;
    CodecFigures codec;
};

/** @return measurement of a collective; `isReal`: messages carry numbers */
inline CodedResult
Measure(const ClusterOptions& options,
        uint64_t bytes,
        bool isReal,
        CollectiveOperation operation = CollectiveOperation::ALL_REDUCE)
{
    CodedResult result;
    {
        const Cluster cluster(options);
        GuardedRun run(cluster);
        result.row = MeasureCollective(cluster, run, operation, bytes, isReal, 1);
        RunFigures all;
        all.AddAll({cluster, isReal, result.row.codingErrors});
        const auto* engines = all.Find<NicFigures>();
        const auto* codec = all.Find<CodecFigures>();
        result.engines = engines ? *engines : NicFigures();
        result.codec = codec ? *codec : CodecFigures();
    }
    Simulator::Destroy();
    return result;
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
