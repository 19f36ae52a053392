/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "flow-program.h"

#include "core/input-file.h"
#include "flow-measurement.h"
#include "guard/run-warnings.h"
#include "measure/flow-output.h"
#include "measure/hpcc-experiment.h"
#include "measure/queue-lengths.h"
#include "options/run-title.h"
#include "run/work-estimate.h"

#include "ns3/json-output.h"
#include "ns3/run-cost.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/// Maximum warm-up and duration, s.
constexpr uint32_t MAX_SECONDS = 100;

/** The program's options. */
struct FlowArguments
{
    std::string sizes{"websearch"};
    double load{0.3};
    std::string pattern{"random"};
    FlowSettings::Incasts incasts;
    uint64_t incastSenders{60};
    Time warmUp{0};
    Time duration{MilliSeconds(10)};
    std::string file; // empty: random flows
    std::string end{"arrival"};
    std::string preset{"none"};
    RunFilesOptions files;
    std::string csv;
    bool listsFlows{false};
    bool listsPorts{false};
    std::string json;

    void AddTo(ProgramOptions& options);
    void UsePreset(const ProgramOptions& options, ClusterOptions& cluster);
    HpccExperiment::Slowdowns GetPublished(const ProgramOptions& options,
                                           const ClusterOptions& cluster) const;
    void Check(const ProgramOptions& options, const ClusterOptions& cluster) const;
    FlowSettings MakeFlows(const ClusterOptions& cluster) const;
    std::string Describe() const;
};

void
FlowArguments::AddTo(ProgramOptions& options)
{
    options.Group("Flows");
    options.AddKind("flow-sizes",
                    "flow-sizes",
                    "random flows: distribution of their sizes",
                    sizes,
                    &DescribeAlternatives<FlowSizesEntry>);
    options.AddDouble("load",
                      "random flows: payload, part of the rate of hosts' ports",
                      load,
                      0.001,
                      0.95);
    options.AddKind("pattern",
                    "flow-pattern",
                    "random flows: between which hosts",
                    pattern,
                    &DescribeAlternatives<FlowPatternEntry>);
    options.AddDouble("incast-load",
                      "incasts beside random flows: payload, part of the rate of all hosts' ports; "
                      "0: none",
                      incasts.load,
                      0,
                      0.95);
    options.AddUnsigned("incast-senders",
                        "incasts: hosts that send at once to another one",
                        incastSenders,
                        1,
                        1 << 20);
    options.AddBytes("incast-bytes",
                     "incasts: what each of them sends",
                     incasts.bytes,
                     1,
                     FlowSizes::MAX_BYTES);
    options.AddTime("warm-up", "random flows: time before flows are measured", warmUp);
    options.AddTime("duration",
                    "random flows: time in which measured flows start; others do for as long after "
                    "it",
                    duration);
    options.AddString("flow-file",
                      "file with all flows, in the format of HPCC's simulator, in place of random "
                      "ones: their number, then lines of source, destination, priority (traffic "
                      "class with rdma), port (the same for all), bytes, start in s",
                      file);
    options.AddChoice(
        "flow-end",
        "a flow ends when its last byte arrives, or, as in HPCC's simulator, when its "
        "sender has the last acknowledgement (RDMA)",
        end,
        {"arrival", "acknowledgement"});
    options.AddChoice("preset",
                      "hpcc: the network, parameters and flows of HPCC's paper, with the published "
                      "slowdowns beside ours; other options go before it",
                      preset,
                      {"none", "hpcc"});
    options.Group("Output");
    files.AddTo(options);
    options.AddOutput("csv",
                      "CSV file with a row for each flow that has ended",
                      csv,
                      OutputKind::ANY);
    options.AddBool("list-flows", "whether JSON has each flow that has ended", listsFlows);
    options.AddBool("list-ports",
                    "whether JSON has the largest and the mean queue of each port of a switch; "
                    "nothing else changes, but the simulation takes longer",
                    listsPorts);
    options.AddJson(json);
}

void
FlowArguments::UsePreset(const ProgramOptions& options, ClusterOptions& cluster)
{
    if (preset == "none")
    {
        return;
    }
    const auto use = [&options](const char* name, auto& value, const auto& published) {
        value = options.IsGiven(name) ? value : published;
    };
    const ClusterOptions network = HpccExperiment::GetNetwork();
    // The published number of hosts is that of the published topology.
    use("topology", cluster.ranks, options.IsGiven("ranks") ? cluster.ranks : network.ranks);
    use("topology", cluster.topology, network.topology);
    use("rate", cluster.rate, network.rate);
    use("delay", cluster.delay, network.delay);
    use("mtu", cluster.mtu, network.mtu);
    use("warm-up", warmUp, MilliSeconds(5));
    use("duration", duration, MilliSeconds(30));
    if (cluster.transport == "rdma")
    {
        use("congestion-control", cluster.congestionControl, network.congestionControl);
        use("flow-end", end, std::string("acknowledgement"));
        if (cluster.congestionControl == "dcqcn")
        {
            cluster.congestionControl = "dcqcn:preset=hpcc";
        }
        HpccExperiment::SetAttributes(KeyValues::Split(cluster.congestionControl).GetName());
    }
}

HpccExperiment::Slowdowns
FlowArguments::GetPublished(const ProgramOptions& options, const ClusterOptions& cluster) const
{
    // All that the published slowdowns depend on; the duration and seeds vary the sample.
    for (const char* name : {"load",
                             "pattern",
                             "incast-load",
                             "flow-file",
                             "flow-end",
                             "ranks",
                             "topology",
                             "rate",
                             "delay",
                             "mtu",
                             "buffer",
                             "path",
                             "loss",
                             "fault",
                             "transport",
                             "recovery"})
    {
        if (preset == "none" || options.IsGiven(name))
        {
            return {};
        }
    }
    return HpccExperiment::GetPublished(
        sizes,
        cluster.congestionControl == "dcqcn:preset=hpcc" ? "dcqcn" : cluster.congestionControl);
}

void
FlowArguments::Check(const ProgramOptions& options, const ClusterOptions& cluster) const
{
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("--mpi=" + std::to_string(Processes::GetCount()) +
                                 " (allowed: 1, flows are counted by one process)");
    }
    if (cluster.ranks < 2)
    {
        throw ConfigurationError("--ranks=" + std::to_string(cluster.ranks) +
                                 " (allowed: 2 and more)");
    }
    if (cluster.GetPortPairs() == "stripe")
    {
        throw ConfigurationError("--port-pairs=" + cluster.portPairs +
                                 " (allowed: turns, spray, as a flow uses one connection)");
    }
    if (GetPathChoice(cluster.path).isPinned)
    {
        throw ConfigurationError("--path=" + cluster.path +
                                 " (allowed: paths that are not pinned to a schedule)");
    }
    if (end == "acknowledgement" && !cluster.GetTransport().hasQueuePairs)
    {
        throw ConfigurationError("--flow-end=acknowledgement with --transport=" +
                                 cluster.transport + " (allowed: with rdma)");
    }
    if (!file.empty())
    {
        for (const std::string name : {"flow-sizes",
                                       "load",
                                       "pattern",
                                       "incast-load",
                                       "incast-senders",
                                       "incast-bytes",
                                       "warm-up",
                                       "duration"})
        {
            if (options.IsGiven(name))
            {
                throw ConfigurationError("--" + name +
                                         " with --flow-file=" + MakePrintableName(file) +
                                         " (allowed: one of them, as the file has all flows)");
            }
        }
    }
    if (!duration.IsStrictlyPositive() || duration > Seconds(MAX_SECONDS))
    {
        throw ConfigurationError("--duration=" + FormatTime(duration) +
                                 " (allowed: more than 0, up to " + std::to_string(MAX_SECONDS) +
                                 "s)");
    }
    if (warmUp > Seconds(MAX_SECONDS))
    {
        throw ConfigurationError("--warm-up=" + FormatTime(warmUp) + " (allowed: up to " +
                                 std::to_string(MAX_SECONDS) + "s)");
    }
    for (const char* name : {"incast-senders", "incast-bytes"})
    {
        if (incasts.load == 0 && options.IsGiven(name))
        {
            throw ConfigurationError(std::string("--") + name +
                                     " without --incast-load (allowed: with it)");
        }
    }
    if ((listsFlows || listsPorts) && json.empty())
    {
        throw ConfigurationError(std::string(listsFlows ? "--list-flows" : "--list-ports") +
                                 " without --json (allowed: with it)");
    }
    std::ifstream existing(csv);
    std::string line;
    if (!csv.empty() && std::getline(existing, line) && line != FlowOutput::MakeCsvHeader())
    {
        throw ConfigurationError("--csv: '" + MakePrintableName(csv) +
                                 "' has other content (allowed: a new file, or one that this "
                                 "program has written)");
    }
}

FlowSettings
FlowArguments::MakeFlows(const ClusterOptions& cluster) const
{
    const auto chosen = Choose<FlowSizesEntry>(sizes);
    return {file.empty() ? std::vector<ListedFlow>()
                         : ReadFlowFile(file,
                                        static_cast<uint32_t>(cluster.ranks),
                                        cluster.GetTopology()->nodesOfHosts),
            chosen.entry->make(chosen.values),
            load,
            Choose<FlowPatternEntry>(pattern),
            file.empty() ? warmUp : Time(0),
            duration,
            end == "acknowledgement",
            {incasts.load, static_cast<uint32_t>(incastSenders), incasts.bytes}};
}

std::string
FlowArguments::Describe() const
{
    if (!file.empty())
    {
        return MakePrintableName(file);
    }
    return sizes + " at " + FormatDouble(100 * load) + " % load, " + pattern +
           (incasts.load > 0 ? ", incasts of " + std::to_string(incastSenders) + " x " +
                                   FormatBytes(incasts.bytes) + " at " +
                                   FormatDouble(100 * incasts.load) + " % load"
                             : "");
}

/** @return a JSON number, or null */
JsonValue
ToJson(double value)
{
    return std::isnan(value) ? JsonValue() : JsonValue(value);
}

/** @return a row of the results */
JsonValue
ToJson(const FlowStatistics::Row& row)
{
    auto object = JsonValue::Object();
    object.Set("bytes", row.largest)
        .Set("flows", uint64_t{row.flows})
        .Set("p50_slowdown", ToJson(row.slowdown.p50))
        .Set("p95_slowdown", ToJson(row.slowdown.p95))
        .Set("p99_slowdown", ToJson(row.slowdown.p99))
        .Set("p999_slowdown", ToJson(row.slowdown.p999))
        .Set("p50_time_s", ToJson(row.seconds.p50))
        .Set("p95_time_s", ToJson(row.seconds.p95))
        .Set("p99_time_s", ToJson(row.seconds.p99))
        .Set("p999_time_s", ToJson(row.seconds.p999));
    return object;
}

/** Prints a row of the table. */
void
Print(const std::string& name, const FlowStatistics::Row& row)
{
    std::string line;
    for (const double value :
         {row.slowdown.p50, row.slowdown.p95, row.slowdown.p99, row.slowdown.p999})
    {
        char text[20];
        std::snprintf(text, sizeof(text), " %8.3f", value);
        line += std::isnan(value) ? "        -" : text;
    }
    for (const double value : {row.seconds.p50, row.seconds.p95, row.seconds.p99, row.seconds.p999})
    {
        char text[30];
        std::snprintf(text, sizeof(text), " %11.3f", 1e6 * value);
        line += std::isnan(value) ? "           -" : text;
    }
    std::printf("%-14s %8zu%s\n", name.c_str(), row.flows, line.c_str());
}

/** Prints the table. */
void
Print(const FlowMeasurement& measurement)
{
    std::printf("%-14s %8s %35s %47s\n%-14s %8s",
                "size",
                "flows",
                "slowdown",
                "completion time (us)",
                "(bytes)",
                "");
    std::printf(" %8s %8s %8s %8s %11s %11s %11s %11s\n",
                "p50",
                "p95",
                "p99",
                "p99.9",
                "p50",
                "p95",
                "p99",
                "p99.9");
    for (const auto& row : measurement.GetStatistics().GetRows(measurement.GetBins()))
    {
        Print("<= " + std::to_string(row.largest), row);
    }
    Print("all", measurement.GetStatistics().GetTotal());
    if (measurement.GetIncasts() > 0)
    {
        Print("incasts", measurement.GetIncastStatistics().GetTotal());
    }
}

/** Shows what a measurement will take, if it takes long: flows between random hosts. */
void
ShowEstimate(const Cluster& cluster, const FlowMeasurement& measurement)
{
    std::vector<std::pair<uint32_t, uint32_t>> ends;
    for (uint32_t host = 0; host < cluster.GetRanks() && WorkEstimate::IsWanted(); host++)
    {
        ends.emplace_back(host, (host * 7919 + 1) % cluster.GetRanks());
    }
    const double hops = EstimateMessages(cluster, ends, measurement.GetExpectedBytes());
    const WorkEstimate estimate(1,
                                {hops, measurement.GetExpectedBytes()},
                                cluster.GetOptions(),
                                FormatDouble(std::ceil(measurement.GetExpectedFlows())) + " flows");
    estimate.Show();
}

} // namespace

int
RunFlowBenchmark(const std::vector<std::string>& arguments)
{
    FlowArguments setting;
    ClusterOptions clusterOptions;
    ProgramOptions options("flow-benchmark",
                           "Flow completion times and slowdowns (time over that on an idle "
                           "network) of random or listed flows.");
    setting.AddTo(options);
    ClusterCommandLine commandLine(clusterOptions);
    commandLine.AddNetworkTo(options);
    options.AddKind("transport",
                    "transport",
                    "how flows travel",
                    clusterOptions.transport,
                    &DescribeAlternatives<TransportEntry>);
    commandLine.AddCongestionControlTo(options,
                                       "the TypeId of a TcpCongestionOps, such as ns3::TcpDctcp");
    options.Reserve("ns3::training::MultiPortTransport::QueuePairs");
    options.Reserve("ns3::training::MultiPortTransport::Split");
    options.Parse(arguments);
    setting.UsePreset(options, clusterOptions);
    commandLine.FollowTopology(options);
    setting.Check(options, clusterOptions);
    setting.files.Check(clusterOptions.ranks);
    if (commandLine.ShowTopology())
    {
        return 0;
    }
    const FlowSettings flows = setting.MakeFlows(clusterOptions);
    const JsonOutput json(setting.json);
    const Cluster cluster(clusterOptions);
    FlowMeasurement measurement(cluster, flows);
    commandLine.ExportTopology();
    const JsonValue configuration = GetConfiguration(options.ToJson(), cluster);
    FlowOutput output(setting.files,
                      setting.csv,
                      setting.listsFlows,
                      cluster,
                      configuration.Write());
    ShowEstimate(cluster, measurement);
    std::unique_ptr<QueueLengths> queues;
    if (setting.listsPorts)
    {
        queues = std::make_unique<QueueLengths>(cluster.GetFabric());
    }
    measurement.SetHandler([&output](const FlowRow& row) { output.Add(row); });
    std::string failure;
    std::exception_ptr error;
    try
    {
        measurement.Run();
    }
    catch (const SimulationStuck& stuck) // the results so far are kept
    {
        failure = stuck.what();
        error = std::current_exception();
    }
    output.Close(failure);

    const Fabric& fabric = cluster.GetFabric();
    const RunCost cost = GetRunCost(fabric);
    const PortCounters total = fabric.GetTotal();
    const auto warnings = GetWarnings(cluster);
    const auto bins = measurement.GetStatistics().GetRows(measurement.GetBins());
    if (setting.json != "-" && failure.empty())
    {
        std::printf("%s, %u hosts, %s, %s, %s (%s)%s: %llu flows measured of %llu\n%s",
                    setting.Describe().c_str(),
                    cluster.GetRanks(),
                    clusterOptions.topology.c_str(),
                    FormatRate(clusterOptions.rate).c_str(),
                    clusterOptions.transport.c_str(),
                    cluster.GetOptions().congestionControl.c_str(),
                    DescribeDeviations(clusterOptions).c_str(),
                    static_cast<unsigned long long>(measurement.GetMeasured()),
                    static_cast<unsigned long long>(measurement.GetStarted()),
                    FormatNotes(cluster.GetNotes()).c_str());
        Print(measurement);
    }
    // Prints, too.
    const PublishedTable comparison =
        HpccExperiment::Compare(failure.empty() ? bins : std::vector<FlowStatistics::Row>(),
                                setting.GetPublished(options, clusterOptions),
                                setting.json);
    if (setting.json != "-" && failure.empty())
    {
        std::printf(
            "%llu packets marked, %llu dropped, %llu lost, %llu pauses, largest queue %llu bytes\n"
            "%s%s\n%s",
            static_cast<unsigned long long>(total.markedFrames),
            static_cast<unsigned long long>(total.droppedFrames),
            static_cast<unsigned long long>(total.lostFrames),
            static_cast<unsigned long long>(total.pausesSent),
            static_cast<unsigned long long>(total.peakQueueBytes),
            FormatWarnings(warnings).c_str(),
            FormatRunCost(cost).c_str(),
            FormatInputs(ClusterOptions().DescribeHosts()).c_str());
    }
    auto document = JsonValue::Object();
    auto rows = JsonValue::Array();
    for (const auto& row : bins)
    {
        rows.Append(ToJson(row));
    }
    document.Set("rows", rows)
        .Set("published", comparison.GetRows())
        .Set("all", ToJson(measurement.GetStatistics().GetTotal()))
        .Set("offered_load", flows.listed.empty() ? measurement.GetOfferedLoad(false) : JsonValue())
        .Set("incast",
             flows.incasts.load > 0 && flows.listed.empty()
                 ? ToJson(measurement.GetIncastStatistics().GetTotal())
                       .Set("incasts", measurement.GetIncasts())
                       .Set("offered_load", measurement.GetOfferedLoad(true))
                 : JsonValue())
        .Set("flows", measurement.GetMeasured())
        .Set("all_flows", measurement.GetStarted())
        .Set("ended_flows", measurement.GetEnded())
        .Set("bytes", measurement.GetStartedBytes())
        .Set("ended_bytes", measurement.GetEndedBytes())
        .Set("list", output.GetList())
        .Set("ports", queues ? queues->ToJson() : JsonValue::Array())
        .Set("marked_frames", total.markedFrames)
        .Set("dropped_frames", total.droppedFrames)
        .Set("lost_frames", total.lostFrames)
        .Set("pause_frames", total.pausesSent)
        .Set("peak_queue_bytes", total.peakQueueBytes);
    AddFailure(document, failure);
    AddRunCost(document, cost);
    AddWarnings(document, warnings);
    document.Set("inputs", ClusterOptions().DescribeHosts())
        .Set("configuration", configuration)
        .Set("version", GetVersion());
    json.Write(document);
    Simulator::Destroy();
    if (error)
    {
        std::rethrow_exception(error);
    }
    return 0;
}

} // namespace ns3::training
