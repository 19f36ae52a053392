/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel-command-line.h"

#include "core/input-manifest.h"
#include "options/value-suggestion.h"
#include "parallel/operator-times.h"
#include "parallel/recomputation.h"
#include "parallel/sample-schedule.h"
#include "pipeline/pipeline-choice.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-gpu.h"
#include "ns3/training-quantity.h"
#include "ns3/training-workload.h"
#include "ns3/transformer-model.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/// Most ranks, micro-batches and layers.
constexpr uint64_t MOST = 1U << 20;

/** @return whether a text is longer than its end */
bool
EndsWith(const std::string& text, const std::string& end)
{
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/** @return no model, transformers, and workloads with their keys */
std::vector<AlternativeDescription>
DescribeModels()
{
    auto all = DescribeAlternatives<TransformerModel>();
    for (const AlternativeDescription& workload : DescribeAlternatives<WorkloadEntry>())
    {
        all.push_back(workload);
    }
    all.insert(all.begin(), {ParallelJobOptions::NONE, "that of --workload", {}, {}, {}});
    return all;
}

} // namespace

std::string
CompareParameters(double parameters, double expected)
{
    if (expected <= 0)
    {
        return "";
    }
    const double percent = 100 * (parameters / expected - 1);
    return ", " + FormatDouble(std::round(std::abs(percent) * 100) / 100) + " % " +
           (percent < 0 ? "less" : "more") + " than the " + FormatDouble(expected / 1e9) +
           " G expected";
}

ParallelJobOptions::ParallelJobOptions()
{
    parallel.data = 0;
    parallel.globalBatch = 0;
}

void
ParallelJobOptions::AddTo(ProgramOptions& options)
{
    options.Group("Parallel training");
    options.AddKind("model",
                    "model",
                    "model that is divided among ranks, or a workload",
                    model,
                    &DescribeModels,
                    "the path of a JSON file, such as config.json of Hugging Face");
    options.AddDouble("expect-parameters",
                      "parameters that the model should have, such as 405e9; 0: the number in the "
                      "name of its file, such as 405b in llama-3.1-405b",
                      expectedParameters,
                      0,
                      1e18);
    options.AddAutomatic(
        Key::Count("sequence", 0, 1, uint64_t{1} << 32, "tokens of a sample; auto: the model's"),
        sequence);
    options.AddUnsigned("tensor", "ranks that share each layer", parallel.tensor, 1, MOST);
    options.AddUnsigned("pipeline", "ranks that share the layers", parallel.pipeline, 1, MOST);
    options.AddAutomatic(Key::Count("data", 0, 1, MOST, "replicas; auto: from --ranks"),
                         parallel.data);
    options.AddUnsigned("context", "ranks that share a sequence", parallel.context, 1, MOST);
    options.AddUnsigned("expert",
                        "ranks of a stage among which the experts of a layer are divided",
                        parallel.expert,
                        1,
                        MOST);
    options.AddAutomatic(Key::Count("expert-tensor",
                                    0,
                                    1,
                                    MOST,
                                    "ranks that share each expert; auto: as many as --tensor"),
                         parallel.expertTensor);
    options.AddString("order",
                      "placement of ranks: dimensions, the one whose ranks are neighbours first",
                      parallel.order);
    options.AddBool("sequence-parallel",
                    "activations are divided between tensor-parallel layers, too",
                    parallel.sequenceParallel);
    options.AddUnsigned("tp-comm-overlap",
                        "parts of a tensor-parallel matrix product, gathered and reduced during "
                        "other parts; 1: none",
                        parallel.tpCommOverlap,
                        1,
                        64);
    options.AddChoice("cp-comm-type",
                      "how ranks of a sequence see all keys: in a ring, by exchanging heads "
                      "(Ulysses), or all gathered",
                      parallel.cpCommType,
                      {"p2p", "a2a", "all_gather"});
    options.AddString("sample-lengths",
                      "tokens of each sample of an iteration, such as 8192,2048*6; none: all have "
                      "those of --sequence",
                      sampleLengths);
    options.AddAutomatic(Key::Count("hybrid-context",
                                    0,
                                    1,
                                    uint64_t{1} << 32,
                                    "most tokens of a sample at a rank: a sample has as few ranks "
                                    "as its length needs; auto: those of --context"),
                         parallel.hybridContext);
    options.AddUnsigned("micro-batch",
                        "samples that a replica computes together",
                        parallel.microBatch,
                        1,
                        MOST);
    options.AddAutomatic(Key::Count("global-batch",
                                    0,
                                    1,
                                    uint64_t{1} << 40,
                                    "samples of an iteration; auto: a micro-batch for each rank "
                                    "of every pipeline"),
                         parallel.globalBatch);
    options.AddKind("pipeline-schedule",
                    "pipeline-schedule",
                    "order in which a pipeline computes micro-batches; also as --schedule",
                    parallel.schedule,
                    &DescribeAlternatives<PipelineScheduleEntry>,
                    "the path of a CSV file, short for file:PATH");
    options.AddChoice("overlap-p2p-communication",
                      "ranks compute during messages between stages; auto: unless the schedule is "
                      "1f1b with messages in batches",
                      parallel.overlapP2p,
                      {"auto", "true", "false"});
    options.AddAutomatic(Key::Count("first-layers",
                                    0,
                                    0,
                                    MOST,
                                    "layers of the first stage, beside the embedding; auto: as "
                                    "many as others"),
                         parallel.firstLayers);
    options.AddAutomatic(Key::Count("last-layers",
                                    0,
                                    0,
                                    MOST,
                                    "layers of the last stage, beside the output; auto: as many "
                                    "as others"),
                         parallel.lastLayers);
    options.AddUnsigned("mtp-layers",
                        "more layers in the last stage that predict one more token each",
                        parallel.mtpLayers,
                        0,
                        16);
    options.AddString("pipeline-layout",
                      "layers of all stages, as Megatron-LM writes them: Et*3|(tt|)*29,m|L; none: "
                      "as many in each stage",
                      parallel.layout);
    options.AddBool("delay-wgrad-compute",
                    "gradients of weights are computed when those of inputs have been sent",
                    parallel.delayWgrad);
    options.AddKind("recompute",
                    "recompute",
                    "what is computed again in the backward pass",
                    parallel.recompute,
                    &DescribeAlternatives<RecomputeEntry>);
    options.AddChoice(
        "attention",
        "whether FlashAttention keeps no scores in memory, or each head keeps its own",
        parallel.attention,
        {"flash", "unfused"});
    options.AddUnsigned("zero",
                        "what replicas divide: 1 the optimizer, 2 gradients, 3 parameters (FSDP)",
                        parallel.zero,
                        0,
                        3);
    options.AddAutomatic(Key::Count("shard",
                                    0,
                                    1,
                                    MOST,
                                    "HSDP: ranks among which --zero divides, whose sums are "
                                    "all-reduced across; auto: all"),
                         parallel.shard);
    options.AddBool("reshard-after-forward",
                    "ZeRO 3: parameters are dropped after the forward pass, and gathered again",
                    parallel.reshard);
    options.AddUnsigned("prefetch",
                        "ZeRO 3: layers that are gathered ahead",
                        parallel.prefetch,
                        0,
                        1000);
    options.AddBool("zero-quantized-weights",
                    "ZeRO++: parameters are gathered with 8 bits",
                    parallel.quantizedWeights);
    options.AddChoice("param-gather",
                      "number format of the parameters that ZeRO gathers, and layers compute with",
                      parallel.paramGather,
                      {"bf16", "fp8", "fp4"});
    options.AddBool("zero-quantized-gradients",
                    "ZeRO++: gradients are exchanged with 4 bits, in a partition and then across",
                    parallel.quantizedGradients);
    options.AddAutomatic(Key::Count("zero-hpz-partition-size",
                                    0,
                                    1,
                                    MOST,
                                    "ZeRO++: ranks with a copy of the parameters among them, for "
                                    "the backward pass; auto: none"),
                         parallel.hpzPartition);
    options.AddAutomatic(Key::Count("gradient-bytes",
                                    0,
                                    2,
                                    4,
                                    "bytes of a gradient on the network, 2 or 4; auto: 4, with "
                                    "--zero=3 2"),
                         parallel.gradientBytes);
    options.AddBool("overlap-grad-reduce",
                    "gradients are reduced during the last backward pass",
                    parallel.overlapGradReduce);
    options.AddBool("overlap-param-gather",
                    "ZeRO 1 and 2: parameters are gathered during the next forward pass",
                    parallel.overlapParamGather);
    options.AddBool("moe-shared-expert-overlap",
                    "shared experts compute while tokens travel",
                    parallel.sharedExpertOverlap);
    options.AddBool("moe-fp8-dispatch",
                    "tokens travel to experts with 8 bits, and back with 16",
                    parallel.fp8Dispatch);
    options.AddAutomatic(Key::Count("expert-node",
                                    0,
                                    1,
                                    MOST,
                                    "ranks of a node that share experts: tokens travel to a node "
                                    "once; auto: to each expert"),
                         parallel.expertNode);
    options.AddAutomatic(
        Key::Count("moe-router-group-topk", 0, 1, MOST, "nodes to which a token may go; auto: all"),
        parallel.nodesPerToken);
    options.AddDouble("expert-skew",
                      "popularity of expert k falls as 1 / k^skew",
                      parallel.expertSkew,
                      0,
                      10);
    options.AddChoice("precision",
                      "number format of matrix products",
                      precision,
                      {"bf16", "fp8", "fp4"});
    options.AddDouble("efficiency",
                      "part of the rooflines of its operators that --model reaches; 0: that of "
                      "published trainings on --gpu",
                      efficiency,
                      0,
                      1);
    options.AddString("kernels",
                      "CSV file of measured times of operators: operator,shape,dtype,time; others "
                      "are estimated",
                      kernels);
}

void
ParallelJobOptions::TakeSchedule(std::string& schedule)
{
    const bool ofCollectives = EndsWith(schedule, ".json") || EndsWith(schedule, ".xml");
    const auto& all = Registry<PipelineScheduleEntry>::All();
    if (!schedule.empty() &&
        (EndsWith(schedule, ".csv") || all.count(KeyValues::Split(schedule).GetName()) > 0 ||
         (HasTransformer() && !ofCollectives)))
    {
        parallel.schedule = std::exchange(schedule, "");
    }
}

void
ParallelJobOptions::CheckGiven(const ProgramOptions& options) const
{
    const bool isWorkload =
        Registry<WorkloadEntry>::All().count(KeyValues::Split(model).GetName()) > 0;
    if (model != NONE && !isWorkload && !HasTransformer())
    {
        MakePlan(0); // refuses it
    }
    ProgramOptions own("", "");
    ParallelJobOptions initial;
    initial.AddTo(own);
    std::vector<std::string> others{"workload", "batch", "overlap", "gradients"};
    std::string allowed = " with --model (allowed: with --workload)";
    if (!HasTransformer())
    {
        others.clear();
        for (const ProgramOptions::Value& value : own.Values())
        {
            others.push_back(value.name);
        }
        others.erase(others.begin()); // the model itself
        others.erase(std::find(others.begin(), others.end(), "gradient-bytes"));
        allowed = " without a transformer (allowed: with --model)";
    }
    for (const std::string& name : others)
    {
        if (options.IsGiven(name))
        {
            throw ConfigurationError("--" + name + allowed);
        }
    }
    if (model != NONE && options.IsGiven("workload"))
    {
        throw ConfigurationError("--workload with --model (allowed: one of both)");
    }
}

std::string
ParallelJobOptions::Describe(const ParallelPlan& plan, const std::string& gpu) const
{
    const ParallelOptions& options = plan.GetOptions();
    const auto parameters = static_cast<double>(plan.GetModel().GetParameters());
    return model + " (" + FormatDouble(std::round(parameters / 1e8) / 10) + " G parameters" +
           CompareParameters(parameters, GetExpectedParameters()) + "), tensor " +
           std::to_string(options.tensor) + ", pipeline " + std::to_string(options.pipeline) +
           ", data " + std::to_string(options.data) + ", context " +
           std::to_string(options.context) + ", expert " + std::to_string(options.expert) +
           (options.expertTensor > 0 ? ", expert tensor " + std::to_string(options.expertTensor)
                                     : "") +
           (options.mtpLayers > 0 ? ", MTP " + std::to_string(options.mtpLayers) : "") + ", ZeRO " +
           std::to_string(options.zero) + ", " +
           (options.sampleLengths.empty()
                ? std::to_string(plan.GetMicroBatches()) + " micro-batches of " +
                      std::to_string(options.microBatch)
                : std::to_string(options.globalBatch) + " samples of up to " +
                      std::to_string(plan.GetModel().sequence) + " tokens") +
           ", " + options.schedule + ", " + gpu;
}

bool
ParallelJobOptions::HasTransformer() const
{
    return EndsWith(model, ".json") || Registry<TransformerModel>::All().count(model) > 0;
}

double
ParallelJobOptions::GetExpectedParameters() const
{
    if (expectedParameters > 0 || !EndsWith(model, ".json"))
    {
        return expectedParameters;
    }
    const std::filesystem::path path(model);
    const std::string name =
        (path.stem() == "config" ? std::filesystem::absolute(path).parent_path().filename()
                                 : path.stem())
            .string();
    static const std::regex number("(^|[-_.])([0-9]+([.][0-9]+)?)([bBmMtT])($|[-_.])");
    std::smatch found;
    if (!std::regex_search(name, found, number))
    {
        return 0;
    }
    const char unit = found.str(4).front();
    return std::stod(found.str(2)) * (unit == 'b' || unit == 'B'   ? 1e9
                                      : unit == 'm' || unit == 'M' ? 1e6
                                                                   : 1e12);
}

std::shared_ptr<const ParallelPlan>
ParallelJobOptions::MakePlan(uint64_t ranks) const
{
    if (!HasTransformer())
    {
        std::vector<std::string> names;
        for (const AlternativeDescription& each : DescribeModels())
        {
            names.push_back(each.name);
        }
        std::string allowed;
        for (const std::string& name : names)
        {
            allowed += name == NONE ? "" : name + ", ";
        }
        throw ConfigurationError("model",
                                 model,
                                 (model == NONE ? "" : SuggestNearest(model, names)) +
                                     " (allowed: " + allowed + "or a JSON file)");
    }
    TransformerModel transformer = FindTransformer(model);
    ParallelOptions plan = parallel;
    if (!sampleLengths.empty())
    {
        plan.sampleLengths = ReadSampleLengths(sampleLengths);
        if (!kernels.empty())
        {
            throw ConfigurationError("sample lengths",
                                     sampleLengths,
                                     " (allowed: without kernels)");
        }
        plan.globalBatch = plan.globalBatch > 0 ? plan.globalBatch : plan.sampleLengths.size();
        transformer.sequence =
            *std::max_element(plan.sampleLengths.begin(), plan.sampleLengths.end());
    }
    transformer.sequence = sequence > 0 ? sequence : transformer.sequence;
    if (transformer.sequence == 0)
    {
        throw ConfigurationError(model +
                                 ": no max_position_embeddings (allowed: with --sequence=N, "
                                 "or a JSON object that has it)");
    }
    if (transformer.positions > 0 && transformer.sequence > transformer.positions)
    {
        InputManifest::Get(model).Assume(std::to_string(transformer.sequence) + " tokens, with " +
                                             std::to_string(transformer.positions) +
                                             " learned positions",
                                         model);
    }
    const uint64_t parts = plan.tensor * plan.pipeline * plan.context;
    const std::string product = "tensor " + std::to_string(plan.tensor) + " x pipeline " +
                                std::to_string(plan.pipeline) + " x context " +
                                std::to_string(plan.context);
    if (plan.data == 0)
    {
        if (parts == 0 || ranks % parts != 0)
        {
            throw ConfigurationError("ranks",
                                     std::to_string(ranks),
                                     " (allowed: multiples of " + std::to_string(parts) + ", " +
                                         product + ")");
        }
        plan.data = std::max<uint64_t>(1, ranks / parts);
    }
    else if (ranks > 0 && ranks != parts * plan.data)
    {
        throw ConfigurationError("ranks",
                                 std::to_string(ranks),
                                 " (allowed: " + std::to_string(parts * plan.data) + ", " +
                                     product + " x data " + std::to_string(plan.data) + ")");
    }
    if (plan.globalBatch == 0)
    {
        plan.globalBatch = plan.microBatch * plan.data * plan.pipeline;
    }
    return std::make_shared<const ParallelPlan>(transformer, plan);
}

TransformerRates
ParallelJobOptions::GetRates(const std::string& gpu, double computeScale) const
{
    /// Bytes of a number of 4 bits: 16 have a scale of a byte (NVFP4).
    constexpr double FP4_BYTES = 0.5 + 1.0 / 16;
    const GpuEntry& entry = Registry<GpuEntry>::Find(gpu);
    ProductRate rate{entry.peak, entry.transformers, entry.reached, entry.trained};
    if (precision != "bf16")
    {
        const auto found = entry.formats.find(precision);
        if (found == entry.formats.end())
        {
            std::string allowed = "bf16";
            for (const auto& [format, unused] : entry.formats)
            {
                allowed += ", " + format;
            }
            throw ConfigurationError("precision",
                                     precision,
                                     " on " + gpu + " (allowed: " + allowed + ")");
        }
        rate = found->second;
    }
    OperatorRates all;
    all.wide = {entry.peak, entry.reached, PARAMETER_BYTES};
    all.narrow = {rate.peak,
                  rate.reached,
                  precision == "fp8"   ? 1
                  : precision == "fp4" ? FP4_BYTES
                                       : PARAMETER_BYTES};
    all.precision = precision;
    all.memory = entry.memoryBandwidth;
    all.multiprocessors = entry.multiprocessors;
    all.attention = entry.attention;
    all.attentionBackward = entry.attentionBackward;
    all.part = efficiency > 0 ? efficiency : rate.trained;
    all.scale = computeScale;
    return {rate.peak * rate.reached * all.part / computeScale,
            entry.memoryBandwidth / computeScale,
            std::make_shared<const OperatorTimes>(
                all,
                kernels.empty() ? nullptr : std::make_shared<const KernelTable>(kernels))};
}

} // namespace ns3::training
