/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-program.h"

#include "core/memory.h"
#include "fabric-measurement.h"
#include "guard/run-warnings.h"
#include "options/repeated-runs.h"
#include "options/run-title.h"
#include "record/run-statistics.h"
#include "run/work-estimate.h"

#include "ns3/config.h"
#include "ns3/global-value.h"
#include "ns3/guarded-run.h"
#include "ns3/json-output.h"
#include "ns3/roce-wire-format.h"
#include "ns3/string.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ns3::training
{

namespace
{

/// Attribute for the packets per requested acknowledgement.
constexpr const char* ACK_INTERVAL = "ns3::training::RdmaNic::AckInterval";

/** The benchmark's options. */
struct Experiment
{
    std::string workload{"custom"};
    std::string pattern{"neighbour"};
    FabricTraffic traffic{{}, 10000000, 1, {}};
    bool compareSchedulers{false};
    bool compareAcks{false};
    std::string json;
    RunFilesOptions files;
};

/** A row of the comparison. */
struct ComparedRow
{
    std::string scheduler;  // TypeId of ns-3's event list
    uint64_t packetsPerAck; // packets per requested acknowledgement
    FabricMeasurement measurement;
};

/** Sets the options of a predefined workload, unless it is "custom". */
void
UseWorkload(Experiment& experiment, ClusterOptions& cluster)
{
    if (experiment.workload == "custom")
    {
        return;
    }
    cluster.delay = MicroSeconds(1);
    cluster.mtu = 1000;
    if (experiment.workload == "W1")
    {
        cluster.ranks = 16;
        cluster.topology = "single-switch";
    }
    else if (experiment.workload == "W2")
    {
        cluster.ranks = 128;
        cluster.topology = "fat-tree:k=8";
    }
    else
    {
        cluster.ranks = 1024;
        cluster.topology = "fat-tree:k=16";
        experiment.pattern = "permutation";
        experiment.traffic.bytes = 2000000;
    }
}

/**
 * Measures in a child process, so that neither CPU time nor memory carry over.
 * @param row the configuration; receives the result
 * @param traffic the messages
 * @param clusterOptions the cluster
 * @return exit status of the child, which has printed the error if it is not 0
 */
int
MeasureApart(ComparedRow& row, const FabricTraffic& traffic, const ClusterOptions& clusterOptions)
{
    int ends[2];
    const pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0)
    {
        throw std::runtime_error(std::string("no process for a run: ") + std::strerror(errno));
    }
    if (child == 0)
    {
        GlobalValue::Bind("SchedulerType", StringValue(row.scheduler));
        Config::SetDefault(ACK_INTERVAL, UintegerValue(row.packetsPerAck));
        const FabricMeasurement measurement = MeasureFabric(traffic, Cluster(clusterOptions));
        const bool written =
            write(ends[1], &measurement, sizeof(measurement)) == sizeof(measurement);
        _exit(written ? 0 : 1); // without flushing the parent's buffers
    }
    close(ends[1]);
    const bool complete =
        read(ends[0], &row.measurement, sizeof(row.measurement)) == sizeof(row.measurement);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || (WEXITSTATUS(status) == 0 && !complete))
    {
        throw std::runtime_error("the run with " + row.scheduler + " has died");
    }
    return WEXITSTATUS(status);
}

/**
 * @param experiment the comparison
 * @return the rows: first the given options, then the alternatives
 */
std::vector<ComparedRow>
MakeRows(const Experiment& experiment)
{
    TypeIdValue scheduler;
    GlobalValue::GetValueByName("SchedulerType", scheduler);
    const auto nic = CreateObject<RdmaNic>();
    std::vector<std::string> schedulers{scheduler.Get().GetName()};
    std::vector<uint64_t> intervals{nic->GetSettings().ackInterval};
    if (experiment.compareSchedulers)
    {
        schedulers.insert(schedulers.end(), {"ns3::HeapScheduler", "ns3::MapScheduler"});
    }
    if (experiment.compareAcks)
    {
        intervals.push_back(1);
    }
    std::vector<ComparedRow> rows;
    for (const uint64_t interval : intervals)
    {
        for (const std::string& name : schedulers)
        {
            rows.push_back({name, interval, {}});
        }
    }
    return rows;
}

/** Refuses inconsistent options. */
void
CheckExperiment(const Experiment& experiment,
                const ClusterOptions& cluster,
                const ProgramOptions& options)
{
    // The number of queue pair numbers.
    constexpr uint32_t MAX_QUEUE_PAIRS = PSN_MODULUS - FIRST_QUEUE_PAIR;
    if (experiment.traffic.queuePairs * cluster.ranks > MAX_QUEUE_PAIRS)
    {
        throw ConfigurationError("--queue-pairs=" + std::to_string(experiment.traffic.queuePairs) +
                                 " (allowed: below 2^24 / ranks, " +
                                 std::to_string(MAX_QUEUE_PAIRS / cluster.ranks) + ")");
    }
    const std::string compares = experiment.compareSchedulers ? "--compare-schedulers"
                                 : experiment.compareAcks     ? "--compare-acks"
                                                              : "";
    if (compares.empty())
    {
        return;
    }
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError(compares + " (allowed in one process only, without --mpi)");
    }
    if (!cluster.pcap.empty())
    {
        throw ConfigurationError(compares + " (allowed without --pcap only)");
    }
    for (const auto& [name, text] : options.Values())
    {
        if (experiment.compareSchedulers && name == "SchedulerType")
        {
            throw ConfigurationError("--compare-schedulers (allowed without --SchedulerType only)");
        }
    }
}

/** Refuses traffic that would take too long, or too much memory. */
void
CheckSize(const FabricTraffic& traffic, const DataRate& rate)
{
    const double bytesPerSecond = static_cast<double>(rate.GetBitRate()) / 8;
    const bool isCutOff = !traffic.duration.IsZero();
    const double seconds = isCutOff ? traffic.duration.GetSeconds()
                                    : static_cast<double>(traffic.bytes) / bytesPerSecond;
    const std::string option = isCutOff ? "--duration=" + FormatTime(traffic.duration)
                                        : "--bytes=" + std::to_string(traffic.bytes);
    GuardedRun::CheckDuration(seconds, option);
    const double bytes = std::min(seconds * bytesPerSecond, 1e18);
    CheckMemory(static_cast<double>(traffic.messages.size()) *
                    GuardedRun::EstimateMemory(static_cast<uint64_t>(bytes), 0),
                option);
}

void
Print(const FabricMeasurement& measurement)
{
    std::printf("simulated time          %12.3f us\n", measurement.simulatedMicroseconds);
    std::printf("first completion        %12.3f us\n", measurement.firstMicroseconds);
    std::printf("busiest link to a host  %12.2f %%\n", 100 * measurement.utilization);
    std::printf("fairness of messages    %12.3f  (Jain's index of their rates)\n",
                measurement.fairness);
    std::printf("longest switch queue    %12.1f KB\n",
                static_cast<double>(measurement.peakQueueBytes) * 1e-3);
    std::printf("packets sent again      %12llu  (%.2f %%)\n",
                static_cast<unsigned long long>(measurement.repeatedPackets),
                measurement.sentPackets > 0
                    ? 100 * static_cast<double>(measurement.repeatedPackets) /
                          static_cast<double>(measurement.sentPackets)
                    : 0);
    std::printf("pause frames            %12llu\n",
                static_cast<unsigned long long>(measurement.pauseFrames));
    std::printf("frames lost by links    %12llu\n",
                static_cast<unsigned long long>(measurement.lostFrames));
    std::printf("frames dropped          %12llu\n",
                static_cast<unsigned long long>(measurement.droppedFrames));
    std::printf("data packet-hops        %12llu\n",
                static_cast<unsigned long long>(measurement.dataHops));
    std::printf("ACK packet-hops         %12llu\n",
                static_cast<unsigned long long>(measurement.controlHops));
    std::printf("events                  %12llu  (%.3f per data packet-hop)\n",
                static_cast<unsigned long long>(measurement.events),
                measurement.dataHops > 0 ? static_cast<double>(measurement.events) /
                                               static_cast<double>(measurement.dataHops)
                                         : 0);
    std::printf("CPU time                %12.3f s, after %.3f s of set-up\n",
                measurement.cpuSeconds,
                measurement.setupCpuSeconds);
    std::printf("wall-clock time         %12.3f s\n", measurement.wallSeconds);
    std::printf("data packet-hops / CPU s %11.3f M\n", measurement.GetRate() * 1e-6);
    std::printf("peak memory             %12.1f MiB, %.1f MiB of it after set-up\n",
                measurement.peakMebibytes,
                measurement.setupMebibytes);
}

/** Prints one line per row; the first row is the baseline. */
void
Print(const std::vector<ComparedRow>& rows)
{
    std::printf("\n%-31s %15s %9s %10s %10s %7s %9s\n%-31s %15s %9s %10s %10s %7s %9s\n",
                "",
                "",
                "",
                "ACK hops",
                "data hops",
                "",
                "peak",
                "scheduler",
                "packets per ACK",
                "CPU s",
                "",
                "M / CPU s",
                "ratio",
                "MiB");
    for (const ComparedRow& row : rows)
    {
        const FabricMeasurement& measurement = row.measurement;
        std::printf("%-31s %15llu %9.3f %10llu %10.3f %7.3f %9.1f%s\n",
                    row.scheduler.c_str(),
                    static_cast<unsigned long long>(row.packetsPerAck),
                    measurement.cpuSeconds,
                    static_cast<unsigned long long>(measurement.controlHops),
                    measurement.GetRate() * 1e-6,
                    measurement.GetRate() / rows[0].measurement.GetRate(),
                    measurement.peakMebibytes,
                    &row == rows.data() ? "  (default)" : "");
    }
}

/** Adds a measurement to a JSON object. */
void
AddTo(JsonValue& document, const FabricMeasurement& measurement)
{
    document.Set("data_packet_hops", measurement.dataHops)
        .Set("ack_packet_hops", measurement.controlHops)
        .Set("events", measurement.events)
        .Set("cpu_s", measurement.cpuSeconds)
        .Set("wall_s", measurement.wallSeconds)
        .Set("setup_cpu_s", measurement.setupCpuSeconds)
        .Set("data_packet_hops_per_cpu_s", measurement.GetRate())
        .Set("setup_memory_MiB", measurement.setupMebibytes)
        .Set("peak_memory_MiB", measurement.peakMebibytes)
        .Set("simulated_time_us", measurement.simulatedMicroseconds)
        .Set("first_completion_us", measurement.firstMicroseconds)
        .Set("utilization", measurement.utilization)
        .Set("fairness", measurement.fairness)
        .Set("peak_queue_bytes", measurement.peakQueueBytes)
        .Set("sent_packets", measurement.sentPackets)
        .Set("repeated_packets", measurement.repeatedPackets)
        .Set("lost_frames", measurement.lostFrames)
        .Set("dropped_frames", measurement.droppedFrames)
        .Set("marked_frames", measurement.markedFrames)
        .Set("pause_frames", measurement.pauseFrames);
}

/** A figure that --runs averages. */
struct RepeatedFigure
{
    std::string name; // in JSON
    std::function<double(const FabricMeasurement&)> get;
};

const std::vector<RepeatedFigure> FIGURES{
    {"simulated_time_us", [](const auto& m) { return m.simulatedMicroseconds; }},
    {"data_packet_hops", [](const auto& m) { return static_cast<double>(m.dataHops); }},
    {"ack_packet_hops", [](const auto& m) { return static_cast<double>(m.controlHops); }},
    {"dropped_frames", [](const auto& m) { return static_cast<double>(m.droppedFrames); }},
    {"marked_frames", [](const auto& m) { return static_cast<double>(m.markedFrames); }},
    {"pause_frames", [](const auto& m) { return static_cast<double>(m.pauseFrames); }},
    {"cpu_s", [](const auto& m) { return m.cpuSeconds; }},
    {"data_packet_hops_per_cpu_s", [](const auto& m) { return m.GetRate(); }},
};

/** Measures with several run numbers, each in a process of its own; prints means. */
int
Repeat(const ProgramOptions& options,
       const Experiment& experiment,
       const ClusterOptions& clusterOptions,
       const RepeatedRuns& repeated)
{
    const JsonOutput json(experiment.json);
    std::vector<FabricMeasurement> runs;
    auto list = JsonValue::Array();
    std::string failure;
    int status = 0;
    repeated.ForEach([&](uint64_t number) {
        FabricTraffic traffic = experiment.traffic;
        traffic.messages = FabricTraffic::MakeMessages(experiment.pattern,
                                                       static_cast<uint32_t>(clusterOptions.ranks));
        CheckSize(traffic, clusterOptions.rate);
        ComparedRow row = MakeRows(experiment)[0];
        status = MeasureApart(row, traffic, clusterOptions);
        if (status != 0) // the complete runs are kept
        {
            failure = "run " + std::to_string(number) + " is stuck";
            return false;
        }
        runs.push_back(row.measurement);
        auto one = JsonValue::Object();
        one.Set("run", number);
        AddTo(one, row.measurement);
        list.Append(one);
        return true;
    });
    if (status != 0 && status != 3)
    {
        return status;
    }
    auto document = JsonValue::Object();
    auto confidence = JsonValue::Object();
    const Cluster cluster(clusterOptions);
    const bool table = experiment.json != "-" && status == 0;
    if (table)
    {
        std::printf("%s, messages of %s, %s, mean and 95 %% confidence of %zu runs\n%s",
                    clusterOptions.topology.c_str(),
                    FormatBytes(experiment.traffic.bytes).c_str(),
                    experiment.pattern.c_str(),
                    runs.size(),
                    FormatNotes(cluster.GetNotes()).c_str());
    }
    for (const RepeatedFigure& figure : runs.empty() ? std::vector<RepeatedFigure>() : FIGURES)
    {
        std::vector<double> values;
        for (const FabricMeasurement& run : runs)
        {
            values.push_back(figure.get(run));
        }
        const MeanEstimate estimate = EstimateMean(values);
        document.Set(figure.name, estimate.mean);
        confidence.Set(figure.name, estimate.halfWidth);
        if (table)
        {
            std::printf("%-27s %16.3f +- %.3f\n",
                        figure.name.c_str(),
                        estimate.mean,
                        estimate.halfWidth);
        }
    }
    const auto warnings = GetWarnings(cluster);
    if (table)
    {
        std::printf("%s%s",
                    FormatWarnings(warnings).c_str(),
                    FormatInputs(ClusterOptions().DescribeHosts()).c_str());
    }
    document.Set("confidence_95", confidence).Set("runs", list);
    AddWarnings(document, warnings);
    document.Set("inputs", ClusterOptions().DescribeHosts());
    AddFailure(document, failure);
    document.Set("configuration", GetConfiguration(options.ToJson(), cluster))
        .Set("version", GetVersion());
    json.Write(document);
    return status;
}

/** Refuses files of runs that are not recorded. */
void
CheckExperimentFiles(const Experiment& experiment)
{
    experiment.files.Check(std::numeric_limits<uint32_t>::max());
    const bool compares = experiment.compareSchedulers || experiment.compareAcks;
    if (experiment.files.IsGiven() && (compares || Processes::GetCount() > 1))
    {
        throw ConfigurationError(
            "--results, --trace or --report with " +
            std::string(compares ? "--compare-schedulers or --compare-acks" : "--mpi") +
            " (allowed: with one simulation in a single process)");
    }
}

/** Measures, and records the run into the files. */
FabricMeasurement
MeasureRecorded(const ProgramOptions& options, const Experiment& experiment, const Cluster& cluster)
{
    if (!experiment.files.IsGiven())
    {
        return MeasureFabric(experiment.traffic, cluster);
    }
    RunFiles files(experiment.files,
                   cluster,
                   options.GetName(),
                   GetConfiguration(options.ToJson(), cluster).Write());
    try
    {
        const FabricMeasurement measurement = MeasureFabric(experiment.traffic, cluster, &files);
        files.Finish();
        files.Close("");
        return measurement;
    }
    catch (const SimulationStuck& stuck)
    {
        files.Finish();
        files.Close(stuck.what());
        throw;
    }
}

/** Shows what a measurement will take, if it takes long. */
void
ShowEstimate(const FabricTraffic& traffic, const Cluster& cluster)
{
    if (WorkEstimate::IsWanted() && traffic.duration.IsZero())
    {
        const double bytes =
            static_cast<double>(traffic.bytes) * static_cast<double>(traffic.messages.size());
        const WorkEstimate estimate(1,
                                    {EstimateMessages(cluster, traffic.messages, bytes), bytes},
                                    cluster.GetOptions(),
                                    std::to_string(traffic.messages.size()) + " messages");
        estimate.Show();
    }
}

} // namespace

int
RunFabricBenchmark(const std::vector<std::string>& arguments)
{
    Experiment experiment;
    ClusterOptions clusterOptions;
    clusterOptions.steadyState = "simulate"; // the speed of what is skipped is no measure
    ProgramOptions options("fabric-benchmark",
                           "Measures how fast the fabric and RDMA are simulated.");
    options.Group("Traffic");
    options.AddChoice(
        "workload",
        "W1: 16 hosts on one switch; W2: 128 hosts, k=8 fat-tree; W3: 1024 hosts, "
        "k=16, permutation of 2 MB; all with 1000-byte packets and 1 us links; custom: "
        "as the other options say",
        experiment.workload,
        {"custom", "W1", "W2", "W3"});
    options.AddString("pattern",
                      "who sends to whom: neighbour, permutation, incast:SENDERS, all-to-all",
                      experiment.pattern);
    options.AddBytes("bytes", "size of each message", experiment.traffic.bytes);
    options.AddUnsigned("queue-pairs",
                        "queue pairs that each message is spread over",
                        experiment.traffic.queuePairs,
                        1,
                        PSN_MODULUS - FIRST_QUEUE_PAIR);
    options.AddTime(
        "duration",
        "instead of messages of --bytes: endless ones, cut off after this time; 0: none",
        experiment.traffic.duration);
    options.AddBool("compare-schedulers",
                    "run with ns-3's heap and map as event lists, too, and compare",
                    experiment.compareSchedulers);
    options.AddBool("compare-acks",
                    "run with an acknowledgement for every packet, too, and compare",
                    experiment.compareAcks);
    options.AddJson(experiment.json);
    experiment.files.AddTo(options);
    ClusterCommandLine commandLine(clusterOptions);
    commandLine.AddNetworkTo(options);
    commandLine.AddCongestionControlTo(options);
    options.Group("Repetition");
    RepeatedRuns repeated;
    repeated.AddTo(options);
    // Twice: options of the user override those of the workload.
    options.Parse(arguments);
    UseWorkload(experiment, clusterOptions);
    options.Parse(arguments);
    commandLine.FollowTopology(options);
    CheckExperiment(experiment, clusterOptions, options);
    CheckExperimentFiles(experiment);
    if (commandLine.ShowTopology())
    {
        return 0;
    }

    if (repeated.GetCount() > 1)
    {
        repeated.Check(
            options,
            {"compare-schedulers", "compare-acks", "pcap", "results", "trace", "report"});
        return Repeat(options, experiment, clusterOptions, repeated);
    }
    const JsonOutput json(experiment.json);
    experiment.traffic.messages =
        FabricTraffic::MakeMessages(experiment.pattern,
                                    static_cast<uint32_t>(clusterOptions.ranks));
    CheckSize(experiment.traffic, clusterOptions.rate);
    std::vector<ComparedRow> rows = MakeRows(experiment);
    const bool compares = rows.size() > 1;
    for (std::size_t i = 0; compares && i < rows.size(); i++)
    {
        const int status = MeasureApart(rows[i], experiment.traffic, clusterOptions);
        if (status != 0)
        {
            return status;
        }
    }
    const Cluster cluster(clusterOptions);
    commandLine.ExportTopology();
    if (!compares)
    {
        ShowEstimate(experiment.traffic, cluster);
        rows[0].measurement = MeasureRecorded(options, experiment, cluster);
    }
    const auto warnings = GetWarnings(cluster);
    if (experiment.json != "-")
    {
        std::printf("%s%s, %zu messages of %s, %s, packets of %u bytes\n%s",
                    clusterOptions.topology.c_str(),
                    DescribeDeviations(clusterOptions).c_str(),
                    experiment.traffic.messages.size(),
                    FormatBytes(experiment.traffic.bytes).c_str(),
                    experiment.pattern.c_str(),
                    cluster.GetOptions().GetMtu(),
                    FormatNotes(cluster.GetNotes()).c_str());
        Print(rows[0].measurement);
        std::printf("%s", FormatWarnings(warnings).c_str());
        if (compares)
        {
            Print(rows);
        }
        std::printf("%s", FormatInputs(ClusterOptions().DescribeHosts()).c_str());
    }
    auto document = JsonValue::Object();
    AddTo(document, rows[0].measurement);
    AddWarnings(document, warnings);
    auto comparison = JsonValue::Array();
    for (const ComparedRow& row : rows)
    {
        auto object = JsonValue::Object();
        object.Set("scheduler", row.scheduler)
            .Set("packets_per_ack", row.packetsPerAck)
            .Set("default", &row == rows.data())
            .Set("ratio", row.measurement.GetRate() / rows[0].measurement.GetRate());
        AddTo(object, row.measurement);
        comparison.Append(object);
    }
    document.Set("comparison", comparison)
        .Set("inputs", ClusterOptions().DescribeHosts())
        .Set("configuration", GetConfiguration(options.ToJson(), cluster))
        .Set("version", GetVersion());
    json.Write(document);
    Simulator::Destroy();
    return 0;
}

} // namespace ns3::training
