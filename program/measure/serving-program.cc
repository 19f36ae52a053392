/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "serving-program.h"

#include "core/input-file.h"
#include "engine/fabric-border.h"
#include "guard/progress-line.h"
#include "guard/run-warnings.h"
#include "options/run-title.h"
#include "serving/serving-summary.h"

#include "ns3/cluster-command-line.h"
#include "ns3/guarded-run.h"
#include "ns3/json-output.h"
#include "ns3/parallel-command-line.h"
#include "ns3/run-cost.h"
#include "ns3/run-figures.h"
#include "ns3/run-files.h"
#include "ns3/serving-helper.h"
#include "ns3/training-gpu.h"
#include "ns3/training-jitter.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

/** The program's options. */
struct ServingArguments
{
    std::string model{"llama3-8b"};
    std::string gpu{"h100"};
    double computeEfficiency{0}; // 0: that of the GPU
    double memoryEfficiency{1};
    std::string transfer{"layers"};
    std::string routing{"least-loaded"};
    uint64_t prefill{1};
    uint64_t prefillTensor{1};
    uint64_t decode{1};
    uint64_t decodeTensor{1};
    uint64_t numberBytes{2};
    ServingOptions serving;
    ServingLoad load;
    std::string requests; // file; empty: random ones
    Time firstTokenObjective;
    Time tokenObjective;
    std::string json;
    RunFilesOptions files;

    void AddTo(ProgramOptions& options);
    void Finish();
    TransformerRates GetRates() const;
    std::vector<ServingRequest> GetRequests(const ProgramOptions& options) const;
    std::string Describe(const ClusterOptions& cluster) const;
};

void
ServingArguments::AddTo(ProgramOptions& options)
{
    constexpr uint64_t MANY = 1 << 20;
    options.Group("Model");
    options.AddKind("model",
                    "transformer",
                    "the transformer",
                    model,
                    &DescribeAlternatives<TransformerModel>,
                    "a file NAME.json with the keys of Hugging Face's config.json");
    options.AddKind("gpu", "gpu", "GPU of each rank", gpu, &DescribeAlternatives<GpuEntry>);
    options.AddDouble("compute-efficiency",
                      "part of the GPU's peak that matrix products reach; 0: as in training",
                      computeEfficiency,
                      0,
                      1);
    options.AddDouble("memory-efficiency",
                      "part of the GPU's memory bandwidth that is reached",
                      memoryEfficiency,
                      0.01,
                      1);
    options.AddBytes("gpu-memory",
                     "memory of a GPU for weights, keys and values",
                     serving.memory,
                     1,
                     uint64_t{1} << 50);
    options.AddUnsigned("number-bytes",
                        "bytes of a weight, an activation, a key or a value",
                        numberBytes,
                        1,
                        4);
    options.Group("Instances");
    options.AddUnsigned("prefill", "instances that compute prompts", prefill, 1, MANY);
    options.AddUnsigned("prefill-tensor", "GPUs of each", prefillTensor, 1, MANY);
    options.AddUnsigned("prefill-requests",
                        "prompts that an instance computes together, at most",
                        serving.prefillRequests,
                        1,
                        MANY);
    options.AddUnsigned("prefill-tokens",
                        "tokens of these prompts, at most; a longer prompt is computed alone",
                        serving.prefillTokens,
                        1,
                        MAX_REQUEST_TOKENS);
    options.AddUnsigned("decode", "instances that compute answers", decode, 1, MANY);
    options.AddUnsigned("decode-tensor", "GPUs of each", decodeTensor, 1, MANY);
    options.AddUnsigned("decode-requests",
                        "answers that an instance computes together, at most",
                        serving.decodeRequests,
                        1,
                        MANY);
    options.AddChoice("transfer",
                      "keys and values go layer by layer while the prompt is computed, or all "
                      "after it",
                      transfer,
                      {"layers", "whole"});
    options.AddChoice("routing",
                      "which instance gets a request: the one with the fewest tokens, or each in "
                      "turn",
                      routing,
                      {"least-loaded", "round-robin"});
    options.Group("Requests");
    options.AddString("requests",
                      "CSV file with the columns time_s,prompt,output, or a trace of Azure, in "
                      "place of random requests",
                      requests);
    options.AddUnsigned("count",
                        "random requests; of a file, the first ones (if given)",
                        load.count,
                        0,
                        100000000);
    options.AddDouble("arrival-rate", "requests per second, Poisson", load.rate, 1e-6, 1e9);
    options.AddUnsigned("prompt", "tokens of a prompt, mean", load.prompt, 1, MAX_REQUEST_TOKENS);
    options.AddUnsigned("output", "tokens of an answer, mean", load.output, 1, MAX_REQUEST_TOKENS);
    options.AddKind("length-jitter",
                    "jitter",
                    "distribution of a factor of --prompt and --output, drawn for each",
                    load.jitter,
                    &DescribeAlternatives<JitterEntry>);
    options.AddTime("ttft-objective",
                    "goodput counts requests with at most this time to the first token; 0: any",
                    firstTokenObjective);
    options.AddTime("tbt-objective",
                    "and at most this mean time between tokens; 0: any",
                    tokenObjective);
    options.AddJson(json);
    files.AddTo(options);
}

void
ServingArguments::Finish()
{
    serving.prefillInstances = static_cast<uint32_t>(prefill);
    serving.prefillTensor = static_cast<uint32_t>(prefillTensor);
    serving.decodeInstances = static_cast<uint32_t>(decode);
    serving.decodeTensor = static_cast<uint32_t>(decodeTensor);
    serving.numberBytes = static_cast<uint32_t>(numberBytes);
    serving.isLayerwise = transfer == "layers";
    serving.routing =
        routing == "round-robin" ? ServingRouting::ROUND_ROBIN : ServingRouting::LEAST_LOADED;
}

TransformerRates
ServingArguments::GetRates() const
{
    const GpuEntry& entry = Registry<GpuEntry>::Find(gpu);
    TransformerRates rates;
    const double trained = entry.transformers > 0 ? entry.transformers : entry.efficiency;
    rates.operations = entry.peak * (computeEfficiency > 0 ? computeEfficiency : trained);
    rates.memory = entry.memoryBandwidth * memoryEfficiency;
    return rates;
}

std::vector<ServingRequest>
ServingArguments::GetRequests(const ProgramOptions& options) const
{
    if (requests.empty())
    {
        return MakeRequests(load);
    }
    for (const std::string name : {"arrival-rate", "prompt", "output", "length-jitter"})
    {
        if (options.IsGiven(name))
        {
            throw ConfigurationError("--" + name +
                                     " with --requests=" + MakePrintableName(requests) +
                                     " (allowed: one of them, as the file has the requests)");
        }
    }
    auto all = ReadRequests(requests);
    if (options.IsGiven("count"))
    {
        all.resize(std::min<std::size_t>(all.size(), load.count));
    }
    return all;
}

std::string
ServingArguments::Describe(const ClusterOptions& cluster) const
{
    const TransformerRates rates = GetRates();
    char text[200];
    std::snprintf(text,
                  sizeof(text),
                  "%s reaches %.4g TFLOP/s and %.4g TB/s, has %.4g GB; router takes no time; ",
                  gpu.c_str(),
                  rates.operations * 1e-12,
                  rates.memory * 1e-12,
                  static_cast<double>(serving.memory) * 1e-9);
    return text + cluster.DescribeHosts();
}

/** @return members of a quantity */
JsonValue
ToJson(const ServingQuantity& quantity)
{
    auto object = JsonValue::Object();
    object.Set("mean", quantity.mean)
        .Set("p50", quantity.p50)
        .Set("p90", quantity.p90)
        .Set("p99", quantity.p99);
    return object;
}

/** @return one object for each request */
JsonValue
ListRequests(const std::vector<ServedRequest>& requests)
{
    auto list = JsonValue::Array();
    for (const ServedRequest& one : requests)
    {
        auto object = JsonValue::Object();
        object.Set("arrival_s", one.request.arrival.GetSeconds())
            .Set("prompt", one.request.prompt)
            .Set("output", one.request.output)
            .Set("tokens", one.GetTokens())
            .Set("prefill_instance", one.prefillInstance)
            .Set("decode_instance", one.decodeInstance);
        const auto set = [&](const char* name, Time time) {
            object.Set(name, one.isDone ? JsonValue(time.GetSeconds()) : JsonValue());
        };
        set("prefill_wait_s", one.GetPrefillWait());
        set("prefill_s", one.prefillEnd - one.prefillStart);
        set("memory_wait_s", one.GetMemoryWait());
        set("transfer_s", one.GetTransferTime());
        set("ttft_s", one.GetTimeToFirstToken());
        set("decode_wait_s", one.GetDecodeWait());
        set("end_to_end_s", one.lastToken - one.request.arrival);
        list.Append(object);
    }
    return list;
}

/** @return share of the time that instances have run steps */
template <class Instance>
double
GetUtilization(const std::vector<std::unique_ptr<Instance>>& instances,
               const ServingSummary& summary)
{
    double busy = 0;
    for (const auto& instance : instances)
    {
        busy += instance->GetInstance().GetBusyTime().GetSeconds();
    }
    return summary.seconds > 0 ? busy / summary.seconds / static_cast<double>(instances.size()) : 0;
}

/** @return results of a run */
JsonValue
ToJson(const ServingSystem& system, const ServingSummary& summary)
{
    uint64_t moved = 0;
    uint64_t largest = 0;
    for (const ServedRequest& one : system.GetRequests())
    {
        moved += one.isDone ? one.request.prompt * system.GetMovedBytes() : 0;
    }
    for (const auto& decode : system.GetDecodes())
    {
        largest = std::max(largest, decode->GetLargestBatch());
    }
    auto document = JsonValue::Object();
    document.Set("requests_done", summary.requests)
        .Set("tokens", summary.tokens)
        .Set("seconds", summary.seconds)
        .Set("ttft_s", ToJson(summary.firstTokenS))
        .Set("tbt_s", ToJson(summary.tokenS))
        .Set("end_to_end_s", ToJson(summary.endToEndS))
        .Set("prefill_wait_s", summary.prefillWaitS)
        .Set("prefill_s", summary.prefillS)
        .Set("memory_wait_s", summary.memoryWaitS)
        .Set("transfer_s", summary.transferS)
        .Set("decode_wait_s", summary.decodeWaitS)
        .Set("transfer_share", summary.transferShare)
        .Set("requests_per_s", summary.requestsPerSecond)
        .Set("tokens_per_s", summary.tokensPerSecond)
        .Set("goodput_per_s", summary.goodputPerSecond)
        .Set("attainment", summary.attainment)
        .Set("wait_growth", summary.waitGrowth)
        .Set("overloaded", summary.IsOverloaded())
        .Set("prefill_utilization", GetUtilization(system.GetPrefills(), summary))
        .Set("decode_utilization", GetUtilization(system.GetDecodes(), summary))
        .Set("largest_decode_batch", largest)
        .Set("key_value_bytes", moved)
        .Set("key_value_bytes_per_token", system.GetMovedBytes())
        .Set("prefill_capacity_tokens", system.GetPrefillCapacity())
        .Set("decode_capacity_tokens", system.GetDecodeCapacity())
        .Set("requests", ListRequests(system.GetRequests()));
    return document;
}

void
PrintQuantity(const char* name, const ServingQuantity& quantity)
{
    std::printf("%-22s %12.3f %12.3f %12.3f %12.3f\n",
                name,
                1e3 * quantity.mean,
                1e3 * quantity.p50,
                1e3 * quantity.p90,
                1e3 * quantity.p99);
}

/** Prints the tables of a run. */
void
Print(const ServingSystem& system, const ServingSummary& summary)
{
    std::printf("%-22s %12s %12s %12s %12s\n", "time (ms)", "mean", "p50", "p90", "p99");
    PrintQuantity("to first token", summary.firstTokenS);
    PrintQuantity("between tokens", summary.tokenS);
    PrintQuantity("end to end", summary.endToEndS);
    std::printf("to first token, mean: wait %.3f, prompt %.3f, memory %.3f, transfer %.3f ms "
                "(%.1f %%); wait for a decoding batch %.3f ms\n",
                1e3 * summary.prefillWaitS,
                1e3 * summary.prefillS,
                1e3 * summary.memoryWaitS,
                1e3 * summary.transferS,
                100 * summary.transferShare,
                1e3 * summary.decodeWaitS);
    std::printf("throughput %.3f requests/s, %.1f tokens/s; goodput %.3f requests/s (%.1f %%)\n",
                summary.requestsPerSecond,
                summary.tokensPerSecond,
                summary.goodputPerSecond,
                100 * summary.attainment);
    std::printf("busy: prefill %.1f %%, decode %.1f %%; keys and values: %llu bytes a token, "
                "memory for %llu and %llu tokens\n",
                100 * GetUtilization(system.GetPrefills(), summary),
                100 * GetUtilization(system.GetDecodes(), summary),
                static_cast<unsigned long long>(system.GetMovedBytes()),
                static_cast<unsigned long long>(system.GetPrefillCapacity()),
                static_cast<unsigned long long>(system.GetDecodeCapacity()));
}

} // namespace

int
RunDisaggregatedServing(const std::vector<std::string>& arguments)
{
    ServingArguments setting;
    ClusterOptions clusterOptions;
    ProgramOptions options("disaggregated-serving",
                           "Serves requests by instances that compute prompts and others that "
                           "compute answers.");
    setting.AddTo(options);
    ClusterCommandLine commandLine(clusterOptions);
    commandLine.AddNetworkTo(options);
    commandLine.AddTransportTo(options);
    options.AddKind("collective",
                    "algorithm",
                    "algorithm of the all-reduces of an instance's GPUs",
                    clusterOptions.algorithm,
                    &DescribeAlternatives<CollectiveAlgorithm>);
    commandLine.AddHostsTo(options);
    commandLine.AddBackgroundTo(options);
    options.Parse(arguments);
    commandLine.FollowTopology(options);
    setting.Finish();
    if (commandLine.ShowTopology())
    {
        return 0;
    }
    const JsonOutput json(setting.json);
    const TransformerModel model = FindTransformer(setting.model);
    const auto requests = setting.GetRequests(options);
    const Cluster cluster(clusterOptions);
    const auto system =
        InstallServing(cluster, setting.serving, model, setting.GetRates(), requests);
    double moved = 0;
    double operations = 0;
    for (const ServingRequest& request : requests)
    {
        operations += 2.0 * static_cast<double>(model.GetParameters()) *
                      static_cast<double>(request.prompt + request.output);
        moved += static_cast<double>(request.prompt * system->GetMovedBytes());
    }
    GuardedRun::CheckDuration(8 * moved / static_cast<double>(clusterOptions.rate.GetBitRate()) /
                                  static_cast<double>(setting.prefill * setting.prefillTensor),
                              "--rate=" + FormatRate(clusterOptions.rate));
    const auto gpus = static_cast<double>(setting.prefill * setting.prefillTensor +
                                          setting.decode * setting.decodeTensor);
    GuardedRun::CheckDuration(operations / setting.GetRates().operations / gpus,
                              "--compute-efficiency=" + FormatDouble(setting.computeEfficiency));
    commandLine.ExportTopology();
    const bool prints = setting.json != "-";
    if (prints)
    {
        std::printf("%s, %zu requests; %llu x %llu GPUs for prompts, %llu x %llu for answers; %s, "
                    "%s%s\n%s",
                    setting.model.c_str(),
                    requests.size(),
                    static_cast<unsigned long long>(setting.prefill),
                    static_cast<unsigned long long>(setting.prefillTensor),
                    static_cast<unsigned long long>(setting.decode),
                    static_cast<unsigned long long>(setting.decodeTensor),
                    clusterOptions.topology.c_str(),
                    FormatRate(clusterOptions.rate).c_str(),
                    DescribeDeviations(clusterOptions).c_str(),
                    FormatNotes(cluster.GetNotes()).c_str());
    }
    GuardedRun run(cluster);
    run.SetComputing([&system] { return system->IsComputing(); });
    system->SetEnd([&run] { run.End(); });
    RunFiles files(setting.files,
                   cluster,
                   options.GetName(),
                   GetConfiguration(options.ToJson(), cluster).Write());
    system->Start();
    ProgressLine progress(cluster.GetFabric(),
                          [&] { return std::min(1.0, GetRankProgress(cluster).bytes / moved); });
    std::string failure;
    try
    {
        run.Run();
    }
    catch (const SimulationInterrupted& stop)
    {
        GatherCounters(cluster.GetFabric());
        files.Finish();
        files.Close(stop.what());
        throw;
    }
    catch (const SimulationStuck& stuck)
    {
        failure = stuck.what();
    }
    progress.Clear();
    ServingObjective objective;
    objective.firstTokenS = setting.firstTokenObjective.GetSeconds();
    objective.tokenS = setting.tokenObjective.GetSeconds();
    const auto summary = ServingSummary::Of(system->GetRequests(), objective);
    GatherCounters(cluster.GetFabric());
    RunFigures figures;
    figures.AddAll({cluster});
    files.Finish({}, &figures);
    files.Close(failure);
    const RunCost cost = GetRunCost(cluster.GetFabric());
    auto warnings = GetWarnings(cluster);
    if (summary.IsOverloaded())
    {
        char text[200];
        std::snprintf(text,
                      sizeof(text),
                      "overload: requests arrive faster than they are served; waits grow by "
                      "%.3f s per second",
                      summary.waitGrowth);
        warnings.emplace_back(text);
    }
    if (prints)
    {
        if (summary.requests > 0)
        {
            Print(*system, summary);
        }
        std::printf("%s%s%s\n%s",
                    figures.Format().c_str(),
                    FormatWarnings(warnings).c_str(),
                    FormatRunCost(cost).c_str(),
                    FormatInputs(setting.Describe(clusterOptions)).c_str());
    }
    auto document = ToJson(*system, summary);
    figures.AddTo(document);
    AddWarnings(document, warnings);
    AddRunCost(document, cost);
    document.Set("inputs", setting.Describe(clusterOptions));
    AddFailure(document, failure);
    document.Set("configuration", GetConfiguration(options.ToJson(), cluster))
        .Set("version", GetVersion());
    json.Write(document);
    Simulator::Destroy();
    if (!failure.empty())
    {
        throw SimulationStuck(std::to_string(summary.requests) + " of " +
                              std::to_string(requests.size()) + " requests are done; " + failure);
    }
    return 0;
}

} // namespace ns3::training
