/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/graph-summary.h"
#include "ns3/graph-timing.h"
#include "ns3/parallel-plan.h"
#include "ns3/test.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-time-resolution.h"
#include "ns3/transformer-graph.h"
#include "ns3/transformer-model.h"

#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>

/**
 * @ingroup distributed-training-tests
 * @defgroup distributed-training-parallel-tests Tests of parallel training
 */

using namespace ns3;
using namespace ns3::training;

namespace
{

/// Rates of computations in these tests.
constexpr TransformerRates RATES{1e14, 1e12};

/**
 * @ingroup distributed-training-parallel-tests
 * @return the job
 */
TransformerGraph
MakeGraph(const std::string& model, const ParallelOptions& options)
{
    UsePicoseconds();
    return TransformerGraph(std::make_shared<ParallelPlan>(FindTransformer(model), options), RATES);
}

/// Number and bytes of collectives by groups and operation.
using Collectives = std::map<std::pair<PlanGroups, CollectiveOperation>, TaskTraffic>;

/**
 * @ingroup distributed-training-parallel-tests
 * @return what a rank does in an iteration
 */
Collectives
Count(const TransformerGraph& graph, uint32_t rank)
{
    Collectives sums;
    for (const auto& [key, count] : SummarizeGraph(graph, rank, 1).collectives)
    {
        const auto& [groups, operation, bytes] = key;
        TaskTraffic& sum = sums[{static_cast<PlanGroups>(groups), operation}];
        sum.count += count;
        sum.bytes += count * bytes;
    }
    return sums;
}

} // namespace

/**
 * @ingroup distributed-training-parallel-tests
 * Parameters of published models.
 */
class TransformerParametersTestCase : public TestCase
{
  public:
    TransformerParametersTestCase()
        : TestCase("parameters of transformers equal those of the published weights")
    {
    }

  private:
    void DoRun() override
    {
        const std::map<std::string, uint64_t> published{
            {"llama3-8b", 8030261248},
            {"llama3-70b", 70553706496},
            {"llama3-405b", 405853388800},
            {"mixtral-8x7b", 46702792704},
            {"deepseek-v3", 671026419200},
        };
        for (const auto& [name, parameters] : published)
        {
            NS_TEST_EXPECT_MSG_EQ(FindTransformer(name).GetParameters(), parameters, name);
        }
        // Table 1 of Narayanan et al., SC 2021: as printed, with one digit behind the point.
        for (const auto& [name, model] : Registry<TransformerModel>::All())
        {
            if (name.compare(0, 9, "megatron-") == 0)
            {
                const double printed = std::stod(name.substr(9));
                const auto found = static_cast<double>(model.GetParameters()) / 1e9;
                NS_TEST_EXPECT_MSG_EQ_TOL(found, printed, (printed > 1000 ? 0.5 : 0.05001), name);
            }
        }
        // A file of Hugging Face: GPT-2.
        const std::string path = CreateTempDirFilename("gpt2.json");
        std::ofstream(path) << R"({"n_layer": 12, "n_embd": 768, "n_head": 12,
                                   "vocab_size": 50257, "n_positions": 1024})";
        NS_TEST_EXPECT_MSG_EQ(FindTransformer(path).GetParameters(), 124439808, "GPT-2");
    }
};

/**
 * @ingroup distributed-training-parallel-tests
 * Bytes and number of collectives.
 */
class ParallelBytesTestCase : public TestCase
{
  public:
    ParallelBytesTestCase()
        : TestCase("bytes and number of collectives equal closed forms")
    {
    }

  private:
    void CheckTensor(bool sequenceParallel)
    {
        ParallelOptions options;
        options.tensor = 8;
        options.pipeline = 4;
        options.globalBatch = 8;
        options.sequenceParallel = sequenceParallel;
        const TransformerGraph graph = MakeGraph("gpt3-175b", options);
        const uint64_t payload = 50331648; // 2 b s h
        for (uint32_t rank : {0, 8, 31})
        {
            const auto sums = Count(graph, rank);
            const uint32_t stage = rank / 8;
            // Two in each direction and layer; embedding and output layer have one each.
            const uint64_t edges = stage == 0 || stage == 3 ? 1 : 0;
            const uint64_t count = (4 * 24 + edges) * 8;
            const auto sum = sums.find({PlanGroups::TENSOR,
                                        sequenceParallel ? CollectiveOperation::REDUCE_SCATTER
                                                         : CollectiveOperation::ALL_REDUCE});
            NS_TEST_ASSERT_MSG_EQ((sum != sums.end()), true, "collectives of layers");
            NS_TEST_EXPECT_MSG_EQ(sum->second.count, count, "rank " << rank);
            NS_TEST_EXPECT_MSG_EQ(sum->second.bytes, count * payload, "rank " << rank);
        }
    }

    void CheckData(uint32_t zero)
    {
        ParallelOptions options;
        options.data = 8;
        options.globalBatch = 32;
        options.zero = zero;
        const TransformerGraph graph = MakeGraph("llama3-8b", options);
        const auto sums = Count(graph, 3);
        const uint64_t parameters = 8030261248;
        const uint64_t micro = 4;
        const auto getBytes = [&sums](CollectiveOperation operation) {
            const auto found = sums.find({PlanGroups::DATA, operation});
            return found == sums.end() ? 0 : found->second.bytes;
        };
        const std::string what = "ZeRO " + std::to_string(zero);
        NS_TEST_EXPECT_MSG_EQ(getBytes(CollectiveOperation::ALL_REDUCE),
                              (zero == 0 ? 4 * parameters : 0),
                              what);
        NS_TEST_EXPECT_MSG_EQ(getBytes(CollectiveOperation::REDUCE_SCATTER),
                              (zero == 0   ? 0
                               : zero == 1 ? 4 * parameters
                                           : 4 * parameters * micro),
                              what);
        // Embedding and output layer stay where they are.
        const uint64_t layers = parameters - 2 * 128256 * 4096 - 4096;
        NS_TEST_EXPECT_MSG_EQ(getBytes(CollectiveOperation::ALL_GATHER),
                              (zero == 0  ? 0
                               : zero < 3 ? 2 * layers
                                          : 2 * 2 * layers * micro),
                              what);
    }

    void DoRun() override
    {
        CheckTensor(false);
        CheckTensor(true);
        for (uint32_t zero : {0, 1, 2, 3})
        {
            CheckData(zero);
        }
        // Experts: two exchanges a layer and direction, of tokens x 2 x h numbers.
        ParallelOptions options;
        options.data = 8;
        options.expert = 8;
        options.globalBatch = 16;
        const auto sums = Count(MakeGraph("mixtral-8x7b", options), 0);
        const TaskTraffic exchanges =
            sums.at({PlanGroups::EXPERT, CollectiveOperation::ALL_TO_ALL});
        NS_TEST_EXPECT_MSG_EQ(exchanges.count, 32 * 4 * 2, "experts");
        NS_TEST_EXPECT_MSG_EQ(exchanges.bytes / exchanges.count, 4096ULL * 2 * 4096 * 2, "experts");
        // Context: a ring of keys and values, c - 1 steps a layer forward, twice as much backward.
        ParallelOptions ring;
        ring.context = 4;
        ring.globalBatch = 1;
        const auto sent = SummarizeGraph(MakeGraph("llama3-8b", ring), 1, 1)
                              .sent[static_cast<uint32_t>(Parallelism::CONTEXT)];
        NS_TEST_EXPECT_MSG_EQ(sent.count, 32 * 3 * 2, "ring");
        NS_TEST_EXPECT_MSG_EQ(sent.bytes, 32ULL * 3 * 3 * (2048 * 2 * 1024 * 2), "ring");
    }
};

/**
 * @ingroup distributed-training-parallel-tests
 * Every schedule and combination ends, and takes the time of its pipeline on a network without
 * cost.
 */
class ParallelTimingTestCase : public TestCase
{
  public:
    ParallelTimingTestCase()
        : TestCase("parallel jobs end, in the time of their schedules")
    {
    }

  private:
    void DoRun() override
    {
        const std::string path = CreateTempDirFilename("small.json");
        std::ofstream(path) << R"({"num_hidden_layers": 8, "hidden_size": 256,
            "num_attention_heads": 8, "intermediate_size": 1024, "vocab_size": 1024,
            "max_position_embeddings": 128, "num_experts": 4, "num_experts_per_tok": 2})";
        for (const std::string schedule :
             {"gpipe", "1f1b", "interleaved:v=2", "zb1p", "zb1p:v=2", "zbv", "dualpipev"})
        {
            for (uint32_t zero : {0, 1, 2, 3})
            {
                for (uint32_t tensor : {1, 2})
                {
                    for (uint32_t context : {1, 2})
                    {
                        ParallelOptions options;
                        options.schedule = schedule;
                        options.zero = zero;
                        options.tensor = tensor;
                        options.context = context;
                        options.sequenceParallel = tensor > 1;
                        options.pipeline = 2;
                        options.data = 2;
                        options.expert = 2;
                        options.globalBatch = 8;
                        const TransformerGraph graph = MakeGraph(path, options);
                        const GraphTiming timing = TimeGraph(graph, 2);
                        const std::string what = schedule + ", ZeRO " + std::to_string(zero) +
                                                 ", tp " + std::to_string(tensor) + ", cp " +
                                                 std::to_string(context);
                        NS_TEST_EXPECT_MSG_EQ(timing.stuck, "", what);
                        for (const RankTiming& rank : timing.ranks)
                        {
                            Time sum = rank.compute + rank.idle.bubble + rank.idle.other;
                            for (const Time& exposed : rank.idle.exposed)
                            {
                                sum += exposed;
                            }
                            NS_TEST_EXPECT_MSG_LT_OR_EQ(sum, timing.end, what);
                            NS_TEST_EXPECT_MSG_GT(rank.compute, Time(), what);
                        }
                    }
                }
            }
        }
    }
};

/**
 * @ingroup distributed-training-parallel-tests
 * Sizes that do not fit are refused.
 */
class ParallelRefusalTestCase : public TestCase
{
  public:
    ParallelRefusalTestCase()
        : TestCase("parallel plans whose sizes do not fit are refused")
    {
    }

  private:
    /**
     * @param change makes options wrong
     * @param part of the message
     */
    void Expect(const std::function<void(ParallelOptions&)>& change, const std::string& part)
    {
        ParallelOptions options;
        change(options);
        std::string message;
        try
        {
            ParallelPlan plan(FindTransformer("mixtral-8x7b"), options);
        }
        catch (const ConfigurationError& error)
        {
            message = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(message.find(part), std::string::npos, message);
    }

    void DoRun() override
    {
        Expect([](auto& options) { options.tensor = 5; }, "tensor 5 (allowed: divisors of 32");
        Expect([](auto& options) { options.context = 3; }, "context 3 (allowed: divisors of 4096");
        Expect([](auto& options) { options.expert = 3; }, "expert 3 (allowed: divisors of 8");
        Expect([](auto& options) { options.expert = 2; }, "expert 2 (allowed: divisors of 1");
        Expect([](auto& options) { options.data = 2; }, "(allowed: divisors of 1, the global");
        Expect([](auto& options) { options.data = 0; }, "data 0");
        Expect([](auto& options) { options.pipeline = 33; }, "33 stages (allowed: at most 32");
        Expect([](auto& options) { options.zero = 4; }, "zero 4 (allowed: 0 to 3)");
        Expect([](auto& options) { options.order = "tp-dp"; }, "order tp-dp (allowed:");
        Expect([](auto& options) { options.schedule = "none"; }, "unknown pipeline schedule");
    }
};

/**
 * @ingroup distributed-training-parallel-tests
 * The suite.
 */
class ParallelTestSuite : public TestSuite
{
  public:
    ParallelTestSuite()
        : TestSuite("distributed-training-parallel", TestSuite::Type::UNIT)
    {
        AddTestCase(new TransformerParametersTestCase);
        AddTestCase(new ParallelBytesTestCase);
        AddTestCase(new ParallelTimingTestCase);
        AddTestCase(new ParallelRefusalTestCase);
    }
};

static ParallelTestSuite g_parallelTestSuite; ///< registers the suite
