/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BENCHMARK_OPTIONS_H
#define DISTRIBUTED_TRAINING_BENCHMARK_OPTIONS_H

#include "ns3/cluster-options.h"
#include "ns3/program-options.h"
#include "ns3/run-files.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Options of collective-benchmark besides those of the cluster.
 */
struct BenchmarkOptions
{
    std::string operation{"all-reduce"}; ///< a CollectiveOperation
    std::string bytes{"8:64M:x8"};       ///< sizes, see ParseSizes()
    std::string payload{"virtual"};      ///< virtual, real
    std::string gradients{"hash"};       ///< numbers of a real payload, a GradientSourceEntry
    uint64_t warmup{1};                  ///< runs of each size that are not measured
    bool printTrees{false};              ///< only prints the trees of multitree
    bool setup{false};                   ///< only builds the schedule
    std::string sweep;                   ///< algorithms; or empty
    std::string json;                    ///< see JsonOutput
    RunFilesOptions files;               ///< records

    /** @return whether messages carry numbers */
    bool IsReal() const
    {
        return payload == "real";
    }

    /** @param options receives the fields */
    void AddTo(ProgramOptions& options);

    /**
     * @param options that were parsed
     * @param cluster of the measurement
     * @param sizes of the vector, see `bytes`
     * @throw ConfigurationError if a value has no use with the others
     */
    void Check(const ProgramOptions& options,
               const ClusterOptions& cluster,
               const std::vector<uint64_t>& sizes) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BENCHMARK_OPTIONS_H
