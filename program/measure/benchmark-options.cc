/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "measure/benchmark-options.h"

#include "ns3/collective-operation.h"
#include "ns3/gradient-source.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>

namespace ns3::training
{

void
BenchmarkOptions::AddTo(ProgramOptions& options)
{
    options.Group("Benchmark");
    std::vector<std::string> operations;
    for (CollectiveOperation operation : GetCollectiveOperations())
    {
        operations.push_back(GetName(operation));
    }
    options.AddChoice("operation", "collective", operation, operations);
    options.AddString("bytes",
                      "sizes of the whole vector: begin:end:xFACTOR, begin:end:STEP, or a list "
                      "a,b,c; with units such as 64K, 1MiB",
                      bytes);
    options.AddChoice("payload",
                      "virtual carries sizes, real carries numbers and compares the results",
                      payload,
                      {"virtual", "real"});
    options.AddKind("gradients",
                    "source",
                    "numbers of a real payload",
                    gradients,
                    &DescribeAlternatives<GradientSourceEntry>);
    options.AddUnsigned("warmup", "runs of each size that are not measured", warmup, 0, 1000);
    options.AddBool("print-trees",
                    "only print the trees of multitree: root:child<parent@step,...;...; without "
                    "--ranks with a rank on every host",
                    printTrees);
    options.AddBool("set-up",
                    "only build the schedule for the first size, and print its actions, and the "
                    "processor time and the memory that this takes",
                    setup);
    options.AddChoice("sweep",
                      "algorithms: measure every algorithm that fits, in place of --collective",
                      sweep,
                      {"algorithms"});
    options.AddJson(json);
    files.AddTo(options);
}

void
BenchmarkOptions::Check(const ProgramOptions& options,
                        const ClusterOptions& cluster,
                        const std::vector<uint64_t>& sizes) const
{
    files.Check(cluster.ranks);
    const bool isReal = IsReal();
    for (uint64_t size : sizes)
    {
        if (isReal && size % sizeof(float) != 0)
        {
            throw ConfigurationError("--bytes=" + std::to_string(size) +
                                     " with --payload=real (allowed: multiples of 4)");
        }
    }
    if (options.IsGiven("gradients") && !isReal)
    {
        throw ConfigurationError("--gradients=" + gradients +
                                 " with --payload=virtual (allowed: with --payload=real)");
    }
    if (isReal && FindCollectiveOperation(operation) != CollectiveOperation::BARRIER)
    {
        MakeGradientSource(gradients)->Check(
            static_cast<uint32_t>(cluster.ranks),
            1,
            {*std::max_element(sizes.begin(), sizes.end()) / sizeof(float)});
    }
}

} // namespace ns3::training
