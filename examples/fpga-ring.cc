/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The FPGA ring all-reduce of NTT (SC 2018 poster; "Distributed Deep Learning with FPGA Ring
 * Allreduce", ISC 2019; HotI 2020; US patent 12131246), next to what its abstracts report:
 *
 *   ./ns3w run fpga-ring
 *
 * and an AI smart NIC, a ring all-reduce in FPGAs with block floating point (arXiv 2204.10943).
 */

#include "hidden-global-values.h"

#include "ns3/experiment.h"
#include "ns3/published-table.h"
#include "ns3/recorded-collectives.h"
#include "ns3/roce-wire-format.h"
#include "ns3/size-list.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-run.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// An unknown number.
constexpr double NONE = PublishedTable::UNKNOWN;
/// Ranks of the paper.
constexpr uint32_t NODES = 4;
/// Exposed communication of an iteration before, from -7 % of the time and -84.27 % of itself.
constexpr double EXPOSED = 0.07 / 0.8427;
/// Clock of the adders, Hz, and the cycles of an addition.
constexpr double CLOCK = 200e6;
constexpr double ADD_CYCLES = 8;

/// Of the AI smart NIC: nodes, line rate, and codec. Its engine is not published; this one is
/// faster than the line.
constexpr uint32_t SMART_NODES = 6;
constexpr uint64_t SMART_RATE = 40000000000;
constexpr const char* SMART_CODEC = "block-float:bits=8,block=16";
constexpr const char* SMART_ENGINE = ",lanes=32,clock=2e8";

/** Parameters of the simulation. */
struct Setting
{
    std::string part{"all"};
    std::string bytes{"100K,1M,10M,100M"};
    DataRate rate{100000000000};
    Time delay{MicroSeconds(1)};
    uint64_t mtu{4096};
    std::string json;
    RunFilesOptions files;
};

/** The FPGA ring, simulated next to its published figures. */
class Comparison
{
  public:
    /**
     * @param setting of the comparison
     * @throw ConfigurationError if the setting is invalid
     */
    explicit Comparison(const Setting& setting)
        : m_setting(setting),
          m_table({{"figure", "", -72},
                   {"unit", "unit", 0, "", "  ", true},
                   {"published", "published", 10, "%.5g"},
                   {"expected", "expected", 10, "%.5g"},
                   {"ours", "ours", 10, "%.5g"}},
                  setting.json == "-" ? PublishedTable::Printing::NEVER
                                      : PublishedTable::Printing::AT_ONCE),
          m_sizes(ParseSizes("--bytes", setting.bytes))
    {
        if (std::count(m_sizes.begin(), m_sizes.end(), 0) > 0)
        {
            throw ConfigurationError("--bytes=" + setting.bytes + " (allowed: 1 and more each)");
        }
        // Links between host and router are twice as fast.
        const uint64_t rate = setting.rate.GetBitRate();
        if (rate < 1000000 || rate > 50000000000000)
        {
            throw ConfigurationError("--rate=" + FormatRate(setting.rate) +
                                     " (allowed: 1Mbps to 50Tbps)");
        }
        if (setting.delay.IsNegative() || setting.delay > Seconds(100))
        {
            throw ConfigurationError("--delay=" + FormatTime(setting.delay) +
                                     " (allowed: 0 to 100s)");
        }
    }

    /** Rate of an all-reduce by size and order. */
    void CompareRates();
    /** The gradients of ResNet-50 at once, by NICs and by hosts. */
    void CompareResNet50();
    /** Training with all-reduces that begin layer by layer. */
    void CompareTraining();

    /** A ring in the NICs with block floating point. */
    void CompareSmartNic();

    /** @return the results */
    JsonValue ToJson() const;

    /** @return the cost of all simulations */
    const RunCost& GetCost() const
    {
        return m_table.GetCost();
    }

  private:
    /// NICs whose buffers keep fast lines busy.
    static constexpr const char* CHAIN = "nic-chain:own-buffer=4194304,reception-buffer=4194304";

    /** Order in which NICs add and distribute. */
    enum class Order
    {
        BACK,    ///< the sum comes back in the other direction of the links
        FORWARD, ///< the sum goes on in the same direction
        ROTATED  ///< each rank begins with a part of its own
    };

    ClusterOptions MakeOptions(const std::string& algorithm) const;
    double GetExpectedSeconds(Order order, uint64_t bytes) const;
    double GetSeconds(const ClusterOptions& options, uint64_t bytes);
    IterationRecord Train(const ClusterOptions& cluster, bool overlap);
    void AddRow(const std::string& figure,
                const char* unit,
                double published,
                double expected,
                double ours);

    const Setting& m_setting;
    PublishedTable m_table;
    std::vector<uint64_t> m_sizes;
};

ClusterOptions
Comparison::MakeOptions(const std::string& algorithm) const
{
    ClusterOptions options;
    options.ranks = NODES;
    options.topology = "ring:" + std::to_string(NODES);
    options.algorithm = algorithm;
    options.rate = m_setting.rate;
    options.delay = m_setting.delay;
    options.mtu = m_setting.mtu;
    options.congestionControl = "none";
    return options;
}

double
Comparison::GetExpectedSeconds(Order order, uint64_t bytes) const
{
    const double bits = 8 / static_cast<double>(m_setting.rate.GetBitRate());
    const auto mtu = static_cast<uint32_t>(m_setting.mtu);
    constexpr uint32_t GAP = Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
    const double packet = bits * (GetDataFrameBytes(WRITE_ONLY_IMMEDIATE, mtu) + GAP);
    const double acknowledgement = bits * (GetFrameBytes(ROCE_BYTES + AETH_BYTES) + GAP);
    const double packets = static_cast<double>(bytes) / mtu;
    // As many adders as the lines need: two, one in each direction.
    const double lanes = std::ceil(2 / bits * 8 / 32 / CLOCK);
    const double add = (std::ceil(mtu / 4 / lanes) + ADD_CYCLES) / CLOCK;
    const double hop = packet + m_setting.delay.GetSeconds();
    switch (order)
    {
    case Order::BACK: // data and the acknowledgements of the other direction share a line
        return (packets - 1) * (packet + acknowledgement) + 2 * (NODES - 1) * hop +
               (NODES - 1) * add;
    case Order::FORWARD:
        return 2 * packets * packet + (NODES - 3) * (hop + add) + m_setting.delay.GetSeconds();
    case Order::ROTATED: {
        const double part = packets / NODES * packet;
        return (NODES - 1) * std::max(part, hop + add) + (NODES - 2) * std::max(part, hop) + part +
               m_setting.delay.GetSeconds();
    }
    }
    return NONE;
}

double
Comparison::GetSeconds(const ClusterOptions& options, uint64_t bytes)
{
    const CollectiveRun run = RunCollectives(options, CollectiveOperation::ALL_REDUCE, {bytes});
    m_table.AddCost(run.cost);
    return run.measurements.back().seconds;
}

IterationRecord
Comparison::Train(const ClusterOptions& cluster, bool overlap)
{
    TrainingRunOptions options;
    options.workload = "resnet50";
    options.gpu = "v100"; // of that time
    options.overlap = overlap;
    options.bucket = overlap ? 1 : options.bucket; // each layer by itself
    options.iterations = 1;
    options.cluster = cluster;
    const TrainingRunResult result = TrainingRun(options).Run();
    m_table.AddCost(result.cost);
    return result.mean;
}

void
Comparison::AddRow(const std::string& figure,
                   const char* unit,
                   double published,
                   double expected,
                   double ours)
{
    m_table.AddRow({figure, unit, published, expected, ours});
}

void
Comparison::CompareRates()
{
    m_table.PrintHeadings("Rate of an all-reduce (bytes / time); published: from 100 KB on; "
                          "expected: closed form\n");

    const struct
    {
        Order order;
        const char* algorithm;
        const char* name;
        double published;
    } orders[] = {
        {Order::BACK, "nic-chain", "reduced forward, distributed back", 96},
        {Order::FORWARD, "nic-chain:distribute=forward", "both passes forward", NONE},
        {Order::ROTATED, "nic-ring", "each rank begins with its own part, forward", NONE}};

    for (const auto& [order, algorithm, name, published] : orders)
    {
        for (uint64_t bytes : m_sizes)
        {
            const double full =
                8e2 * static_cast<double>(bytes) / static_cast<double>(m_setting.rate.GetBitRate());
            AddRow(std::string(name) + ", " + FormatBytes(bytes),
                   "% of the line",
                   published,
                   full / GetExpectedSeconds(order, bytes),
                   full / GetSeconds(MakeOptions(algorithm), bytes));
        }
    }
}

void
Comparison::CompareResNet50()
{
    m_table.PrintHeadings("\nAll-reduce of ResNet-50's gradients; expected: the lines alone\n");
    const uint64_t bytes = 4 * LoadModel("resnet50", 32, 1).GetParameters();
    const double nic = GetSeconds(MakeOptions(CHAIN), bytes);
    ClusterOptions hosts = MakeOptions("ring");
    const double lines = NODES / (2.0 * (NODES - 1));
    AddRow("NICs over a ring of hosts that take no time (SC 2018)",
           "ratio",
           0.35,
           lines,
           nic / GetSeconds(hosts, bytes));
    hosts.hostModel = "nccl";
    AddRow("NICs over NCCL's ring with GPUDirect RDMA (HotI 2020)",
           "ratio",
           0.25,
           NONE,
           nic / GetSeconds(hosts, bytes));
    hosts.hostModel = "nccl-socket";
    AddRow("NICs over NCCL's ring through kernel TCP, as a model of hosts",
           "ratio",
           NONE,
           NONE,
           nic / GetSeconds(hosts, bytes));
    // T = 2 (N - 1) / N (M / B + M / host rate): the rate that gives the published ratio, a fit.
    const double gigabits = static_cast<double>(m_setting.rate.GetBitRate()) * 1e-9;
    AddRow("fit: rate of hosts at which the ratio is the 0.35 of SC 2018",
           "Gbit/s",
           NONE,
           gigabits / (lines / 0.35 - 1),
           NONE);
}

void
Comparison::CompareTraining()
{
    m_table.PrintHeadings("\nResNet-50, batch 32, 4 nodes with V100; before: a ring of hosts after "
                          "the backward pass, at a rate that exposes 8.3 %\n");
    ClusterOptions hosts = MakeOptions("ring");
    const IterationRecord start = Train(hosts, false);
    const double wanted = start.computeTimeS * EXPOSED / (1 - EXPOSED);
    hosts.rate = DataRate(static_cast<uint64_t>(static_cast<double>(hosts.rate.GetBitRate()) *
                                                start.exposedCommunicationS / wanted));
    const IterationRecord before = Train(hosts, false);
    ClusterOptions nics = MakeOptions(CHAIN);
    nics.rate = hosts.rate;
    const IterationRecord after = Train(nics, true);
    const IterationRecord atEnd = Train(nics, false);
    const double exposed = 100 * (after.exposedCommunicationS / before.exposedCommunicationS - 1);
    AddRow("rate of the links that exposes that share, a fit",
           "Gbit/s",
           NONE,
           NONE,
           static_cast<double>(hosts.rate.GetBitRate()) * 1e-9);
    AddRow("before: exposed communication, share of the iteration",
           "%",
           100 * EXPOSED,
           100 * EXPOSED,
           100 * before.exposedCommunicationS / before.iterationTimeS);
    AddRow("NICs after the backward pass: change of exposed communication",
           "%",
           NONE,
           100 * (NODES / (2.0 * (NODES - 1)) - 1),
           100 * (atEnd.exposedCommunicationS / before.exposedCommunicationS - 1));
    AddRow("NICs, layer by layer: change of exposed communication (ISC 2019)",
           "%",
           -84.27,
           NONE,
           exposed);
    AddRow("likewise, change of the iteration (ISC 2019)",
           "%",
           -7,
           exposed * EXPOSED,
           100 * (after.iterationTimeS / before.iterationTimeS - 1));
    AddRow("likewise, concealed communication, about (HotI 2020)",
           "%",
           90,
           NONE,
           100 * (1 - after.exposedCommunicationS / atEnd.exposedCommunicationS));
    AddRow("likewise, time of ResNet-50 on ImageNet; their hosts are not known (HotI 2020)",
           "%",
           87.3,
           NONE,
           100 * after.iterationTimeS / before.iterationTimeS);
    AddRow("scalability; neither its measure nor the number of nodes is known (HotI 2020)",
           "%",
           20,
           NONE,
           NONE);
}

void
Comparison::CompareSmartNic()
{
    m_table.PrintHeadings("\nAI smart NIC, 6 nodes at 40 Gbit/s; ResNet-50, batch 32, V100, as the "
                          "workload is not known here\n");
    const auto mtu = static_cast<uint32_t>(m_setting.mtu);
    const uint64_t code = MakeCodec(SMART_CODEC)->GetCodedBytes(mtu / 4);
    AddRow("block floating point, 16 numbers of 8 bits with an exponent: ratio",
           "",
           3.8,
           32 / (8 + 8. / 16),
           static_cast<double>(mtu) / static_cast<double>(code));
    ClusterOptions hosts = MakeOptions("ring");
    hosts.ranks = SMART_NODES;
    hosts.topology = "ring:" + std::to_string(SMART_NODES);
    hosts.rate = DataRate(SMART_RATE);
    ClusterOptions plain = hosts;
    plain.algorithm = "nic-ring:lanes=32,own-buffer=4194304,reception-buffer=4194304";
    ClusterOptions coded = plain;
    coded.nic = std::string(SMART_CODEC) + SMART_ENGINE;
    // A coded packet has the same headers, and a code of whole words.
    constexpr uint32_t GAP = Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
    const double packet = GetDataFrameBytes(WRITE_ONLY_IMMEDIATE, mtu) + GAP;
    const double saved = mtu - 4 * std::ceil(static_cast<double>(code) / 4);
    const uint64_t bytes = 4 * LoadModel("resnet50", 32, 1).GetParameters();
    AddRow("all-reduce of the gradients in NICs, coded over plain",
           "ratio",
           NONE,
           (packet - saved) / packet,
           GetSeconds(coded, bytes) / GetSeconds(plain, bytes));
    const IterationRecord before = Train(hosts, false);
    const IterationRecord after = Train(coded, true);
    // All but the last layers' all-reduces may be hidden.
    const double ring = 2. * (SMART_NODES - 1) / SMART_NODES * static_cast<double>(bytes) / mtu *
                        packet * 8 / SMART_RATE;
    AddRow("training, over a ring of hosts after the backward pass; expected: all is hidden",
           "ratio",
           1.6,
           1 + ring / before.computeTimeS,
           before.iterationTimeS / after.iterationTimeS);
}

JsonValue
Comparison::ToJson() const
{
    auto document = JsonValue::Object();
    document.Set("rows", m_table.GetRows());
    return document;
}

int
Compare(int argc, char* argv[])
{
    Setting setting;
    ProgramOptions options("fpga-ring",
                           "The FPGA ring all-reduce of NTT: published figures beside ours.");
    options.Group("Experiment");
    options.AddChoice("part",
                      "rates: by size and order; resnet50: all gradients at once; training: layer "
                      "by layer; smart-nic: with block floating point",
                      setting.part,
                      {"all", "rates", "resnet50", "training", "smart-nic"});
    options.AddString("bytes", "for rates: as --bytes of collective-benchmark", setting.bytes);
    options.AddRate("rate", "line rate of every link; not published", setting.rate);
    options.AddTime("delay", "propagation delay of every link; not published", setting.delay);
    options.AddUnsigned("mtu", "payload of a packet, bytes; not published", setting.mtu, 256, 9000);
    options.AddJson(setting.json);
    setting.files.AddTo(options);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    Comparison comparison(setting);
    RunExperiment(
        options,
        setting.json,
        setting.files,
        setting.part,
        {{"rates", [&] { comparison.CompareRates(); }},
         {"resnet50", [&] { comparison.CompareResNet50(); }},
         {"training", [&] { comparison.CompareTraining(); }},
         {"smart-nic", [&] { comparison.CompareSmartNic(); }}},
        [&] { return comparison.ToJson(); },
        comparison.GetCost());
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("fpga-ring", [&] { return Compare(argc, argv); });
}
