/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph/graph-timing.h"
#include "parallel/sample-plans.h"
#include "parallel/transformer-graph.h"
#include "test-case.h"

#include "ns3/graph-summary.h"
#include "ns3/parallel-memory.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>

namespace ns3::training::tests::parallel_samples_test
{

/// Memory takes no time.
const TransformerRates RATES{1e12, 1e30};
/// Layers of the model, numbers of a token in it, and those of its keys and values.
constexpr uint32_t LAYERS = 2;
constexpr uint64_t HIDDEN = 256;

/** @return a model whose heads do not share keys and values */
TransformerModel
MakeModel(uint64_t sequence)
{
    TransformerModel model;
    model.layers = LAYERS;
    model.hidden = HIDDEN;
    model.heads = 4;
    model.keyValueHeads = 4;
    model.feedForward = 1024;
    model.vocabulary = 1000;
    model.sequence = sequence;
    return model;
}

/** @return options of eight ranks, in four replicas */
ParallelOptions
MakeOptions(const std::string& lengths, uint64_t hybrid)
{
    ParallelOptions options;
    options.data = 4;
    options.context = 2;
    options.sampleLengths = ReadSampleLengths(lengths);
    options.globalBatch = options.sampleLengths.size();
    options.hybridContext = hybrid;
    return options;
}

/** @return plan of samples of which the longest has the model's sequence */
std::shared_ptr<const ParallelPlan>
MakePlan(const ParallelOptions& options)
{
    const auto& all = options.sampleLengths;
    return std::make_shared<const ParallelPlan>(
        MakeModel(*std::max_element(all.begin(), all.end())),
        options);
}

/** @return rounds as text: samples as TOKENS@FIRST+RANKS */
std::string
List(const ParallelOptions& options)
{
    std::string text;
    const SampleSchedule schedule(options);
    for (const auto& round : schedule.GetRounds())
    {
        for (const PlacedSample& each : round)
        {
            text += std::to_string(each.tokens) + "@" + std::to_string(each.first) + "+" +
                    std::to_string(each.ranks) + " ";
        }
        text += "| ";
    }
    return text;
}

/** Groups by hand. */
void
TestRounds()
{
    const auto expect =
        [](const std::string& lengths, const std::string& rounds, const std::string& what) {
            NS_TEST_EXPECT_MSG_EQ(List(MakeOptions(lengths, 1024)), rounds, what);
        };
    expect("1024*2,8192,2048*2,4096",
           "8192@0+8 | 4096@0+4 2048@4+2 2048@6+2 | 1024@0+4 1024@4+4 | ",
           "the longest first, and few samples on more ranks");
    expect("2048,1025", "2048@0+4 1025@4+4 | ", "ranks are powers of two");
    expect("1024*3", "1024@0+4 1024@4+2 1024@6+2 | ", "the smallest groups are doubled");
    expect("4096,1024*13",
           "4096@0+4 1024@4+1 1024@4+1 1024@4+1 1024@4+1 1024@5+1 1024@5+1 1024@5+1 "
           "1024@6+1 1024@6+1 1024@6+1 1024@7+1 1024@7+1 1024@7+1 | ",
           "short samples share the time of a long one: 16 would fit");
    expect("2048*5",
           "2048@0+2 2048@2+2 2048@4+2 2048@6+2 | 2048@0+8 | ",
           "a fifth would make the round longer");
    NS_TEST_EXPECT_MSG_EQ(List(MakeOptions("10,20,30,40,50,60,70,80", 0)),
                          "10@0+2 20@2+2 30@4+2 40@6+2 | 50@0+2 60@2+2 70@4+2 80@6+2 | ",
                          "replicas in turn");
    NS_TEST_EXPECT_MSG_EQ((ReadSampleLengths("8,4*3,2") == std::vector<uint64_t>{8, 4, 4, 4, 2}),
                          true,
                          "lengths");
}

/// Lengths of many kinds.
const std::string MIXED = "8192,4096*3,3000,2048*5,1024*16,512*20,64*7";

/** @return computations and messages of a rank in an iteration */
GraphSummary
Summarize(const TransformerGraph& graph, uint32_t rank, uint64_t& bytes)
{
    bytes = 0;
    const auto source = graph.MakeSource(rank, 1);
    GraphTask task;
    while (source->Next(task))
    {
        bytes += task.kind == TaskKind::SEND ? task.bytes : 0;
        task = {};
    }
    return SummarizeGraph(graph, rank, 1);
}

/** @return tokens of a rank of a sample, with those that fill up the last one */
uint64_t
GetPart(const PlacedSample& each)
{
    return (each.tokens + each.ranks - 1) / each.ranks;
}

/** @return time of a rank for a sample: a forward pass, and two for gradients */
double
GetSeconds(const PlacedSample& each)
{
    const TransformerModel model = MakeModel(GetPart(each) * each.ranks);
    return 3 * static_cast<double>(GetPart(each)) *
           (LAYERS * (model.GetAttentionOperations(0) + model.GetFeedForwardOperations(0)) +
            model.GetOutputOperations()) /
           RATES.operations;
}

/** Every token once; times and bytes by closed forms. */
void
TestForms()
{
    for (uint64_t hybrid : {1024, 2048})
    {
        const ParallelOptions options = MakeOptions(MIXED, hybrid);
        const auto plan = MakePlan(options);
        const TransformerGraph graph(plan, RATES);
        const SamplePlans plans(*plan, RATES);
        const SampleSchedule schedule(options);
        std::map<uint32_t, uint64_t> tokens; // by sample
        double end = 0;
        std::vector<double> round(8, 0); // since all ranks waited for each other
        std::size_t number = 0;
        std::vector<std::size_t> next(8, 0);
        for (const auto& samples : schedule.GetRounds())
        {
            if (!schedule.KeepsGroups(number++))
            {
                end += *std::max_element(round.begin(), round.end());
                round.assign(8, 0);
            }
            for (const PlacedSample& each : samples)
            {
                for (uint32_t rank = each.first; rank < each.first + each.ranks; rank++)
                {
                    round[rank] += GetSeconds(each);
                    const RankSample found = plans.Get(rank)[next[rank]++];
                    NS_TEST_EXPECT_MSG_EQ(found.sample, each.sample, "in order");
                    NS_TEST_EXPECT_MSG_EQ(found.plan->plan->GetTokens(), GetPart(each), "its part");
                    tokens[each.sample] += found.plan->plan->GetTokens();
                }
            }
        }
        end += *std::max_element(round.begin(), round.end());
        for (uint32_t sample = 0; sample < options.sampleLengths.size(); sample++)
        {
            const uint64_t length = options.sampleLengths[sample];
            NS_TEST_EXPECT_MSG_LT(tokens[sample] - length, 8, "padded to a part for each rank");
            NS_TEST_EXPECT_MSG_EQ((length == 3000 || tokens[sample] == length), true, "once");
        }
        for (uint32_t rank = 0; rank < 8; rank++)
        {
            double seconds = 0;
            uint64_t expected = 0;
            for (const auto& samples : schedule.GetRounds())
            {
                for (const PlacedSample& each : samples)
                {
                    if (rank < each.first || rank >= each.first + each.ranks)
                    {
                        continue;
                    }
                    seconds += GetSeconds(each);
                    // Keys and values of 2 bytes to all others; backward their gradients, too.
                    expected += LAYERS * (each.ranks - 1) * 3 * 2 * GetPart(each) * 2 * HIDDEN;
                }
            }
            uint64_t bytes = 0;
            const GraphSummary found = Summarize(graph, rank, bytes);
            NS_TEST_EXPECT_MSG_EQ_TOL(found.compute.GetSeconds(),
                                      seconds,
                                      1e-3 * seconds,
                                      "rank " << rank);
            NS_TEST_EXPECT_MSG_EQ(bytes, expected, "ring of rank " << rank);
        }
        const GraphTiming timing = TimeGraph(graph, 1, {});
        NS_TEST_EXPECT_MSG_EQ(timing.stuck.size(), 0, "ends");
        NS_TEST_EXPECT_MSG_EQ_TOL(timing.end.GetSeconds(), end, 1e-3 * end, "rounds in a row");
    }
}

/** @return all tasks of a rank but the numbers of micro-batches and collectives */
std::string
ListTasks(const TransformerGraph& graph, uint32_t rank)
{
    std::string text;
    const auto source = graph.MakeSource(rank, 2);
    GraphTask task;
    while (source->Next(task))
    {
        text += std::to_string(static_cast<uint32_t>(task.kind)) + " " + std::to_string(task.name) +
                " " + std::to_string(task.peer) + " " + std::to_string(task.bytes) + " " +
                std::to_string(task.layer) + " " + std::to_string(task.length.GetTimeStep()) + "\n";
        task = {};
    }
    return text;
}

/** With equal lengths all is as without lengths. */
void
TestEqualLengths()
{
    for (uint64_t tensor : {1, 2})
    {
        for (uint64_t hybrid : {0, 1024})
        {
            ParallelOptions options = MakeOptions("2048*12", hybrid);
            options.tensor = tensor;
            options.sequenceParallel = tensor > 1;
            options.zero = 1;
            const auto plan = MakePlan(options);
            const TransformerGraph own(plan, RATES);
            options.sampleLengths.clear();
            options.hybridContext = 0;
            const auto alike = std::make_shared<const ParallelPlan>(MakeModel(2048), options);
            const TransformerGraph others(alike, RATES);
            for (uint32_t rank = 0; rank < own.GetRanks(); rank++)
            {
                NS_TEST_EXPECT_MSG_EQ((ListTasks(own, rank) == ListTasks(others, rank)),
                                      true,
                                      "rank " << rank);
            }
            NS_TEST_EXPECT_MSG_EQ(GetMostMemoryBytes(*plan), GetMostMemoryBytes(*alike), "memory");
        }
    }
}

/** Jobs of unlike samples end, and collectives of all ranks have the same numbers. */
void
TestCollectives()
{
    ParallelOptions options = MakeOptions(MIXED, 1024);
    options.tensor = 2;
    options.sequenceParallel = true;
    options.zero = 1;
    const TransformerGraph graph(MakePlan(options), RATES);
    NS_TEST_EXPECT_MSG_EQ(TimeGraph(graph, 2, {}).stuck.size(), 0, "ends");
    std::string first;
    for (uint32_t rank = 0; rank < graph.GetRanks(); rank++)
    {
        std::string text;
        const auto source = graph.MakeSource(rank, 2);
        GraphTask task;
        while (source->Next(task))
        {
            if (task.kind == TaskKind::COLLECTIVE &&
                task.groups == static_cast<uint32_t>(PlanGroups::DATA))
            {
                text += std::to_string(task.tag) + " " + std::to_string(task.bytes) + ";";
            }
            task = {};
        }
        first = rank == 0 ? text : first;
        NS_TEST_EXPECT_MSG_EQ((text == first && !text.empty()), true, "rank " << rank);
    }
}

void
TestRefusals()
{
    const auto expect = [](const std::function<void(ParallelOptions&)>& change,
                           const std::string& part) {
        ParallelOptions options = MakeOptions("4096,1024*7", 1024);
        change(options);
        ExpectPart(GetRefusal([&] { ParallelPlan plan(MakeModel(4096), options); }), part);
    };
    expect([](auto& o) { o.pipeline = 2; }, "hybrid context with pipeline 2 (allowed: 1)");
    expect([](auto& o) { o.microBatch = 2; }, "with micro batch 2 (allowed: 1)");
    expect([](auto& o) { o.zero = 2; }, "with zero 2 (allowed: 0, 1)");
    expect([](auto& o) { o.order = "tp-dp-cp-pp"; }, "with order tp-dp-cp-pp (allowed: tp-cp-dp");
    expect([](auto& o) { o.globalBatch = 16; }, "global batch 16 (allowed: 8, the number of");
    expect([](auto& o) { o.data = 3; }, "data x context 6 (allowed: powers of two)");
    expect([](auto& o) { o.cpCommType = "a2a"; }, "cp comm type a2a (allowed: p2p)");
    expect([](auto& o) { o.hybridContext = 511; }, "hybrid context 511 (allowed: at least 512,");
    expect([](auto& o) { o.sampleLengths[0] = 0; }, "from 0 to 1024 tokens (allowed: from 1 to 40");
    expect([](auto& o) { o.sampleLengths.clear(); },
           "hybrid context 1024 (allowed: with sample lengths)");
    expect([](auto& o) { o.hybridContext = 0, o.data = 3; },
           "samples (allowed: multiples of 3, the");
    for (const char* wrong : {"", "8,", "0", "8*0", "8*", "x", "8*2000000", "-8"})
    {
        ExpectPart(GetRefusal([&] { ReadSampleLengths(wrong); }), "sample lengths ");
    }
}

const Suite g_suite("parallel-samples",
                    Duration::QUICK,
                    {{"rounds and groups by hand", TestRounds},
                     {"tokens, computations and messages by closed forms", TestForms},
                     {"equal lengths change nothing", TestEqualLengths},
                     {"collectives of all ranks match", TestCollectives},
                     {"what does not fit is refused", TestRefusals}});

} // namespace ns3::training::tests::parallel_samples_test
