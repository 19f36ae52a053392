/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-manifest.h"
#include "file-test-common.h"
#include "parallel/operator-times.h"

#include "ns3/transformer-model.h"

#include <cmath>
#include <memory>

namespace ns3::training::tests::parallel_operators_test
{

using Passes = std::vector<LayerPass>;

/// All passes.
const Passes PASSES{LayerPass::FORWARD, LayerPass::INPUT_GRADIENT, LayerPass::WEIGHT_GRADIENT};

/// An H100 without launches and rounding.
OperatorRates
MakeRates()
{
    OperatorRates rates;
    rates.wide = {989.4e12, 0.8, 2};
    rates.narrow = {1978.9e12, 0.7, 1};
    rates.precision = "fp8";
    rates.memory = 3.35e12;
    rates.multiprocessors = 132;
    rates.attention = 648 / 989.4;
    rates.attentionBackward = 561 / 989.4;
    return rates;
}

/** @return a plan of a model with one micro-batch */
ParallelPlan
MakePlan(const std::string& model, ParallelOptions options = {}, uint64_t sequence = 0)
{
    TransformerModel found = FindTransformer(model);
    found.sequence = sequence > 0 ? sequence : found.sequence;
    options.globalBatch = options.data;
    return {found, options};
}

/** @return the kernels and shapes of operators */
std::string
List(const std::vector<LayerOperator>& all)
{
    std::string text;
    for (const LayerOperator& each : all)
    {
        text += each.kernel + " " + each.GetShape() + ";";
    }
    return text;
}

/** @return the operations of a pass through a layer that a model's count has */
double
Sum(const ParallelPlan& plan, uint32_t layer, LayerPass pass)
{
    double sum = 0;
    for (LayerPart part : {LayerPart::INPUTS,
                           LayerPart::SCORES,
                           LayerPart::PROJECTION,
                           LayerPart::NETWORK,
                           LayerPart::SHARED_EXPERTS})
    {
        for (const LayerOperator& each : MakeOperators(plan, part, pass, layer))
        {
            sum += each.operations;
        }
    }
    return sum;
}

/** Shapes by hand. */
void
TestShapes()
{
    const ParallelPlan llama = MakePlan("llama3-8b");
    const auto list = [](const ParallelPlan& plan, LayerPart part, LayerPass pass, uint32_t layer) {
        return List(MakeOperators(plan, part, pass, layer));
    };
    const LayerPass forward = LayerPass::FORWARD;
    const LayerPass inputs = LayerPass::INPUT_GRADIENT;
    const LayerPass weights = LayerPass::WEIGHT_GRADIENT;
    NS_TEST_EXPECT_MSG_EQ(list(llama, LayerPart::INPUTS, forward, 0),
                          "norm 8192x4096;gemm 8192x6144x4096;rotary 8192x5120;",
                          "queries, keys, values");
    NS_TEST_EXPECT_MSG_EQ(list(llama, LayerPart::SCORES, forward, 0),
                          "attention 1x32x8192x8192x128;",
                          "attention");
    NS_TEST_EXPECT_MSG_EQ(list(llama, LayerPart::SCORES, inputs, 0),
                          "attention-backward 1x32x8192x8192x128;",
                          "attention");
    NS_TEST_EXPECT_MSG_EQ(list(llama, LayerPart::SCORES, weights, 0), "", "no weights");
    NS_TEST_EXPECT_MSG_EQ(list(llama, LayerPart::PROJECTION, inputs, 0),
                          "gemm 8192x4096x4096;residual-backward 8192x4096;",
                          "projection");
    NS_TEST_EXPECT_MSG_EQ(list(llama, LayerPart::NETWORK, forward, 0),
                          "norm 8192x4096;gemm 8192x28672x4096;activation 8192x14336;"
                          "gemm 8192x4096x14336;residual 8192x4096;",
                          "network");
    NS_TEST_EXPECT_MSG_EQ(list(llama, LayerPart::OUTPUT, forward, 0),
                          "norm 8192x4096;gemm 8192x128256x4096;loss 8192x128256;",
                          "output");
    ParallelOptions options;
    options.tensor = 8;
    options.sequenceParallel = true;
    const ParallelPlan divided = MakePlan("llama3-8b", options);
    NS_TEST_EXPECT_MSG_EQ(list(divided, LayerPart::INPUTS, forward, 0),
                          "norm 1024x4096;gemm 8192x768x4096;rotary 8192x640;",
                          "a head of keys for each rank");
    NS_TEST_EXPECT_MSG_EQ(list(divided, LayerPart::NETWORK, weights, 0),
                          "norm-backward 1024x4096;gemm 3584x4096x8192;"
                          "activation-backward 8192x1792;gemm 4096x1792x8192;"
                          "residual-backward 1024x4096;",
                          "inner sizes are tokens");
    NS_TEST_EXPECT_MSG_EQ(List(MakeOperators(divided, LayerPart::PROJECTION, forward, 0, 1, 4)),
                          "gemm 2048x4096x512;residual 256x4096;",
                          "a quarter of a product");
    // Two of eight experts for each token, two experts a rank, of which one is twice as busy.
    options = {};
    options.data = 4;
    options.expert = 4;
    const ParallelPlan mixtral = MakePlan("mixtral-8x7b", options);
    NS_TEST_EXPECT_MSG_EQ(List(MakeOperators(mixtral, LayerPart::NETWORK, forward, 0, 2)),
                          "norm 4096x4096;gemm 4096x8x4096;permutation 8192x4096;"
                          "grouped-gemm 2x8192x28672x4096;activation 16384x14336;"
                          "grouped-gemm 2x8192x4096x14336;combination 8192x4096;"
                          "residual 4096x4096;",
                          "experts");
    // Latent attention: queries through 1536 numbers, keys and values through 512 and 64.
    const ParallelPlan deepSeek = MakePlan("deepseek-v3");
    NS_TEST_EXPECT_MSG_EQ(list(deepSeek, LayerPart::INPUTS, forward, 5),
                          "norm 4096x7168;gemm 4096x1536x7168;gemm 4096x24576x1536;"
                          "gemm 4096x576x7168;gemm 4096x32768x512;rotary 4096x49152;",
                          "latent attention");
    NS_TEST_EXPECT_MSG_EQ(list(deepSeek, LayerPart::SHARED_EXPERTS, forward, 5),
                          "gemm 4096x4096x7168;activation 4096x2048;gemm 4096x7168x2048;",
                          "shared expert");
    NS_TEST_EXPECT_MSG_EQ(list(deepSeek, LayerPart::SHARED_EXPERTS, forward, 0), "", "dense");
    // Scores in memory: products of both factors backward.
    options = {};
    options.attention = "unfused";
    NS_TEST_EXPECT_MSG_EQ(list(MakePlan("gpt3-6.7b", options), LayerPart::SCORES, inputs, 0),
                          "grouped-gemm 32x2048x2048x128;grouped-gemm 32x2048x128x2048;"
                          "softmax-backward 65536x2048;grouped-gemm 32x2048x128x2048;"
                          "grouped-gemm 32x2048x128x2048;",
                          "unfused");
    // A ring of four ranks computes four times; heads that are exchanged are fewer.
    options = {};
    options.context = 4;
    NS_TEST_EXPECT_MSG_EQ(
        List(MakeOperators(MakePlan("llama3-8b", options), LayerPart::SCORES, forward, 0, 1, 4)),
        "attention 1x32x2048x2048x128;",
        "ring");
    options.cpCommType = "a2a";
    NS_TEST_EXPECT_MSG_EQ(list(MakePlan("llama3-8b", options), LayerPart::SCORES, forward, 0),
                          "attention 1x8x8192x8192x128;",
                          "Ulysses");
}

/** Operations are those of the model, whatever the division; those of Llama 3 8B by hand. */
void
TestOperations()
{
    const double tokens = 8192;
    const double matrices = 4096 * 6144.0 + 4096 * 4096 + 3 * 4096.0 * 14336 + 4096;
    NS_TEST_EXPECT_MSG_EQ_TOL(Sum(MakePlan("llama3-8b"), 3, LayerPass::FORWARD),
                              2 * tokens * (matrices + 2 * 8192.0 * 4096),
                              1e3,
                              "Llama 3 8B");
    for (const auto& [name, model] : Registry<TransformerModel>::All())
    {
        for (const uint64_t tensor : {1, 4})
        {
            ParallelOptions options;
            options.tensor = model.heads % tensor == 0 ? tensor : 1;
            for (const char* attention : {"flash", "unfused"})
            {
                options.attention = attention;
                const ParallelPlan plan = MakePlan(name, options);
                const auto parts = static_cast<double>(options.tensor);
                const auto count = static_cast<double>(plan.GetTokens());
                const uint32_t last = model.layers - 1;
                const double all =
                    model.GetAttentionOperations(last) + model.GetFeedForwardOperations(last);
                const double copies = 2 * static_cast<double>(plan.GetKeyValueCopies(last));
                const double scores = model.GetAttentionOperations(last) -
                                      2 * static_cast<double>(model.GetAttentionParameters(last));
                const double forward = count * (all / parts + copies);
                // Both factors of the scores are activations.
                const double weights = forward - count * scores / parts;
                NS_TEST_EXPECT_MSG_EQ_TOL(Sum(plan, last, LayerPass::FORWARD),
                                          forward,
                                          forward * 1e-12,
                                          name << ", forward");
                NS_TEST_EXPECT_MSG_EQ_TOL(Sum(plan, last, LayerPass::INPUT_GRADIENT) +
                                              Sum(plan, last, LayerPass::WEIGHT_GRADIENT),
                                          forward + count * scores / parts + weights,
                                          forward * 1e-12,
                                          name << ", backward");
                // What matrices lack are norms and biases: few.
                for (LayerPart part : {LayerPart::INPUTS, LayerPart::NETWORK})
                {
                    const auto list = MakeOperators(plan, part, LayerPass::FORWARD, last);
                    NS_TEST_EXPECT_MSG_GT_OR_EQ(list.front().operations,
                                                -1e-9 * forward,
                                                name << ": not less than matrices");
                    NS_TEST_EXPECT_MSG_LT(list.front().operations,
                                          2e-4 * forward,
                                          name << ": norms");
                }
            }
        }
    }
    // Selective recomputation repeats the scores; a window leaves most of them out.
    ParallelOptions options;
    options.recompute = "selective";
    const auto repeated =
        MakeOperators(MakePlan("llama3-8b", options), LayerPart::SCORES, LayerPass::REPEATED, 0);
    const auto backward = MakeOperators(MakePlan("llama3-8b", options),
                                        LayerPart::SCORES,
                                        LayerPass::INPUT_GRADIENT,
                                        0);
    const double scores = 4 * tokens * tokens * 4096;
    NS_TEST_ASSERT_MSG_EQ(repeated.size(), 1, "forward again");
    NS_TEST_EXPECT_MSG_EQ_TOL(repeated[0].executed, scores / 2, 1e3, "half of them: causal");
    NS_TEST_EXPECT_MSG_EQ_TOL(backward[0].executed, 2.5 * scores / 2, 1e3, "five products");
    TransformerModel window = FindTransformer("llama3-8b");
    window.window = 1024;
    options = {};
    const auto narrow =
        MakeOperators(ParallelPlan(window, options), LayerPart::SCORES, LayerPass::FORWARD, 0);
    // The first 1024 tokens see half a window on average, the others a whole one.
    NS_TEST_EXPECT_MSG_EQ_TOL(narrow[0].executed,
                              4 * 4096.0 * (1024.0 * 512 + 7168.0 * 1024),
                              1e3,
                              "window");
}

/** Memory bounds small products, operations large ones; tiles and waves are whole. */
void
TestRoofline()
{
    constexpr double LAUNCH = 0.9e-6;
    const OperatorTimes times(MakeRates());
    const auto multiply = [](uint64_t rows, uint64_t columns, uint64_t inner) {
        const double operations = 2.0 * static_cast<double>(rows * columns * inner);
        return LayerOperator{"product",
                             "gemm",
                             {rows, columns, inner},
                             operations,
                             operations,
                             static_cast<double>((rows + columns) * inner),
                             2.0 * static_cast<double>(rows * columns),
                             static_cast<double>(inner),
                             false};
    };
    const OperatorTime token = times.Get(multiply(1, 8192, 8192));
    NS_TEST_EXPECT_MSG_EQ(token.isMemoryBound, true, "one token");
    NS_TEST_EXPECT_MSG_EQ_TOL(token.seconds,
                              2 * 8193.0 * 8192 / (0.9 * 3.35e12) + LAUNCH,
                              1e-7,
                              "one token reads the weights");
    const LayerOperator large = multiply(8192, 16896, 16384); // 4224 tiles, 32 waves
    const OperatorTime most = times.Get(large);
    NS_TEST_EXPECT_MSG_EQ(most.isMemoryBound, false, "large");
    NS_TEST_EXPECT_MSG_EQ_TOL(most.seconds,
                              large.executed * (1 + 192.0 / 16384) / (0.8 * 989.4e12) + LAUNCH,
                              1e-9,
                              "all waves are full");
    // A tile more is a wave more.
    OperatorRates fast = MakeRates();
    fast.memory = 1e30;
    const OperatorTimes waves(fast);
    const double one = waves.Get(multiply(256 * 132, 128, 4096)).seconds - LAUNCH;
    const double two = waves.Get(multiply(256 * 132 + 1, 128, 4096)).seconds - LAUNCH;
    NS_TEST_EXPECT_MSG_EQ_TOL(two / one, 2, 1e-9, "two waves");
    const double same = waves.Get(multiply(256 * 131 + 1, 128, 4096)).seconds - LAUNCH;
    NS_TEST_EXPECT_MSG_EQ_TOL(same, one, 1e-15, "a tile at the edge counts as a whole one");
    // Without multiprocessors there are no waves.
    OperatorRates even = MakeRates();
    even.multiprocessors = 0;
    NS_TEST_EXPECT_MSG_EQ_TOL(OperatorTimes(even).Get(large).seconds,
                              most.seconds,
                              1e-12,
                              "full waves");
    // Few tiles of a long sum are split; that is less than a wave of them takes.
    const LayerOperator narrow = multiply(256, 128, 65536);
    NS_TEST_EXPECT_MSG_LT(times.Get(narrow).seconds,
                          0.2 * 2 * 256 * 128 * 65536.0 * 132 / (0.8 * 989.4e12),
                          "split");
    // Eight bits.
    LayerOperator eight = large;
    eight.isNarrow = true;
    NS_TEST_EXPECT_MSG_EQ_TOL((most.seconds - LAUNCH) / (times.Get(eight).seconds - LAUNCH),
                              0.7 * 1978.9 / (0.8 * 989.4),
                              1e-9,
                              "products of 8 bits");
    NS_TEST_EXPECT_MSG_EQ_TOL(times.GetBytes(large) - times.GetBytes(eight),
                              large.operands,
                              1,
                              "operands of 8 bits");
    OperatorRates slow = MakeRates();
    slow.part = 0.5;
    slow.scale = 3;
    NS_TEST_EXPECT_MSG_EQ_TOL(OperatorTimes(slow).Get(large).seconds / most.seconds,
                              6,
                              1e-9,
                              "both factors");
}

/**
 * FlashAttention-3 on H100, 16384 tokens and 2048 numbers of all heads, not causal: figures 5 and
 * 6 of Shah et al., 2024. The rates of the longest sequences with heads of 128 are inputs.
 */
void
TestAttention()
{
    struct Row
    {
        uint64_t head;
        uint64_t sequence;
        double forward;  // TFLOP/s
        double backward; // likewise
    };

    const OperatorTimes times(MakeRates());
    for (const Row& row : {Row{128, 512, 467, 316},
                           Row{128, 1024, 565, 424},
                           Row{128, 2048, 625, 501},
                           Row{128, 4096, 638, 542},
                           Row{128, 8192, 646, 559},
                           Row{128, 16384, 648, 561},
                           Row{64, 4096, 497, 453},
                           Row{64, 16384, 497, 474}})
    {
        const uint64_t heads = 2048 / row.head;
        for (const bool isForward : {true, false})
        {
            const double operations =
                (isForward ? 4 : 10) * 16384.0 * 2048 * static_cast<double>(row.sequence);
            const LayerOperator each{
                "attention",
                isForward ? "attention" : "attention-backward",
                {16384 / row.sequence, heads, row.sequence, row.sequence, row.head},
                operations,
                operations,
                0,
                16384.0 * 2048 * 8,
                static_cast<double>(row.sequence),
                false};
            const double rate = 1e-12 * operations / times.Get(each).seconds;
            const double published = isForward ? row.forward : row.backward;
            NS_TEST_EXPECT_MSG_EQ_TOL(rate / published,
                                      1,
                                      0.2,
                                      (isForward ? "forward, " : "backward, ")
                                          << row.head << ", " << row.sequence);
        }
    }
}

/** Measured times take the place of estimates. */
void
TestTable()
{
    const std::string header = "operator,shape,dtype,time\n";
    const std::string path = WriteFile("kernels.csv",
                                       "# H100\n" + header +
                                           "gemm,8192x6144x4096,bf16,0.5ms\n"
                                           "\nattention,1x32x8192x8192x128,bf16,2ms\n"
                                           "gemm,8192x6144x4096,fp8,0.3ms\r\n"
                                           "norm, 8192x4096, bf16, 50us\n");
    OperatorRates rates = MakeRates();
    rates.narrow = rates.wide;
    rates.precision = "bf16";
    rates.part = 0.5; // of estimates only
    rates.scale = 2;
    const auto table = std::make_shared<KernelTable>(path);
    const OperatorTimes times(rates, table);
    double sum = 0;
    for (const LayerOperator& each :
         MakeOperators(MakePlan("llama3-8b"), LayerPart::INPUTS, LayerPass::FORWARD, 0))
    {
        const OperatorTime time = times.Get(each);
        NS_TEST_EXPECT_MSG_EQ(time.isMeasured, (each.kernel != "rotary"), each.kernel);
        sum += time.isMeasured ? time.seconds : 0;
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(sum, 2 * 550e-6, 1e-12, "norm and product");
    table->Report();
    const InputManifest::File& file = InputManifest::Get(path);
    NS_TEST_EXPECT_MSG_EQ(file.read, 4, "rows");
    NS_TEST_EXPECT_MSG_EQ(file.used, 2, "rows");
    NS_TEST_EXPECT_MSG_EQ(file.ignored.count("gemm 8192x6144x4096 in fp8"), 1, "another format");
    const auto refuse = [&](const std::string& content, const std::string& part) {
        const std::string wrong = WriteFile("wrong.csv", content);
        ExpectPart(GetRefusal([&] { KernelTable refused(wrong); }), "wrong.csv" + part);
    };
    refuse("", ":0: no kernels (allowed: a header operator,shape,dtype,time, and rows)");
    refuse("name,time\n", ":1: header 'name,time' (allowed: operator,shape,dtype,time)");
    refuse(header, ":1: no kernels");
    refuse(header + "gemm,1x2x3,bf16\n", ":2: 3 cells (allowed: 4, operator,");
    refuse(header + "gem,1x2x3,bf16,1us\n", ":2: operator 'gem' (allowed: those that --check");
    refuse(header + "gemm,1x2,bf16,1us\n", ":2: shape '1x2' (allowed: 3 whole numbers above 0");
    refuse(header + "gemm,1x0x3,bf16,1us\n", ":2: shape '1x0x3' (allowed: 3 whole");
    refuse(header + "gemm,1x02x3,bf16,1us\n", ":2: shape '1x02x3' (allowed: 3 whole");
    refuse(header + "gemm,1x-2x3,bf16,1us\n", ":2: shape '1x-2x3' (allowed: 3 whole");
    refuse(header + "gemm,1x2x3,fp16,1us\n", ":2: dtype 'fp16' (allowed: bf16, fp8, fp4)");
    refuse(header + "gemm,1x2x3,bf16,1\n", ":2: time '1' (allowed: times above 0, ps, ns,");
    refuse(header + "gemm,1x2x3,bf16,0us\n", ":2: time '0us' (allowed: times above 0");
    refuse(header + "gemm,1x2x3,bf16,1us\ngemm,1x2x3,bf16,2us\n",
           ":3: gemm 1x2x3 in bf16 again (allowed: once, as in line 2)");
    ExpectPart(GetRefusal([] { KernelTable none("/no/such.csv"); }),
               "kernels /no/such.csv cannot be read");
}

/** All operators of a micro-batch, and how often they occur. */
void
TestList()
{
    ParallelOptions options;
    options.tensor = 2;
    options.sequenceParallel = true;
    options.tpCommOverlap = 4;
    options.recompute = "full";
    const ParallelPlan plan = MakePlan("mixtral-8x7b", options);
    double sum = 0;
    for (const ListedOperator& listed : ListOperators(plan))
    {
        sum += static_cast<double>(listed.count) * listed.each.operations;
    }
    const TransformerModel& model = plan.GetModel();
    const double layer = model.GetAttentionOperations(0) + model.GetFeedForwardOperations(0);
    const double expected = 4096.0 / 2 * (32 * 4 * layer + 3 * model.GetOutputOperations());
    // The gradients of scores' weights are those of their other factor.
    NS_TEST_EXPECT_MSG_EQ_TOL(sum / expected, 1, 1e-4, "forward twice, and two gradients");
    const LayerTimes times(std::make_shared<ParallelPlan>(plan), {1e14, 1e30, nullptr});
    NS_TEST_EXPECT_MSG_EQ_TOL(times.Get(LayerPart::OUTPUT, LayerPass::FORWARD, 0).GetSeconds(),
                              4096.0 / 2 * model.GetOutputOperations() / 1e14,
                              1e-11,
                              "one rate");
}

const Suite g_suite("parallel-operators",
                    Duration::QUICK,
                    {{"shapes of operators", TestShapes},
                     {"operations are those of the model", TestOperations},
                     {"roofline, tiles and waves", TestRoofline},
                     {"FlashAttention-3 as published", TestAttention},
                     {"measured times", TestTable},
                     {"all operators", TestList}});

} // namespace ns3::training::tests::parallel_operators_test
