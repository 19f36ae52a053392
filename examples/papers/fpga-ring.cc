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

#include "../hidden-global-values.h"
#include "measure/reproduction.h"
#include "options/size-list.h"

#include "ns3/roce-wire-format.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <cmath>
#include <string>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// Ranks of the paper.
constexpr uint32_t NODES = 4;
/// Exposed communication of an iteration before, from -7 % of the time and -84.27 % of itself.
constexpr double EXPOSED = 0.07 / 0.8427;
/// Clock of the adders, Hz, and the cycles of an addition.
constexpr double CLOCK = 200e6;
constexpr double ADD_CYCLES = 8;
/// NICs whose buffers keep fast lines busy.
constexpr const char* CHAIN = "nic-chain:own-buffer=4194304,reception-buffer=4194304";

/// Of the AI smart NIC: nodes, line rate, and codec. Its engine is not published; this one is
/// faster than the line.
constexpr uint32_t SMART_NODES = 6;
constexpr uint64_t SMART_RATE = 40000000000;
constexpr const char* SMART_CODEC = "block-float:bits=8,block=16";
constexpr const char* SMART_ENGINE = ",lanes=32,clock=2e8";

/// Of each frame on the line, bytes.
constexpr uint32_t GAP = Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;

/** The experiment. */
class FpgaRing
{
  public:
    /** @return exit status */
    int Run(int argc, char* argv[]);

  private:
    void Check();
    void AddRates();
    void AddResNet50();
    void AddTraining();
    void AddSmartNic();
    ClusterOptions MakeOptions(const std::string& algorithm) const;
    double GetExpectedSeconds(const std::string& order, uint64_t bytes) const;
    IterationRecord Train(const ClusterOptions& cluster, bool overlap);

    Reproduction m_paper{"fpga-ring"};
    std::string m_bytes{"100K,1M,10M,100M"};
    std::vector<uint64_t> m_sizes;
    DataRate m_rate{100000000000};
    Time m_delay{MicroSeconds(1)};
    uint64_t m_mtu{4096};
};

int
FpgaRing::Run(int argc, char* argv[])
{
    ProgramOptions& options = m_paper.GetOptions();
    options.AddString("bytes", "for rates: as --bytes of collective-benchmark", m_bytes);
    options.AddRate("rate", "line rate of every link; not published", m_rate);
    options.AddTime("delay", "propagation delay of every link; not published", m_delay);
    options.AddUnsigned("mtu", "payload of a packet, bytes; not published", m_mtu, 256, 9000);
    m_paper.AddPart("rates", [&] { AddRates(); });
    m_paper.AddPart("resnet50", [&] { AddResNet50(); });
    m_paper.AddPart("training", [&] { AddTraining(); });
    m_paper.AddPart("smart-nic", [&] { AddSmartNic(); });
    return m_paper.Run(argc, argv, [&] { Check(); });
}

void
FpgaRing::Check()
{
    m_sizes = ParseSizes("--bytes", m_bytes);
    if (std::count(m_sizes.begin(), m_sizes.end(), 0) > 0)
    {
        throw ConfigurationError("--bytes=" + m_bytes + " (allowed: 1 and more each)");
    }
    // Links between host and router are twice as fast.
    if (m_rate < DataRate(1000000) || m_rate > DataRate(50000000000000))
    {
        throw ConfigurationError("--rate=" + FormatRate(m_rate) + " (allowed: 1Mbps to 50Tbps)");
    }
    if (m_delay.IsNegative() || m_delay > Seconds(100))
    {
        throw ConfigurationError("--delay=" + FormatTime(m_delay) + " (allowed: 0 to 100s)");
    }
}

ClusterOptions
FpgaRing::MakeOptions(const std::string& algorithm) const
{
    ClusterOptions options;
    options.ranks = NODES;
    options.topology = "ring:" + std::to_string(NODES);
    options.algorithm = algorithm;
    options.rate = m_rate;
    options.delay = m_delay;
    options.mtu = m_mtu;
    options.congestionControl = "none";
    return options;
}

double
FpgaRing::GetExpectedSeconds(const std::string& order, uint64_t bytes) const
{
    const double bits = 8 / static_cast<double>(m_rate.GetBitRate());
    const auto mtu = static_cast<uint32_t>(m_mtu);
    const double packet = bits * (GetDataFrameBytes(WRITE_ONLY_IMMEDIATE, mtu) + GAP);
    const double acknowledgement = bits * (GetFrameBytes(ROCE_BYTES + AETH_BYTES) + GAP);
    const double packets = static_cast<double>(bytes) / mtu;
    // As many adders as the lines need: two, one in each direction.
    const double lanes = std::ceil(2 / bits * 8 / 32 / CLOCK);
    const double add = (std::ceil(mtu / 4 / lanes) + ADD_CYCLES) / CLOCK;
    const double delay = m_delay.GetSeconds();
    const double hop = packet + delay;
    if (order == "back") // data and the acknowledgements of the other direction share a line
    {
        return (packets - 1) * (packet + acknowledgement) + 2 * (NODES - 1) * hop +
               (NODES - 1) * add;
    }
    if (order == "forward")
    {
        return 2 * packets * packet + (NODES - 3) * (hop + add) + delay;
    }
    const double part = packets / NODES * packet;
    return (NODES - 1) * std::max(part, hop + add) + (NODES - 2) * std::max(part, hop) + part +
           delay;
}

IterationRecord
FpgaRing::Train(const ClusterOptions& cluster, bool overlap)
{
    TrainingRunOptions options;
    options.workload = "resnet50";
    options.gpu = "v100"; // of that time
    options.overlap = overlap;
    options.bucket = overlap ? 1 : options.bucket; // each layer by itself
    options.iterations = 1;
    options.cluster = cluster;
    return m_paper.Train(options).mean;
}

void
FpgaRing::AddRates()
{
    for (const auto& [order, algorithm] : {std::pair("back", "nic-chain"),
                                           {"forward", "nic-chain:distribute=forward"},
                                           {"rotated", "nic-ring"}})
    {
        for (uint64_t bytes : m_sizes)
        {
            const double full =
                8e2 * static_cast<double>(bytes) / static_cast<double>(m_rate.GetBitRate());
            m_paper.Add(order,
                        full / GetExpectedSeconds(order, bytes),
                        full / m_paper.GetSeconds(MakeOptions(algorithm), bytes),
                        {{"bytes", FormatBytes(bytes)}});
        }
    }
}

void
FpgaRing::AddResNet50()
{
    const uint64_t bytes = 4 * LoadModel("resnet50", 32, 1).GetParameters();
    const double nic = m_paper.GetSeconds(MakeOptions(CHAIN), bytes);
    const double lines = NODES / (2.0 * (NODES - 1));
    for (const std::string host : {"none", "nccl", "nccl-socket"})
    {
        ClusterOptions hosts = MakeOptions("ring");
        hosts.hostModel = host;
        m_paper.Add(host, host == "none" ? lines : NONE, nic / m_paper.GetSeconds(hosts, bytes));
    }
    // T = 2 (N - 1) / N (M / B + M / host rate): the rate that gives the published ratio, a fit.
    m_paper.Add("fit", 1e-9 * static_cast<double>(m_rate.GetBitRate()) / (lines / 0.35 - 1), NONE);
}

void
FpgaRing::AddTraining()
{
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
    const auto getExposed = [&](const IterationRecord& record) {
        return record.exposedCommunicationS / before.exposedCommunicationS;
    };
    const double exposed = 100 * (getExposed(after) - 1);
    m_paper.Add("rate", NONE, static_cast<double>(hosts.rate.GetBitRate()) * 1e-9);
    m_paper.Add("before",
                100 * EXPOSED,
                100 * before.exposedCommunicationS / before.iterationTimeS);
    m_paper.Add("at-end", 100 * (NODES / (2.0 * (NODES - 1)) - 1), 100 * (getExposed(atEnd) - 1));
    m_paper.Add("exposed", NONE, exposed);
    m_paper.Add("iteration",
                exposed * EXPOSED,
                100 * (after.iterationTimeS / before.iterationTimeS - 1));
    m_paper.Add("concealed",
                NONE,
                100 * (1 - after.exposedCommunicationS / atEnd.exposedCommunicationS));
    m_paper.Add("imagenet", NONE, 100 * after.iterationTimeS / before.iterationTimeS);
    m_paper.Add("scalability", NONE, NONE);
}

void
FpgaRing::AddSmartNic()
{
    const auto mtu = static_cast<uint32_t>(m_mtu);
    const uint64_t code = MakeCodec(SMART_CODEC)->GetCodedBytes(mtu / 4);
    m_paper.Add("ratio", 32 / (8 + 8. / 16), static_cast<double>(mtu) / static_cast<double>(code));
    ClusterOptions hosts = MakeOptions("ring");
    hosts.ranks = SMART_NODES;
    hosts.topology = "ring:" + std::to_string(SMART_NODES);
    hosts.rate = DataRate(SMART_RATE);
    ClusterOptions plain = hosts;
    plain.algorithm = "nic-ring:lanes=32,own-buffer=4194304,reception-buffer=4194304";
    ClusterOptions coded = plain;
    coded.nic = std::string(SMART_CODEC) + SMART_ENGINE;
    // A coded packet has the same headers, and a code of whole words.
    const double packet = GetDataFrameBytes(WRITE_ONLY_IMMEDIATE, mtu) + GAP;
    const double saved = mtu - 4 * std::ceil(static_cast<double>(code) / 4);
    const uint64_t bytes = 4 * LoadModel("resnet50", 32, 1).GetParameters();
    m_paper.Add("coded",
                (packet - saved) / packet,
                m_paper.GetSeconds(coded, bytes) / m_paper.GetSeconds(plain, bytes));
    const IterationRecord before = Train(hosts, false);
    const IterationRecord after = Train(coded, true);
    // All but the last layers' all-reduces may be hidden.
    const double ring = 2. * (SMART_NODES - 1) / SMART_NODES * static_cast<double>(bytes) / mtu *
                        packet * 8 / SMART_RATE;
    m_paper.Add("training",
                1 + ring / before.computeTimeS,
                before.iterationTimeS / after.iterationTimeS);
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("fpga-ring", [&] { return FpgaRing().Run(argc, argv); });
}
