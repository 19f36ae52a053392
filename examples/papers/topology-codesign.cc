/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Section V of Hou et al., "Co-designing the topology/algorithm to accelerate distributed
 * training", next to its published results:
 *
 *   ./ns3w run topology-codesign
 */

#include "../hidden-global-values.h"
#include "codesign-hardware.h"
#include "measure/reproduction.h"
#include "options/size-list.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/graph-summary.h"
#include "ns3/roce-wire-format.h"
#include "ns3/topology-builder.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// Goodput of the links in table II, bit/s.
constexpr double LOCAL_RATE = 512e9;
constexpr double TORUS_RATE = 256e9;
/// Size of the collectives of figure 9, bytes.
constexpr uint64_t MICRO_BYTES = 1 << 20;
/// All-to-all of DLRM's embeddings at a node in ASTRA-sim 1.0's layer file, bytes.
constexpr uint64_t EXCHANGE_BYTES = 98304;
/// Iterations per training.
constexpr uint32_t ITERATIONS = 2;

constexpr auto REDUCE = CollectiveOperation::ALL_REDUCE;
constexpr auto EXCHANGE = CollectiveOperation::ALL_TO_ALL;

using Cells = std::vector<PublishedTable::Cell>;

/** A platform of the paper and its algorithms. */
struct Platform
{
    uint32_t nodes;         ///< nodes per package
    uint32_t packages;      ///< 1, or 4 in a torus of 2x2
    uint32_t switches;      ///< switches per package; 0: its nodes form a ring
    bool stripes{true};     ///< stripes messages over all switches; otherwise uses them in turn
    bool torusFirst{false}; ///< all-gathers begin with the torus; otherwise in packages

    /** @return a description, by default with its own number of switches */
    std::string Describe(const std::string& number = "") const
    {
        return switches == 0 ? "ring"
                             : (number.empty() ? "k=" + std::to_string(switches) : number) +
                                   (stripes ? ", striped" : ", whole messages") +
                                   (torusFirst ? ", all-gather torus first" : "");
    }

    /** @return algorithm of operations other than all-to-all */
    std::string GetAlgorithm() const
    {
        return std::string("dimension-wise:local=") + (switches > 0 ? "hou" : "ring") +
               ",gather-first=" + (torusFirst ? "outer" : "inner");
    }

    /** @return algorithm of all-to-alls */
    std::string GetAllToAll() const
    {
        if (switches > 0 && !stripes)
        {
            return "direct"; // one message at a time would need a single switch
        }
        return switches > 0 ? "hierarchical-all-to-all" : "hierarchical-all-to-all:along=ring";
    }
};

/** Result of one interpretation of a figure in the paper. */
struct Reading
{
    std::string text;
    double value;
};

/** @return relative change, % */
double
GetChange(double from, double to)
{
    return 100 * (to / from - 1);
}

/** @return number of local switches that the paper selects */
uint32_t
GetPublishedSwitches(uint32_t nodes)
{
    return std::min<uint32_t>(nodes < 8 ? 3 : 4, nodes);
}

/** @return what the text of figure 11 may mean */
std::vector<Platform>
GetWays(uint32_t nodes)
{
    std::vector<Platform> ways;
    for (bool torusFirst : {false, true})
    {
        for (bool stripes : {true, false})
        {
            ways.push_back({nodes, 4, GetPublishedSwitches(nodes), stripes, torusFirst});
            ways.push_back({nodes, 4, nodes, stripes, torusFirst});
        }
    }
    return ways;
}

/** @return suffix of a figure's name */
std::string
Of(uint32_t nodes)
{
    return ", N=" + std::to_string(nodes);
}

/** @return compute time of a node per iteration, us */
double
GetComputeTime(const PublishedCase& network)
{
    const auto graph = MakeWorkload(network.GetText("workload"), {}).graph;
    return std::round(SummarizeGraph(*graph, 0, 1).compute.GetSeconds() * 1e9) / 1e3;
}

/** The experiment. */
class TopologyCodesign
{
  public:
    /** @return exit status */
    int Run(int argc, char* argv[]);

  private:
    void Prepare();
    void AddTables();
    void AddOperations(uint32_t nodes);
    void AddSwitches(const std::string& what, uint32_t nodes, const std::vector<double>& seconds);
    void AddSizes(uint32_t nodes);
    void AddTrainings();
    void AddHardware();
    ClusterOptions GetOptions(const Platform& platform, CollectiveOperation operation) const;
    double Measure(const char* part,
                   const Platform& platform,
                   CollectiveOperation operation,
                   uint64_t bytes,
                   double& ring);
    double Train(const Platform& platform,
                 const PublishedCase& network,
                 const std::string& keys = "");
    std::vector<Reading> GetSpeedups(const PublishedCase& network, uint32_t nodes);
    double AddRow(const char* part,
                  const std::string& what,
                  uint64_t bytes,
                  const Platform& platform,
                  double seconds,
                  double& ring);
    void AddFigure(const std::string& figure, const std::vector<Reading>& readings);

    Reproduction m_paper{"topology-codesign", ""};
    std::string m_nodesText{"4,8"};
    std::string m_bytes{"512K,1M,2M,4M"};
    uint64_t m_segments{4};
    uint64_t m_mtu{4096};
    std::vector<uint64_t> m_sizes;
    std::vector<uint32_t> m_nodes;
    std::vector<PublishedCase> m_networks;
    JsonValue m_tables{JsonValue::Array()};
    JsonValue m_rows{JsonValue::Array()};
    PublishedTable m_figures{{{"figure", "", -28},
                              {"unit", "", 1},
                              {"role", "role", -11, "", "  ", true},
                              {"source", "source", 0, "", "  ", true},
                              {"published", "published", 9, "%.2f"},
                              {"ours", "ours", 9, "%.2f"},
                              {"reading", "with", -36, "", "  "},
                              {"closest", "closest", 9, "%.2f"},
                              {"closest_reading", "with", -43, "", "  "}},
                             PublishedTable::Printing::AT_END};
};

int
TopologyCodesign::Run(int argc, char* argv[])
{
    ProgramOptions& options = m_paper.GetOptions();
    options.AddString("nodes", "nodes of a package, a list; 2 to 64 each", m_nodesText);
    options.AddString("bytes", "for sizes: as --bytes of collective-benchmark", m_bytes);
    options.AddUnsigned("segments",
                        "for training: parts of each collective, pipelined over the dimensions",
                        m_segments,
                        1,
                        64);
    m_paper.AddMtu(m_mtu);
    m_paper.AddPart("tables", [&] { AddTables(); });
    m_paper.AddPart("operations", [&] {
        std::for_each(m_nodes.begin(), m_nodes.end(), [&](uint32_t nodes) {
            AddOperations(nodes);
        });
    });
    m_paper.AddPart("sizes", [&] {
        std::for_each(m_nodes.begin(), m_nodes.end(), [&](uint32_t nodes) { AddSizes(nodes); });
    });
    m_paper.AddPart("training", [&] { AddTrainings(); });
    m_paper.AddPart("hardware", [&] { AddHardware(); });
    m_paper.AtEnd([&](JsonValue& document) {
        if (m_paper.IsPrinting())
        {
            m_figures.Print("\n");
        }
        document.Set("tables", m_tables).Set("rows", m_rows).Set("figures", m_figures.GetRows());
    });
    return m_paper.Run(argc, argv, [&] { Prepare(); });
}

void
TopologyCodesign::Prepare()
{
    Config::SetDefault("ns3::training::SwitchDevice::CutThrough", BooleanValue(true));
    Config::SetDefault("ns3::training::ScheduledCommunicator::ActiveCollectives", UintegerValue(4));
    m_sizes = ParseSizes("--bytes", m_bytes);
    for (uint64_t nodes : ParseSizes("--nodes", m_nodesText))
    {
        if (nodes < 2 || nodes > 64)
        {
            throw ConfigurationError("--nodes=" + m_nodesText + " (allowed: 2 to 64 each)");
        }
        m_nodes.push_back(static_cast<uint32_t>(nodes));
    }
    m_paper.Begin("tables");
    m_networks = m_paper.GetCases("networks");
}

ClusterOptions
TopologyCodesign::GetOptions(const Platform& platform, CollectiveOperation operation) const
{
    // Packets here have headers; the rates of table II are goodputs.
    const auto mtu = static_cast<double>(m_mtu);
    const double share =
        (mtu + ROCE_BYTES + Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES) / mtu;
    const auto rate = [share](double payload) {
        return std::to_string(static_cast<uint64_t>(payload * share)) + "bps";
    };
    // Enough ports to use all switches, and both directions of a ring of two nodes.
    const uint32_t rails =
        std::lcm(std::max<uint32_t>(platform.switches, 1), platform.packages > 1 ? 2 : 1);
    ClusterOptions options;
    options.ranks = uint64_t{platform.nodes} * platform.packages;
    options.topology = platform.switches > 0 ? "local-switch-torus" : "hierarchical-torus";
    options.topology += platform.packages > 1 ? ":2x2" : ":1x1";
    options.topology += ",nodes=" + std::to_string(platform.nodes) +
                        ",rails=" + std::to_string(rails) + ",local-rate=" + rate(LOCAL_RATE) +
                        ",torus-rate=" + rate(TORUS_RATE);
    options.topology +=
        platform.switches > 0 ? ",switches=" + std::to_string(platform.switches) : "";
    options.mtu = m_mtu;
    options.portPairs = platform.stripes ? "stripe" : "turns";
    options.congestionControl = "none";
    options.algorithm = operation == EXCHANGE ? platform.GetAllToAll() : platform.GetAlgorithm();
    return options;
}

double
TopologyCodesign::Measure(const char* part,
                          const Platform& platform,
                          CollectiveOperation operation,
                          uint64_t bytes,
                          double& ring)
{
    const double seconds =
        m_paper.Measure(GetOptions(platform, operation), operation, {bytes}).seconds;
    return AddRow(part, GetName(operation), bytes, platform, seconds, ring);
}

double
TopologyCodesign::Train(const Platform& platform,
                        const PublishedCase& network,
                        const std::string& keys)
{
    TrainingRunOptions options;
    options.workload = network.GetText("workload") + keys;
    options.allToAll = network.Get("exchanges") > 0 ? platform.GetAllToAll() : "";
    options.iterations = ITERATIONS;
    options.warmup = 0;
    options.cluster = GetOptions(platform, REDUCE);
    options.cluster.segments = m_segments;
    return m_paper.Train(options).endS;
}

double
TopologyCodesign::AddRow(const char* part,
                         const std::string& what,
                         uint64_t bytes,
                         const Platform& platform,
                         double seconds,
                         double& ring)
{
    ring = platform.switches == 0 ? seconds : ring;
    m_rows.Append(JsonValue::Object()
                      .Set("part", part)
                      .Set("what", what)
                      .Set("bytes", bytes)
                      .Set("packages", platform.packages)
                      .Set("nodes", platform.nodes)
                      .Set("switches", platform.switches)
                      .Set("striped", platform.stripes)
                      .Set("gather_first", platform.torusFirst ? "torus" : "package")
                      .Set("time_us", seconds * 1e6)
                      .Set("speedup", ring / seconds));
    return seconds;
}

void
TopologyCodesign::AddFigure(const std::string& figure, const std::vector<Reading>& readings)
{
    for (const PublishedCase& each : m_paper.GetCases("figures"))
    {
        const double published = each.Get("published");
        const auto isCloser = [published](const Reading& a, const Reading& b) {
            return std::abs(a.value - published) < std::abs(b.value - published);
        };
        if (each.GetText("figure") == figure)
        {
            const auto closest = std::min_element(readings.begin(), readings.end(), isCloser);
            m_figures.AddRow({figure,
                              each.GetText("unit"),
                              each.GetText("role"),
                              each.GetText("source"),
                              published,
                              readings[0].value,
                              readings[0].text,
                              closest->value,
                              closest->text});
        }
    }
}

void
TopologyCodesign::AddTables()
{
    PublishedCase values;
    for (const PublishedCase& network : m_networks)
    {
        WorkloadRequest request;
        request.ranks = 16;
        request.serverRanks = 4;
        std::map<std::string, uint64_t> counts;
        const auto job = MakeWorkload(network.GetText("workload"), request);
        for (const auto& [collective, count] : SummarizeGraph(*job.graph, 0, 1).collectives)
        {
            counts[GetName(std::get<1>(collective))] += count;
        }
        std::string ours;
        for (const auto& [operation, count] : counts)
        {
            ours += (ours.empty() ? "" : " + ") + std::to_string(count) + " " + operation;
        }
        values.Set(network.GetText("workload"),
                   ours + " per iteration, " + FormatDouble(GetComputeTime(network)) +
                       " us of compute");
    }
    values.Set("nodes", m_nodesText);
    for (const auto& link :
         BuildTopology(GetOptions({4, 4, 0}, REDUCE).topology, 16, DataRate("1Gbps"), Time(0))
             .links)
    {
        const std::string name = link.rate.GetBitRate() > LOCAL_RATE ? "local" : "torus";
        if (!link.internal)
        {
            values.Set(name + "-rate", FormatRate(link.rate));
            values.Set(name + "-delay", FormatTime(link.delay));
        }
    }
    PublishedTable table = m_paper.MakeTable({{"table", "", -9},
                                              {"parameter", "", -43},
                                              {"published", "published", -36},
                                              {"ours", "ours", 0, "", "  "}});
    for (const PublishedCase& each : m_paper.GetCases())
    {
        table.AddRow({each.GetText("table"),
                      each.GetText("parameter"),
                      each.GetText("published"),
                      values.Fill(each.GetText("ours"))});
    }
    m_tables = table.GetRows();
}

void
TopologyCodesign::AddSwitches(const std::string& what,
                              uint32_t nodes,
                              const std::vector<double>& seconds)
{
    std::vector<Reading> readings;
    for (const auto& [packages, text] :
         {std::pair(4, "least time x area in a torus"), {1, "least time x area of a package"}})
    {
        uint32_t best = 1;
        double least = std::numeric_limits<double>::infinity();
        for (uint32_t k = 1; k <= nodes; k++)
        {
            const double cost = seconds[k] * ROUTER_AREA.GetSum(nodes, packages, k, 0);
            best = cost < least ? k : best;
            least = std::min(least, cost);
        }
        readings.push_back({text, static_cast<double>(best)});
    }
    uint32_t worth = 1;
    while (worth < nodes && seconds[worth] - seconds[worth + 1] > 0.11 * seconds[0])
    {
        worth++;
    }
    readings.push_back({"each saves 11 % of the ring, a fit", static_cast<double>(worth)});
    AddFigure("best k, " + what + Of(nodes), readings);
}

void
TopologyCodesign::AddOperations(uint32_t nodes)
{
    std::vector<Platform> platforms{{nodes, 1, 0}};
    for (bool stripes : {true, false})
    {
        for (uint32_t switches = 1; switches <= nodes; switches++)
        {
            platforms.push_back({nodes, 1, switches, stripes});
        }
    }
    PublishedTable table = m_paper.MakeTable({{"platform", "", -22},
                                              {"exchange", "all-to-all", 10, "%.3f"},
                                              {"change", "", 8, "(%+.2f)"},
                                              {"reduce", "all-reduce", 10, "%.3f"},
                                              {"change", "", 8, "(%+.2f)"}},
                                             {{"nodes", std::to_string(nodes)}});
    std::map<CollectiveOperation, std::vector<double>> seconds; // by platform
    std::map<CollectiveOperation, std::vector<Reading>> readings;
    for (const Platform& platform : platforms)
    {
        Cells cells{platform.Describe()};
        for (const auto operation : {EXCHANGE, REDUCE})
        {
            auto& times = seconds[operation];
            times.push_back(times.empty() ? NONE : times[0]);
            times.back() = Measure("operations", platform, operation, MICRO_BYTES, times[0]);
            const double change = GetChange(times[0], times.back());
            readings[operation].push_back({platform.Describe(), change});
            cells.insert(cells.end(), {times.back() * 1e6, change});
        }
        table.AddRow(cells);
    }
    for (const auto operation : {EXCHANGE, REDUCE})
    {
        // The published value is the maximum over all k. The ring is no reading.
        auto& all = readings[operation];
        all.erase(all.begin());
        std::swap(all[0], all[nodes - 1]);
        AddFigure(GetName(operation) + Of(nodes), all);
    }
    const auto& exchanges = seconds[EXCHANGE];
    const double part = 8 * static_cast<double>(MICRO_BYTES / nodes) / LOCAL_RATE;
    AddFigure("all-to-all, steps saved" + Of(nodes),
              {{"k=1, striped, in times of a part", (exchanges[0] - exchanges[1]) / part},
               {"N (N - 1) / 2 - (N - 1)", nodes * (nodes - 1) / 2. - (nodes - 1)}});
    AddSwitches("all-to-all", nodes, exchanges);
    AddSwitches("all-reduce", nodes, seconds[REDUCE]);
}

void
TopologyCodesign::AddSizes(uint32_t nodes)
{
    const uint32_t few = GetPublishedSwitches(nodes);
    const Platform platforms[] = {{nodes, 1, 0},
                                  {nodes, 1, few},
                                  {nodes, 1, nodes},
                                  {nodes, 1, few, false}};
    std::vector<PublishedTable::Column> columns{{"bytes", "bytes", 10, "%.0f"}};
    for (const Platform& platform : platforms)
    {
        columns.push_back({platform.Describe(), platform.Describe(), 20, "%.3f"});
    }
    PublishedTable table = m_paper.MakeTable(columns, {{"nodes", std::to_string(nodes)}});
    Cells faster{"faster", "published: always", "always", "always", "always"};
    for (uint64_t bytes : m_sizes)
    {
        Cells cells{static_cast<double>(bytes)};
        double ring = NONE;
        for (const Platform& platform : platforms)
        {
            const double seconds = Measure("sizes", platform, REDUCE, bytes, ring);
            if (platform.switches > 0 && seconds >= ring)
            {
                faster[cells.size()] = "not always";
            }
            cells.emplace_back(seconds * 1e6);
        }
        table.AddRow(cells);
    }
    table.AddRow(faster);
}

std::vector<Reading>
TopologyCodesign::GetSpeedups(const PublishedCase& network, uint32_t nodes)
{
    PublishedCase values = network;
    values.Set("nodes", nodes)
        .Set("iterations", ITERATIONS)
        .Set("compute", GetComputeTime(network));
    PublishedTable table = m_paper.MakeTable({{"platform", "", -63},
                                              {"ring", "hierarchical torus", 18, "%.3f"},
                                              {"theirs", "theirs", 10, "%.3f"},
                                              {"speedup", "speed-up", 9, "%.2f"}},
                                             values);
    std::vector<Reading> readings;
    const auto add = [&](const std::string& text, double ringSeconds, double seconds) {
        table.AddRow({text, ringSeconds * 1e6, seconds * 1e6, ringSeconds / seconds});
        readings.push_back({text, ringSeconds / seconds});
    };
    const std::string& name = network.GetText("name");
    double ringSeconds = NONE;
    for (const Platform& platform : GetWays(nodes))
    {
        if (platform.torusFirst && !(network.Get("distributes") > 0))
        {
            // There is no all-gather over all nodes.
            readings.push_back({platform.Describe(), readings[readings.size() - 4].value});
            continue;
        }
        if (readings.size() % 2 == 0) // two ways each have the same ring
        {
            Platform ring = platform;
            ring.switches = 0;
            AddRow("training", name, 0, ring, Train(ring, network), ringSeconds);
        }
        const double seconds = Train(platform, network);
        AddRow("training", name, 0, platform, seconds, ringSeconds);
        add(platform.Describe(), ringSeconds, seconds);
    }
    if (network.Get("exchanges") > 0 && nodes == 8)
    {
        // The paper does not print the sizes of its exchanges.
        for (const auto& [factor, text] :
             {std::pair(nodes, "each node of a package"), std::pair(4 * nodes, "each node")})
        {
            const std::string keys = ":exchange=" + std::to_string(EXCHANGE_BYTES * factor);
            ringSeconds = Train({nodes, 4, 0}, network, keys);
            add(std::string("k=4, 96 KiB to ") + text,
                ringSeconds,
                Train({nodes, 4, 4}, network, keys));
        }
    }
    return readings;
}

void
TopologyCodesign::AddTrainings()
{
    std::vector<Reading> least;
    for (const Platform& way : GetWays(8))
    {
        least.push_back({way.Describe(way.switches < 8 ? "k=3 or 4" : "k=N"),
                         std::numeric_limits<double>::infinity()});
    }
    for (const PublishedCase& network : m_networks)
    {
        for (uint32_t nodes : m_nodes)
        {
            const auto readings = GetSpeedups(network, nodes);
            for (std::size_t i = 0; i < least.size(); i++)
            {
                least[i].value = std::min(least[i].value, readings[i].value);
            }
            AddFigure(network.GetText("name") + Of(nodes), readings);
        }
    }
    if (m_nodes == std::vector<uint32_t>{4, 8})
    {
        AddFigure("least of all six", least);
    }
}

void
TopologyCodesign::AddHardware()
{
    for (const PublishedCase& figure : m_paper.GetCases("figures"))
    {
        const auto nodes = static_cast<uint32_t>(figure.Get("nodes"));
        const bool isArea = figure.GetText("figure").rfind("area", 0) == 0;
        std::vector<Reading> readings;
        for (const auto& [fit, flits] :
             {std::pair(isArea ? ROUTER_AREA : ROUTER_POWER, "4 flits"),
              std::pair(isArea ? DEEP_ROUTER_AREA : DEEP_ROUTER_POWER, "5000")})
        {
            for (const auto& [ports, text] : {std::pair(2, "2 ports, "), {1, "1 port, "}})
            {
                readings.push_back(
                    {std::string("routers, ring of ") + text + flits,
                     GetChange(fit.GetSum(nodes, 4, 0, ports),
                               fit.GetSum(nodes, 4, GetPublishedSwitches(nodes), 0))});
            }
        }
        if (nodes == 8 && !isArea)
        {
            // Per node, in and out: 2 k links to switches in place of 2 of a ring.
            readings.push_back(
                {"links of a package alone, scaled to N=4", 7.65 * (2 * 4 - 2) / (2 * 3 - 2)});
        }
        AddFigure(figure.GetText("figure"), readings);
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("topology-codesign", [&] { return TopologyCodesign().Run(argc, argv); });
}
