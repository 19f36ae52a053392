/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The simulation of HPCC's paper (Li et al., SIGCOMM 2019, section 5.2): slowdown of flows by size,
 * next to the published values.
 *
 *   ./ns3w run "hpcc-fct --congestion-control=dcqcn"
 */

#include "hidden-global-values.h"

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

constexpr double UNKNOWN = std::numeric_limits<double>::quiet_NaN();

// The fat-tree (mix/fat.txt of HPCC's simulator): 5 pods of 4 top-of-rack and 4 aggregation
// switches; aggregation switch i of each pod has links to core switches 4i to 4i + 3.
constexpr uint32_t PODS = 5;
constexpr uint32_t PER_POD = 4;
constexpr uint32_t RACKS = PODS * PER_POD;
constexpr uint32_t CORES = PER_POD * PER_POD;
constexpr uint32_t MAX_HOSTS_PER_RACK = 16;
constexpr uint64_t HOST_RATE = 100000000000;   // bit/s
constexpr uint64_t FABRIC_RATE = 400000000000; // bit/s
constexpr uint32_t LINKS_ACROSS_PODS = 6;

constexpr uint32_t MTU = 1000;
/// A full packet and an acknowledgement on the line, without telemetry, bytes.
constexpr uint32_t LINE_BYTES = Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
constexpr uint32_t PACKET_BYTES = MTU + ROCE_BYTES + Frame::ETHERNET_BYTES + LINE_BYTES;
constexpr uint32_t ACK_BYTES = ROCE_BYTES + AETH_BYTES + Frame::ETHERNET_BYTES + LINE_BYTES;

/// By distribution, the bins of HPCC's plots: each ends at a decile. Largest size of each, bytes.
const std::map<std::string, std::vector<uint64_t>> BINS{
    {"websearch", {6700, 20000, 30000, 50000, 73000, 200000, 1000000, 2000000, 5000000, 30000000}},
    {"fbhadoop", {325, 400, 500, 600, 700, 1000, 7000, 46000, 120000, 10000000}}};

/** Published slowdowns at 30 % load by bin, read from plots to about 5 %. */
struct Published
{
    std::vector<double> p95;
    std::vector<double> p99;
};

/** By distribution and algorithm; DCQCN and TIMELY with windows ("+w"). */
const std::map<std::string, Published> PUBLISHED{
    {"websearch hpcc",
     {{1.3, 1.5, 1.7, 1.93, 2.1, 2.75, 3.75, 4.05, 4.35, 4.0},
      {1.7, 1.9, 2.1, 2.45, 2.75, 3.6, 5.1, 5.8, 6.3, 5.1}}},
    {"websearch dcqcn",
     {{3.05, 3.05, 3.05, 3.05, 2.8, 3.2, 3.7, 3.85, 3.7, 3.25},
      {4.3, UNKNOWN, UNKNOWN, UNKNOWN, 3.7, 4.0, 6.1, 5.4, 5.0, 4.1}}},
    {"websearch dctcp",
     {{2.6, 2.6, 2.6, 2.6, 2.6, 3.2, 4.2, UNKNOWN, UNKNOWN, 3.1},
      {3.8, UNKNOWN, UNKNOWN, UNKNOWN, 3.4, UNKNOWN, 6.8, UNKNOWN, UNKNOWN, 4.0}}},
    // The paper says of TIMELY+w that it is about the same as DCQCN+w.
    {"websearch timely",
     {{3.05, 3.05, 3.05, 3.05, 2.8, 3.2, 3.7, 3.85, 3.7, 3.25}, std::vector<double>(10, UNKNOWN)}},
    {"fbhadoop hpcc",
     {{1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.9, 2.4, 4.3},
      {2.12, 2.12, 2.12, 2.12, 2.12, 2.12, 2.12, UNKNOWN, UNKNOWN, UNKNOWN}}},
    {"fbhadoop dcqcn",
     {{2.75, 2.75, 2.75, 2.75, 2.75, 2.75, 2.75, UNKNOWN, UNKNOWN, 3.3},
      {4.15, 4.15, 4.15, 4.15, 4.15, 4.15, 4.15, UNKNOWN, UNKNOWN, UNKNOWN}}},
    {"fbhadoop timely",
     {{2.8, 2.8, 2.8, 2.8, 2.8, 2.8, 2.8, UNKNOWN, UNKNOWN, UNKNOWN},
      {4.3, 4.3, 4.3, 4.3, 4.3, 4.3, 4.3, UNKNOWN, UNKNOWN, UNKNOWN}}},
    {"fbhadoop dctcp",
     {{2.45, 2.45, 2.45, 2.45, 2.45, 2.45, 2.45, UNKNOWN, UNKNOWN, UNKNOWN},
      {3.55, 3.55, 3.55, 3.55, 3.55, 3.55, 3.55, UNKNOWN, UNKNOWN, UNKNOWN}}}};

/// First random stream.
constexpr int64_t FIRST_STREAM = 1;
/// Maximum warm-up and duration, s.
constexpr uint32_t MAX_SECONDS = 100;

/** Parameters of the simulation. */
struct Setting
{
    std::string congestionControl{"hpcc"};
    std::string distribution{"websearch"};
    double load{0.3};
    Time warmUp{MilliSeconds(5)};
    Time duration{MilliSeconds(30)};
    uint64_t scale{1};
    std::string json;
    RunFilesOptions files;
};

/** @return the sizes of the flows */
FlowSizes
MakeSizes(const Setting& setting)
{
    const auto sizes = Choose<FlowSizesEntry>(setting.distribution);
    return sizes.entry->make(sizes.values);
}

/**
 * Sets the parameters of HPCC's run.py that differ from the defaults of this module.
 * @param congestionControl name of the algorithm
 */
void
UsePublishedParameters(const std::string& congestionControl)
{
    const std::string space = "ns3::training::";
    for (const char* name : {"Dcqcn", "Dctcp", "Hpcc", "PowerTcp", "ThetaPowerTcp", "Timely"})
    {
        Config::SetDefault(space + "Rdma" + name + "::MinimumRate", StringValue("1Gbps"));
    }
    Config::SetDefault(space + "RdmaHpcc::Eta", DoubleValue(0.99));
    Config::SetDefault(space + "RdmaHpcc::MaxStage", UintegerValue(0));
    Config::SetDefault(space + "RdmaHpcc::AdditiveIncrease", DoubleValue(0.0004));
    Config::SetDefault(space + "RdmaDcqcn::Window", BooleanValue(true));
    Config::SetDefault(space + "RdmaTimely::Window", BooleanValue(true));
    // Acknowledgements share the class of data, except with TIMELY. Each carries the ECN echo, and
    // DCQCN checks once per microsecond whether there was one.
    const uint8_t answers = congestionControl == "timely" ? 6 : 3;
    Config::SetDefault(space + "RdmaNic::AckPriority", UintegerValue(answers));
    Config::SetDefault(space + "RdmaNic::CnpPriority", UintegerValue(answers));
    Config::SetDefault(space + "RdmaNic::CnpInterval", TimeValue(MicroSeconds(1)));
    Config::SetDefault(space + "SwitchDevice::BufferSize", UintegerValue(32 << 20));
    Config::SetDefault(space + "SwitchDevice::LargestFrame", UintegerValue(1200));
    const double step = Registry<CongestionControlEntry>::Find(congestionControl).ecnStepPerGbps;
    if (step > 0)
    {
        Config::SetDefault(space + "SwitchDevice::EcnKminPerGbps", DoubleValue(step));
        Config::SetDefault(space + "SwitchDevice::EcnKmaxPerGbps", DoubleValue(step));
    }
}

/** @return the fat-tree; with 16 hosts per rack it has equal uplink and downlink capacity */
TopologyGraph
MakeFatTree(uint32_t hostsPerRack)
{
    TopologyGraph graph;
    graph.name = "HPCC's fat-tree";
    graph.hosts = RACKS * hostsPerRack;
    graph.switches = 2 * RACKS + CORES;
    const DataRate fabricRate(FABRIC_RATE);
    const Time delay = MicroSeconds(1);
    const uint32_t racks = graph.hosts;
    const uint32_t aggregations = racks + RACKS;
    const uint32_t cores = aggregations + RACKS;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        graph.links.push_back({host, racks + host / hostsPerRack, DataRate(HOST_RATE), delay});
    }
    for (uint32_t i = 0; i < RACKS; i++)
    {
        for (uint32_t j = 0; j < PER_POD; j++)
        {
            const uint32_t aggregation = aggregations + i / PER_POD * PER_POD + j;
            graph.links.push_back({racks + i, aggregation, fabricRate, delay});
        }
    }
    for (uint32_t i = 0; i < RACKS; i++)
    {
        for (uint32_t j = 0; j < PER_POD; j++)
        {
            const uint32_t core = cores + i % PER_POD * PER_POD + j;
            graph.links.push_back({aggregations + i, core, fabricRate, delay});
        }
    }
    return graph;
}

/** The fat-tree and its flows: Poisson arrivals at every host, a queue pair per flow. */
class Experiment
{
  public:
    /**
     * @param setting parameters
     * @param options of the program, for results files
     */
    Experiment(const Setting& setting, const ProgramOptions& options);
    Experiment(const Experiment&) = delete;
    Experiment& operator=(const Experiment&) = delete;

    /** Runs until every measured flow has finished. */
    void Run();

    /** @return slowdowns of the measured flows: time until the last ACK / ideal time */
    const FlowStatistics& GetResults() const
    {
        return m_results;
    }

    /** @return all flows */
    uint64_t GetFlows() const
    {
        return m_arrivals->GetFlows();
    }

    /** @return the fabric */
    const Fabric& GetFabric() const
    {
        return m_fabric;
    }

  private:
    void Start(const HostPair& ends, uint64_t bytes);
    void Complete(uint64_t bytes, Time start, double ideal);
    void Record(const HostPair& ends, uint64_t bytes, Time start);
    double GetRoundTrip(uint32_t links) const;
    double GetIdeal(uint32_t source, uint32_t destination, uint64_t bytes) const;

    const Setting& m_setting;
    uint32_t m_hostsPerRack;
    Fabric m_fabric;
    std::vector<std::vector<Ptr<RdmaNic>>> m_nics; // by host and rail, here one per host
    std::unique_ptr<PoissonFlows> m_arrivals;
    uint64_t m_measured{0};
    FlowStatistics m_results;
    std::string m_failure;
    std::unique_ptr<RunFiles> m_files; // null: none
};

Experiment::Experiment(const Setting& setting, const ProgramOptions& options)
    : m_setting(setting),
      m_hostsPerRack(MAX_HOSTS_PER_RACK / static_cast<uint32_t>(setting.scale))
{
    m_fabric = FabricHelper().Install(MakeFatTree(m_hostsPerRack));
    RdmaHelper rdma;
    rdma.SetCongestionControl(setting.congestionControl);
    rdma.SetAttribute("Mtu", UintegerValue(MTU));
    rdma.SetAttribute("BaseRoundTrip", TimeValue(Seconds(GetRoundTrip(LINKS_ACROSS_PODS))));
    rdma.SetAttribute("PathHops", UintegerValue(LINKS_ACROSS_PODS));
    m_nics = rdma.Install(m_fabric, m_fabric.topology.hosts);
    const FlowSizes sizes = MakeSizes(setting);
    const auto pattern = Choose<FlowPatternEntry>("random");
    const auto random = CreateObject<UniformRandomVariable>();
    auto pairs = pattern.entry->make(pattern.values, m_fabric.topology.hosts, *random);
    const double gap =
        pairs->GetMeanGap(setting.load, static_cast<double>(HOST_RATE), sizes.GetMean());
    m_arrivals = std::make_unique<PoissonFlows>(
        sizes,
        std::move(pairs),
        gap,
        FIRST_STREAM,
        [this](const HostPair& ends, uint64_t bytes) { Start(ends, bytes); });
    if (setting.files.IsGiven())
    {
        m_files = std::make_unique<RunFiles>(setting.files,
                                             m_fabric,
                                             options.GetName(),
                                             options.ToJson().Write());
    }
}

/** @return idle round trip of a full packet and its ACK over a number of links, s */
double
Experiment::GetRoundTrip(uint32_t links) const
{
    // Both end links have the host rate, the links between have the fabric rate.
    const double serialization =
        8.0 * (PACKET_BYTES + ACK_BYTES) *
        (2 / static_cast<double>(HOST_RATE) + (links - 2) / static_cast<double>(FABRIC_RATE));
    const Time pipeline = m_fabric.devicesOfSwitches[0]->GetPipelineDelay();
    return 2e-6 * links + 2 * (links - 1) * pipeline.GetSeconds() + serialization;
}

double
Experiment::GetIdeal(uint32_t source, uint32_t destination, uint64_t bytes) const
{
    // As in HPCC's simulator: an idle round trip, and all packets at the host rate.
    const uint32_t rackA = source / m_hostsPerRack;
    const uint32_t rackB = destination / m_hostsPerRack;
    const uint32_t links = rackA == rackB                       ? 2
                           : rackA / PER_POD == rackB / PER_POD ? 4
                                                                : LINKS_ACROSS_PODS;
    const uint64_t packets = (bytes + MTU - 1) / MTU;
    const auto onLine = static_cast<double>(bytes + packets * (PACKET_BYTES - MTU) + RETH_BYTES);
    return GetRoundTrip(links) + 8 * onLine / static_cast<double>(HOST_RATE);
}

void
Experiment::Start(const HostPair& ends, uint64_t bytes)
{
    const Time now = Simulator::Now();
    const auto& [host, peer] = ends;
    const auto number = FIRST_QUEUE_PAIR +
                        static_cast<uint32_t>((GetFlows() - 1) % (PSN_MODULUS - FIRST_QUEUE_PAIR));
    auto queuePair = m_nics[host][0]->CreateQueuePair(number, peer, number);
    m_nics[peer][0]->CreateQueuePair(number, host, number);
    queuePair->SetErrorHandler([this](const std::string& reason) {
        m_failure = reason;
        Simulator::Stop();
    });
    if (now >= m_setting.warmUp && now < m_setting.warmUp + m_setting.duration)
    {
        m_measured++;
        const double ideal = GetIdeal(host, peer, bytes);
        queuePair->SetCompletionHandler([this, ends = ends, bytes, now, ideal](uint64_t) {
            Record(ends, bytes, now);
            Complete(bytes, now, ideal);
        });
    }
    else if (m_files)
    {
        queuePair->SetCompletionHandler(
            [this, ends = ends, bytes, now](uint64_t) { Record(ends, bytes, now); });
    }
    WorkRequest request;
    request.bytes = bytes;
    queuePair->Write(request);
}

void
Experiment::Record(const HostPair& ends, uint64_t bytes, Time start)
{
    if (m_files)
    {
        MessageRow row;
        const auto& [source, destination] = ends;
        row.source = source;
        row.destination = destination;
        row.tag = GetFlows();
        row.bytes = bytes;
        m_files->AddMessage(row, start, Simulator::Now());
    }
}

void
Experiment::Complete(uint64_t bytes, Time start, double ideal)
{
    const double taken = (Simulator::Now() - start).GetSeconds();
    m_results.Add(bytes, std::max(1.0, taken / ideal), taken);
    if (m_results.GetFlows() == m_measured &&
        Simulator::Now() >= m_setting.warmUp + m_setting.duration)
    {
        Simulator::Stop();
    }
}

void
Experiment::Run()
{
    // Until then the measured flows see the full load.
    m_arrivals->Run(Time(0), m_setting.warmUp + 2 * m_setting.duration);
    const Time end = m_setting.warmUp + m_setting.duration;
    const ProgressLine progress(m_fabric, [this, end] {
        const double ended = m_measured > 0 ? static_cast<double>(m_results.GetFlows()) /
                                                  static_cast<double>(m_measured)
                                            : 0;
        const double passed = Simulator::Now().GetSeconds() / end.GetSeconds();
        return passed < 1 ? 0.8 * passed : 0.8 + 0.2 * ended;
    });
    Simulator::Run();
    const bool isStuck = m_results.GetFlows() < m_measured;
    const std::string failure = isStuck ? std::to_string(m_measured - m_results.GetFlows()) +
                                              " of " + std::to_string(m_measured) +
                                              " flows have not ended; " + m_failure
                                        : "";
    if (m_files)
    {
        m_files->Finish();
        m_files->Close(failure);
    }
    if (isStuck)
    {
        throw SimulationStuck(failure);
    }
}

/** @return a number in six columns, or a dash if it is unknown */
std::string
FormatCell(const char* format, double value)
{
    char text[20];
    std::snprintf(text, sizeof(text), format, value);
    return std::isnan(value) ? "     -" : text;
}

/** @return a JSON number, or null */
JsonValue
ToJson(double value)
{
    return std::isnan(value) ? JsonValue() : JsonValue(value);
}

/** Prints slowdowns next to the published ones and adds them to a JSON array. */
JsonValue
Report(const Setting& setting, const FlowStatistics& results, bool prints)
{
    const auto known = PUBLISHED.find(setting.distribution + " " + setting.congestionControl);
    const std::vector<uint64_t>& bins = BINS.at(setting.distribution);
    const std::vector<double> nothing(bins.size(), UNKNOWN);
    const bool comparable = known != PUBLISHED.end() && setting.load == 0.3 && setting.scale == 1;
    const Published published = comparable ? known->second : Published{nothing, nothing};
    if (prints)
    {
        std::printf("slowdown  flows   p50        p95: published, ours, %%      p99: published, "
                    "ours, %%\n");
    }
    auto rows = JsonValue::Array();
    std::vector<double> deviations[2];
    std::size_t bin = 0;
    for (const FlowStatistics::Row& measured : results.GetRows(bins))
    {
        const double ours[] = {measured.slowdown.p95, measured.slowdown.p99};
        const double theirs[] = {published.p95[bin], published.p99[bin]};
        bin++;
        auto row = JsonValue::Object();
        row.Set("bytes", measured.largest)
            .Set("flows", uint64_t{measured.flows})
            .Set("p50", ToJson(measured.slowdown.p50))
            .Set("p95", ToJson(ours[0]))
            .Set("p99", ToJson(ours[1]))
            .Set("published_p95", ToJson(theirs[0]))
            .Set("published_p99", ToJson(theirs[1]));
        rows.Append(row);
        std::string line;
        for (std::size_t i = 0; i < 2; i++)
        {
            const double deviation = 100 * (ours[i] / theirs[i] - 1);
            if (!std::isnan(deviation))
            {
                deviations[i].push_back(deviation);
            }
            line += "        " + FormatCell("%6.2f", theirs[i]) + " " +
                    FormatCell("%6.2f", ours[i]) + " " + FormatCell("%+6.1f", deviation);
        }
        if (prints)
        {
            std::printf("<=%8llu %6zu %s%s\n",
                        static_cast<unsigned long long>(measured.largest),
                        measured.flows,
                        FormatCell("%6.2f", measured.slowdown.p50).c_str(),
                        line.c_str());
        }
    }
    if (prints && comparable)
    {
        for (auto& list : deviations)
        {
            std::sort(list.begin(), list.end());
        }
        std::printf(
            "median deviation over sizes, %%: p95 %s, p99 %s (published values are read from "
            "plots, +-5 %%; p50 is not published)\n",
            FormatCell("%+.1f", GetQuantile(deviations[0], 0.5)).c_str(),
            FormatCell("%+.1f", GetQuantile(deviations[1], 0.5)).c_str());
    }
    return rows;
}

int
Simulate(int argc, char* argv[])
{
    Setting setting;
    ProgramOptions options("hpcc-fct",
                           "Slowdown of flows by size, as in the simulation of HPCC's paper.");
    options.Group("Experiment");
    options.AddKind("congestion-control",
                    "congestion-control",
                    "congestion control: sending rate of each flow",
                    setting.congestionControl,
                    &DescribeAlternatives<CongestionControlEntry>);
    options.AddChoice("flow-sizes",
                      "sizes of flows: websearch, fbhadoop",
                      setting.distribution,
                      {"websearch", "fbhadoop"});
    options.AddDouble("load", "payload, part of the hosts' rate", setting.load, 0.001, 0.9);
    options.AddTime("warm-up", "time before flows are measured", setting.warmUp);
    options.AddTime("duration",
                    "time in which measured flows arrive; others do for as long after it",
                    setting.duration);
    options.AddUnsigned("scale",
                        "1: 320 hosts; 2, 4, 8, 16: so many times fewer on the same switches",
                        setting.scale,
                        1,
                        16);
    options.AddRenamed("distribution", "--flow-sizes=VALUE", "flow-sizes");
    options.AddJson(setting.json);
    setting.files.AddTo(options);
    options.Reserve("ns3::training::RdmaNic::BaseRoundTrip");
    options.Reserve("ns3::training::RdmaNic::CongestionControl", "congestion-control");
    options.Reserve("ns3::training::RdmaNic::Mtu");
    options.Reserve("ns3::training::RdmaNic::PathHops");
    // Twice: options of the user override those of the paper.
    options.Parse(argc, argv);
    UsePublishedParameters(KeyValues::Split(setting.congestionControl).GetName());
    options.Parse(argc, argv);
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("--mpi=" + std::to_string(Processes::GetCount()) +
                                 " (allowed: 1, flows are counted by one process)");
    }
    if (MAX_HOSTS_PER_RACK % setting.scale != 0)
    {
        throw ConfigurationError("--scale=" + std::to_string(setting.scale) +
                                 " (allowed: 1, 2, 4, 8, 16)");
    }
    if (!setting.duration.IsStrictlyPositive() || setting.duration > Seconds(MAX_SECONDS))
    {
        throw ConfigurationError("--duration=" + FormatTime(setting.duration) +
                                 " (allowed: more than 0, up to " + std::to_string(MAX_SECONDS) +
                                 "s)");
    }
    if (setting.warmUp > Seconds(MAX_SECONDS))
    {
        throw ConfigurationError("--warm-up=" + FormatTime(setting.warmUp) + " (allowed: up to " +
                                 std::to_string(MAX_SECONDS) + "s)");
    }

    const JsonOutput json(setting.json);
    setting.files.Check(MAX_HOSTS_PER_RACK * RACKS / setting.scale);
    Experiment experiment(setting, options);
    experiment.Run();
    const Fabric& fabric = experiment.GetFabric();
    const RunCost cost = GetRunCost(fabric);
    const PortCounters total = fabric.GetTotal();
    const bool prints = setting.json != "-";
    if (prints)
    {
        std::printf("%s, %s at %g %% load, %u hosts, %zu flows measured of %llu\n",
                    setting.congestionControl.c_str(),
                    setting.distribution.c_str(),
                    100 * setting.load,
                    fabric.topology.hosts,
                    experiment.GetResults().GetFlows(),
                    static_cast<unsigned long long>(experiment.GetFlows()));
    }
    const JsonValue rows = Report(setting, experiment.GetResults(), prints);
    if (prints)
    {
        std::printf(
            "%llu packets marked, %llu dropped, %llu pauses, largest queue %llu bytes\n%s\n%s",
            static_cast<unsigned long long>(total.markedFrames),
            static_cast<unsigned long long>(total.droppedFrames),
            static_cast<unsigned long long>(total.pausesSent),
            static_cast<unsigned long long>(total.peakQueueBytes),
            FormatRunCost(cost).c_str(),
            FormatInputs(ClusterOptions().DescribeHosts()).c_str());
    }
    auto document = JsonValue::Object();
    document.Set("rows", rows)
        .Set("flows", uint64_t{experiment.GetResults().GetFlows()})
        .Set("all_flows", experiment.GetFlows())
        .Set("marked_frames", total.markedFrames)
        .Set("dropped_frames", total.droppedFrames)
        .Set("pause_frames", total.pausesSent)
        .Set("peak_queue_bytes", total.peakQueueBytes);
    AddRunCost(document, cost);
    document.Set("inputs", ClusterOptions().DescribeHosts());
    document.Set("configuration", options.ToJson()).Set("version", GetVersion());
    json.Write(document);
    Simulator::Destroy();
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("hpcc-fct", [&] { return Simulate(argc, argv); });
}
