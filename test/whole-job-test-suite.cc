/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "formats/listed-graph.h"
#include "record/path-figures.h"

#include "ns3/gradient-source.h"
#include "ns3/graph-checker.h"
#include "ns3/training-run.h"

#include <memory>

namespace ns3::training::tests::whole_job_test
{

/** @param name of a plan @param set sets it @param change of the cluster */
void
Check(
    const std::string& name,
    const std::function<void(ParallelOptions&)>& set,
    const std::function<void(ClusterOptions&)>& change = [](ClusterOptions&) {})
{
    TrainingRunOptions options;
    options.model.model =
        WriteFile("small.json", R"({"layers": 4, "hidden": 64, "heads": 8, "feed_forward": 128,
            "vocabulary": 256, "sequence": 64, "num_experts": 4, "num_experts_per_tok": 2})");
    set(options.model.parallel);
    options.cluster.ranks = options.model.MakePlan(0)->GetRanks();
    change(options.cluster);
    options.payload = "real";
    options.iterations = 1;
    const TrainingRunResult result = TrainingRun(options).Run();
    NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", name);
    NS_TEST_ASSERT_MSG_EQ(result.iterations.size(), 2, name);
    for (const IterationRecord& record : result.iterations)
    {
        NS_TEST_EXPECT_MSG_EQ(record.verified, true, name);
        // The parts of the time of a rank add up; ranks may begin before others end.
        const double parts = record.meanComputeS + record.bubbleS + record.exposedDataS +
                             record.exposedTensorS + record.exposedPipelineS +
                             record.exposedContextS + record.exposedExpertS + record.exposedOtherS +
                             record.otherIdleS;
        NS_TEST_EXPECT_MSG_LT(parts, record.iterationTimeS * 1.02, name);
        NS_TEST_EXPECT_MSG_GT(parts, record.iterationTimeS * 0.5, name);
    }
    const auto* path = result.figures.Find<PathFigures>();
    NS_TEST_ASSERT_MSG_NE(path, nullptr, name);
    NS_TEST_EXPECT_MSG_EQ_TOL(path->seconds / result.iterations.back().iterationTimeS,
                              1,
                              1e-9,
                              name << ": the critical path is as long as the iteration");
}

/**
 * Every kind of parallelism with real numbers: every collective and message of every rank is
 * compared bit by bit.
 */
void
TestRealJob()
{
    using O = ParallelOptions&;
    Check("data 3", [](O o) { o.data = 3; });
    for (uint64_t zero = 1; zero <= 3; zero++)
    {
        Check("ZeRO " + std::to_string(zero), [zero](O o) { o.data = 4, o.zero = zero; });
    }
    Check("tensor", [](O o) { o.tensor = 4, o.data = 1; });
    Check("sequence parallel", [](O o) { o.tensor = 4, o.data = 1, o.sequenceParallel = true; });
    for (const std::string& schedule : Split("gpipe|1f1b|1f1b:messages=asynchronous|"
                                             "interleaved:v=2|zb1p|zbv|dualpipev"))
    {
        Check(schedule,
              [&](O o) { o.pipeline = 2, o.data = 1, o.globalBatch = 4, o.schedule = schedule; });
    }
    Check("interleaved, without overlap", [](O o) {
        o.pipeline = 4, o.data = 1, o.globalBatch = 8, o.schedule = "interleaved:v=1";
        o.overlapP2p = "false";
    });
    Check("context", [](O o) { o.context = 4, o.data = 1; });
    Check("Ulysses", [](O o) { o.context = 4, o.data = 1, o.cpCommType = "a2a"; });
    Check("experts", [](O o) { o.data = 4, o.expert = 4; });
    Check("HSDP", [](O o) { o.data = 4, o.zero = 3, o.shard = 2; });
    Check("HSDP of experts", [](O o) { o.data = 8, o.expert = 2, o.zero = 3, o.shard = 4; });
    const auto plus = [](O o) {
        o.data = 4, o.zero = 3, o.hpzPartition = 2;
        o.quantizedWeights = true, o.quantizedGradients = true;
    };
    Check("ZeRO++", plus);
    Check("ZeRO++, with losses", plus, [](ClusterOptions& o) { o.loss = 0.001; });
    const auto all = [](O o) {
        o.tensor = 2, o.pipeline = 2, o.data = 2, o.zero = 1, o.globalBatch = 4;
    };
    Check("all", all);
    Check("all, with losses", all, [](ClusterOptions& o) { o.loss = 0.001; });
    Check("all, TCP", all, [](ClusterOptions& o) { o.transport = "tcp"; });
    Check("all, Ultra Ethernet", all, [](ClusterOptions& o) { o.transport = "uec"; });
    Check("all, small packets", all, [](ClusterOptions& o) { o.mtu = 700; });
    Check("all, servers", all, [](ClusterOptions& o) {
        o.topology = "rail-optimized:servers=4,gpus=2";
    });
}

/** The checker finds a wrong number, a message of another place, and wrong parts. */
struct GraphCheckerTestCase
{
    static constexpr uint64_t SEED = 3;

    /** @return a checker of two ranks with a reduce-scatter of 4 numbers by hand */
    GraphChecker MakeChecker() const
    {
        return {job, GraphChecker::From(source), SEED, nullptr};
    }

    void Run()
    {
        source = MakeGradientSource("hash");
        auto graph = std::make_shared<ListedGraph>("by hand", 2);
        job = graph;
        GraphTask receive;
        receive.kind = TaskKind::RECEIVE;
        receive.name = graph->AddName("activations");
        receive.bytes = 16;
        receive.peer = 0;
        GraphTask send = receive;
        send.kind = TaskKind::SEND;
        send.peer = 1;
        Tensor tensor;
        tensor.bytes = 16;
        tensor.values = source->Make(GetGraphPlace(*graph, SEED, 0, send, 0, 5), 4);
        GraphChecker checker = MakeChecker();
        NS_TEST_EXPECT_MSG_EQ(checker.Check(1, receive, 5, tensor), true, "the sender's numbers");
        NS_TEST_EXPECT_MSG_EQ(checker.GetMismatch(), "", "right");
        NS_TEST_EXPECT_MSG_EQ(checker.GetChecked(), 1, "one message");
        NS_TEST_EXPECT_MSG_EQ(checker.Check(1, receive, 4, tensor), false, "of another message");
        ExpectPart(checker.GetMismatch(),
                   "wrong numbers at rank 1 in activations 4: element 0 of 4 is ");
        receive.tag = 1;
        NS_TEST_EXPECT_MSG_EQ(MakeChecker().Check(1, receive, 5, tensor), false, "of another tag");
        receive.tag = 0;
        tensor.values[3] = -tensor.values[3];
        GraphChecker third = MakeChecker();
        NS_TEST_EXPECT_MSG_EQ(third.Check(1, receive, 5, tensor), false, "one wrong number");
        ExpectPart(third.GetMismatch(), "element 3 of 4 is ");
        tensor.values.pop_back();
        NS_TEST_EXPECT_MSG_EQ(MakeChecker().Check(1, receive, 5, tensor), false, "too short");
    }

    std::shared_ptr<const GradientSource> source;
    std::shared_ptr<const TaskGraph> job;
};

const Suite g_suite(
    "whole-job",
    Duration::EXTENSIVE,
    {{"a wrong number, a message out of order and a part that is not its own are found",
      RunTest<GraphCheckerTestCase>},
     {"numbers of jobs of every kind of parallelism, also with losses", TestRealJob}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::whole_job_test
