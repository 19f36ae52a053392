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

#include "codesign-hardware.h"
#include "hidden-global-values.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/experiment.h"
#include "ns3/graph-summary.h"
#include "ns3/published-table.h"
#include "ns3/recorded-collectives.h"
#include "ns3/roce-wire-format.h"
#include "ns3/size-list.h"
#include "ns3/topology-builder.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-run.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
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
/// Iterations per training.
constexpr uint32_t ITERATIONS = 2;

/** Parameters of the simulation. */
struct Setting
{
    std::string part{"all"};
    std::string nodes{"4,8"};
    std::string bytes{"512K,1M,2M,4M"};
    uint64_t segments{4};
    uint64_t mtu{4096};
    std::string json;
    RunFilesOptions files;
};

/** A platform of the paper and its algorithms. */
struct Platform
{
    uint32_t nodes;         ///< nodes per package
    uint32_t packages;      ///< 1, or 4 in a torus of 2x2
    uint32_t switches;      ///< switches per package; 0: its nodes form a ring
    bool stripes{true};     ///< stripes messages over all switches; otherwise uses them in turn
    bool torusFirst{false}; ///< all-gathers begin with the torus; otherwise in packages

    /** @return a description */
    std::string Describe() const
    {
        if (switches == 0 && packages == 1)
        {
            return "ring";
        }
        const std::string text = switches > 0 ? "k=" + std::to_string(switches) : "ring";
        return text + (stripes ? ", striped" : ", whole messages") +
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

/** A figure of the paper. */
struct Figure
{
    std::string name;
    double published;
    std::string unit; ///< "%" or "x"
};

/** Result of one interpretation of a figure in the paper. */
struct Reading
{
    std::string text;
    double value;
};

constexpr auto REDUCE = CollectiveOperation::ALL_REDUCE;
constexpr auto EXCHANGE = CollectiveOperation::ALL_TO_ALL;

/** A network of the paper. */
struct Network
{
    const char* name;      ///< name in the paper
    const char* workload;  ///< name in training-job
    const char* published; ///< layers and collectives in table I
    bool hasEmbedding;     ///< its nodes exchange embeddings
    bool isModelParallel;  ///< one layer is distributed over all nodes
};

constexpr Network NETWORKS[] = {
    {"DLRM_HybridParallel",
     "dlrm-hybrid-parallel",
     "8 layers: all-to-all + all-reduce",
     true,
     false},
    {"MLP_ModelParallel", "mlp-model-parallel", "6 layers: all-gather + all-reduce", false, true},
    {"MLP_HybridParallel_Data_Model",
     "mlp-hybrid-parallel",
     "6 layers: all-gather + all-reduce",
     false,
     false},
};

/// All-to-all of DLRM's embeddings at a node in ASTRA-sim 1.0's layer file, bytes.
constexpr uint64_t EXCHANGE_BYTES = 98304;

/** @return compute time of a node per iteration */
Time
GetComputeTime(const Network& network)
{
    return SummarizeGraph(*MakeWorkload(network.workload, {}).graph, 0, 1).compute;
}

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
    return nodes < 8 ? 3 : 4;
}

/** Collectives and trainings of the paper, simulated next to its figures. */
class Comparison
{
  public:
    /**
     * @param setting of the comparison
     * @throw ConfigurationError if the setting is invalid
     */
    explicit Comparison(const Setting& setting)
        : m_setting(setting),
          m_figures({{"figure", "", -26},
                     {"unit", "", 1},
                     {"published", "published", 9, "%.2f"},
                     {"ours", "ours", 9, "%.2f"},
                     {"reading", "with", -36, "", "  "},
                     {"closest", "closest", 9, "%.2f"},
                     {"closest_reading", "with", 0, "", "  "}},
                    setting.json == "-" ? PublishedTable::Printing::NEVER
                                        : PublishedTable::Printing::AT_END),
          m_tables({{"table", "", -9},
                    {"parameter", "", -43},
                    {"published", "published", -36},
                    {"ours", "ours", 0, "", "  "}},
                   setting.json == "-" ? PublishedTable::Printing::NEVER
                                       : PublishedTable::Printing::AT_ONCE),
          m_sizes(ParseSizes("--bytes", setting.bytes))
    {
        for (uint64_t nodes : ParseSizes("--nodes", setting.nodes))
        {
            if (nodes < 2 || nodes > 64)
            {
                throw ConfigurationError("--nodes=" + setting.nodes + " (allowed: 2 to 64 each)");
            }
            m_nodes.push_back(static_cast<uint32_t>(nodes));
        }
    }

    /** Tables I and II: workloads and parameters. */
    void CompareTables();
    /** Figure 9: collectives in one package by number of switches. */
    void CompareOperations();
    /** Figure 10: all-reduces in one package by size. */
    void CompareSizes();
    /** Figure 11: trainings on four packages. */
    void CompareTrainings();
    /** Figure 12: energy and area, by a model. */
    void CompareHardware();

    /** Prints published figures next to simulated ones. */
    void PrintFigures() const;

    /** @return the results */
    JsonValue ToJson() const;

    /** @return the cost of all simulations */
    const RunCost& GetCost() const
    {
        return m_figures.GetCost();
    }

  private:
    std::string GetTopology(const Platform& platform) const;
    ClusterOptions GetOptions(const Platform& platform, const std::string& algorithm) const;
    double Measure(const Platform& platform, CollectiveOperation operation, uint64_t bytes);
    TrainingRunOptions GetTraining(const Platform& platform,
                                   const Network& network,
                                   uint64_t exchange = EXCHANGE_BYTES) const;
    double Train(const Platform& platform,
                 const Network& network,
                 uint64_t exchange = EXCHANGE_BYTES);
    void AddExchanges(const Network& network, uint32_t nodes, std::vector<Reading>& readings);
    void AddSwitches(const char* operation, uint32_t nodes, const std::vector<double>& seconds);
    void AddRow(const char* part,
                const std::string& what,
                uint64_t bytes,
                const Platform& platform,
                double seconds,
                double ringSeconds);
    void AddFigure(const Figure& figure, const std::vector<Reading>& readings);

    /** One interpretation of the paper's figure 11. */
    struct Way
    {
        Platform platform;    ///< platform of the paper
        const char* switches; ///< number of switches, for any number of nodes
    };

    static std::vector<Way> GetWays(uint32_t nodes);
    std::vector<double> GetSpeedups(const Network& network, uint32_t nodes);

    const Setting& m_setting;
    PublishedTable m_figures;
    PublishedTable m_tables;
    std::vector<uint64_t> m_sizes;
    std::vector<uint32_t> m_nodes;
    JsonValue m_rows{JsonValue::Array()};
};

std::string
Comparison::GetTopology(const Platform& platform) const
{
    // Packets here have headers; the rates of table II are goodputs.
    const auto mtu = static_cast<double>(m_setting.mtu);
    const double share =
        (mtu + ROCE_BYTES + Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES) / mtu;
    const auto rate = [share](double payload) {
        return std::to_string(static_cast<uint64_t>(payload * share)) + "bps";
    };
    // Enough ports to use all switches, and both directions of a ring of two nodes.
    const uint32_t rails =
        std::lcm(std::max<uint32_t>(platform.switches, 1), platform.packages > 1 ? 2 : 1);
    std::string spec = platform.switches > 0 ? "local-switch-torus" : "hierarchical-torus";
    spec += platform.packages > 1 ? ":2x2" : ":1x1";
    spec += ",nodes=" + std::to_string(platform.nodes) + ",rails=" + std::to_string(rails) +
            ",local-rate=" + rate(LOCAL_RATE) + ",torus-rate=" + rate(TORUS_RATE);
    return spec + (platform.switches > 0 ? ",switches=" + std::to_string(platform.switches) : "");
}

ClusterOptions
Comparison::GetOptions(const Platform& platform, const std::string& algorithm) const
{
    ClusterOptions options;
    options.ranks = uint64_t{platform.nodes} * platform.packages;
    options.topology = GetTopology(platform);
    options.mtu = m_setting.mtu;
    options.portPairs = platform.stripes ? "stripe" : "turns";
    options.congestionControl = "none";
    options.algorithm = algorithm;
    return options;
}

double
Comparison::Measure(const Platform& platform, CollectiveOperation operation, uint64_t bytes)
{
    const CollectiveRun run = RunCollectives(
        GetOptions(platform,
                   operation == EXCHANGE ? platform.GetAllToAll() : platform.GetAlgorithm()),
        operation,
        {bytes});
    m_figures.AddCost(run.cost);
    return run.measurements.back().seconds;
}

TrainingRunOptions
Comparison::GetTraining(const Platform& platform, const Network& network, uint64_t exchange) const
{
    TrainingRunOptions options;
    options.workload = network.workload;
    if (exchange != EXCHANGE_BYTES)
    {
        options.workload += ":exchange=" + std::to_string(exchange);
    }
    options.allToAll = network.hasEmbedding ? platform.GetAllToAll() : "";
    options.iterations = ITERATIONS;
    options.warmup = 0;
    options.cluster = GetOptions(platform, platform.GetAlgorithm());
    options.cluster.segments = m_setting.segments;
    return options;
}

double
Comparison::Train(const Platform& platform, const Network& network, uint64_t exchange)
{
    const TrainingRunResult result = TrainingRun(GetTraining(platform, network, exchange)).Run();
    m_figures.AddCost(result.cost);
    return result.endS;
}

void
Comparison::AddRow(const char* part,
                   const std::string& what,
                   uint64_t bytes,
                   const Platform& platform,
                   double seconds,
                   double ringSeconds)
{
    m_rows.Append(JsonValue::Object()
                      .Set("part", part)
                      .Set("what", what)
                      .Set("bytes", bytes)
                      .Set("packages", uint64_t{platform.packages})
                      .Set("nodes", uint64_t{platform.nodes})
                      .Set("switches", uint64_t{platform.switches})
                      .Set("striped", platform.stripes)
                      .Set("gather_first", platform.torusFirst ? "torus" : "package")
                      .Set("time_us", seconds * 1e6)
                      .Set("speedup", ringSeconds / seconds));
}

void
Comparison::AddFigure(const Figure& figure, const std::vector<Reading>& readings)
{
    const auto closest =
        std::min_element(readings.begin(), readings.end(), [&](const auto& a, const auto& b) {
            return std::abs(a.value - figure.published) < std::abs(b.value - figure.published);
        });
    m_figures.AddRow({figure.name,
                      figure.unit,
                      figure.published,
                      readings[0].value,
                      readings[0].text,
                      closest->value,
                      closest->text});
}

void
Comparison::PrintFigures() const
{
    m_figures.Print("\n");
}

void
Comparison::CompareTables()
{
    const auto add = [this](const char* table,
                            const std::string& parameter,
                            const std::string& published,
                            const std::string& ours) {
        m_tables.AddRow({std::string(table), parameter, published, ours});
    };
    m_tables.PrintHeadings("\ntables: workloads; configurations\n");
    add("table I", "MicroAllReduce", "512KB, 1MB, 2MB, 4MB", "the same in KiB and MiB");
    add("table I", "MicroAllToAll", "1MB", "1 MiB");
    for (const Network& network : NETWORKS)
    {
        WorkloadRequest request;
        request.ranks = 16;
        request.serverRanks = 4;
        std::map<std::string, uint64_t> counts;
        const auto job = MakeWorkload(network.workload, request);
        for (const auto& [collective, count] : SummarizeGraph(*job.graph, 0, 1).collectives)
        {
            counts[GetName(std::get<1>(collective))] += count;
        }
        std::string ours;
        for (const auto& [operation, count] : counts)
        {
            ours += (ours.empty() ? "" : " + ") + std::to_string(count) + " " + operation;
        }
        add("table I",
            network.name,
            network.published,
            ours + " per iteration, " +
                FormatDouble(std::round(GetComputeTime(network).GetSeconds() * 1e9) * 1e-3) +
                " us of compute");
    }
    const auto getLink = [this](const Platform& platform, bool isLocal) {
        const auto graph = BuildTopology(GetTopology(platform),
                                         platform.nodes * platform.packages,
                                         DataRate("1Gbps"),
                                         Time(0));
        // Links of a package are the faster ones, in front of those of the torus.
        const auto compare = [](const auto& a, const auto& b) {
            return a.rate.GetBitRate() < b.rate.GetBitRate();
        };
        std::vector<TopologyGraph::Link> links;
        std::copy_if(graph.links.begin(),
                     graph.links.end(),
                     std::back_inserter(links),
                     [](const auto& link) { return !link.internal; });
        return isLocal ? *std::max_element(links.begin(), links.end(), compare)
                       : *std::min_element(links.begin(), links.end(), compare);
    };
    const Platform torus{4, 4, 0};
    add("table II", "nodes in a package", "4 or 8", m_setting.nodes);
    add("table II", "packages", "1 or 4", "1 (figures 9, 10), 2 x 2 (figure 11)");
    add("table II", "local switches in a package", "1 to N", "1 to N");
    add("table II", "channels in a virtual network", "2", "not modelled");
    add("table II", "buffers in a channel, flits", "5000", "not modelled: no frame is lost");
    const auto local = getLink(torus, true);
    const auto between = getLink(torus, false);
    add("table II",
        "link in a package",
        "512 bits/ns",
        FormatRate(local.rate) + " with headers, " + FormatDouble(LOCAL_RATE * 1e-9) +
            " Gbit/s of payload");
    add("table II",
        "link between packages",
        "256 bits/ns",
        FormatRate(between.rate) + " with headers, " + FormatDouble(TORUS_RATE * 1e-9) +
            " Gbit/s of payload");
    add("table II", "link and router in a package", "90 ns + 5 ns", FormatTime(local.delay));
    add("table II", "link and router between packages", "200 ns + 5 ns", FormatTime(between.delay));
    add("table II", "cycle", "1 ns", "none: times are exact");
}

void
Comparison::AddSwitches(const char* operation, uint32_t nodes, const std::vector<double>& seconds)
{
    // seconds[k]: with k switches; seconds[0]: with a ring.
    const auto getBest = [&](uint32_t packages) {
        uint32_t best = 1;
        double least = std::numeric_limits<double>::infinity();
        for (uint32_t k = 1; k <= nodes; k++)
        {
            const double cost = seconds[k] * ROUTER_AREA.GetSum(CountParts(nodes, packages, k, 2));
            best = cost < least ? k : best;
            least = std::min(least, cost);
        }
        return static_cast<double>(best);
    };
    uint32_t worth = 1;
    while (worth < nodes && seconds[worth] - seconds[worth + 1] > 0.11 * seconds[0])
    {
        worth++;
    }
    AddFigure({std::string("best k, ") + operation + ", N=" + std::to_string(nodes),
               static_cast<double>(GetPublishedSwitches(nodes)),
               ""},
              {{"least time x area in a torus", getBest(4)},
               {"least time x area of a package", getBest(1)},
               {"each saves 11 % of the ring, a fit", static_cast<double>(worth)}});
}

void
Comparison::CompareOperations()
{
    for (uint32_t nodes : m_nodes)
    {
        const Platform ring{nodes, 1, 0};
        const double exchange = Measure(ring, EXCHANGE, MICRO_BYTES);
        const double reduce = Measure(ring, REDUCE, MICRO_BYTES);
        AddRow("operations", "all-to-all", MICRO_BYTES, ring, exchange, exchange);
        AddRow("operations", "all-reduce", MICRO_BYTES, ring, reduce, reduce);
        if (m_figures.IsPrinting())
        {
            std::printf("\nfigure 9: a package of %u nodes, 1 MiB; time, us (change, %%)\n"
                        "%-22s %10s %19s\n%-22s %10.3f %19.3f\n",
                        nodes,
                        "",
                        "all-to-all",
                        "all-reduce",
                        "ring",
                        exchange * 1e6,
                        reduce * 1e6);
        }
        std::vector<Reading> ofExchange;
        std::vector<Reading> ofReduce;
        std::vector<double> exchanges{exchange}; // by number of switches, striped
        std::vector<double> reduces{reduce};
        for (bool stripes : {true, false})
        {
            for (uint32_t switches = 1; switches <= nodes; switches++)
            {
                const Platform platform{nodes, 1, switches, stripes};
                const std::string text = platform.Describe();
                const double exchangeHere = Measure(platform, EXCHANGE, MICRO_BYTES);
                const double reduceHere = Measure(platform, REDUCE, MICRO_BYTES);
                AddRow("operations", "all-to-all", MICRO_BYTES, platform, exchangeHere, exchange);
                AddRow("operations", "all-reduce", MICRO_BYTES, platform, reduceHere, reduce);
                if (stripes)
                {
                    exchanges.push_back(exchangeHere);
                    reduces.push_back(reduceHere);
                }
                ofExchange.push_back({text, GetChange(exchange, exchangeHere)});
                ofReduce.push_back({text, GetChange(reduce, reduceHere)});
                if (m_figures.IsPrinting())
                {
                    std::printf("%-22s %10.3f (%+6.2f) %10.3f (%+6.2f)\n",
                                text.c_str(),
                                exchangeHere * 1e6,
                                ofExchange.back().value,
                                reduceHere * 1e6,
                                ofReduce.back().value);
                }
            }
        }
        if (nodes != 4 && nodes != 8)
        {
            continue; // no published value
        }
        // The published value is the maximum over all k.
        std::swap(ofExchange[0], ofExchange[nodes - 1]);
        std::swap(ofReduce[0], ofReduce[nodes - 1]);
        const std::string suffix = ", N=" + std::to_string(nodes);
        AddFigure({"all-to-all" + suffix, nodes == 4 ? -73.59 : -93.11, "%"}, ofExchange);
        AddFigure({"all-reduce" + suffix, nodes == 4 ? -65.82 : -75.89, "%"}, ofReduce);
        if (nodes == 8)
        {
            const double part = 8 * MICRO_BYTES / nodes / LOCAL_RATE;
            AddFigure({"all-to-all, steps saved, N=8", 21, ""},
                      {{"k=1, striped, in times of a part", (exchange - exchanges[1]) / part},
                       {"N (N - 1) / 2 - (N - 1)", nodes * (nodes - 1) / 2. - (nodes - 1)}});
        }
        AddSwitches("all-to-all", nodes, exchanges);
        AddSwitches("all-reduce", nodes, reduces);
    }
}

void
Comparison::CompareSizes()
{
    for (uint32_t nodes : m_nodes)
    {
        const uint32_t few = std::min(GetPublishedSwitches(nodes), nodes);
        const std::vector<Platform> platforms{{nodes, 1, 0},
                                              {nodes, 1, few},
                                              {nodes, 1, nodes},
                                              {nodes, 1, few, false}};
        std::vector<bool> isFaster(platforms.size(), true);
        if (m_figures.IsPrinting())
        {
            std::printf("\nfigure 10: all-reduce in a package of %u nodes; time, us\n%10s",
                        nodes,
                        "bytes");
            for (const Platform& platform : platforms)
            {
                std::printf(" %20s", platform.Describe().c_str());
            }
            std::printf("\n");
        }
        for (uint64_t bytes : m_sizes)
        {
            std::vector<double> seconds;
            for (const Platform& platform : platforms)
            {
                seconds.push_back(Measure(platform, REDUCE, bytes));
                isFaster[seconds.size() - 1] =
                    isFaster[seconds.size() - 1] && seconds.back() < seconds[0];
                AddRow("sizes", "all-reduce", bytes, platform, seconds.back(), seconds[0]);
            }
            if (m_figures.IsPrinting())
            {
                std::printf("%10llu", static_cast<unsigned long long>(bytes));
                for (double time : seconds)
                {
                    std::printf(" %20.3f", time * 1e6);
                }
                std::printf("\n");
            }
        }
        if (m_figures.IsPrinting())
        {
            std::printf("%10s %20s", "faster", "published: always");
            for (std::size_t i = 1; i < platforms.size(); i++)
            {
                std::printf(" %20s", isFaster[i] ? "always" : "not always");
            }
            std::printf("\n");
        }
    }
}

std::vector<Comparison::Way>
Comparison::GetWays(uint32_t nodes)
{
    const uint32_t few = std::min(GetPublishedSwitches(nodes), nodes);
    std::vector<Way> ways;
    for (bool torusFirst : {false, true})
    {
        for (bool stripes : {true, false})
        {
            ways.push_back({{nodes, 4, few, stripes, torusFirst}, "k=3 or 4"});
            ways.push_back({{nodes, 4, nodes, stripes, torusFirst}, "k=N"});
        }
    }
    return ways;
}

std::vector<double>
Comparison::GetSpeedups(const Network& network, uint32_t nodes)
{
    if (m_figures.IsPrinting())
    {
        std::printf("\nfigure 11: %s, 4 packages of %u nodes, %u iterations of %.1f us of compute; "
                    "time, us\n%-44s %18s %10s %9s\n",
                    network.name,
                    nodes,
                    ITERATIONS,
                    GetComputeTime(network).GetSeconds() * 1e6,
                    "",
                    "hierarchical torus",
                    "theirs",
                    "speed-up");
    }
    std::map<std::pair<bool, bool>, double> ofRing; // by stripes and torusFirst
    std::vector<double> speedups;
    for (const Way& way : GetWays(nodes))
    {
        const Platform& platform = way.platform;
        if (platform.torusFirst && !network.isModelParallel)
        {
            speedups.push_back(speedups[speedups.size() - 4]); // no all-gather over all nodes
            continue;
        }
        const Platform ring{nodes, 4, 0, platform.stripes, platform.torusFirst};
        double& ringSeconds = ofRing[{platform.stripes, platform.torusFirst}];
        if (ringSeconds == 0)
        {
            ringSeconds = Train(ring, network);
            AddRow("training", network.name, 0, ring, ringSeconds, ringSeconds);
        }
        const double seconds = Train(platform, network);
        AddRow("training", network.name, 0, platform, seconds, ringSeconds);
        speedups.push_back(ringSeconds / seconds);
        if (m_figures.IsPrinting())
        {
            std::printf("%-44s %18.3f %10.3f %9.2f\n",
                        platform.Describe().c_str(),
                        ringSeconds * 1e6,
                        seconds * 1e6,
                        speedups.back());
            std::fflush(stdout);
        }
    }
    return speedups;
}

void
Comparison::AddExchanges(const Network& network, uint32_t nodes, std::vector<Reading>& readings)
{
    // The paper does not print the sizes of its exchanges.
    const uint32_t few = GetPublishedSwitches(nodes);
    for (const auto& [factor, text] :
         {std::pair(nodes, "each node of a package"), std::pair(4 * nodes, "each node")})
    {
        const uint64_t bytes = EXCHANGE_BYTES * factor;
        const double speedup =
            Train({nodes, 4, 0}, network, bytes) / Train({nodes, 4, few}, network, bytes);
        readings.push_back({"k=" + std::to_string(few) + ", 96 KiB to " + text, speedup});
        if (m_figures.IsPrinting())
        {
            std::printf("%-63s %19.2f\n", readings.back().text.c_str(), speedup);
        }
    }
}

void
Comparison::CompareTrainings()
{
    const std::map<std::string, double> published{{"DLRM_HybridParallel, N=8", 2.68},
                                                  {"MLP_ModelParallel, N=4", 1.22},
                                                  {"MLP_ModelParallel, N=8", 1.41}};
    const auto ways = GetWays(8); // for their descriptions
    std::vector<double> least(ways.size(), std::numeric_limits<double>::infinity());
    for (const Network& network : NETWORKS)
    {
        for (uint32_t nodes : m_nodes)
        {
            const auto speedups = GetSpeedups(network, nodes);
            std::vector<Reading> readings;
            for (std::size_t i = 0; i < speedups.size(); i++)
            {
                readings.push_back({GetWays(nodes)[i].platform.Describe(), speedups[i]});
                least[i] = std::min(least[i], speedups[i]);
            }
            const std::string name = std::string(network.name) + ", N=" + std::to_string(nodes);
            if (published.count(name) > 0)
            {
                if (network.hasEmbedding)
                {
                    AddExchanges(network, nodes, readings);
                }
                AddFigure({name, published.at(name), "x"}, readings);
            }
        }
    }
    if (m_nodes == std::vector<uint32_t>{4, 8})
    {
        std::vector<Reading> readings;
        for (std::size_t i = 0; i < ways.size(); i++)
        {
            const std::string text = ways[i].platform.Describe();
            readings.push_back({ways[i].switches + text.substr(text.find(',')), least[i]});
        }
        AddFigure({"least of all six", 1.16, "x"}, readings);
    }
}

void
Comparison::CompareHardware()
{
    for (uint32_t nodes : {4, 8})
    {
        const PlatformParts ours = CountParts(nodes, 4, GetPublishedSwitches(nodes), 0);
        const auto add = [&](const char* what,
                             double published,
                             const RouterFit& fit,
                             const RouterFit& deep) {
            std::vector<Reading> readings;
            for (const auto& [used, flits] : {std::pair(fit, "4 flits"), std::pair(deep, "5000")})
            {
                for (uint32_t ports : {2, 1})
                {
                    readings.push_back({std::string("routers, ring of ") + std::to_string(ports) +
                                            (ports == 1 ? " port, " : " ports, ") + flits,
                                        GetChange(used.GetSum(CountParts(nodes, 4, 0, ports)),
                                                  used.GetSum(ours))});
                }
            }
            if (nodes == 8 && &fit == &ROUTER_POWER)
            {
                // Per node, in and out: 2 k links to switches in place of 2 of a ring.
                readings.push_back(
                    {"links of a package alone, scaled to N=4", 7.65 * (2 * 4 - 2) / (2 * 3 - 2)});
            }
            AddFigure({std::string(what) + ", N=" + std::to_string(nodes), published, "%"},
                      readings);
        };
        add("energy, by a model", nodes == 4 ? 7.65 : 12.42, ROUTER_POWER, DEEP_ROUTER_POWER);
        add("area, by a model", nodes == 4 ? 1.78 : 25.07, ROUTER_AREA, DEEP_ROUTER_AREA);
    }
}

JsonValue
Comparison::ToJson() const
{
    auto document = JsonValue::Object();
    document.Set("tables", m_tables.GetRows())
        .Set("rows", m_rows)
        .Set("figures", m_figures.GetRows());
    return document;
}

int
Compare(int argc, char* argv[])
{
    Setting setting;
    ProgramOptions options("topology-codesign",
                           "Collectives and trainings of Hou et al. on packages with local "
                           "switches and on the hierarchical torus, beside what they report.");
    options.Group("Experiment");
    options.AddChoice("part",
                      "tables: workloads and parameters; operations: in one package by number of "
                      "switches; sizes: all-reduces in one package; training: three networks on "
                      "four packages; hardware: energy and area, by a model",
                      setting.part,
                      {"all", "tables", "operations", "sizes", "training", "hardware"});
    options.AddString("nodes", "nodes of a package, a list; 2 to 64 each", setting.nodes);
    options.AddString("bytes", "for sizes: as --bytes of collective-benchmark", setting.bytes);
    options.AddUnsigned("segments",
                        "for training: parts of each collective, pipelined over the dimensions",
                        setting.segments,
                        1,
                        64);
    options.AddUnsigned("mtu",
                        "payload of the simulation's packets; of no influence on the rate of "
                        "payload",
                        setting.mtu,
                        256,
                        9000);
    options.AddJson(setting.json);
    setting.files.AddTo(options);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    Config::SetDefault("ns3::training::SwitchDevice::CutThrough", BooleanValue(true));
    Config::SetDefault("ns3::training::ScheduledCommunicator::ActiveCollectives", UintegerValue(4));
    options.Parse(argc, argv); // options of the user override those of the paper
    Comparison comparison(setting);
    RunExperiment(
        options,
        setting.json,
        setting.files,
        setting.part,
        {{"tables", [&] { comparison.CompareTables(); }},
         {"operations", [&] { comparison.CompareOperations(); }},
         {"sizes", [&] { comparison.CompareSizes(); }},
         {"training", [&] { comparison.CompareTrainings(); }},
         {"hardware", [&] { comparison.CompareHardware(); }}},
        [&] {
            comparison.PrintFigures();
            return comparison.ToJson();
        },
        comparison.GetCost());
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("topology-codesign", [&] { return Compare(argc, argv); });
}
