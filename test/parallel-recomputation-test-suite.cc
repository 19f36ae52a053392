/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph/graph-timing.h"
#include "parallel/operator-times.h"
#include "parallel/transformer-graph.h"
#include "test-case.h"

#include "ns3/parallel-memory.h"
#include "ns3/transformer-model.h"

#include <map>
#include <memory>
#include <set>

namespace ns3::training::tests::parallel_recomputation_test
{

/// Modules of DeepSeek-V3.
const std::vector<std::string> MODULES{"core-attention",
                                       "layernorm",
                                       "mla-up-projection",
                                       "mlp",
                                       "moe",
                                       "moe-activation",
                                       "shared-experts"};

/** @return options that compute modules again; none: nothing */
ParallelOptions
MakeOptions(const std::string& modules)
{
    ParallelOptions options;
    options.globalBatch = 1;
    options.recompute = modules.empty() ? "none" : "selective:modules=" + modules;
    return options;
}

/** @return a small model like DeepSeek-V3: a dense layer, and three with experts */
TransformerModel
MakeModel()
{
    TransformerModel model = FindTransformer("deepseek-v3");
    model.layers = 4;
    model.denseLayers = 1;
    model.hidden = 512;
    model.heads = 8;
    model.keyValueHeads = 8;
    model.feedForward = 2048;
    model.vocabulary = 1000;
    model.sequence = 1024;
    model.experts = 8;
    model.expertsPerToken = 2;
    return model;
}

/** @return kernels and shapes of what a backward pass computes again */
std::string
List(const std::string& modules, LayerPart part, uint32_t layer)
{
    const ParallelPlan plan(FindTransformer("deepseek-v3"), MakeOptions(modules));
    std::string text;
    for (const LayerOperator& each : MakeOperators(plan, part, LayerPass::REPEATED, layer))
    {
        text += each.kernel + " " + each.GetShape() + ";";
    }
    return text;
}

/** Layer 0 of DeepSeek-V3 is dense, layer 5 has 256 experts, of which a token has 8. */
void
TestOperators()
{
    const std::string shared = "gemm 4096x4096x7168;activation 4096x2048;gemm 4096x7168x2048;";
    std::map<std::string, std::map<std::pair<LayerPart, uint32_t>, std::string>> expected;
    for (uint32_t layer : {0, 5})
    {
        expected["core-attention"][{LayerPart::SCORES, layer}] = "attention 1x128x4096x4096x192;";
        expected["layernorm"][{LayerPart::INPUTS, layer}] = "norm 4096x7168;";
        expected["layernorm"][{LayerPart::NETWORK, layer}] = "norm 4096x7168;";
        expected["mla-up-projection"][{LayerPart::INPUTS, layer}] =
            "gemm 4096x24576x1536;gemm 4096x32768x512;rotary 4096x49152;";
    }
    expected["mlp"][{LayerPart::NETWORK, 0}] =
        "gemm 4096x36864x7168;activation 4096x18432;gemm 4096x7168x18432;";
    expected["moe"][{LayerPart::NETWORK, 5}] =
        "gemm 4096x256x7168;permutation 32768x7168;grouped-gemm 256x128x4096x7168;"
        "activation 32768x2048;grouped-gemm 256x128x7168x2048;combination 32768x7168;";
    expected["moe"][{LayerPart::SHARED_EXPERTS, 5}] = shared;
    expected["moe-activation"][{LayerPart::NETWORK, 5}] = "activation 32768x2048;";
    expected["shared-experts"][{LayerPart::SHARED_EXPERTS, 5}] = shared;
    for (const std::string& module : MODULES)
    {
        for (uint32_t layer : {0, 5})
        {
            for (LayerPart part : {LayerPart::INPUTS,
                                   LayerPart::SCORES,
                                   LayerPart::PROJECTION,
                                   LayerPart::NETWORK,
                                   LayerPart::SHARED_EXPERTS})
            {
                NS_TEST_EXPECT_MSG_EQ(List(module, part, layer),
                                      (expected[module][{part, layer}]),
                                      module << " of layer " << layer);
                NS_TEST_EXPECT_MSG_EQ(List("", part, layer), "", "nothing");
            }
        }
    }
    NS_TEST_EXPECT_MSG_EQ(List("mla-up-projection+layernorm", LayerPart::INPUTS, 5),
                          "norm 4096x7168;gemm 4096x24576x1536;gemm 4096x32768x512;"
                          "rotary 4096x49152;",
                          "two modules");
    ParallelOptions options = MakeOptions("");
    options.recompute = "selective";
    const ParallelPlan plan(FindTransformer("llama3-8b"), options);
    const auto all = MakeOperators(plan, LayerPart::SCORES, LayerPass::REPEATED, 0);
    NS_TEST_EXPECT_MSG_EQ(all.size(), 1, "scores are the default");
}

/** @return activations that a rank keeps of a sample, bytes */
double
GetActivations(const TransformerModel& model, ParallelOptions options)
{
    double memory[2];
    for (uint64_t samples : {1, 2})
    {
        options.microBatch = samples;
        options.globalBatch = samples;
        memory[samples - 1] = static_cast<double>(GetMemoryBytes(ParallelPlan(model, options), 0));
    }
    return memory[1] - memory[0];
}

/** Activations of DeepSeek-V3 by hand, 2 bytes each. */
void
TestMemory()
{
    const TransformerModel model = FindTransformer("deepseek-v3");
    constexpr double TOKENS = 4096;
    constexpr double HIDDEN = 7168;
    constexpr double EXPERT = 2048;
    // Heads have 192 numbers of a query and a key, 128 of a value.
    constexpr double HEADS = 128;
    const std::map<std::string, double> saved{
        {"core-attention", 0}, // FlashAttention keeps no scores
        {"layernorm", 61 * 2 * 2 * HIDDEN},
        {"mla-up-projection", 61 * 2 * HEADS * (192 + 192 + 128)},
        {"mlp", 3 * 2 * 3 * 18432.0},
        {"moe", 58 * 2 * (8 * (HIDDEN + 3 * EXPERT) + 3 * EXPERT)},
        {"moe-activation", 58 * 2 * 8 * EXPERT},
        {"shared-experts", 58 * 2 * 3 * EXPERT}};
    const double whole = 61 * 6 * HIDDEN + // inputs of two norms, and masks of dropout
                         61 * 2 * (2 * (1536.0 + 512) + 64);
    const double divided =
        61 * 2 * HEADS * 128 + saved.at("mla-up-projection") + saved.at("mlp") + saved.at("moe");
    const double all = whole + saved.at("layernorm") + divided;
    NS_TEST_EXPECT_MSG_EQ_TOL(GetActivations(model, MakeOptions("")), TOKENS * all, 1, "all");
    for (const auto& [module, bytes] : saved)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(GetActivations(model, MakeOptions(module)),
                                  TOKENS * (all - bytes),
                                  1,
                                  module);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(
        GetActivations(model, MakeOptions("mla-up-projection+moe+mlp+layernorm")),
        TOKENS * (whole + 61 * 2 * HEADS * 128),
        1,
        "four modules");
    ParallelOptions options = MakeOptions("");
    options.attention = "unfused";
    const double unfused = GetActivations(model, options);
    NS_TEST_EXPECT_MSG_EQ_TOL(unfused - TOKENS * all,
                              61 * 5 * TOKENS * TOKENS * HEADS,
                              1,
                              "scores");
    options.recompute = "selective:modules=core-attention";
    NS_TEST_EXPECT_MSG_EQ_TOL(GetActivations(model, options), TOKENS * all, 1, "again");
    options = MakeOptions("mla-up-projection");
    options.tensor = 8;
    // Each rank has all tokens of an expert.
    const double left = divided - saved.at("mla-up-projection") - 58 * 2 * 8 * HIDDEN;
    NS_TEST_EXPECT_MSG_EQ_TOL(GetActivations(model, options),
                              TOKENS *
                                  (whole + saved.at("layernorm") + left / 8 + 58 * 2 * 8 * HIDDEN),
                              1,
                              "tensor parallelism");
    options.sequenceParallel = true;
    options.expertTensor = 1;
    NS_TEST_EXPECT_MSG_EQ_TOL(GetActivations(model, options),
                              TOKENS * (all - saved.at("mla-up-projection")) / 8,
                              1,
                              "sequence parallelism, whole experts");
}

/** @return rates of an H100 */
TransformerRates
MakeRates()
{
    OperatorRates rates;
    rates.wide = {989.4e12, 0.8, 2};
    rates.narrow = rates.wide;
    rates.memory = 3.35e12;
    rates.multiprocessors = 132;
    rates.attention = 0.65;
    rates.attentionBackward = 0.55;
    return {1e14, 3e12, std::make_shared<const OperatorTimes>(rates)};
}

/** @return end of an iteration in which communication takes no time, s */
double
GetEnd(const ParallelOptions& options)
{
    const TransformerGraph graph(std::make_shared<ParallelPlan>(MakeModel(), options), MakeRates());
    const GraphTiming timing = TimeGraph(graph, 1, {});
    return timing.stuck.empty() ? timing.end.GetSeconds() : -1;
}

/** The backward pass takes as much longer as the operators of the forward pass take. */
void
TestTimes()
{
    using Names = std::set<std::string>;
    const Names network{"first matrix", "activation", "last matrix"};
    const Names experts{"router",
                        "permutation",
                        "first matrix",
                        "activation",
                        "last matrix",
                        "combination"};

    struct Row
    {
        std::string module;
        LayerPart part;
        uint32_t first; // layer
        uint32_t end;
        Names names;
    };

    const std::vector<Row> rows{
        {"core-attention", LayerPart::SCORES, 0, 4, {"attention"}},
        {"layernorm", LayerPart::INPUTS, 0, 4, {"norm"}},
        {"layernorm", LayerPart::NETWORK, 0, 4, {"norm"}},
        {"mla-up-projection", LayerPart::INPUTS, 0, 4, {"queries", "keys and values", "rotary"}},
        {"mlp", LayerPart::NETWORK, 0, 1, network},
        {"moe", LayerPart::NETWORK, 1, 4, experts},
        {"moe", LayerPart::SHARED_EXPERTS, 1, 4, network},
        {"moe-activation", LayerPart::NETWORK, 1, 4, {"activation"}},
        {"shared-experts", LayerPart::SHARED_EXPERTS, 1, 4, network}};
    constexpr uint32_t MICRO_BATCHES = 3;
    for (const bool isDelayed : {false, true})
    {
        ParallelOptions options = MakeOptions("");
        options.globalBatch = MICRO_BATCHES;
        options.delayWgrad = isDelayed;
        const double before = GetEnd(options);
        const ParallelPlan plan(MakeModel(), options);
        for (const std::string& module : MODULES)
        {
            double again = 0;
            for (const Row& row : rows)
            {
                for (uint32_t layer = row.first; row.module == module && layer < row.end; layer++)
                {
                    for (const LayerOperator& each :
                         MakeOperators(plan, row.part, LayerPass::FORWARD, layer))
                    {
                        again +=
                            row.names.count(each.name) * MakeRates().operators->Get(each).seconds;
                    }
                }
            }
            options.recompute = "selective:modules=" + module;
            NS_TEST_EXPECT_MSG_GT(again, 1e-6, module);
            NS_TEST_EXPECT_MSG_EQ_TOL(GetEnd(options) - before,
                                      MICRO_BATCHES * again,
                                      1e-10,
                                      module);
        }
    }
}

/// Bytes of collectives by groups and operation.
using Volumes = std::map<std::pair<PlanGroups, CollectiveOperation>, uint64_t>;

/** @return volumes of rank 0 */
Volumes
GetVolumes(const ParallelOptions& options)
{
    Volumes volumes;
    const TransformerGraph graph(std::make_shared<ParallelPlan>(MakeModel(), options), MakeRates());
    const auto source = graph.MakeSource(0, 1);
    GraphTask task;
    while (source->Next(task))
    {
        if (task.kind == TaskKind::COLLECTIVE)
        {
            volumes[{static_cast<PlanGroups>(task.groups), task.operation}] += task.bytes;
        }
        task = {};
    }
    return volumes;
}

/** Networks that are computed again have the collectives of their forward pass, others none. */
void
TestCollectives()
{
    using Operation = CollectiveOperation;
    ParallelOptions options = MakeOptions("");
    options.tensor = 2;
    options.data = 4;
    options.expert = 4;
    options.expertTensor = 1;
    options.sequenceParallel = true;
    options.globalBatch = 8; // two micro-batches
    const Volumes before = GetVolumes(options);
    constexpr uint64_t PAYLOAD = 2ULL * 1024 * 512; // of a micro-batch
    const uint64_t exchanged = before.at({PlanGroups::EXPERT, Operation::ALL_TO_ALL});
    for (const std::string& module : MODULES)
    {
        Volumes expected = before;
        if (module == "mlp")
        {
            expected[{PlanGroups::TENSOR, Operation::ALL_GATHER}] += 2 * PAYLOAD;
            expected[{PlanGroups::TENSOR, Operation::REDUCE_SCATTER}] += 2 * PAYLOAD;
        }
        else if (module == "moe")
        {
            // There and back again, beside those of the forward and the backward pass.
            expected[{PlanGroups::EXPERT, Operation::ALL_TO_ALL}] += exchanged / 2;
        }
        options.recompute = "selective:modules=" + module;
        NS_TEST_EXPECT_MSG_EQ((GetVolumes(options) == expected), true, module);
    }
}

void
TestRefusals()
{
    const auto expect = [](const std::string& model,
                           const std::string& recompute,
                           const std::string& part,
                           bool overlaps = false) {
        ParallelOptions options = MakeOptions("");
        options.recompute = recompute;
        options.sharedExpertOverlap = overlaps;
        ExpectPart(GetRefusal([&] { ParallelPlan plan(FindTransformer(model), options); }), part);
    };
    const std::string start = "selective:modules=";
    expect("llama3-8b", "some", "unknown recompute 'some' (allowed: full, none, selective)");
    expect("llama3-8b", "full:modules=mlp", "'modules=mlp' (allowed: no keys)");
    for (const char* wrong : {"attention", "mlp+", "mlp+mlp", "mlp,layernorm"})
    {
        expect("llama3-8b", start + wrong, "(allowed: modules=core-attention|layernorm|mla-up-");
    }
    expect("llama3-8b",
           start + "mlp+mla-up-projection",
           "recompute selective:modules=mlp+mla-up-projection: the model has no latent attention "
           "(allowed: without mla-up-projection)");
    for (const char* module : {"moe", "moe-activation", "shared-experts"})
    {
        expect("llama3-8b", start + module, "the model has no experts (allowed: without ");
    }
    expect("mixtral-8x7b", start + "mlp", "all layers of the model have experts");
    expect("mixtral-8x7b", start + "shared-experts", "the model has no shared experts");
    expect("deepseek-v3", start + "moe+moe-activation", "moe includes moe-activation");
    expect("deepseek-v3", start + "moe+shared-experts", "moe includes shared-experts");
    expect("deepseek-v3",
           start + "shared-experts",
           "shared experts compute during exchanges of tokens (allowed: without shared-experts)",
           true);
}

const Suite g_suite("parallel-recomputation",
                    Duration::QUICK,
                    {{"operators of modules", TestOperators},
                     {"activations by hand", TestMemory},
                     {"times are those of the operators", TestTimes},
                     {"collectives of networks", TestCollectives},
                     {"modules that a model lacks are refused", TestRefusals}});

} // namespace ns3::training::tests::parallel_recomputation_test
