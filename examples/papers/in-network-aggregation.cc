/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Published figures of in-network aggregation systems (SwitchML, ATP: NSDI 2021; A2TP: EuroSys
 * 2023; SHARP: COMHPC 2016, ISC 2020), next to closed forms and simulated values, and a check that
 * their sums are correct when frames are lost:
 *
 *   ./ns3w run in-network-aggregation
 */

#include "../hidden-global-values.h"
#include "core/memory.h"
#include "measure/reproduction.h"

#include "ns3/atp-measurement.h"
#include "ns3/guarded-run.h"
#include "ns3/training-program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// SwitchML over RDMA with messages of 16 KiB.
constexpr const char* LARGE_MESSAGES =
    "switchml:data-type=int32,elements-per-packet=256,framing=rdma,message-packets=16";
/// A packet of 32 numbers at 10 Gbit/s: time of its 180 bytes and 24 of framing, s.
constexpr double SHORT_LINE = 204 * 8 / 10e9;

/** The experiment. */
class InNetworkAggregation
{
  public:
    /** @return exit status */
    int Run(int argc, char* argv[]);

  private:
    void AddSwitchMl();
    void AddAtp();
    void AddA2tp();
    void AddRing();
    void AddLosses();
    void AddTrees();
    void AddLatencies();
    void AddJobs();
    void AddSums();
    JsonValue TrySums(const std::string& system, double loss);
    double GetRate(const ClusterOptions& options);
    IterationRecord Train(const ClusterOptions& cluster, bool overlap);

    Reproduction m_paper{"in-network-aggregation"};
    uint64_t m_bytes{16 << 20};
    uint64_t m_sumBytes{1 << 20};
    uint64_t m_jobs{2};
    JsonValue m_sums{JsonValue::Array()};
};

/** @return options of hosts on a single switch */
ClusterOptions
MakeRack(uint64_t ranks, const std::string& algorithm, const char* rate = "100Gbps")
{
    ClusterOptions options;
    options.ranks = static_cast<uint32_t>(ranks);
    options.algorithm = algorithm;
    options.rate = DataRate(rate);
    return options;
}

/** @return time from such a packet to its sum, over links of this delay, s */
double
GetRoundTrip(double delay)
{
    // One pass adds, and that of the last packet reads too.
    return 2 * delay + 400e-9 + 2 * (204 - 12) * 8 / 10e9;
}

int
InNetworkAggregation::Run(int argc, char* argv[])
{
    ProgramOptions& options = m_paper.GetOptions();
    options.AddBytes("bytes",
                     "of the tensors whose rates are measured",
                     m_bytes,
                     4 << 10,
                     16ULL << 30);
    options.AddBytes("sum-bytes",
                     "of the tensors that are checked under losses",
                     m_sumBytes,
                     4,
                     1 << 30);
    options.AddUnsigned("jobs",
                        "ATP jobs of 4 workers and a server that share the slots of a switch (T10)",
                        m_jobs,
                        1,
                        16);
    m_paper.AddPart("switchml", [&] { AddSwitchMl(); });
    m_paper.AddPart("atp", [&] {
        AddAtp();
        AddA2tp();
    });
    m_paper.AddPart("ring", [&] { AddRing(); });
    m_paper.AddPart("loss", [&] { AddLosses(); });
    m_paper.AddPart("sharp", [&] {
        AddTrees();
        AddLatencies();
    });
    m_paper.AddPart("jobs", [&] { AddJobs(); });
    m_paper.AddPart("sums", [&] { AddSums(); });
    m_paper.AtEnd([&](JsonValue& document) { document.Set("sums", m_sums); });
    return m_paper.Run(argc, argv, [&] {
        if (m_sumBytes % sizeof(float) != 0)
        {
            throw ConfigurationError("--sum-bytes=" + std::to_string(m_sumBytes) +
                                     " (allowed: multiples of 4)");
        }
        CheckMemory(8 * GuardedRun::EstimateMemory(m_sumBytes, GuardedRun::REAL_COPIES),
                    "--sum-bytes=" + std::to_string(m_sumBytes));
    });
}

/** @return million 32-bit numbers per second */
double
InNetworkAggregation::GetRate(const ClusterOptions& options)
{
    return static_cast<double>(m_bytes) / 4 / m_paper.GetSeconds(options, m_bytes) * 1e-6;
}

IterationRecord
InNetworkAggregation::Train(const ClusterOptions& cluster, bool overlap)
{
    TrainingRunOptions options;
    options.workload = "resnet50";
    options.overlap = overlap;
    options.iterations = 1;
    options.cluster = cluster;
    return m_paper.Train(options).mean;
}

void
InNetworkAggregation::AddSwitchMl()
{
    for (const PublishedCase& each : m_paper.GetCases())
    {
        m_paper.Add("rdma", 2890, GetRate(MakeRack(each.GetCount("ranks"), LARGE_MESSAGES)), each);
    }
    m_paper.Add("udp",
                2909,
                GetRate(MakeRack(8, "switchml:data-type=int32,elements-per-packet=256")));
    for (int64_t delay : {1, 24})
    {
        ClusterOptions options =
            MakeRack(8, "switchml:data-type=int32,elements-per-packet=32,slots=128", "10Gbps");
        options.delay = MicroSeconds(delay);
        const double roundTrip = GetRoundTrip(1e-6 * static_cast<double>(delay));
        m_paper.Add("window",
                    32e-6 * std::min(1 / SHORT_LINE, 128 / roundTrip),
                    GetRate(options),
                    {{"delay", std::to_string(delay)}});
    }
}

void
InNetworkAggregation::AddAtp()
{
    const double rate = 62 * 100e3 / (332 * 8);
    for (const uint32_t ranks : {2, 4, 8})
    {
        ClusterOptions options = MakeRack(ranks, "atp");
        options.topology = "single-switch:hosts=" + std::to_string(ranks + 1);
        m_paper.Add("rate", rate, GetRate(options), {{"ranks", std::to_string(ranks)}});
    }
    for (const uint32_t slots : {20000, 1200, 300, 1})
    {
        AtpScenario scenario;
        scenario.jobs = static_cast<uint32_t>(m_jobs);
        scenario.slots = slots;
        const AtpJobResult job = MeasureAtpJobs(scenario).jobs[0];
        const PublishedCase names{{"jobs", std::to_string(m_jobs)},
                                  {"slots", std::to_string(slots)}};
        m_paper.Add("frames", NONE, job.serverFrames, names);
        m_paper.Add("shared", 32e-3 * rate / job.serverFrames, job.goodput, names);
    }
}

void
InNetworkAggregation::AddA2tp()
{
    // Hosts of the paper reach 50 Gbit/s with 9 threads.
    AtpScenario scenario;
    scenario.attributes.Set("ns3::training::AtpCommunicator::Threads", "9");
    scenario.slots = 450;
    scenario.window = 450;
    scenario.background = DataRate("80Gbps");
    for (const PublishedCase& each : m_paper.GetCases("controls"))
    {
        scenario.attributes.Set("ns3::training::AtpCommunicator::PacketCost",
                                each.Fill("{cost}ns"));
        scenario.attributes.Set("ns3::training::AtpCommunicator::WindowControl",
                                each.GetText("control"));
        const std::vector<AtpJobResult> jobs = MeasureAtpJobs(scenario).jobs;
        for (const auto& [job, name] : {std::pair(0, "a"), {1, "b"}})
        {
            m_paper.Add(std::string("goodput-") + name, NONE, jobs[job].goodput, each);
            m_paper.Add(std::string("slots-") + name, NONE, 100 * jobs[job].occupancy, each);
        }
    }
}

void
InNetworkAggregation::AddRing()
{
    // The host cost of NCCL per number is calibrated with 4 workers.
    double hostSeconds = 0;
    for (const PublishedCase& each : m_paper.GetCases())
    {
        ClusterOptions options = MakeRack(each.GetCount("ranks"), "ring");
        options.mtu = 1024;
        const double ring = GetRate(options);
        m_paper.Add("ring", each.Get("bound"), ring, each);
        if (hostSeconds == 0)
        {
            hostSeconds = 1e-6 / each.Get("nccl") - 1e-6 / ring;
        }
        const double sums = GetRate(MakeRack(each.GetCount("ranks"), LARGE_MESSAGES));
        m_paper.Add("gain", 2890 / each.Get("bound"), sums / ring, each);
        m_paper.Add("slow", NONE, sums * (1e-6 / ring + hostSeconds) * 1e6, each);
    }
}

void
InNetworkAggregation::AddLosses()
{
    constexpr uint32_t RANKS = 8;
    const uint64_t bytes = std::max<uint64_t>(m_bytes, 16 << 20);
    for (const std::string timer : {"paper", "client"})
    {
        ClusterOptions options =
            MakeRack(RANKS, "switchml:elements-per-packet=32,slots=128,timer=" + timer, "10Gbps");
        options.delay = MicroSeconds(5);
        const double best = m_paper.GetSeconds(options, bytes);
        for (const double loss : {1e-4, 1e-3, 1e-2})
        {
            options.loss = loss;
            const double stalls = 1 - std::pow(1 - loss, 2.0 * RANKS);
            const double window = GetRoundTrip(5e-6) + stalls * 1e-3;
            m_paper.Add("loss",
                        timer == "paper" ? std::max(1.0, window / (128 * SHORT_LINE)) : NONE,
                        m_paper.GetSeconds(options, bytes) / best,
                        PublishedCase{{"timer", timer}}.Set("loss", 100 * loss));
        }
    }
}

void
InNetworkAggregation::AddTrees()
{
    for (const uint32_t ranks : {2, 8, 16})
    {
        const double tree = m_paper.GetSeconds(MakeRack(ranks, "sharp"), m_bytes);
        const double ring = m_paper.GetSeconds(MakeRack(ranks, "ring"), m_bytes);
        const PublishedCase names{{"ranks", std::to_string(ranks)}};
        m_paper.Add("stream", 2.0 * (ranks - 1) / ranks, ring / tree, names);
        m_paper.Add("line", NONE, 100 * 8 * static_cast<double>(m_bytes) / 100e9 / tree, names);
    }
}

void
InNetworkAggregation::AddLatencies()
{
    // Two latencies are calibrated to the first two figures: of hosts and of adders.
    ClusterOptions options = MakeRack(128, "recursive-doubling");
    options.topology = "leaf-spine:leaves=8,spines=4";
    options.delay = NanoSeconds(50);
    options.congestionControl = "none";
    options.attributes["ns3::training::RdmaNic::CompletionLatency"] = "683ns";
    m_paper.Add("doubling", NONE, m_paper.GetSeconds(options, 8) * 1e6);
    options.algorithm = "sharp:host-latency=683ns,latency=640ns";
    const double tree = m_paper.GetSeconds(options, 8);
    m_paper.Add("tree", NONE, tree * 1e6);
    options.algorithm += ",multicast=true";
    m_paper.Add("multicast", NONE, 100 * (1 - m_paper.GetSeconds(options, 8) / tree));
    // NVLink 4: 450 GB/s per direction; buffers for its round trips.
    options = MakeRack(8, "ring");
    options.topology = "rail-optimized:servers=1";
    const double ring = m_paper.GetSeconds(options, 4 * m_bytes);
    options.algorithm = "sharp:children=8,credits=256";
    m_paper.Add("nvls-tree", 1.75, ring / m_paper.GetSeconds(options, 4 * m_bytes));
    options.algorithm = "nvls:framing=ethernet"; // as the ring
    m_paper.Add("nvls", 1.56, ring / m_paper.GetSeconds(options, 4 * m_bytes));
}

void
InNetworkAggregation::AddJobs()
{
    // The rate of the FPGA ring's links is unknown; the rate here yields the exposed communication.
    ClusterOptions options = MakeRack(4, "ring");
    const IterationRecord start = Train(options, false);
    const double wanted = start.computeTimeS * 0.083 / (1 - 0.083);
    options.rate = DataRate(static_cast<uint64_t>(static_cast<double>(options.rate.GetBitRate()) *
                                                  start.exposedCommunicationS / wanted));
    const IterationRecord before = Train(options, false);
    const IterationRecord after = Train(options, true);
    const double exposed = before.exposedCommunicationS;
    m_paper.Add("before", NONE, 100 * exposed / before.iterationTimeS);
    m_paper.Add("after", NONE, 100 * after.exposedCommunicationS / before.iterationTimeS);
    m_paper.Add("exposed", NONE, 100 * (after.exposedCommunicationS / exposed - 1));
    m_paper.Add("iteration", NONE, 100 * (after.iterationTimeS / before.iterationTimeS - 1));
}

JsonValue
InNetworkAggregation::TrySums(const std::string& system, double loss)
{
    ClusterOptions options = MakeRack(8, system);
    if (system == "nvls-tree") // joins servers
    {
        options.topology = "rail-optimized:gpus=4,servers=2";
    }
    options.loss = loss;
    options.recovery = "selective-repeat"; // of the ring
    std::string outcome = "error";
    double time = NONE;
    try
    {
        const CollectiveMeasurement result =
            m_paper.Measure(options, CollectiveOperation::ALL_REDUCE, {m_sumBytes}, true);
        time = result.seconds * 1e6;
        outcome = result.mismatch.empty() && result.verified ? "exact" : "wrong";
    }
    catch (const SimulationInterrupted&)
    {
        throw;
    }
    catch (const SimulationStuck&)
    {
        Simulator::Destroy();
    }
    if (m_paper.IsPrinting())
    {
        std::printf(" %8s %13.0f us", outcome.c_str(), time);
        std::fflush(stdout);
    }
    auto row = JsonValue::Object();
    row.Set("system", system).Set("loss", loss).Set("outcome", outcome);
    return row.Set("time_us", std::isnan(time) ? JsonValue() : JsonValue(time));
}

void
InNetworkAggregation::AddSums()
{
    constexpr double LOSSES[]{0, 0.001, 0.01, 0.05};
    const auto print = [&](const char* format, auto... values) {
        if (m_paper.IsPrinting())
        {
            std::printf(format, values...);
        }
    };
    print("\nsums of 8 workers, %llu bytes; by frames lost on each link\n%-12s",
          static_cast<unsigned long long>(m_sumBytes),
          "");
    for (const double loss : LOSSES)
    {
        print(" %23g %%", 100 * loss);
    }
    std::vector<std::string> systems{"ring"};
    for (const auto& [name, system] : Registry<InNetworkSystem>::All())
    {
        systems.push_back(name);
    }
    for (const std::string& system : systems)
    {
        print("\n%-12s", system.c_str());
        for (const double loss : LOSSES)
        {
            m_sums.Append(TrySums(system, loss));
        }
    }
    print("%s", "\n");
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("in-network-aggregation",
                      [&] { return InNetworkAggregation().Run(argc, argv); });
}
