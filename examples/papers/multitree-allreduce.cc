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

#include "../hidden-global-values.h"
#include "multitree-iterations.h"
#include "options/size-list.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/roce-wire-format.h"
#include "ns3/topology-builder.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>
#include <iterator>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// A packet of 256 bytes has 16 flits and one head flit. A message has only one head flit.
constexpr double HEADS = 17.0 / 16.0;
/// 16 processing elements of 32 adders of 4 bytes in 16 cycles of 1 ns: 128 GB/s.
constexpr uint64_t REDUCE_RATE = 1024000000000;
/// The same in NICs, and messages that are added and sent as a whole.
const std::string NIC_KEYS =
    "lanes=512,clock=62.5,add-latency=0,cut-through=false,own-buffer=0,reception-buffer=0,";
/// Gradient size per node in the weak scaling: 98304 numbers, 384 KiB.
constexpr uint64_t SCALING_BYTES = 4 * 98304;
/// Size of the ablations of the interface, bytes.
constexpr uint64_t INTERFACE_BYTES = 16 << 20;
/// Largest vectors that are simulated as they are, bytes: at least, and for each node.
constexpr uint64_t LARGE = 2 << 20;
constexpr uint64_t LARGE_OF_NODE = 16 << 10;
/// An entry of the schedule table, bytes: about 200 bits.
constexpr double ENTRY_BYTES = 25;
/// Sizes whose means are published.
constexpr const char* BYTES = "32K,256K,2M,16M,64M";

/** An algorithm of the comparison, and what it takes. */
struct Contender
{
    std::string name;              ///< name in the output
    std::string algorithm;         ///< algorithm with keys
    std::vector<double> seconds{}; ///< by size
    Line line{};                   ///< through two large vectors
    uint32_t steps{0};             ///< of its schedule
    uint32_t entries{0};           ///< of the largest schedule table of a node
};

using Contenders = std::vector<Contender>;
using Columns = std::vector<PublishedTable::Column>;
using Cells = std::vector<PublishedTable::Cell>;

/** @return first columns, one for each contender, and MULTITREE's speed-ups over the first two */
Columns
AddColumns(Columns columns, const Contenders& contenders, const std::string& format)
{
    for (const Contender& contender : contenders)
    {
        columns.push_back({contender.name, contender.name, 13, format});
    }
    columns.push_back({"over ring", contenders[0].name, 9, "%.2f"});
    columns.push_back({"over other", contenders[1].name, 9, "%.2f"});
    return columns;
}

/** @return cells of such columns at a size: its value / seconds, or else us; the speed-ups */
Cells
AddCells(Cells cells, const Contenders& contenders, std::size_t size, double bytesToValue)
{
    for (const Contender& contender : contenders)
    {
        const double seconds = contender.seconds[size];
        cells.emplace_back(bytesToValue > 0 ? bytesToValue / seconds : seconds * 1e6);
    }
    for (const std::size_t other : {0, 1})
    {
        cells.emplace_back(contenders[other].seconds[size] / contenders.back().seconds[size]);
    }
    return cells;
}

/** The experiment. */
class MultitreeAllreduce
{
  public:
    /** @return exit status */
    int Run(int argc, char* argv[]);

  private:
    void Prepare();
    void AddSizes();
    void AddNetworks();
    void AddInterfaces();
    void AddScaling();
    void AddIterations(const std::vector<SystolicNetwork>& networks,
                       const Contenders& contenders,
                       double nodes);
    void AddTraining(Extremes& expected, Extremes& ours);
    void AddSteps(const TopologyGraph& topology,
                  const Contenders& contenders,
                  PublishedTable& table);

    TopologyGraph GetTopology(const std::string& spec) const;
    Contenders GetContenders(const TopologyGraph& topology) const;
    std::string GetMultitree(const std::string& keys) const;
    double GetExpectedSteps(const TopologyGraph& topology, const std::string& name) const;
    void Measure(Contender& contender,
                 const TopologyGraph& topology,
                 const std::vector<uint64_t>& sizes);
    Contenders MeasureAll(const char* part,
                          const TopologyGraph& topology,
                          const std::vector<uint64_t>& sizes);
    void AddRows(const char* part,
                 const TopologyGraph& topology,
                 const Contender& contender,
                 const std::vector<uint64_t>& sizes);

    Reproduction m_paper{"multitree-allreduce", "figures"};
    std::vector<std::string> m_published; // topologies
    std::vector<std::string> m_topologies;
    std::string m_bytes{BYTES};
    std::string m_sides{"4,8,16"};
    std::string m_stop{"any"};
    DataRate m_rate{128000000000};
    Time m_delay{NanoSeconds(150)};
    uint64_t m_mtu{4096};
    bool m_full{false};
    std::vector<uint64_t> m_sizes;
    std::vector<std::string> m_tori; // of the weak scaling
    JsonValue m_rows{JsonValue::Array()};
    JsonValue m_steps{JsonValue::Array()};
    JsonValue m_iterations{JsonValue::Array()};
};

int
MultitreeAllreduce::Run(int argc, char* argv[])
{
    m_paper.Begin("sizes");
    for (const PublishedCase& each : m_paper.GetCases("topologies"))
    {
        m_published.push_back(each.GetText("topology"));
    }
    m_topologies = m_published;
    ProgramOptions& options = m_paper.GetOptions();
    options.AddList("topology",
                    "for sizes: as --topology of collective-benchmark; may be repeated",
                    m_topologies);
    options.AddString("bytes", "for sizes: as --bytes of collective-benchmark", m_bytes);
    options.AddString("sides", "for scaling: sides of the tori, a list", m_sides);
    options.AddChoice(
        "stop",
        "when a step of MULTITREE's construction ends: any as the paper says, last as "
        "its authors' program does",
        m_stop,
        {"any", "last"});
    options.AddRate("rate", "rate of a link for payload and head flits", m_rate);
    options.AddTime("delay", "propagation delay of every link", m_delay);
    m_paper.AddMtu(m_mtu);
    options.AddBool(
        "full",
        "simulate all bytes; otherwise vectors above 2 MiB and 16 KiB for each node take "
        "the time on the line through this size and half of it",
        m_full);
    m_paper.AddPart("sizes", [&] { AddSizes(); });
    m_paper.AddPart("networks", [&] { AddNetworks(); });
    m_paper.AddPart("interfaces", [&] { AddInterfaces(); });
    m_paper.AddPart("scaling", [&] { AddScaling(); });
    m_paper.AtEnd([&](JsonValue& document) {
        document.Set("rows", m_rows).Set("steps", m_steps).Set("iterations", m_iterations);
    });
    return m_paper.Run(argc, argv, [&] { Prepare(); });
}

void
MultitreeAllreduce::Prepare()
{
    Config::SetDefault("ns3::training::SwitchDevice::CutThrough", BooleanValue(true));
    Config::SetDefault("ns3::training::ScheduledCommunicator::ReduceRate",
                       DataRateValue(DataRate(REDUCE_RATE)));
    m_sizes = ParseSizes("--bytes", m_bytes);
    for (uint64_t side : ParseSizes("--sides", m_sides))
    {
        m_tori.push_back("torus:" + std::to_string(side) + "x" + std::to_string(side));
        GetTopology(m_tori.back()); // checks it
    }
    for (const std::string& spec : m_topologies)
    {
        GetTopology(spec);
    }
}

TopologyGraph
MultitreeAllreduce::GetTopology(const std::string& spec) const
{
    return BuildTopology(spec, 1, m_rate, m_delay);
}

std::string
MultitreeAllreduce::GetMultitree(const std::string& keys) const
{
    // The published table is too small for some topologies, see AddInterfaces().
    return "nic-multitree:" + NIC_KEYS + "table-entries=0,stop=" + m_stop + "," + keys;
}

Contenders
MultitreeAllreduce::GetContenders(const TopologyGraph& topology) const
{
    const std::string packets = NIC_KEYS + "flow-control=packet";
    Contenders contenders{{"ring", "nic-multi-ring:rings=1," + packets}};
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

double
MultitreeAllreduce::GetExpectedSteps(const TopologyGraph& topology, const std::string& name) const
{
    if (name == "ring")
    {
        return 2. * (topology.hosts - 1);
    }
    if (name == "2D-ring")
    {
        return 2. * (topology.shape.sides[0] - 1) + 2. * (topology.shape.sides[1] - 1);
    }
    if (name == "HDRM")
    {
        return 2 * std::ceil(std::log2(topology.hosts));
    }
    for (const PublishedCase& known : m_paper.GetCases("topologies"))
    {
        if (name != "DBTree" && known.GetText("topology") == topology.name)
        {
            return known.Get(m_stop);
        }
    }
    return NONE;
}

void
MultitreeAllreduce::Measure(Contender& contender,
                            const TopologyGraph& topology,
                            const std::vector<uint64_t>& sizes)
{
    // Packets here have headers. A faster line gives them the goodput of the paper's lines. Hosts
    // send no head flits: a slower line has the time for those of DBTree.
    const auto mtu = static_cast<double>(m_mtu);
    const double overhead =
        ROCE_BYTES + Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
    const double share = IsInNic(contender.algorithm) ? 1 : 1 / HEADS;
    ClusterOptions options;
    options.ranks = topology.hosts;
    options.topology = topology.name;
    options.rate = DataRate(static_cast<uint64_t>(static_cast<double>(m_rate.GetBitRate()) * share *
                                                  (mtu + overhead) / mtu));
    options.delay = m_delay;
    options.mtu = m_mtu;
    options.path = "source-mod"; // as in the paper's fat-trees
    options.congestionControl = "none";
    options.algorithm = contender.algorithm;

    constexpr auto OPERATION = CollectiveOperation::ALL_REDUCE;
    const auto readSchedule = [&](const Cluster& cluster) {
        const auto schedule = cluster.GetPlanner().Get(OPERATION, sizes[0], 0);
        contender.steps = schedule->GetSteps();
        for (uint32_t rank = 0; rank < topology.hosts; rank++)
        {
            const ScheduleTable table(*schedule, rank, {}, nullptr);
            contender.entries = std::max(contender.entries, table.GetEntries());
        }
    };
    const CollectiveRun run = RunCollectives(options, OPERATION, sizes, false, readSchedule);
    m_paper.AddCost(run.cost);
    for (const CollectiveMeasurement& measurement : run.measurements)
    {
        contender.seconds.push_back(measurement.seconds);
    }
}

Contenders
MultitreeAllreduce::MeasureAll(const char* part,
                               const TopologyGraph& topology,
                               const std::vector<uint64_t>& sizes)
{
    Contenders contenders = GetContenders(topology);
    for (Contender& contender : contenders)
    {
        // DBTree is in a line with size only if there are many more segments than levels.
        const uint64_t large = IsInNic(contender.algorithm)
                                   ? std::max(LARGE, LARGE_OF_NODE * topology.hosts)
                                   : 4 * LARGE;
        const auto isSimulated = [&](uint64_t bytes) { return bytes <= large || m_full; };
        std::vector<uint64_t> simulated{large / 2, large};
        std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(simulated), isSimulated);
        Measure(contender, topology, simulated);
        const std::vector<double> seconds = std::move(contender.seconds);
        contender.line = {2 * seconds[0] - seconds[1],
                          (seconds[1] - seconds[0]) / static_cast<double>(large / 2)};
        contender.seconds.clear();
        auto next = seconds.begin() + 2;
        for (uint64_t bytes : sizes)
        {
            contender.seconds.push_back(isSimulated(bytes) ? *next++
                                                           : contender.line.GetSeconds(bytes));
        }
        AddRows(part, topology, contender, sizes);
    }
    return contenders;
}

void
MultitreeAllreduce::AddRows(const char* part,
                            const TopologyGraph& topology,
                            const Contender& contender,
                            const std::vector<uint64_t>& sizes)
{
    for (std::size_t i = 0; i < sizes.size(); i++)
    {
        const double seconds = contender.seconds[i];
        m_rows.Append(JsonValue::Object()
                          .Set("part", part)
                          .Set("topology", topology.name)
                          .Set("nodes", topology.hosts)
                          .Set("bytes", sizes[i])
                          .Set("contender", contender.name)
                          .Set("algorithm", contender.algorithm)
                          .Set("time_us", seconds * 1e6)
                          .Set("algbw_GBps", static_cast<double>(sizes[i]) / seconds * 1e-9));
    }
}

void
MultitreeAllreduce::AddSteps(const TopologyGraph& topology,
                             const Contenders& contenders,
                             PublishedTable& table)
{
    Cells published{"steps, published"};
    Cells ours{"steps, ours"};
    for (const Contender& contender : contenders)
    {
        const double expected = GetExpectedSteps(topology, contender.name);
        m_steps.Append(JsonValue::Object()
                           .Set("topology", topology.name)
                           .Set("contender", contender.name)
                           .Set("published", expected)
                           .Set("ours", contender.steps));
        published.emplace_back(std::isnan(expected) ? "-" : FormatDouble(expected));
        ours.emplace_back(std::to_string(contender.steps));
    }
    for (Cells* cells : {&published, &ours})
    {
        cells->insert(cells->end(), 2, ""); // of speed-ups
        table.AddRow(*cells);
    }
}

void
MultitreeAllreduce::AddSizes()
{
    std::vector<double> ring;
    std::vector<double> other;
    std::vector<double> multitree;
    for (const std::string& spec : m_topologies)
    {
        const TopologyGraph topology = GetTopology(spec);
        const Contenders contenders = MeasureAll("sizes", topology, m_sizes);
        PublishedTable table =
            m_paper.MakeTable(AddColumns({{"bytes", "", 18, "%.0f"}}, contenders, "%.3f"),
                              {{"topology", spec}, {"nodes", std::to_string(topology.hosts)}});
        AddSteps(topology, contenders, table);
        for (std::size_t i = 0; i < m_sizes.size(); i++)
        {
            const auto bytes = static_cast<double>(m_sizes[i]);
            table.AddRow(AddCells({bytes}, contenders, i, bytes * 1e-9));
            ring.push_back(contenders[0].seconds[i]);
            other.push_back(contenders[1].seconds[i]);
            multitree.push_back(contenders.back().seconds[i]);
        }
    }
    if (m_topologies == m_published && m_bytes == BYTES) // other means are not published
    {
        m_paper.Begin("means");
        m_paper.Add("ring", NONE, GetMeanRatio(ring, multitree));
        m_paper.Add("other", NONE, GetMeanRatio(other, multitree));
    }
}

void
MultitreeAllreduce::AddNetworks()
{
    const TopologyGraph topology = GetTopology("torus:8x8");
    const auto networks = ReadNetworks(m_paper.GetCases("layers"));
    std::vector<uint64_t> sizes;
    for (const SystolicNetwork& network : networks)
    {
        sizes.push_back(4 * network.GetParameters());
    }
    const Contenders contenders = MeasureAll("networks", topology, sizes);
    PublishedTable table = m_paper.MakeTable(
        AddColumns({{"network", "", -24}, {"bytes", "bytes", 11, "%.0f"}}, contenders, "%.1f"));
    for (std::size_t i = 0; i < sizes.size(); i++)
    {
        table.AddRow(AddCells({networks[i].name, static_cast<double>(sizes[i])}, contenders, i, 0));
    }
    AddIterations(networks, contenders, topology.hosts);
}

void
MultitreeAllreduce::AddIterations(const std::vector<SystolicNetwork>& networks,
                                  const Contenders& contenders,
                                  double nodes)
{
    m_paper.Begin("iterations");
    PublishedTable table = m_paper.MakeTable({{"network", "", -24},
                                              {"compute_Mcycles", "compute", 9, "%.3f"},
                                              {"aggregation_Mcycles", "sum", 9, "%.3f"},
                                              {"ring_Mcycles", "ring", 9, "%.3f"},
                                              {"ring_2d_Mcycles", "2D-ring", 9, "%.3f"},
                                              {"multitree_Mcycles", "MT-MSG", 9, "%.3f"},
                                              {"ring_share_percent", "share", 9, "%.1f%%"},
                                              {"less_than_ring_percent", "ring", 9, "%.1f%%"},
                                              {"less_than_ring_2d_percent", "2D", 9, "%.1f%%"},
                                              {"overlapped_speedup_ring", "ring", 9, "%.2f"},
                                              {"overlapped_speedup_ring_2d", "2D", 9, "%.2f"}});
    // What the lines need for the bytes of all steps, in times of the vector on a line.
    const Iteration lines{0,
                          0,
                          2 * (1 - 1 / nodes) * HEADS,
                          (1 - 1 / std::sqrt(nodes)) * HEADS,
                          contenders.back().steps / nodes};
    Extremes expected{{"ring", lines.ring / lines.multitree},
                      {"other", lines.ring2d / lines.multitree}};
    Extremes ours{{"ring", GetMeanRatio(contenders[0].seconds, contenders.back().seconds)},
                  {"other", GetMeanRatio(contenders[1].seconds, contenders.back().seconds)}};
    for (std::size_t i = 0; i < networks.size(); i++)
    {
        const SystolicNetwork& network = networks[i];
        Iteration iteration = GetComputation(network);
        iteration.ring = 1e9 * contenders[0].seconds[i];
        iteration.ring2d = 1e9 * contenders[1].seconds[i];
        iteration.multitree = 1e9 * contenders.back().seconds[i];
        const double overlapped = GetOverlapped(network, contenders.back().line);
        const double ring = GetOverlapped(network, contenders[0].line) / overlapped;
        const double ring2d = GetOverlapped(network, contenders[1].line) / overlapped;
        table.AddRow({network.name,
                      iteration.compute * 1e-6,
                      iteration.aggregation * 1e-6,
                      iteration.ring * 1e-6,
                      iteration.ring2d * 1e-6,
                      iteration.multitree * 1e-6,
                      iteration.GetShare(),
                      iteration.GetSaving(iteration.ring),
                      iteration.GetSaving(iteration.ring2d),
                      ring,
                      ring2d});
        if (i > 0) // AlexNet's convolutions, of strange sizes, take nearly all of the time
        {
            const std::string prefix = network.kind == "CNN" ? "cnn-" : "";
            TakeIn(ours, prefix, iteration);
            Raise(ours[prefix + "overlapped"], ring);
            Raise(ours[prefix + "overlapped-2d"], ring2d);
            const double ns = 8e9 / static_cast<double>(m_rate.GetBitRate()) * 4 *
                              static_cast<double>(network.GetParameters());
            iteration.ring = ns * lines.ring;
            iteration.ring2d = ns * lines.ring2d;
            iteration.multitree = ns * lines.multitree;
            TakeIn(expected, prefix, iteration);
        }
    }
    m_iterations = table.GetRows();
    AddTraining(expected, ours);
}

void
MultitreeAllreduce::AddTraining(Extremes& expected, Extremes& ours)
{
    m_paper.Begin("training");
    for (const char* row : {"ring",
                            "other",
                            "least-share",
                            "largest-share",
                            "cnn-over-ring",
                            "cnn-over-ring-2d",
                            "over-ring",
                            "over-ring-2d"})
    {
        m_paper.Add(row, expected[row], ours[row]);
    }
    // An infinitely fast all-reduce saves the ring's share.
    m_paper.Add("no-time", expected["largest-share"], ours["largest-share"]);
    m_paper.Add("cnn-overlapped", NONE, 100 * (ours["cnn-overlapped"] - 1));
    m_paper.Add("overlapped", NONE, ours["overlapped"]);
    m_paper.Add("overlapped-2d", NONE, ours["overlapped-2d"]);
}

void
MultitreeAllreduce::AddInterfaces()
{
    const double rate = static_cast<double>(m_rate.GetBitRate()) / 8e9; // bytes per ns
    for (const std::string spec : {"torus:4x4", "torus:8x8"})
    {
        const TopologyGraph topology = GetTopology(spec);
        std::vector<double> expected; // GB/s, by variant
        std::vector<double> ours;
        for (PublishedCase& variant : m_paper.GetCases("variants"))
        {
            Contender contender{variant.GetText("variant"), GetMultitree(variant.GetText("keys"))};
            Measure(contender, topology, {INTERFACE_BYTES});
            AddRows("interfaces", topology, contender, {INTERFACE_BYTES});
            expected.push_back(rate * 16 * topology.hosts / variant.Get("flits") / contender.steps);
            ours.push_back(INTERFACE_BYTES / contender.seconds[0] * 1e-9);
            variant.Set("topology", spec).Set("steps", contender.steps);
            m_paper.Add("variant", expected.back(), ours.back(), variant);
        }
        m_paper.Add("one",
                    100 * (expected[2] / expected[0] - 1),
                    100 * (ours[2] / ours[0] - 1),
                    {{"topology", spec}});
        m_paper.Add("four",
                    100 * (expected[3] / expected[1] - 1),
                    100 * (ours[3] / ours[1] - 1),
                    {{"topology", spec}});
        m_paper.Add("more", expected[3] / expected[2], ours[3] / ours[2], {{"topology", spec}});
    }
    for (const PublishedCase& table : m_paper.GetCases("tables"))
    {
        const TopologyGraph topology = GetTopology(table.GetText("topology"));
        Contender contender{"", GetMultitree("flow-control=message")};
        Measure(contender, topology, {64});
        const double entries = contender.entries;
        m_paper.Add("entries", NONE, entries, table);
        m_paper.Add("kilobytes",
                    table.Get("entries") * ENTRY_BYTES * 1e-3,
                    entries * ENTRY_BYTES * 1e-3,
                    table);
    }
}

void
MultitreeAllreduce::AddScaling()
{
    PublishedTable table = m_paper.MakeTable(
        AddColumns({{"nodes", "nodes", 6, "%.0f"}, {"bytes", "bytes", 11, "%.0f"}},
                   GetContenders(GetTopology(m_tori[0])),
                   "%.1f"));
    for (const std::string& spec : m_tori)
    {
        const TopologyGraph topology = GetTopology(spec);
        const uint64_t bytes = SCALING_BYTES * topology.hosts;
        const Contenders contenders = MeasureAll("scaling", topology, {bytes});
        table.AddRow(AddCells({static_cast<double>(topology.hosts), static_cast<double>(bytes)},
                              contenders,
                              0,
                              0));
        if (topology.hosts == 256)
        {
            m_paper.Begin("scaling-256");
            const double seconds = contenders.back().seconds[0];
            m_paper.Add("ring", NONE, contenders[0].seconds[0] / seconds);
            m_paper.Add("other", NONE, contenders[1].seconds[0] / seconds);
        }
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("multitree-allreduce", [&] { return MultitreeAllreduce().Run(argc, argv); });
}
