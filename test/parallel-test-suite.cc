/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "graph/graph-timing.h"
#include "memory-test-common.h"
#include "parallel/layer-operators.h"
#include "parallel/stage-layout.h"
#include "parallel/transformer-graph.h"

#include "ns3/graph-summary.h"
#include "ns3/parallel-memory.h"
#include "ns3/parallel-plan.h"
#include "ns3/transformer-model.h"

#include <map>
#include <memory>

namespace ns3::training::tests::parallel_test
{

/// Rates of computations in these tests.
const TransformerRates RATES{1e14, 1e12};

/** @return the job */
TransformerGraph
MakeGraph(const std::string& model, const ParallelOptions& options)
{
    return TransformerGraph(std::make_shared<ParallelPlan>(FindTransformer(model), options), RATES);
}

/// Number and bytes of collectives by groups and operation.
using Collectives = std::map<std::pair<PlanGroups, CollectiveOperation>, TaskTraffic>;

/** @return what a rank does in an iteration */
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

/** Parameters of published models. */
void
TestTransformerParameters()
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
    const std::string path = WriteFile("gpt2.json", R"({"n_layer": 12, "n_embd": 768, "n_head": 12,
                                   "vocab_size": 50257, "n_positions": 1024})");
    NS_TEST_EXPECT_MSG_EQ(FindTransformer(path).GetParameters(), 124439808, "GPT-2");
}

/** @return a file whose model has the layers */
std::string
Write(const std::string& layers, const std::string& others = "")
{
    std::string path = CreateTempDirFilename("layers.json");
    std::ofstream(path) << R"({"hidden": 64, "heads": 8, "num_key_value_heads": 4, )"
                        << R"("feed_forward": 256, "vocabulary": 100, "sequence": 32, )" << others
                        << R"("layers": )" << layers << "}";
    return path;
}

void
ExpectRefusal(const std::string& layers, const std::string& part)
{
    const std::string message = GetRefusal([&] { FindTransformer(Write(layers)); });
    ExpectPart(message, "layers.json: " + part);
}

void
CheckJob(const TransformerModel& model)
{
    // Four stages: each computes for as long as its layer needs, and sends its gradients.
    ParallelOptions options;
    options.pipeline = 4;
    options.data = 2;
    options.globalBatch = 2;
    const auto plan = std::make_shared<ParallelPlan>(model, options);
    const TransformerGraph graph(plan, RATES);
    for (uint32_t rank = 2; rank < 6; rank++) // without embedding and output layer
    {
        const Collectives sums = Count(graph, rank);
        NS_TEST_EXPECT_MSG_EQ(sums.at({PlanGroups::DATA, CollectiveOperation::ALL_REDUCE}).bytes,
                              4 * model.GetLayerParameters(rank / 2),
                              "gradients of rank " << rank);
    }
    options.tensor = 8;
    const std::string message = GetRefusal([&] { ParallelPlan refused(model, options); });
    ExpectPart(message,
               "tensor 8 (allowed: divisors of 4, the heads of "
               "attention of layer 1)");
}

void
CheckRefusals()
{
    ExpectRefusal("[]", "layers is empty (allowed: a number, or a list of objects)");
    ExpectRefusal("[3]", "layers has '3' (allowed: a number, or a list of objects)");
    ExpectRefusal(R"({"a": {}})", "layers has 'a' (allowed: a number, or a list of objects)");
    ExpectRefusal(R"([{}, {"width": 3}])", "layers[1]: 'width' (allowed: repeat, experts,");
    ExpectRefusal(R"([{"heads": 0}])", "layers[0]: heads is '0' (allowed: a whole number from 1");
    ExpectRefusal(R"([{"heads": 2, "num_key_value_heads": 4}])",
                  "layers[0]: num_key_value_heads is '4' (allowed: a whole number from 1 to 2)");
    ExpectRefusal(R"([{"feed_forward": "x"}])", "layers[0]: feed_forward is 'x'");
    ExpectRefusal(R"([{"experts": true}])", "layers[0]: experts is 'true' (allowed: false");
    ExpectRefusal(R"([{"experts": 4}])", "layers[0]: experts is '4' (allowed: true, false)");
    ExpectRefusal(R"([{"repeat": 65536}, {}])", "layers[1]: too many layers (allowed: 65536)");
}

void
TestListedLayers()
{
    // Equal layers are those of a number.
    const TransformerModel equal = FindTransformer(Write("3"));
    const TransformerModel listed = FindTransformer(Write(R"([{}, {"repeat": 2}])"));
    NS_TEST_EXPECT_MSG_EQ(listed.layers, 3, "layers");
    NS_TEST_EXPECT_MSG_EQ(listed.GetParameters(), equal.GetParameters(), "the same model");
    // A head has 8 numbers. Parameters of queries, keys, values and results; of the network.
    const TransformerModel model = FindTransformer(Write(
        R"([{"feed_forward": 128}, {"heads": 4, "num_key_value_heads": 2, "repeat": 2}, {}])"));
    const auto attention = [](uint64_t heads, uint64_t keyValueHeads) {
        return 64 + 64 * 8 * (2 * heads + 2 * keyValueHeads);
    };
    const auto network = [](uint64_t inner) { return 64 + 3 * 64 * inner; };
    const std::vector<uint64_t> parameters{attention(8, 4) + network(128),
                                           attention(4, 2) + network(256),
                                           attention(4, 2) + network(256),
                                           attention(8, 4) + network(256)};
    NS_TEST_ASSERT_MSG_EQ(model.layers, 4, "layers");
    uint64_t sum = 2 * 64 * 100 + 64; // embedding, output layer, norm
    for (uint32_t layer = 0; layer < 4; layer++)
    {
        NS_TEST_EXPECT_MSG_EQ(model.GetLayerParameters(layer), parameters[layer], layer);
        sum += parameters[layer];
    }
    NS_TEST_EXPECT_MSG_EQ(model.GetParameters(), sum, "all");
    NS_TEST_EXPECT_MSG_EQ(model.GetKeyValueSize(1), 2 * 2 * 8, "keys and values");
    // Two operations for each parameter of a matrix and each token, and the scores.
    const double operations = 2.0 * (attention(4, 2) + 2 * 32 * 4 * 8);
    NS_TEST_EXPECT_MSG_EQ_TOL(model.GetAttentionOperations(2), operations, 1e-9, "operations");
    CheckJob(model);

    const std::string experts = R"("experts": 4, "num_experts_per_tok": 2, )";
    const TransformerModel mixed = FindTransformer(
        Write(R"([{"experts": false}, {"repeat": 2}, {"experts": false}])", experts));
    for (uint32_t layer = 0; layer < 4; layer++)
    {
        NS_TEST_EXPECT_MSG_EQ(mixed.HasExperts(layer), (layer == 1 || layer == 2), layer);
    }
    CheckRefusals();
}

/** Operations of an iteration, by the formula of Narayanan et al., SC 2021, section 5.1. */
void
TestTransformerOperations()
{
    for (const auto& [name, model] : Registry<TransformerModel>::All())
    {
        if (name.compare(0, 9, "megatron-") != 0)
        {
            continue;
        }
        for (const bool isFull : {true, false})
        {
            ParallelOptions options;
            options.tensor = 2;
            options.globalBatch = 3;
            options.recompute = isFull ? "full" : "none";
            constexpr double RATE = 1e15;
            const TransformerGraph graph(std::make_shared<ParallelPlan>(model, options),
                                         TransformerRates{RATE, 1e30});
            const double found = 2 * RATE * SummarizeGraph(graph, 0, 1).compute.GetSeconds();
            const auto h = static_cast<double>(model.hidden);
            const double l = model.layers;
            const double b = 3;
            constexpr double S = 2048;
            constexpr double V = 51200;
            const double expected =
                isFull ? 96 * b * S * l * h * h * (1 + S / (6 * h) + V / (16 * l * h))
                       : 72 * b * S * l * h * h * (1 + S / (6 * h) + V / (12 * l * h));
            // The formula has no biases and norms.
            NS_TEST_EXPECT_MSG_EQ_TOL(found, expected, expected * 1.2 / h, name);
            NS_TEST_EXPECT_MSG_GT(found, expected, name);
        }
    }
}

void
CheckTensor(bool sequenceParallel)
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
        NS_TEST_ASSERT_MSG_EQ((sum == sums.end()), false, "collectives of layers");
        NS_TEST_EXPECT_MSG_EQ(sum->second.count, count, "rank " << rank);
        NS_TEST_EXPECT_MSG_EQ(sum->second.bytes, count * payload, "rank " << rank);
    }
}

void
CheckData(uint32_t zero)
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
                           : zero == 2 ? 4 * parameters * micro
                                       : 2 * parameters * micro),
                          what);
    NS_TEST_EXPECT_MSG_EQ(getBytes(CollectiveOperation::ALL_GATHER),
                          (zero == 0  ? 0
                           : zero < 3 ? 2 * parameters
                                      : 2 * 2 * parameters * micro),
                          what);
}

void
TestParallelBytes()
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
    const TaskTraffic exchanges = sums.at({PlanGroups::EXPERT, CollectiveOperation::ALL_TO_ALL});
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

/**
 * Every schedule and combination ends, and takes the time of its pipeline on a network without
 * cost.
 */
void
TestParallelTiming()
{
    const std::string path = WriteFile("small.json", R"({"num_hidden_layers": 8, "hidden_size": 256,
            "num_attention_heads": 8, "intermediate_size": 1024, "vocab_size": 1024,
            "max_position_embeddings": 128, "num_experts": 4, "num_experts_per_tok": 2})");
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
                    const std::string what = schedule + ", ZeRO " + std::to_string(zero) + ", tp " +
                                             std::to_string(tensor) + ", cp " +
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

/** Llama 3.1 405B on 8192 ranks (Dubey et al., 2024: tensor 8, pipeline 16, data 64). */
void
TestManyRanks()
{
    constexpr uint32_t RANKS = 8192;
    constexpr double MEBIBYTES = 64; // of all ranks
    const double before = GetResident();
    ParallelOptions options;
    options.tensor = 8;
    options.pipeline = 16;
    options.data = 64;
    options.firstLayers = 7;
    options.lastLayers = 7;
    options.sequenceParallel = true;
    options.globalBatch = 64 * 32; // 32 micro-batches
    const TransformerGraph graph = MakeGraph("llama3-405b", options);
    NS_TEST_ASSERT_MSG_EQ(graph.GetRanks(), RANKS, "ranks");
    // As many tasks of each rank as an application knows at a time. All ranks are at work.
    std::vector<std::unique_ptr<TaskSource>> sources;
    uint64_t collectives = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++)
    {
        sources.push_back(graph.MakeSource(rank, 1));
        GraphTask task;
        for (std::size_t i = 0; i < graph.GetWindow() && sources.back()->Next(task); i++)
        {
            collectives += task.kind == TaskKind::COLLECTIVE ? 1 : 0;
            task = {};
        }
    }
    const double taken = GetResident() - before;
    NS_TEST_EXPECT_MSG_GT(collectives, RANKS, "tasks of all ranks");
    NS_TEST_EXPECT_MSG_LT(taken, MEBIBYTES, "memory");
    // The rest of a rank's tasks takes no more.
    uint64_t tasks = 0;
    for (GraphTask task; sources.back()->Next(task); task = {})
    {
        tasks++;
    }
    NS_TEST_EXPECT_MSG_GT(tasks, 10 * graph.GetWindow(), "an iteration has more");
    NS_TEST_EXPECT_MSG_LT(GetResident() - before - taken, 10, "memory of a whole iteration");
}

/** @return tasks of a kind that a rank has in an iteration */
uint64_t
CountTasks(const TransformerGraph& graph, uint32_t rank, TaskKind kind)
{
    uint64_t count = 0;
    const auto source = graph.MakeSource(rank, 1);
    for (GraphTask task; source->Next(task); task = {})
    {
        count += task.kind == kind ? 1 : 0;
    }
    return count;
}

/** Outer stages may have the embedding and the output alone. */
void
TestStagesWithoutLayers()
{
    const auto count = [](std::optional<uint64_t> layers) {
        ParallelOptions options;
        options.pipeline = 2;
        options.schedule = "interleaved:v=2";
        options.firstLayers = options.lastLayers = layers;
        options.globalBatch = 4;
        const TransformerGraph graph = MakeGraph("llama3-8b", options);
        uint64_t computations = 0;
        for (uint32_t rank = 0; rank < graph.GetRanks(); rank++)
        {
            computations += CountTasks(graph, rank, TaskKind::COMPUTE);
        }
        return computations;
    };
    NS_TEST_EXPECT_MSG_GT(count({}), 4 * 32, "each layer of each micro-batch");
    NS_TEST_EXPECT_MSG_EQ(count(0), count({}), "the same layers in two stages of four");
    ParallelOptions options;
    options.pipeline = 4;
    options.globalBatch = 4;
    options.firstLayers = options.lastLayers = 0;
    const ParallelPlan plan(FindTransformer("llama3-8b"), options);
    const uint32_t first[] = {0, 0, 16, 32, 32};
    for (uint32_t stage = 0; stage < 5; stage++)
    {
        NS_TEST_EXPECT_MSG_EQ(plan.GetFirstLayer(stage), first[stage], "stage " << stage);
    }
}

/** Layouts by text: examples of Megatron-LM, and what is wrong with others. */
void
TestStageLayout()
{
    using Layers = std::vector<uint32_t>;
    Layers deepSeek(31, 2);
    deepSeek.front() = 3;
    deepSeek.back() = 0;
    NS_TEST_EXPECT_MSG_EQ((ReadStageLayout("Et*3|(tt|)*29,L") == deepSeek), true, "DeepSeek-V3");
    NS_TEST_EXPECT_MSG_EQ((ReadStageLayout("E||t|L") == Layers{0, 0, 1, 0}), true, "empty stages");
    NS_TEST_EXPECT_MSG_EQ((ReadStageLayout("E(t|)*2,|*2tL") == Layers{1, 1, 0, 0, 1}),
                          true,
                          "repeated ends");
    NS_TEST_EXPECT_MSG_EQ((ReadStageLayout("EL") == Layers{0}), true, "no layer");
    const std::vector<std::pair<std::string, std::string>> refused{
        {"", "E once"},
        {"t|L", "E once"},
        {"Et", "L once"},
        {"|Et|L", "E once"},
        {"EtE|L", "E once"},
        {"Et*|L", "E, t, m, L and |"},
        {"E(t|L", "E, t, m, L and |"},
        {"Ex|L", "E, t, m, L and |"},
        {"E(t*999)*999|L", "at most"},
        {"Et*99999999999999999999L", "at most"}};
    for (const auto& [layout, part] : refused)
    {
        ExpectPart(GetRefusal([&layout = layout] { ReadStageLayout(layout); }), part);
    }
    // The layers of a plan, and a job with empty stages.
    ParallelOptions options;
    options.pipeline = 4;
    options.globalBatch = 4;
    options.layout = "Et*9||t*20|t*3L";
    const ParallelPlan plan(FindTransformer("llama3-8b"), options);
    const uint32_t first[] = {0, 9, 9, 29, 32};
    for (uint32_t stage = 0; stage < 5; stage++)
    {
        NS_TEST_EXPECT_MSG_EQ(plan.GetFirstLayer(stage), first[stage], "stage " << stage);
    }
    const TransformerGraph graph = MakeGraph("llama3-8b", options);
    NS_TEST_EXPECT_MSG_EQ(CountTasks(graph, 1, TaskKind::SEND), 2 * 4, "passed on");
    NS_TEST_EXPECT_MSG_LT(CountTasks(graph, 1, TaskKind::COMPUTE),
                          CountTasks(graph, 3, TaskKind::COMPUTE),
                          "no layer");
}

/** A layer that predicts one more token, in a stage of its own or in the last one. */
void
TestPredictions()
{
    const uint64_t hidden = 4096;
    const uint64_t embedding = 128256 * hidden;
    const uint64_t payload = 2 * 8192 * hidden;
    ParallelOptions options;
    options.pipeline = 4;
    options.globalBatch = 4;
    options.mtpLayers = 1;
    const ParallelPlan inLast(FindTransformer("llama3-8b"), options);
    NS_TEST_EXPECT_MSG_EQ(inLast.GetFirstLayer(3), 24, "stages divide the other layers");
    NS_TEST_EXPECT_MSG_EQ(inLast.GetFirstLayer(4), 33, "the last one has one more");
    options.layout = "Et*16|t*16|m|L";
    const TransformerGraph graph = MakeGraph("llama3-8b", options);
    const ParallelPlan plan(FindTransformer("llama3-8b"), options);
    const uint64_t layer = FindTransformer("llama3-8b").GetLayerParameters(0);
    const uint64_t matrix = 2 * hidden * hidden + 3 * hidden;
    NS_TEST_EXPECT_MSG_EQ(plan.GetParameters(2), layer + matrix + embedding, "with a copy");
    NS_TEST_EXPECT_MSG_EQ(plan.GetModel().GetParameters(),
                          FindTransformer("llama3-8b").GetParameters() + layer + matrix,
                          "the copy is none of the model");
    // Messages of 4 micro-batches, forward and backward: those of two tokens are twice as long.
    const uint64_t sent[] = {1, 2, 3, 2};
    for (uint32_t rank = 0; rank < 4; rank++)
    {
        uint64_t bytes = 0;
        uint64_t outputs = 0;
        const auto source = graph.MakeSource(rank, 1);
        for (GraphTask task; source->Next(task); task = {})
        {
            bytes += task.kind == TaskKind::SEND ? task.bytes : 0;
            outputs += task.name == static_cast<uint32_t>(LayerTask::OUTPUT) ? 1 : 0;
        }
        NS_TEST_EXPECT_MSG_EQ(bytes, 4 * sent[rank] * payload, "rank " << rank);
        NS_TEST_EXPECT_MSG_EQ(outputs, (rank == 3 ? 4 * 2 : 0), "an output for each token");
        const auto sums = Count(graph, rank);
        const auto sum = sums.find({PlanGroups::EMBEDDING, CollectiveOperation::ALL_REDUCE});
        NS_TEST_EXPECT_MSG_EQ((sum == sums.end() ? 0 : sum->second.bytes),
                              (rank % 2 == 0 ? 4 * embedding : 0),
                              "gradients of the embedding, and of its copy");
    }
    for (const std::string layout : {"Et*32|||L", "Et*31|m|t|L", "Et*32|m|m|L"})
    {
        options.layout = layout;
        ExpectPart(GetRefusal([&] { ParallelPlan(FindTransformer("llama3-8b"), options); }),
                   "m 1 times together, behind all t");
    }
    ExpectPart(GetRefusal([] { ReadStageLayout("EtmL"); }), "m with --mtp-layers");
}

/** Experts over tensor-parallel ranks of two replicas, each shared by two of four ranks. */
void
TestExpertTensor()
{
    ParallelOptions options;
    options.tensor = 4;
    options.data = 2;
    options.expert = 2;
    options.expertTensor = 2;
    options.sequenceParallel = true;
    options.globalBatch = 2;
    const ParallelPlan plan(FindTransformer("mixtral-8x7b"), options);
    const auto expect = [&plan](PlanGroups groups, const std::vector<uint32_t>& ranks) {
        const auto& all = plan.GetGroups()[static_cast<uint32_t>(groups)].groups;
        NS_TEST_EXPECT_MSG_EQ((std::find(all.begin(), all.end(), ranks) != all.end()),
                              true,
                              static_cast<uint32_t>(groups));
        NS_TEST_EXPECT_MSG_EQ(all.size() * ranks.size(), 8, "all ranks");
    };
    expect(PlanGroups::TENSOR, {4, 5, 6, 7});
    expect(PlanGroups::EXPERT_TENSOR, {6, 7});
    expect(PlanGroups::EXPERT, {5, 7});
    expect(PlanGroups::EXPERT_DATA, {3, 7});
    NS_TEST_EXPECT_MSG_EQ(plan.GetExpertParameters(0), 8 * 3 * 4096ULL * 14336 / 4, "of a rank");
    // All experts are computed as often as without their own tensor size.
    const auto getRows = [](const ParallelPlan& of) {
        double sum = 0;
        for (const LayerOperator& each :
             MakeOperators(of, LayerPart::NETWORK, LayerPass::FORWARD, 0, 1, 1))
        {
            sum += each.operations;
        }
        return sum;
    };
    options.expertTensor = 0;
    const double whole = getRows(ParallelPlan(FindTransformer("mixtral-8x7b"), options));
    NS_TEST_EXPECT_MSG_EQ_TOL(getRows(plan), whole, 1e-9 * whole, "operations");
}

/** @param change makes options wrong @param part of the message */
void
Expect(const std::function<void(ParallelOptions&)>& change, const std::string& part)
{
    ParallelOptions options;
    change(options);
    const std::string message =
        GetRefusal([&] { ParallelPlan plan(FindTransformer("mixtral-8x7b"), options); });
    ExpectPart(message, part);
}

void
TestParallelRefusal()
{
    Expect([](auto& o) { o.tensor = 5; }, "tensor 5 (allowed: divisors of 32");
    Expect([](auto& o) { o.context = 3; }, "context 3 (allowed: divisors of 4096");
    Expect([](auto& o) { o.expert = 3; }, "expert 3 (allowed: divisors of 8");
    Expect([](auto& o) { o.expert = 2; }, "expert 2 (allowed: divisors of 1,");
    Expect([](auto& o) { o.data = 2; }, "global batch 1 (allowed: multiples of 2,");
    Expect([](auto& o) { o.data = 0; }, "data 0");
    Expect([](auto& o) { o.pipeline = 33; }, "pipeline 33 (allowed: at most 32,");
    Expect([](auto& o) { o.pipeline = 3; },
           "pipeline 3: 32 layers do not divide by 3 stages (allowed: divisors");
    Expect([](auto& o) { o.pipeline = 3, o.firstLayers = 31; }, "do not divide");
    Expect([](auto& o) { o.schedule = "interleaved:v=3"; }, "3 stages");
    Expect([](auto& o) { o.layout = "Et*31L"; }, "has 31 layers (allowed: 32)");
    Expect([](auto& o) { o.layout = "Et*31|tL"; }, "has 2 stages with schedule 1f1b (allowed: 1)");
    Expect([](auto& o) { o.layout = "Et*32L", o.lastLayers = 32; }, "beside it (allowed: 0)");
    Expect([](auto& o) { o.expertTensor = 2; }, "expert tensor 2 (allowed: divisors of 1");
    Expect([](auto& o) { o.tensor = 2, o.expertTensor = 1; },
           "expert tensor 1 without sequence parallelism (allowed: 2, as tensor)");
    Expect([](auto& o) { o.pipeline = 32, o.globalBatch = 32, o.schedule = "interleaved:v=2"; },
           "64 stages (allowed: at most 32");
    Expect([](auto& o) { o.shard = 1; }, "shard 1 with zero 0 (allowed: with zero 1");
    Expect([](auto& o) { o.shard = 2, o.zero = 3; }, "shard 2 (allowed: divisors of 1");
    Expect([](auto& o) { o.quantizedWeights = true; }, "(allowed: with zero 3)");
    Expect([](auto& o) { o.paramGather = "fp8"; }, "param gather fp8 with zero 0 (allowed: with");
    Expect([](auto& o) { o.paramGather = "int8", o.zero = 1; }, "(allowed: bf16, fp8, fp4)");
    Expect([](auto& o) { o.paramGather = "fp4", o.zero = 3, o.quantizedWeights = true; },
           "param gather fp4 with zero quantized weights (allowed: one of both)");
    Expect([](auto& o) { o.quantizedGradients = true; }, "(allowed: with zero 3)");
    Expect([](auto& o) { o.hpzPartition = 2; }, "(allowed: with zero 3)");
    Expect([](auto& o) { o.gradientBytes = 3; }, "gradient bytes 3");
    Expect([](auto& o) { o.tpCommOverlap = 2; }, "without sequence parallelism");
    Expect([](auto& o) { o.cpCommType = "ring"; }, "cp comm type ring (allowed: p2p");
    Expect([](auto& o) { o.recompute = "some"; }, "unknown recompute 'some'");
    Expect([](auto& o) { o.context = 16, o.cpCommType = "a2a"; },
           "context 16 (allowed: divisors of 8, the heads of keys");
    Expect([](auto& o) { o.expertNode = 2; }, "expert node 2 (allowed: divisors of 1");
    Expect([](auto& o) { o.nodesPerToken = 2; }, "moe router group topk 2 (allowed: not given)");
    Expect([](auto& o) { o.expertSkew = -1; }, "expert skew -1");
    Expect([](auto& o) { o.data = 1 << 18; }, "data 262144");
    Expect([](auto& o) { o.data = 1 << 10, o.tensor = 32, o.context = 64; }, "ranks altogether");
    Expect([](auto& o) { o.zero = 4; }, "zero 4 (allowed: 0 to 3)");
    Expect([](auto& o) { o.order = "tp-dp"; }, "order tp-dp (allowed:");
    Expect([](auto& o) { o.schedule = "none"; }, "unknown pipeline schedule");
    Expect([](auto& o) { o.overlapP2p = "maybe"; },
           "overlap p2p communication maybe (allowed: auto, true, false)");
    Expect([](auto& o) { o.overlapP2p = "true"; },
           "overlap p2p communication true with schedule 1f1b (allowed: auto, false)");
    Expect([](auto& o) { o.overlapP2p = "true", o.schedule = "1f1b:messages=batched"; },
           "true with schedule 1f1b:messages=batched (allowed: auto, false)");
    Expect([](auto& o) { o.overlapP2p = "false", o.schedule = "1f1b:messages=asynchronous"; },
           "false with schedule 1f1b:messages=asynchronous (allowed: auto, true)");
    Expect([](auto& o) { o.schedule = "1f1b:messages=0"; },
           "(allowed: messages=asynchronous|batched");
    Expect([](auto& o) { o.overlapP2p = "false", o.schedule = "gpipe"; },
           "overlap p2p communication false with schedule gpipe (allowed: auto, true)");
    Expect(
        [](auto& o) {
            o.overlapP2p = "false", o.schedule = "interleaved:v=2", o.pipeline = 2;
            o.globalBatch = 4;
        },
        "false with schedule interleaved:v=2 of 2 ranks (allowed: with pipeline 3 or more)");
    Expect([](auto& o) { o.data = 8, o.globalBatch = 8, o.expert = 4, o.zero = 3, o.shard = 2; },
           "shard 2 (allowed: multiples of 4, replicas that have all experts)");
}

/** @return activations that a rank keeps of a micro-batch, bytes */
double
GetActivations(const std::string& model, ParallelOptions options)
{
    double memory[2];
    for (uint64_t samples : {1, 2})
    {
        options.microBatch = samples;
        options.globalBatch = samples;
        memory[samples - 1] =
            static_cast<double>(GetMostMemoryBytes(ParallelPlan(FindTransformer(model), options)));
    }
    return memory[1] - memory[0];
}

/** Memory as published. */
void
TestPublishedMemory()
{
    // Rajbhandari et al., SC 2020, figure 1: 7.5e9 parameters on 64 GPUs, GB.
    const double gigabytes[] = {120, 31.4, 16.6, 1.88};
    for (uint64_t zero = 0; zero < 4; zero++)
    {
        TransformerModel model = FindTransformer("megatron-7.5b");
        model.sequence = 1; // no activations
        ParallelOptions options;
        options.data = 64;
        options.globalBatch = 64;
        options.zero = zero;
        options.gradientBytes = 2;
        const auto bytes = static_cast<double>(GetMostMemoryBytes(ParallelPlan(model, options)));
        NS_TEST_EXPECT_MSG_EQ_TOL(bytes / 1e9 / gigabytes[zero], 1, 0.03, "ZeRO " << zero);
    }
    // Korthikanti et al., MLSys 2023, section 5: part that is scores, and thus saved by selective
    // recomputation, 70 and 65 %; section 6.1 and figure 7: with sequence parallelism less than
    // 20 % of the memory of tensor parallelism is left, about a fifth.
    const std::map<std::string, double> scores{{"gpt3-175b", 0.70}, {"mt-nlg-530b", 0.65}};
    for (const auto& [model, saved] : scores)
    {
        ParallelOptions options;
        options.attention = "unfused";
        const double all = GetActivations(model, options);
        options.recompute = "selective";
        NS_TEST_EXPECT_MSG_EQ_TOL(1 - GetActivations(model, options) / all, saved, 0.005, model);
        options.tensor = 8;
        options.sequenceParallel = true;
        const double left = GetActivations(model, options);
        options.recompute = "none";
        options.sequenceParallel = false;
        NS_TEST_EXPECT_MSG_EQ_TOL(left / GetActivations(model, options), 0.2, 0.02, model);
    }
}

const Suite g_suite("parallel",
                    Duration::EXTENSIVE,
                    {{"parameters of transformers equal those of the published weights",
                      TestTransformerParameters},
                     {"floating-point operations of an iteration equal the published formula",
                      TestTransformerOperations},
                     {"bytes and number of collectives equal closed forms", TestParallelBytes},
                     {"parallel jobs end, in the time of their schedules", TestParallelTiming},
                     {"outer stages without layers", TestStagesWithoutLayers},
                     {"layouts of stages", TestStageLayout},
                     {"ranks that share experts", TestExpertTensor},
                     {"layers that predict one more token", TestPredictions},
                     {"the tasks of 8192 ranks are made one by one", TestManyRanks},
                     {"memory is what is published", TestPublishedMemory},
                     {"model files list layers of different sizes", TestListedLayers},
                     {"parallel plans whose sizes do not fit are refused", TestParallelRefusal}});

} // namespace ns3::training::tests::parallel_test
