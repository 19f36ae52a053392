/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_DERIVED_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_DERIVED_TEST_COMMON_H

#include "file-test-common.h"
#include "iteration-test-common.h"
#include "record/network-figures.h"
#include "record/path-figures.h"

#include "ns3/training-run.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3::training::tests
{

/// Changes the options of a run.
using Change = std::function<void(TrainingRunOptions&)>;

/** @return a change to a small transformer, divided in this way */
inline Change
Model(const std::function<void(ParallelOptions&)>& divide, const Change& change = {})
{
    return [divide, change](TrainingRunOptions& options) {
        options.model.model = MakePath("images.json");
        std::ofstream(options.model.model)
            << R"({"hidden": 512, "heads": 8, "feed_forward": 2048, "vocabulary": 8192,
                   "sequence": 256, "layers": 4, "experts": 4, "experts_per_token": 2})";
        options.workload = TrainingRunOptions::AUTOMATIC;
        options.bucket = 1000000000;
        ParallelOptions& parallel = options.model.parallel;
        divide(parallel);
        parallel.data =
            options.cluster.ranks / parallel.tensor / parallel.pipeline / parallel.context;
        parallel.globalBatch = 2 * parallel.data;
        if (change)
        {
            change(options);
        }
    };
}

/** What a run gives, derived or not. */
struct Outcome
{
    std::vector<IterationRecord> iterations;
    std::vector<uint64_t> counters; // of all ports
    NetworkFigures network;
    uint64_t hops;
    uint64_t skipped;
    RepetitionFigures repetition;
    std::string path; // parts of the critical path
};

/** @return what a run gives */
inline Outcome
GetOutcome(const TrainingRunOptions& options)
{
    TrainingRun run(options);
    const TrainingRunResult result = run.Run();
    Outcome outcome{result.iterations,
                    {},
                    *result.figures.Find<NetworkFigures>(),
                    result.cost.packetHops,
                    result.cost.skippedHops,
                    result.repetition.value_or(RepetitionFigures()),
                    result.figures.Find<PathFigures>()->ToJson().Write()};
    for (const auto& channel : run.GetCluster().GetFabric().channels)
    {
        for (uint32_t end : {0, 1})
        {
            const PortCounters counters = channel->GetPort(end).GetCounters();
            for (uint64_t count : {counters.transmittedFrames,
                                   counters.transmittedBytes,
                                   counters.receivedFrames,
                                   counters.receivedBytes})
            {
                outcome.counters.push_back(count);
            }
        }
    }
    return outcome;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_DERIVED_TEST_COMMON_H
