/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * All-reduces of the MULTITREE paper (Huang et al., "Communication algorithm-architecture
 * co-design for distributed deep learning", ISCA 2021), next to its published results:
 *
 *   ./ns3w run multitree-allreduce
 */

#include "hidden-global-values.h"
#include "multitree-iterations.h"

#include "ns3/boolean.h"
#include "ns3/cluster-command-line.h"
#include "ns3/config.h"
#include "ns3/experiment.h"
#include "ns3/published-table.h"
#include "ns3/recorded-collectives.h"
#include "ns3/roce-wire-format.h"
#include "ns3/size-list.h"
#include "ns3/topology-builder.h"
#include "ns3/training-program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// An unknown number.
constexpr double NONE = PublishedTable::UNKNOWN;
/// A packet of 256 bytes has 16 flits and one head flit. A message has only one head flit.
constexpr double HEADS = 17.0 / 16.0;
/// 16 processing elements of 32 adders of 4 bytes in 16 cycles of 1 ns: 128 GB/s.
constexpr uint64_t REDUCE_RATE = 1024000000000;
/// The same in NICs, and messages that are added and sent as a whole.
constexpr const char* NIC_KEYS =
    "lanes=512,clock=62.5,add-latency=0,cut-through=false,own-buffer=0,reception-buffer=0,";
/// Gradient size per node in the weak scaling: 98304 numbers, 384 KiB.
constexpr uint64_t SCALING_BYTES = 4 * 98304;
/// Largest vectors that are simulated as they are, bytes: at least, and for each node.
constexpr uint64_t LARGE = 2 << 20;
constexpr uint64_t LARGE_OF_NODE = 16 << 10;
/// An entry of the schedule table, bytes: about 200 bits.
constexpr double ENTRY_BYTES = 25;
/// Where figures come from.
constexpr const char* ABSTRACT = "abstract";
constexpr const char* UNVERIFIED = "not verified";

/** Parameters of the simulation. */
struct Setting
{
    std::string part{"all"};
    std::vector<std::string> topologies{"torus:4x4",
                                        "torus:8x8",
                                        "mesh:4x4",
                                        "mesh:8x8",
                                        "two-switch:hosts-per-switch=8",
                                        "m-ary-n-tree:m=8,n=2",
                                        "bigraph:m=4,n=8",
                                        "bigraph:m=4,n=16"};
    std::string bytes{"32K,256K,2M,16M,64M"};
    std::string sides{"4,8,16"};
    std::string stop{"any"};
    DataRate rate{128000000000};
    Time delay{NanoSeconds(150)};
    uint64_t mtu{4096};
    bool full{false};
    std::string json;
    RunFilesOptions files;
};

/** An algorithm of the comparison. */
struct Contender
{
    std::string name;      ///< name in the output
    std::string algorithm; ///< algorithm with keys
};

/** Results of a contender. */
struct Outcome
{
    uint32_t steps{0};           ///< of its schedule
    uint32_t entries{0};         ///< of the largest schedule table of a node
    std::vector<double> seconds; ///< by size
    Line line;                   ///< through two large vectors
};

/** All-reduces of the paper, simulated next to its figures. */
class Comparison
{
  public:
    /**
     * @param setting of the comparison
     * @throw ConfigurationError if the setting is invalid
     */
    explicit Comparison(const Setting& setting)
        : m_setting(setting),
          m_figures({{"figure", "", -74},
                     {"unit", "unit", 0, "", "  ", true},
                     {"source", "source", 0, "", "  ", true},
                     {"published", "published", 10, "%.5g"},
                     {"expected", "expected", 10, "%.5g"},
                     {"ours", "ours", 10, "%.5g"}},
                    setting.json == "-" ? PublishedTable::Printing::NEVER
                                        : PublishedTable::Printing::AT_ONCE),
          m_sizes(ParseSizes("--bytes", setting.bytes))
    {
        for (uint64_t side : ParseSizes("--sides", setting.sides))
        {
            m_tori.push_back("torus:" + std::to_string(side) + "x" + std::to_string(side));
            GetTopology(m_tori.back());
        }
        std::for_each(setting.topologies.begin(),
                      setting.topologies.end(),
                      [this](const std::string& spec) { GetTopology(spec); });
    }

    /** Bandwidth by size, and number of steps, on each topology. */
    void CompareSizes();
    /** All-reduces of the gradients of whole networks on a torus of 64 nodes, and iterations. */
    void CompareNetworks();
    /** Numbers of interfaces, flow control, lockstep, and tables of MULTITREE's interface. */
    void CompareInterfaces();
    /** Weak scaling: tori of increasing size with proportional gradients. */
    void CompareScaling();

    /** @return the results */
    JsonValue ToJson() const;

    /** @return the cost of all simulations */
    const RunCost& GetCost() const
    {
        return m_figures.GetCost();
    }

  private:
    std::vector<Contender> GetContenders(const TopologyGraph& topology) const;
    TopologyGraph GetTopology(const std::string& spec) const;
    std::string GetMultitree(const std::string& keys) const;
    Outcome Measure(const std::string& spec,
                    uint32_t nodes,
                    const Contender& contender,
                    const std::vector<uint64_t>& sizes);
    Outcome MeasureLine(const std::string& spec,
                        uint32_t nodes,
                        const Contender& contender,
                        const std::vector<uint64_t>& sizes);
    void CompareIterations(const std::vector<SystolicNetwork>& networks,
                           const std::vector<Outcome>& outcomes);
    void AddFigure(const std::string& figure,
                   const char* unit,
                   const char* source,
                   double published,
                   double expected,
                   double ours);
    void AddRows(const char* part,
                 const std::string& spec,
                 uint32_t nodes,
                 const Contender& contender,
                 const std::vector<uint64_t>& sizes,
                 const Outcome& outcome);
    void PrintSteps(const TopologyGraph& topology,
                    const std::vector<Contender>& contenders,
                    const std::vector<Outcome>& outcomes);

    const Setting& m_setting;
    PublishedTable m_figures;
    std::vector<uint64_t> m_sizes;
    std::vector<std::string> m_tori; // of the weak scaling
    JsonValue m_rows{JsonValue::Array()};
    JsonValue m_steps{JsonValue::Array()};
    JsonValue m_iterations{JsonValue::Array()};
};

/** @return the geometric mean of a / b over all pairs */
double
GetMeanRatio(const std::vector<double>& a, const std::vector<double>& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); i++)
    {
        sum += std::log(a[i] / b[i]);
    }
    return std::exp(sum / static_cast<double>(a.size()));
}

/** @return steps of MULTITREE's all-reduce in the published program, if known */
std::optional<uint32_t>
GetPublishedSteps(const std::string& topology, const std::string& stop)
{
    static const std::map<std::string, std::pair<uint32_t, uint32_t>> steps{
        {"torus:4x4", {10, 10}}, // stop=any, stop=last
        {"mesh:4x4", {16, 20}},
        {"two-switch:hosts-per-switch=8", {30, 30}},
        {"bigraph:m=4,n=8", {62, 62}}};
    const auto known = steps.find(topology);
    if (known == steps.end())
    {
        return std::nullopt;
    }
    return stop == "any" ? known->second.first : known->second.second;
}

/** @return steps of an all-reduce by the closed form, if there is one */
std::optional<uint32_t>
GetExpectedSteps(const TopologyGraph& topology, const std::string& name, const std::string& stop)
{
    if (name == "ring")
    {
        return 2 * (topology.hosts - 1);
    }
    if (name == "2D-ring")
    {
        return 2 * (topology.shape.sides[0] - 1) + 2 * (topology.shape.sides[1] - 1);
    }
    if (name == "HDRM")
    {
        uint32_t steps = 0;
        for (uint32_t ranks = 1; ranks < topology.hosts; ranks *= 2)
        {
            steps += 2;
        }
        return steps;
    }
    return name.rfind("MULTITREE", 0) == 0 ? GetPublishedSteps(topology.name, stop) : std::nullopt;
}

TopologyGraph
Comparison::GetTopology(const std::string& spec) const
{
    return BuildTopology(spec, 1, m_setting.rate, m_setting.delay);
}

std::string
Comparison::GetMultitree(const std::string& keys) const
{
    // The published table is too small for some topologies, see CompareInterfaces().
    return std::string("nic-multitree:") + NIC_KEYS + "table-entries=0,stop=" + m_setting.stop +
           "," + keys;
}

std::vector<Contender>
Comparison::GetContenders(const TopologyGraph& topology) const
{
    const std::string packets = std::string(NIC_KEYS) + "flow-control=packet";
    std::vector<Contender> contenders{{"ring", "nic-multi-ring:rings=1," + packets}};
    if (topology.shape.sides.size() == 2)
    {
        contenders.push_back({"2D-ring", "nic-ring-2d:" + packets});
    }
    if (topology.shape.bipartite)
    {
        contenders.push_back({"HDRM", "nic-hdrm:" + packets});
    }
    contenders.push_back({"DBTree", "double-binary-tree"});
    contenders.push_back({"MULTITREE", GetMultitree("flow-control=packet")});
    contenders.push_back({"MULTITREE-MSG", GetMultitree("flow-control=message")});
    return contenders;
}

void
Comparison::AddFigure(const std::string& figure,
                      const char* unit,
                      const char* source,
                      double published,
                      double expected,
                      double ours)
{
    m_figures.AddRow({figure, unit, source, published, expected, ours});
}

Outcome
Comparison::Measure(const std::string& spec,
                    uint32_t nodes,
                    const Contender& contender,
                    const std::vector<uint64_t>& sizes)
{
    // Packets here have headers. A faster line gives them the goodput of the paper's lines. Hosts
    // send no head flits: a slower line has the time for those of DBTree.
    const auto mtu = static_cast<double>(m_setting.mtu);
    const double overhead =
        ROCE_BYTES + Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
    const double share = IsInNic(contender.algorithm) ? 1 : 1 / HEADS;
    ClusterOptions options;
    options.ranks = nodes;
    options.topology = spec;
    options.rate = DataRate(static_cast<uint64_t>(static_cast<double>(m_setting.rate.GetBitRate()) *
                                                  share * (mtu + overhead) / mtu));
    options.delay = m_setting.delay;
    options.mtu = m_setting.mtu;
    options.path = "source-mod"; // as in the paper's fat-trees
    options.congestionControl = "none";
    options.algorithm = contender.algorithm;

    Outcome outcome;
    {
        const Cluster cluster(options);
        GuardedRun run(cluster);
        RecordedCollectives recorded(cluster);
        for (uint64_t bytes : sizes)
        {
            const auto result = recorded.Measure([&] {
                return MeasureCollective(cluster,
                                         run,
                                         CollectiveOperation::ALL_REDUCE,
                                         bytes,
                                         false,
                                         1);
            });
            outcome.seconds.push_back(result.seconds);
        }
        recorded.Close();
        const auto schedule =
            cluster.GetPlanner().Get(CollectiveOperation::ALL_REDUCE, sizes[0], 0);
        outcome.steps = schedule->GetSteps();
        for (uint32_t rank = 0; rank < nodes; rank++)
        {
            const ScheduleTable table(*schedule, rank, {}, nullptr);
            outcome.entries = std::max(outcome.entries, table.GetEntries());
        }
        m_figures.AddCost(GetRunCost(cluster.GetFabric()));
    }
    Simulator::Destroy();
    return outcome;
}

Outcome
Comparison::MeasureLine(const std::string& spec,
                        uint32_t nodes,
                        const Contender& contender,
                        const std::vector<uint64_t>& sizes)
{
    // DBTree is in a line with size only if there are many more segments than levels.
    const uint64_t large =
        IsInNic(contender.algorithm) ? std::max(LARGE, LARGE_OF_NODE * nodes) : 4 * LARGE;
    std::vector<uint64_t> simulated{large / 2, large};
    std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(simulated), [&](uint64_t bytes) {
        return bytes <= large || m_setting.full;
    });
    Outcome outcome = Measure(spec, nodes, contender, simulated);
    const double half = outcome.seconds[0];
    const double whole = outcome.seconds[1];
    outcome.line = {2 * half - whole, (whole - half) / static_cast<double>(large / 2)};
    outcome.seconds.erase(outcome.seconds.begin(), outcome.seconds.begin() + 2);
    for (std::size_t i = 0; i < sizes.size(); i++)
    {
        if (sizes[i] > large && !m_setting.full)
        {
            outcome.seconds.insert(outcome.seconds.begin() + static_cast<std::ptrdiff_t>(i),
                                   outcome.line.GetSeconds(sizes[i]));
        }
    }
    return outcome;
}

void
Comparison::AddRows(const char* part,
                    const std::string& spec,
                    uint32_t nodes,
                    const Contender& contender,
                    const std::vector<uint64_t>& sizes,
                    const Outcome& outcome)
{
    for (std::size_t i = 0; i < sizes.size(); i++)
    {
        auto row = JsonValue::Object();
        row.Set("part", part)
            .Set("topology", spec)
            .Set("nodes", uint64_t{nodes})
            .Set("bytes", sizes[i])
            .Set("contender", contender.name)
            .Set("algorithm", contender.algorithm)
            .Set("time_us", outcome.seconds[i] * 1e6)
            .Set("algbw_GBps", static_cast<double>(sizes[i]) / outcome.seconds[i] * 1e-9);
        m_rows.Append(row);
    }
}

void
Comparison::PrintSteps(const TopologyGraph& topology,
                       const std::vector<Contender>& contenders,
                       const std::vector<Outcome>& outcomes)
{
    for (std::size_t i = 0; i < contenders.size(); i++)
    {
        const auto expected = GetExpectedSteps(topology, contenders[i].name, m_setting.stop);
        auto row = JsonValue::Object();
        row.Set("topology", topology.name)
            .Set("contender", contenders[i].name)
            .Set("published", expected ? JsonValue(uint64_t{*expected}) : JsonValue())
            .Set("ours", uint64_t{outcomes[i].steps});
        m_steps.Append(row);
    }
    if (!m_figures.IsPrinting())
    {
        return;
    }
    std::printf("\n%s, %u nodes; bandwidth of an all-reduce (bytes / time), GB/s\n%18s",
                topology.name.c_str(),
                topology.hosts,
                "");
    for (const Contender& contender : contenders)
    {
        std::printf(" %13s", contender.name.c_str());
    }
    std::printf("   speed-up over ring, %s\n%18s", contenders[1].name.c_str(), "steps, published");
    for (const Contender& contender : contenders)
    {
        const auto expected = GetExpectedSteps(topology, contender.name, m_setting.stop);
        std::printf(" %13s", expected ? std::to_string(*expected).c_str() : "-");
    }
    std::printf("\n%18s", "steps, ours");
    for (const Outcome& outcome : outcomes)
    {
        std::printf(" %13u", outcome.steps);
    }
    std::printf("\n");
}

void
Comparison::CompareSizes()
{
    std::vector<double> ring;
    std::vector<double> other;
    std::vector<double> multitree;
    for (const std::string& spec : m_setting.topologies)
    {
        const TopologyGraph topology = GetTopology(spec);
        const auto contenders = GetContenders(topology);
        std::vector<Outcome> outcomes;
        for (const Contender& contender : contenders)
        {
            outcomes.push_back(MeasureLine(spec, topology.hosts, contender, m_sizes));
            AddRows("sizes", spec, topology.hosts, contender, m_sizes, outcomes.back());
        }
        PrintSteps(topology, contenders, outcomes);
        for (std::size_t i = 0; i < m_sizes.size(); i++)
        {
            const double best = outcomes.back().seconds[i];
            ring.push_back(outcomes[0].seconds[i]);
            other.push_back(outcomes[1].seconds[i]);
            multitree.push_back(best);
            if (m_figures.IsPrinting())
            {
                std::printf("%18llu", static_cast<unsigned long long>(m_sizes[i]));
                for (const Outcome& outcome : outcomes)
                {
                    std::printf(" %13.3f",
                                static_cast<double>(m_sizes[i]) / outcome.seconds[i] * 1e-9);
                }
                std::printf("   %7.2f %7.2f\n", ring.back() / best, other.back() / best);
                std::fflush(stdout);
            }
        }
    }
    if (m_setting.topologies != Setting().topologies || m_setting.bytes != Setting().bytes)
    {
        return; // no published values of other means
    }
    m_figures.PrintHeadings("\n");
    AddFigure("speed-up over ring (mean of all above; of what is not published)",
              "",
              ABSTRACT,
              2.3,
              NONE,
              GetMeanRatio(ring, multitree));
    AddFigure("speed-up over the state of the art (2D-ring, HDRM, DBTree)",
              "",
              ABSTRACT,
              1.56,
              NONE,
              GetMeanRatio(other, multitree));
}

void
Comparison::CompareNetworks()
{
    const std::string spec = "torus:8x8";
    const TopologyGraph topology = GetTopology(spec);
    const std::vector<SystolicNetwork> networks = GetNetworks();
    std::vector<uint64_t> sizes;
    for (const SystolicNetwork& network : networks)
    {
        sizes.push_back(4 * network.GetParameters());
    }
    const auto contenders = GetContenders(topology);
    std::vector<Outcome> outcomes;
    if (m_figures.IsPrinting())
    {
        std::printf("\n%s; time of an all-reduce of all gradients, us\n%-24s %11s",
                    spec.c_str(),
                    "",
                    "bytes");
    }
    for (const Contender& contender : contenders)
    {
        outcomes.push_back(MeasureLine(spec, topology.hosts, contender, sizes));
        AddRows("networks", spec, topology.hosts, contender, sizes, outcomes.back());
        if (m_figures.IsPrinting())
        {
            std::printf(" %13s", contender.name.c_str());
        }
    }
    for (std::size_t i = 0; i < sizes.size() && m_figures.IsPrinting(); i++)
    {
        std::printf("\n%-24s %11llu",
                    networks[i].name.c_str(),
                    static_cast<unsigned long long>(sizes[i]));
        for (const Outcome& outcome : outcomes)
        {
            std::printf(" %13.1f", outcome.seconds[i] * 1e6);
        }
    }
    if (m_figures.IsPrinting())
    {
        std::printf("\n");
    }
    CompareIterations(networks, outcomes);
}

void
Comparison::CompareIterations(const std::vector<SystolicNetwork>& networks,
                              const std::vector<Outcome>& outcomes)
{
    if (m_figures.IsPrinting())
    {
        std::printf("\niterations of 16 samples a node, millions of cycles of 1 ns; compute: "
                    "SCALE-Sim's model in closed form\n%-24s %9s %9s %9s %9s %9s %10s %14s %14s\n",
                    "",
                    "compute",
                    "sum",
                    "ring",
                    "2D-ring",
                    "MT-MSG",
                    "ring share",
                    "less than ring",
                    "than 2D-ring");
    }
    // What the lines need for the bytes of all steps: the expected times.
    const uint64_t nodes = GetTopology("torus:8x8").hosts;
    const double side = std::sqrt(static_cast<double>(nodes));
    const double nsPerByte = 8e9 / static_cast<double>(m_setting.rate.GetBitRate());
    const auto steps = static_cast<double>(outcomes.back().steps);
    Savings expected;
    Savings ours;
    for (std::size_t i = 0; i < networks.size(); i++)
    {
        const SystolicNetwork& network = networks[i];
        Iteration iteration;
        for (const SystolicLayer& layer : network.layers)
        {
            const LayerCycles cycles = GetCycles(layer);
            iteration.compute +=
                static_cast<double>(cycles.forward + cycles.inputGradient + cycles.weightGradient);
        }
        iteration.aggregation = GetAggregationCycles(network.GetParameters());
        Iteration lines = iteration;
        const auto vector = 4 * static_cast<double>(network.GetParameters()) * nsPerByte;
        const auto share = 1 / static_cast<double>(nodes);
        lines.ring = 2 * (1 - share) * vector * HEADS;
        lines.ring2d = (1 - 1 / side) * vector * HEADS;
        lines.multitree = steps * share * vector;
        iteration.ring = 1e9 * outcomes[0].seconds[i];
        iteration.ring2d = 1e9 * outcomes[1].seconds[i];
        iteration.multitree = 1e9 * outcomes.back().seconds[i];
        const double overlapped = GetOverlapped(network, outcomes.back().line);
        const double ringSpeedUp = GetOverlapped(network, outcomes[0].line) / overlapped;
        const double ring2dSpeedUp = GetOverlapped(network, outcomes[1].line) / overlapped;
        auto row = JsonValue::Object();
        row.Set("network", network.name)
            .Set("compute_Mcycles", iteration.compute * 1e-6)
            .Set("aggregation_Mcycles", iteration.aggregation * 1e-6)
            .Set("ring_Mcycles", iteration.ring * 1e-6)
            .Set("ring_2d_Mcycles", iteration.ring2d * 1e-6)
            .Set("multitree_Mcycles", iteration.multitree * 1e-6)
            .Set("ring_share_percent", 100 * iteration.GetShare())
            .Set("less_than_ring_percent", 100 * iteration.GetSaving(iteration.ring))
            .Set("less_than_ring_2d_percent", 100 * iteration.GetSaving(iteration.ring2d))
            .Set("overlapped_speedup_ring", ringSpeedUp)
            .Set("overlapped_speedup_ring_2d", ring2dSpeedUp);
        m_iterations.Append(row);
        if (m_figures.IsPrinting())
        {
            std::printf("%-24s %9.3f %9.3f %9.3f %9.3f %9.3f %9.1f%% %13.1f%% %13.1f%%\n",
                        network.name.c_str(),
                        iteration.compute * 1e-6,
                        iteration.aggregation * 1e-6,
                        iteration.ring * 1e-6,
                        iteration.ring2d * 1e-6,
                        iteration.multitree * 1e-6,
                        100 * iteration.GetShare(),
                        100 * iteration.GetSaving(iteration.ring),
                        100 * iteration.GetSaving(iteration.ring2d));
        }
        if (i == 0)
        {
            continue; // AlexNet's convolutions, of strange sizes, take nearly all of the time
        }
        expected.Add(network, lines, NONE, NONE);
        ours.Add(network, iteration, ringSpeedUp, ring2dSpeedUp);
    }
    m_figures.PrintHeadings("\n");
    AddFigure("speed-up over ring (mean of all networks)",
              "",
              ABSTRACT,
              2.3,
              2 * (static_cast<double>(nodes) - 1) * HEADS / steps,
              GetMeanRatio(outcomes[0].seconds, outcomes.back().seconds));
    AddFigure("speed-up over the state of the art (2D-ring)",
              "",
              ABSTRACT,
              1.56,
              (1 - 1 / side) * HEADS * static_cast<double>(nodes) / steps,
              GetMeanRatio(outcomes[1].seconds, outcomes.back().seconds));
    const auto add =
        [&](const char* figure, const char* source, double published, double Savings::*value) {
            AddFigure(figure, "%", source, published, 100 * (expected.*value), 100 * (ours.*value));
        };
    add("least share of a ring's all-reduce in an iteration, but for AlexNet",
        UNVERIFIED,
        30,
        &Savings::leastShare);
    add("largest share of a ring's all-reduce in an iteration",
        UNVERIFIED,
        88,
        &Savings::largestShare);
    add("CNNs: largest saving of an iteration over ring", UNVERIFIED, 34, &Savings::cnnOverRing);
    add("CNNs: largest saving of an iteration over 2D-ring",
        UNVERIFIED,
        15,
        &Savings::cnnOverRing2d);
    add("NCF, Transformer: largest saving over ring", ABSTRACT, 81, &Savings::overRing);
    add("NCF, Transformer: largest saving over 2D-ring", ABSTRACT, 30, &Savings::overRing2d);
    // An infinitely fast all-reduce saves the ring's share.
    AddFigure("largest saving of an all-reduce that takes no time, over ring",
              "%",
              "",
              NONE,
              100 * expected.largestShare,
              100 * ours.largestShare);
    AddFigure("CNNs, overlapped by layer: largest gain over ring",
              "%",
              UNVERIFIED,
              10,
              NONE,
              100 * (ours.cnnOverlapped - 1));
    AddFigure("NCF, Transformer, overlapped: largest speed-up over ring",
              "",
              UNVERIFIED,
              2,
              NONE,
              ours.overlapped);
    AddFigure("NCF, Transformer, overlapped: largest speed-up over 2D-ring",
              "",
              UNVERIFIED,
              1.37,
              NONE,
              ours.overlapped2d);
}

void
Comparison::CompareInterfaces()
{
    constexpr uint64_t BYTES = 16 << 20;

    const struct
    {
        const char* name;
        const char* keys;
        double heads;
    } variants[] = {
        {"alpha: 1 interface, packets", "ports=1,interfaces=1,flow-control=packet", HEADS},
        {"beta: 4 interfaces, packets", "flow-control=packet", HEADS},
        {"gamma: 1 interface, messages", "ports=1,interfaces=1,flow-control=message", 1},
        {"delta: 4 interfaces, messages", "flow-control=message", 1},
        {"delta, order of the table only", "flow-control=message,lockstep=none", 1},
        {"delta, lockstep by an oracle", "flow-control=message,lockstep=oracle", 1}};

    const double bytesPerSecond = static_cast<double>(m_setting.rate.GetBitRate()) / 8;
    m_figures.PrintHeadings(
        "\nMULTITREE's interface, all-reduces of 16 MiB; expected: the bytes of "
        "all steps on the line\n");
    for (const std::string spec : {"torus:4x4", "torus:8x8"})
    {
        const uint32_t nodes = GetTopology(spec).hosts;
        std::vector<double> expected;
        std::vector<double> ours;
        for (const auto& variant : variants)
        {
            const Contender contender{variant.name, GetMultitree(variant.keys)};
            const Outcome outcome = Measure(spec, nodes, contender, {BYTES});
            AddRows("interfaces", spec, nodes, contender, {BYTES}, outcome);
            expected.push_back(outcome.steps * variant.heads * BYTES / nodes / bytesPerSecond);
            ours.push_back(outcome.seconds[0]);
            AddFigure(spec + ", " + variant.name + ", " + std::to_string(outcome.steps) + " steps",
                      "GB/s",
                      "",
                      NONE,
                      BYTES / expected.back() * 1e-9,
                      BYTES / ours.back() * 1e-9);
        }
        AddFigure(spec + ": gain of message over packet flow control, 1 interface",
                  "%",
                  UNVERIFIED,
                  6,
                  100 * (expected[0] / expected[2] - 1),
                  100 * (ours[0] / ours[2] - 1));
        AddFigure(spec + ": likewise, 4 interfaces",
                  "%",
                  UNVERIFIED,
                  6,
                  100 * (expected[1] / expected[3] - 1),
                  100 * (ours[1] / ours[3] - 1));
        AddFigure(spec + ": speed-up of 4 interfaces over 1, messages",
                  "",
                  "",
                  NONE,
                  expected[2] / expected[3],
                  ours[2] / ours[3]);
    }
    for (const auto& [spec, published] :
         std::vector<std::pair<std::string, double>>{{"torus:8x8", 128}, {"mesh:8x8", 140}})
    {
        const Outcome outcome = Measure(spec, 64, {"", GetMultitree("flow-control=message")}, {64});
        AddFigure(spec + ": entries of the largest schedule table",
                  "",
                  UNVERIFIED,
                  published,
                  NONE,
                  outcome.entries);
        AddFigure(spec + ": its size, 200 bits an entry",
                  "KB",
                  UNVERIFIED,
                  published == 128 ? 3.2 : NONE,
                  published * ENTRY_BYTES * 1e-3,
                  outcome.entries * ENTRY_BYTES * 1e-3);
    }
}

void
Comparison::CompareScaling()
{
    if (m_figures.IsPrinting())
    {
        std::printf("\nweak scaling, 384 KiB for each node of a torus; time of an all-reduce, us\n"
                    "%6s %11s",
                    "nodes",
                    "bytes");
    }
    bool isFirst = true;
    for (const std::string& spec : m_tori)
    {
        const TopologyGraph topology = GetTopology(spec);
        const std::vector<uint64_t> sizes{SCALING_BYTES * topology.hosts};
        const auto contenders = GetContenders(topology);
        std::vector<double> seconds;
        for (const Contender& contender : contenders)
        {
            const Outcome outcome = MeasureLine(spec, topology.hosts, contender, sizes);
            AddRows("scaling", spec, topology.hosts, contender, sizes, outcome);
            seconds.push_back(outcome.seconds[0]);
            if (m_figures.IsPrinting() && isFirst)
            {
                std::printf(" %13s", contender.name.c_str());
            }
        }
        if (m_figures.IsPrinting())
        {
            std::printf("%s%6u %11llu",
                        isFirst ? "   speed-up over ring, 2D-ring\n" : "",
                        topology.hosts,
                        static_cast<unsigned long long>(sizes[0]));
            for (double time : seconds)
            {
                std::printf(" %13.1f", time * 1e6);
            }
            std::printf("   %7.2f %7.2f\n",
                        seconds[0] / seconds.back(),
                        seconds[1] / seconds.back());
            std::fflush(stdout);
        }
        isFirst = false;
        if (topology.hosts == 256)
        {
            m_figures.PrintHeadings("\n");
            AddFigure("speed-up over ring, 256 nodes (published: about)",
                      "",
                      UNVERIFIED,
                      3,
                      NONE,
                      seconds[0] / seconds.back());
            AddFigure("speed-up over 2D-ring, 256 nodes (published: about)",
                      "",
                      UNVERIFIED,
                      1.4,
                      NONE,
                      seconds[1] / seconds.back());
        }
    }
}

JsonValue
Comparison::ToJson() const
{
    auto document = JsonValue::Object();
    document.Set("rows", m_rows)
        .Set("steps", m_steps)
        .Set("iterations", m_iterations)
        .Set("figures", m_figures.GetRows());
    return document;
}

int
Compare(int argc, char* argv[])
{
    Setting setting;
    ProgramOptions options("multitree-allreduce",
                           "All-reduces of the MULTITREE paper, beside what it reports.");
    options.Group("Experiment");
    options.AddChoice("part",
                      "sizes: bandwidth by size on each topology; networks: the gradients of whole "
                      "networks on a torus of 64, and iterations of their training; interfaces: "
                      "MULTITREE's interface with less; scaling: tori of more and more nodes",
                      setting.part,
                      {"all", "sizes", "networks", "interfaces", "scaling"});
    options.AddList("topology",
                    "for sizes: as --topology of collective-benchmark; may be repeated",
                    setting.topologies);
    options.AddString("bytes", "for sizes: as --bytes of collective-benchmark", setting.bytes);
    options.AddString("sides", "for scaling: sides of the tori, a list", setting.sides);
    options.AddChoice(
        "stop",
        "when a step of MULTITREE's construction ends: any as the paper says, last as "
        "its authors' program does",
        setting.stop,
        {"any", "last"});
    options.AddRate("rate", "rate of a link for payload and head flits", setting.rate);
    options.AddTime("delay", "propagation delay of every link", setting.delay);
    options.AddUnsigned("mtu",
                        "payload of the simulation's packets; of no influence on the rate of "
                        "payload",
                        setting.mtu,
                        256,
                        9000);
    options.AddBool(
        "full",
        "simulate all bytes; otherwise vectors above 2 MiB and 16 KiB for each node take "
        "the time on the line through this size and half of it",
        setting.full);
    options.AddJson(setting.json);
    setting.files.AddTo(options);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    Config::SetDefault("ns3::training::SwitchDevice::CutThrough", BooleanValue(true));
    Config::SetDefault("ns3::training::ScheduledCommunicator::ReduceRate",
                       DataRateValue(DataRate(REDUCE_RATE)));
    options.Parse(argc, argv); // options of the user override those of the paper
    Comparison comparison(setting);
    RunExperiment(
        options,
        setting.json,
        setting.files,
        setting.part,
        {{"sizes", [&] { comparison.CompareSizes(); }},
         {"networks", [&] { comparison.CompareNetworks(); }},
         {"interfaces", [&] { comparison.CompareInterfaces(); }},
         {"scaling", [&] { comparison.CompareScaling(); }}},
        [&] { return comparison.ToJson(); },
        comparison.GetCost());
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("multitree-allreduce", [&] { return Compare(argc, argv); });
}
