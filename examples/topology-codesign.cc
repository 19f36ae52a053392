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

#include "hidden-global-values.h"

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
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
    const char* name;     ///< name in the paper
    const char* workload; ///< name in training-job
    bool hasEmbedding;    ///< its nodes exchange embeddings
    bool isModelParallel; ///< one layer is distributed over all nodes
};

constexpr Network NETWORKS[] = {
    {"DLRM_HybridParallel", "dlrm-hybrid-parallel", true, false},
    {"MLP_ModelParallel", "mlp-model-parallel", false, true},
    {"MLP_HybridParallel_Data_Model", "mlp-hybrid-parallel", false, false},
};

/** @return compute time of a node per iteration */
Time
GetComputeTime(const Network& network)
{
    return MakeTrainingTask(network.workload, {}).GetComputeTime();
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

    /** Figure 9: collectives in one package by number of switches. */
    void CompareOperations();
    /** Figure 10: all-reduces in one package by size. */
    void CompareSizes();
    /** Figure 11: trainings on four packages. */
    void CompareTrainings();

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
    TrainingRunOptions GetTraining(const Platform& platform, const Network& network) const;
    double Train(const Platform& platform, const Network& network);
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
Comparison::GetTraining(const Platform& platform, const Network& network) const
{
    TrainingRunOptions options;
    options.workload = network.workload;
    options.allToAll = network.hasEmbedding ? platform.GetAllToAll() : "";
    options.iterations = ITERATIONS;
    options.warmup = 0;
    options.cluster = GetOptions(platform, platform.GetAlgorithm());
    options.cluster.segments = m_setting.segments;
    return options;
}

double
Comparison::Train(const Platform& platform, const Network& network)
{
    const TrainingRunResult result = TrainingRun(GetTraining(platform, network)).Run();
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

JsonValue
Comparison::ToJson() const
{
    auto document = JsonValue::Object();
    document.Set("rows", m_rows).Set("figures", m_figures.GetRows());
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
                      "operations: in one package by number of switches; sizes: all-reduces in "
                      "one package; training: three networks on four packages",
                      setting.part,
                      {"all", "operations", "sizes", "training"});
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
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    Config::SetDefault("ns3::training::SwitchDevice::CutThrough", BooleanValue(true));
    Config::SetDefault("ns3::training::ScheduledCommunicator::ActiveCollectives", UintegerValue(4));
    options.Parse(argc, argv); // options of the user override those of the paper
    Comparison comparison(setting);
    RunExperiment(
        options,
        setting.json,
        setting.part,
        {{"operations", [&] { comparison.CompareOperations(); }},
         {"sizes", [&] { comparison.CompareSizes(); }},
         {"training", [&] { comparison.CompareTrainings(); }}},
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
