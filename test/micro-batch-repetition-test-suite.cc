/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "derived-test-common.h"
#include "run-test-common.h"

#include "ns3/task-period.h"

#include <algorithm>
#include <vector>

namespace ns3::training::tests::micro_batch_repetition_test
{

/** @return options of a pipeline */
TrainingRunOptions
MakePipeline(uint32_t ranks,
             uint64_t microBatches,
             const std::string& schedule,
             const std::function<void(ParallelOptions&)>& divide,
             const Change& change)
{
    TrainingRunOptions options;
    options.warmup = 0;
    options.iterations = 1;
    options.cluster.ranks = ranks;
    options.cluster.congestionControl = "none";
    Model(divide)(options);
    // Receives are posted ahead; a period has more tasks.
    options.model.model = MakePath("pipeline.json");
    std::ofstream(options.model.model)
        << R"({"hidden": 512, "heads": 8, "feed_forward": 2048, "vocabulary": 8192,
               "sequence": 256, "layers": 32, "experts": 4, "experts_per_token": 2})";
    options.model.parallel.schedule = schedule;
    options.model.parallel.globalBatch = microBatches * options.model.parallel.data;
    change(options);
    return options;
}

/** A pipeline, and how many of its micro-batches are derived at least. */
struct PipelineCase
{
    std::string name;
    uint32_t ranks;
    uint64_t microBatches;
    std::string schedule;
    std::function<void(ParallelOptions&)> divide;
    Change change;
    uint64_t derived;
};

/** Iterations, counters and the critical path are those of the whole simulation. */
void
TestCase(const PipelineCase& each)
{
    TrainingRunOptions options =
        MakePipeline(each.ranks, each.microBatches, each.schedule, each.divide, each.change);
    const Outcome whole = GetOutcome(options);
    options.microBatches = "derive";
    const Outcome derived = GetOutcome(options);
    const RepetitionFigures& figures = derived.repetition;
    NS_TEST_EXPECT_MSG_EQ(whole.repetition.derivedMicroBatches, 0, "all are simulated");
    NS_TEST_EXPECT_MSG_EQ(figures.simulatedMicroBatches + figures.derivedMicroBatches,
                          each.microBatches * derived.iterations.size(),
                          "all");
    NS_TEST_EXPECT_MSG_EQ((figures.derivedMicroBatches >= each.derived),
                          true,
                          figures.derivedMicroBatches << " " << figures.microBatchReason);
    NS_TEST_EXPECT_MSG_EQ(ToText(derived.iterations), ToText(whole.iterations), "times");
    NS_TEST_EXPECT_MSG_EQ((derived.counters == whole.counters), true, "counters");
    NS_TEST_EXPECT_MSG_EQ(derived.network.ToJson().Write(), whole.network.ToJson().Write(), "all");
    NS_TEST_EXPECT_MSG_EQ(derived.path, whole.path, "critical path");
    NS_TEST_EXPECT_MSG_EQ(derived.hops, whole.hops, "hops");
    const uint64_t least = whole.skipped + (each.derived > 0 ? 1 : 0);
    NS_TEST_EXPECT_MSG_EQ((derived.skipped >= least), true, "skipped");
}

/** @return pipelines of all kinds */
std::vector<PipelineCase>
MakeCases()
{
    using P = ParallelOptions&;
    const auto none = [](TrainingRunOptions&) {};
    const auto uec = [](TrainingRunOptions& options) {
        options.cluster.transport = "uec";
        options.cluster.congestionControl = "nscc";
    };
    const auto rails = [](TrainingRunOptions& options) {
        options.cluster.topology = "rail-optimized:gpus=8,unit=2";
        options.cluster.path = "adaptive";
    };
    return {
        {"1f1b", 4, 40, "1f1b", [](P p) { p.pipeline = 4; }, none, 8},
        {"1f1b, asynchronous",
         4,
         40,
         "1f1b:messages=asynchronous",
         [](P p) { p.pipeline = 4; },
         none,
         0}, // it drifts by some ns
        {"1f1b, tensor", 8, 40, "1f1b", [](P p) { p.pipeline = 4, p.tensor = 2; }, none, 4},
        {"interleaved", 2, 40, "interleaved:v=2", [](P p) { p.pipeline = 2; }, none, 4},
        {"interleaved, tensor and data, rails",
         16,
         40,
         "interleaved:v=2",
         [](P p) { p.pipeline = 2, p.tensor = 2; },
         rails,
         4},
        {"zero bubble",
         4,
         40,
         "zb1p",
         [](P p) { p.pipeline = 4; },
         [](auto& o) { o.computeScale = 0.01; }, // computations are short beside messages
         4},
        {"context", 8, 40, "1f1b", [](P p) { p.pipeline = 2, p.context = 2; }, none, 4},
        {"experts", 8, 40, "1f1b", [](P p) { p.pipeline = 2, p.expert = 4; }, none, 4},
        {"uec", 4, 40, "1f1b", [](P p) { p.pipeline = 4; }, uec, 4},
        {"dcqcn",
         4,
         40,
         "1f1b",
         [](P p) { p.pipeline = 4; },
         [](auto& o) { o.cluster.congestionControl = "dcqcn"; },
         0},
        {"iterations",
         4,
         40,
         "1f1b",
         [](P p) { p.pipeline = 4; },
         [](auto& o) { o.iterations = 2, o.warmup = 1; },
         24},
        {"replicas that are images",
         16,
         40,
         "1f1b",
         [](P p) { p.pipeline = 2, p.tensor = 2; },
         [](auto& o) { o.replicas = "derive"; },
         4},
    };
}

/** @return why no micro-batch is derived */
std::string
GetReason(const Change& change)
{
    TrainingRunOptions options = MakePipeline(
        4,
        12,
        "1f1b",
        [](ParallelOptions& p) { p.pipeline = 4; },
        change);
    options.microBatches = "derive";
    const Outcome outcome = GetOutcome(options);
    NS_TEST_EXPECT_MSG_EQ(outcome.repetition.derivedMicroBatches, 0, "all are simulated");
    return outcome.repetition.microBatchReason;
}

/** What may not repeat itself is simulated, and the run says why. */
void
TestReasons()
{
    using O = TrainingRunOptions&;
    const std::pair<Change, std::string> cases[] = {
        {[](O o) { o.computeJitter = "normal:cv=0.1"; }, "compute times are drawn at random"},
        {[](O o) { o.cluster.loss = 0.0001; }, "links fail, change, or lose or delay frames"},
        {[](O o) { o.cluster.background = "fixed:load=0.1"; }, "other traffic"},
        {[](O o) { o.payload = "real"; }, "numbers of a real payload differ"},
        {[](O o) { o.results = MakePath("micro.sqlite"); }, "files have records"},
        {[](O o) { o.cluster.pcap = MakePath("micro"); }, "--pcap records all packets"},
        {[](O o) { o.cluster.transport = "tcp", o.cluster.congestionControl = "auto"; },
         "transport tcp is not known"},
        {[](O o) { o.model.parallel.schedule = "gpipe"; }, "no micro-batches did what"},
        {[](O o) { o.model.parallel.globalBatch = 2; }, "too few micro-batches"}};
    for (const auto& [change, reason] : cases)
    {
        ExpectPart(GetReason(change), reason);
    }
    TrainingRunOptions both;
    both.repeat = "derive";
    both.microBatches = "derive";
    ExpectPart(GetRefusal([&] { both.Check(); }), "allowed: simulate; derive with repeat simulate");
}

/** @return a task of each micro-batch, which waits for the one before */
std::vector<GraphTask>
MakeTasks(uint32_t microBatches)
{
    std::vector<GraphTask> tasks(microBatches);
    for (uint32_t i = 0; i < microBatches; i++)
    {
        tasks[i].id = 10 + i;
        tasks[i].kind = i % 2 == 0 ? TaskKind::SEND : TaskKind::COLLECTIVE;
        tasks[i].parallelism = Parallelism::PIPELINE;
        tasks[i].microBatch = static_cast<int32_t>(i);
        tasks[i].tag = i % 2 == 0 ? 100 + i : i / 2;
        tasks[i].after = {9 + i};
    }
    return tasks;
}

/** A period is found where all tasks come again, and leaves out whole periods. */
void
TestPeriod()
{
    std::vector<GraphTask> tasks = MakeTasks(20);
    const auto period = TaskPeriod::Find(tasks);
    NS_TEST_ASSERT_MSG_EQ(period.has_value(), true, "two micro-batches");
    NS_TEST_EXPECT_MSG_EQ(period->shift.tasks, 2, "tasks");
    NS_TEST_EXPECT_MSG_EQ(period->shift.microBatches, 2, "micro-batches");
    NS_TEST_EXPECT_MSG_EQ(period->shift.collectives, 1, "collectives");
    NS_TEST_EXPECT_MSG_EQ(period->first, 10, "the first task");
    NS_TEST_EXPECT_MSG_EQ(period->end, 28, "the last two do not come again");
    NS_TEST_EXPECT_MSG_EQ(period->Count(12), 9, "all others");
    NS_TEST_EXPECT_MSG_EQ(period->Count(13), 8, "whole periods");
    NS_TEST_EXPECT_MSG_EQ(period->Count(28), 1, "the last one");
    NS_TEST_EXPECT_MSG_EQ(period->Count(11), 0, "none came before");
    NS_TEST_EXPECT_MSG_EQ(period->Count(29), 0, "none is left");
    TaskShift shift = period->shift.Times(3);
    GraphTask moved = tasks[11];
    shift.MoveBack(moved);
    NS_TEST_EXPECT_MSG_EQ(moved.id, tasks[5].id, "number");
    NS_TEST_EXPECT_MSG_EQ(moved.tag, tasks[5].tag, "number of the collective");
    NS_TEST_EXPECT_MSG_EQ(moved.microBatch, tasks[5].microBatch, "micro-batch");
    NS_TEST_EXPECT_MSG_EQ(moved.after[0], tasks[5].after[0], "what it waits for");
    moved = tasks[12];
    shift.MoveBack(moved);
    NS_TEST_EXPECT_MSG_EQ(moved.tag, tasks[6].tag, "tag of the message");
    NS_TEST_EXPECT_MSG_EQ(TaskPeriod::Find(tasks, 4)->shift.tasks, 4, "a given period");
    tasks = MakeTasks(60);
    for (uint32_t i = 0; i < 60; i++)
    {
        tasks[i].kind = TaskKind::COMPUTE;
        tasks[i].tag = 0;
        tasks[i].name = i % 10 < 5 ? 1 : 2; // five times the same, and again
    }
    NS_TEST_EXPECT_MSG_EQ(TaskPeriod::Find(tasks)->shift.tasks, 10, "the longest repetition");
    tasks = MakeTasks(20);
    NS_TEST_EXPECT_MSG_EQ(TaskPeriod::Find(tasks, 3).has_value(), false, "no period");
    NS_TEST_EXPECT_MSG_EQ(TaskPeriod::Find({}).has_value(), false, "no tasks");
    const std::pair<std::function<void(GraphTask&)>, std::string> changes[] = {
        {[](GraphTask& task) { task.bytes = 1; }, "bytes"},
        {[](GraphTask& task) { task.after[0]--; }, "what it waits for"},
        {[](GraphTask& task) { task.after.push_back(1); }, "waits for more"},
        {[](GraphTask& task) { task.tag++; }, "tag"},
        {[](GraphTask& task) { task.microBatch++; }, "micro-batch"},
        {[](GraphTask& task) { task.length = Time(1); }, "length"}};
    for (const auto& [change, what] : changes)
    {
        tasks = MakeTasks(20);
        change(tasks[16]);
        const auto shorter = TaskPeriod::Find(tasks);
        NS_TEST_EXPECT_MSG_EQ((!shorter || shorter->end <= 24), true, what);
    }
}

/** Marks that nothing reacts to are drawn at random: their numbers do not hinder, and are told. */
void
TestMarks()
{
    TrainingRunOptions options = MakePipeline(
        2,
        40,
        "zb1p",
        [](ParallelOptions& p) { p.pipeline = 2; },
        [](TrainingRunOptions& o) {
            // Fast hosts on a slow link.
            o.cluster.topology = "leaf-spine:leaves=2,hosts-per-leaf=1,spines=1,uplink=25Gbps";
            o.cluster.attributes["ns3::training::SwitchDevice::EcnKminPerGbps"] = "100";
        });
    const Outcome whole = GetOutcome(options);
    options.microBatches = "derive";
    const Outcome derived = GetOutcome(options);
    NS_TEST_EXPECT_MSG_GT(whole.network.markedFrames, 0, "frames are marked");
    NS_TEST_EXPECT_MSG_GT(derived.repetition.derivedMicroBatches, 0, "derived");
    ExpectPart(derived.repetition.microBatchReason, "marks that nothing reacts to");
    NS_TEST_EXPECT_MSG_EQ(ToText(derived.iterations), ToText(whole.iterations), "times");
    NS_TEST_EXPECT_MSG_EQ(derived.network.sentPackets, whole.network.sentPackets, "packets");
}

/** @return the tests */
std::vector<Case>
MakeTests()
{
    std::vector<Case> tests{{"periods of tasks", &TestPeriod},
                            {"reasons", &TestReasons},
                            {"marks that nothing reacts to", &TestMarks}};
    for (const PipelineCase& each : MakeCases())
    {
        tests.push_back({each.name, [each] { TestCase(each); }});
    }
    return tests;
}

const Suite g_suite("micro-batch-repetition",
                    Duration::EXTENSIVE,
                    MakeTests(),
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::micro_batch_repetition_test
