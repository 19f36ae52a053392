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

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// A packet of 256 bytes has 16 flits and one head flit. A message has only one head flit.
constexpr double PACKET_SHARE = 16.0 / 17.0;
/// 16 processing elements of 32 adders of 4 bytes in 16 cycles of 1 ns: 128 GB/s.
constexpr uint64_t REDUCE_RATE = 1024000000000;
/// Gradient size per node in the weak scaling: 98304 numbers, 384 KiB.
constexpr uint64_t SCALING_BYTES = 4 * 98304;

/** A neural network of the paper, with the parameters of its layer files. */
struct Network
{
    const char* name;
    uint64_t parameters;
};

constexpr Network NETWORKS[] = {{"AlexNet (convolutions)", 3745824},
                                {"AlphaGoZero", 1573620},
                                {"FasterRCNN", 13258944},
                                {"GoogLeNet", 6854208},
                                {"NCF", 11042704},
                                {"ResNet-50", 25502912},
                                {"Transformer", 77418328}};

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
    std::string sides{"4,6,8,10,12,14,16"};
    std::string stop{"any"};
    DataRate rate{128000000000};
    Time delay{NanoSeconds(150)};
    uint64_t mtu{4096};
    std::string json;
};

/** An algorithm of the comparison. */
struct Contender
{
    std::string name;      ///< name in the output
    std::string algorithm; ///< algorithm with keys
    bool messages;         ///< message-based flow control instead of packets
};

/** Results of a contender. */
struct Outcome
{
    uint32_t steps{0};           ///< of its schedule
    std::vector<double> seconds; ///< by size
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
          m_figures({{"figure", "", -66},
                     {"published", "published", 9, "%.2f"},
                     {"ours", "ours", 7, "%.2f"}},
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
    /** All-reduces of the gradients of whole networks on a torus of 64 nodes. */
    void CompareNetworks();
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
    Outcome Measure(const std::string& spec,
                    uint32_t nodes,
                    const Contender& contender,
                    const std::vector<uint64_t>& sizes);
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

std::vector<Contender>
Comparison::GetContenders(const TopologyGraph& topology) const
{
    std::vector<Contender> contenders{{"ring", "multi-ring:rings=1", false}};
    if (topology.shape.sides.size() == 2)
    {
        contenders.push_back({"2D-ring", "ring-2d", false});
    }
    if (topology.shape.bipartite)
    {
        contenders.push_back({"HDRM", "hdrm", false});
    }
    contenders.push_back({"DBTree", "double-binary-tree", false});
    const std::string multitree = "multitree:stop=" + m_setting.stop;
    contenders.push_back({"MULTITREE", multitree, false});
    contenders.push_back({"MULTITREE-MSG", multitree, true});
    return contenders;
}

Outcome
Comparison::Measure(const std::string& spec,
                    uint32_t nodes,
                    const Contender& contender,
                    const std::vector<uint64_t>& sizes)
{
    // Packets here have headers. A faster line gives them the goodput of the paper's lines.
    const auto mtu = static_cast<double>(m_setting.mtu);
    const double overhead =
        ROCE_BYTES + Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
    const double share = contender.messages ? 1 : PACKET_SHARE;
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
        for (uint64_t bytes : sizes)
        {
            const auto result =
                MeasureCollective(cluster, run, CollectiveOperation::ALL_REDUCE, bytes, false, 1);
            outcome.seconds.push_back(result.seconds);
        }
        outcome.steps =
            cluster.GetPlanner().Get(CollectiveOperation::ALL_REDUCE, sizes[0], 0)->GetSteps();
        m_figures.AddCost(GetRunCost(cluster.GetFabric()));
    }
    Simulator::Destroy();
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
            outcomes.push_back(Measure(spec, topology.hosts, contender, m_sizes));
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
    m_figures.AddRow({"speed-up over ring (mean of all above; of what is not published)",
                      2.3,
                      GetMeanRatio(ring, multitree)});
    m_figures.AddRow({"speed-up over the state of the art (2D-ring, HDRM, DBTree)",
                      1.56,
                      GetMeanRatio(other, multitree)});
}

void
Comparison::CompareNetworks()
{
    const std::string spec = "torus:8x8";
    const TopologyGraph topology = GetTopology(spec);
    std::vector<uint64_t> sizes;
    for (const Network& network : NETWORKS)
    {
        sizes.push_back(4 * network.parameters);
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
        outcomes.push_back(Measure(spec, topology.hosts, contender, sizes));
        AddRows("networks", spec, topology.hosts, contender, sizes, outcomes.back());
        if (m_figures.IsPrinting())
        {
            std::printf(" %13s", contender.name.c_str());
        }
    }
    for (std::size_t i = 0; i < sizes.size() && m_figures.IsPrinting(); i++)
    {
        std::printf("\n%-24s %11llu", NETWORKS[i].name, static_cast<unsigned long long>(sizes[i]));
        for (const Outcome& outcome : outcomes)
        {
            std::printf(" %13.1f", outcome.seconds[i] * 1e6);
        }
    }
    m_figures.PrintHeadings("\n");
    const auto& multitree = outcomes.back().seconds;
    m_figures.AddRow({"speed-up over ring (mean of all networks)",
                      2.3,
                      GetMeanRatio(outcomes[0].seconds, multitree)});
    m_figures.AddRow({"speed-up over the state of the art (2D-ring)",
                      1.56,
                      GetMeanRatio(outcomes[1].seconds, multitree)});
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
            const Outcome outcome = Measure(spec, topology.hosts, contender, sizes);
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
            m_figures.AddRow({"speed-up over ring, 256 nodes (published: about)",
                              3.0,
                              seconds[0] / seconds.back()});
            m_figures.AddRow({"speed-up over 2D-ring, 256 nodes (published: about)",
                              1.4,
                              seconds[1] / seconds.back()});
        }
    }
}

JsonValue
Comparison::ToJson() const
{
    auto document = JsonValue::Object();
    document.Set("rows", m_rows).Set("steps", m_steps).Set("figures", m_figures.GetRows());
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
                      "networks on a torus of 64; scaling: tori of more and more nodes",
                      setting.part,
                      {"all", "sizes", "networks", "scaling"});
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
    options.AddRate("rate", "payload of a link, without the head flits of packets", setting.rate);
    options.AddTime("delay", "propagation delay of every link", setting.delay);
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
    Config::SetDefault("ns3::training::ScheduledCommunicator::ReduceRate",
                       DataRateValue(DataRate(REDUCE_RATE)));
    options.Parse(argc, argv); // options of the user override those of the paper
    Comparison comparison(setting);
    RunExperiment(
        options,
        setting.json,
        setting.part,
        {{"sizes", [&] { comparison.CompareSizes(); }},
         {"networks", [&] { comparison.CompareNetworks(); }},
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
