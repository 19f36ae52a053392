/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "derived-test-common.h"
#include "run-test-common.h"

#include <vector>

namespace ns3::training::tests::quiet_groups_test
{

/** A job whose groups share the network of their server with other messages. */
struct Job
{
    std::string name;
    uint32_t ranks;
    std::function<void(ParallelOptions&)> divide;
    Change change;
    double least; ///< part of the collectives that are derived
};

/** @return options of a job on servers of eight GPUs */
TrainingRunOptions
MakeOptions(const Job& job)
{
    TrainingRunOptions options;
    options.warmup = 0;
    options.iterations = 1;
    options.cluster.ranks = job.ranks;
    options.cluster.topology = "rail-optimized:gpus=8";
    options.cluster.congestionControl = "none";
    Model(job.divide)(options);
    options.model.model = MakePath("quiet.json");
    std::ofstream(options.model.model)
        << R"({"hidden": 2048, "heads": 16, "feed_forward": 8192, "vocabulary": 8192,
               "sequence": 2048, "layers": 16, "experts": 4, "experts_per_token": 2})";
    options.model.parallel.globalBatch = 8 * options.model.parallel.data;
    job.change(options);
    return options;
}

/** Times and counters of derived collectives are those of the whole simulation. */
void
TestJob(const Job& job)
{
    TrainingRunOptions options = MakeOptions(job);
    const Outcome whole = GetOutcome(options);
    options.collectives = "derive";
    const Outcome derived = GetOutcome(options);
    const auto all = static_cast<double>(derived.repetition.simulatedCollectives +
                                         derived.repetition.derivedCollectives);
    NS_TEST_EXPECT_MSG_EQ(
        (static_cast<double>(derived.repetition.derivedCollectives) >= job.least * all),
        true,
        derived.repetition.derivedCollectives << " of " << all);
    const std::vector<double> times = GetTimes(whole.iterations);
    const std::vector<double> others = GetTimes(derived.iterations);
    NS_TEST_ASSERT_MSG_EQ(others.size(), times.size(), "iterations");
    for (std::size_t i = 0; i < times.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(others[i], times[i], 0.001 * times[i], "time");
    }
    for (std::size_t i = 0; i < whole.counters.size(); i++)
    {
        const auto count = static_cast<double>(whole.counters[i]);
        // Acknowledgements of the last packets come in one span or in the next.
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(derived.counters[i]),
                                  count,
                                  0.001 * count,
                                  "counter " << i);
    }
    NS_TEST_EXPECT_MSG_EQ(derived.network.sentPackets, whole.network.sentPackets, "packets");
    NS_TEST_EXPECT_MSG_EQ((job.least == 0 || derived.skipped > whole.skipped), true, "hops");
}

/** @return jobs of all kinds */
std::vector<Case>
MakeTests()
{
    using P = ParallelOptions&;
    const auto none = [](TrainingRunOptions&) {};
    const Job jobs[] = {
        {"tensor and pipeline", 8, [](P p) { p.tensor = 4, p.pipeline = 2; }, none, 0.7},
        {"sequence parallel, interleaved",
         8,
         [](P p) { p.tensor = 2, p.pipeline = 4, p.sequenceParallel = true; },
         [](auto& o) { o.model.parallel.schedule = "interleaved:v=2"; },
         0.5},
        {"tensor and context",
         8,
         [](P p) { p.tensor = 4, p.context = 2, p.sequenceParallel = true; },
         none,
         0.5},
        {"tensor, context and pipeline, with micro-batches",
         16,
         [](P p) { p.tensor = 2, p.context = 2, p.pipeline = 2; },
         [](auto& o) { o.microBatches = "derive"; },
         0.3},
        {"experts and tensor", 8, [](P p) { p.tensor = 2, p.expert = 2, p.pipeline = 2; }, none, 0},
        {"gradients in the server", 8, [](P p) { p.tensor = 4; }, none, 0.5},
        {"replicas that are images",
         32,
         [](P p) { p.tensor = 4, p.pipeline = 2, p.order = "tp-cp-pp-dp"; },
         [](auto& o) { o.replicas = "derive", o.cluster.topology += ",unit=4"; },
         0.5},
        {"images in the same server",
         16,
         [](P p) { p.tensor = 2, p.pipeline = 2, p.data = 4, p.sequenceParallel = true; },
         [](auto& o) { o.replicas = "derive"; },
         0.5},
        {"images in the same server, context",
         16,
         [](P p) { p.tensor = 2, p.context = 2, p.pipeline = 2, p.data = 2; },
         [](auto& o) { o.replicas = "derive"; },
         0.3},
        {"other transports are simulated",
         8,
         [](P p) { p.tensor = 4, p.pipeline = 2; },
         [](auto& o) { o.cluster.transport = "uec", o.cluster.congestionControl = "nscc"; },
         0},
        {"jitter is simulated",
         8,
         [](P p) { p.tensor = 4, p.pipeline = 2; },
         [](auto& o) { o.computeJitter = "normal:cv=0.1"; },
         0},
    };
    std::vector<Case> tests;
    for (const Job& job : jobs)
    {
        tests.push_back({job.name, [job] { TestJob(job); }});
    }
    return tests;
}

const Suite g_suite("quiet-groups", Duration::EXTENSIVE, MakeTests(), TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::quiet_groups_test
