/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Published figures of in-network aggregation systems, next to closed forms and simulated values,
 * and a check that their sums are correct when frames are lost:
 *
 *   ./ns3w run in-network-aggregation
 */

#include "hidden-global-values.h"

#include "ns3/atp-measurement.h"
#include "ns3/experiment.h"
#include "ns3/published-table.h"
#include "ns3/recorded-collectives.h"
#include "ns3/training-program.h"
#include "ns3/training-run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// An unknown number.
constexpr double NONE = PublishedTable::UNKNOWN;
/// SwitchML over RDMA with messages of 16 KiB.
constexpr const char* LARGE_MESSAGES =
    "switchml:data-type=int32,elements-per-packet=256,framing=rdma,message-packets=16";

/** Parameters of the simulation. */
struct Setting
{
    std::string part{"all"};
    uint64_t bytes{16 << 20};
    uint64_t matrixBytes{1 << 20};
    uint64_t jobs{2};
    std::string json;
    RunFilesOptions files;
};

/** The published systems, simulated next to their published figures. */
class Comparison
{
  public:
    /** @param setting of the comparison */
    explicit Comparison(const Setting& setting)
        : m_setting(setting),
          m_table({{"test", "", -4},
                   {"scenario", "", -62},
                   {"unit", "unit", 0, "", "  ", true},
                   {"published", "published", 10, "%.5g"},
                   {"expected", "expected", 10, "%.5g"},
                   {"ours", "ours", 10, "%.5g"}},
                  setting.json == "-" ? PublishedTable::Printing::NEVER
                                      : PublishedTable::Printing::AT_ONCE)
    {
    }

    /** Throughput of SwitchML. */
    void CompareSwitchMl();
    /** Throughput of ATP, and of jobs that share its slots. */
    void CompareAtp();
    /** Throughput of a ring of hosts, and the speed-up of SwitchML. */
    void CompareRing();
    /** SwitchML with losses, by timeout settings. */
    void CompareLosses();
    /** Aggregation trees (SHARP), and reads from a server's switch (NVLink SHARP). */
    void CompareTrees();
    /** Iterations of whole jobs. */
    void CompareJobs();
    /** All systems with all losses: checks the sums. */
    void CheckSums();

    /** @return the results */
    JsonValue ToJson() const;

    /** @return the cost of all simulations */
    const RunCost& GetCost() const
    {
        return m_table.GetCost();
    }

  private:
    CollectiveMeasurement Measure(const ClusterOptions& options, uint64_t bytes, bool real);
    double GetRate(ClusterOptions options);
    double GetSeconds(const ClusterOptions& options, uint64_t bytes);
    IterationRecord Train(const ClusterOptions& cluster, bool overlap);
    void AddRow(const char* test,
                const std::string& what,
                const char* unit,
                double published,
                double expected,
                double ours);

    const Setting& m_setting;
    PublishedTable m_table;
    JsonValue m_sums{JsonValue::Array()};
};

/** @return options of hosts on a single switch */
ClusterOptions
MakeRack(uint32_t ranks, const std::string& algorithm, const char* rate = "100Gbps")
{
    ClusterOptions options;
    options.ranks = ranks;
    options.algorithm = algorithm;
    options.rate = DataRate(rate);
    return options;
}

CollectiveMeasurement
Comparison::Measure(const ClusterOptions& options, uint64_t bytes, bool real)
{
    const CollectiveRun run =
        RunCollectives(options, CollectiveOperation::ALL_REDUCE, {bytes}, real);
    m_table.AddCost(run.cost);
    return run.measurements.back();
}

double
Comparison::GetSeconds(const ClusterOptions& options, uint64_t bytes)
{
    return Measure(options, bytes, false).seconds;
}

/** @return million 32-bit numbers per second */
double
Comparison::GetRate(ClusterOptions options)
{
    return static_cast<double>(m_setting.bytes) / 4 / GetSeconds(options, m_setting.bytes) * 1e-6;
}

IterationRecord
Comparison::Train(const ClusterOptions& cluster, bool overlap)
{
    TrainingRunOptions options;
    options.workload = "resnet50";
    options.overlap = overlap;
    options.iterations = 1;
    options.cluster = cluster;
    const TrainingRunResult result = TrainingRun(options).Run();
    m_table.AddCost(result.cost);
    return result.mean;
}

void
Comparison::AddRow(const char* test,
                   const std::string& what,
                   const char* unit,
                   double published,
                   double expected,
                   double ours)
{
    m_table.AddRow({test, what, unit, published, expected, ours});
}

void
Comparison::CompareSwitchMl()
{
    m_table.PrintHeadings(
        "SwitchML (NSDI 2021); expected: payload's share of the line, or of the window\n");
    ClusterOptions options;
    for (uint32_t ranks : {2, 4, 8, 16})
    {
        options = MakeRack(ranks, LARGE_MESSAGES);
        const double published = ranks == 4 ? 2830 : ranks == 8 ? 2820 : ranks == 16 ? 2810 : NONE;
        AddRow("T1",
               std::to_string(ranks) + " workers, RDMA, messages of 16 packets of 1 KiB",
               "M numbers/s",
               published,
               2890,
               GetRate(options));
    }
    options = MakeRack(8, "switchml:data-type=int32,elements-per-packet=256");
    AddRow("T2",
           "8 workers, UDP, 256 numbers a packet",
           "M numbers/s",
           NONE,
           2909,
           GetRate(options));
    for (int64_t delay : {1, 24})
    {
        options =
            MakeRack(8, "switchml:data-type=int32,elements-per-packet=32,slots=128", "10Gbps");
        options.delay = MicroSeconds(delay);
        // A packet takes 180 bytes and 24 of framing; one pass adds, and that of the last packet
        // reads too.
        const double line = 204 * 8 / 10e9;
        const double roundTrip =
            2 * static_cast<double>(delay) * 1e-6 + 400e-9 + 2 * (204 - 12) * 8 / 10e9;
        AddRow("T3",
               "10 Gbit/s, 128 slots of 32 numbers, links of " + std::to_string(delay) + " us",
               "M numbers/s",
               NONE,
               32e-6 * std::min(1 / line, 128 / roundTrip),
               GetRate(options));
    }
}

void
Comparison::CompareAtp()
{
    m_table.PrintHeadings("\nATP (NSDI 2021); expected: payload's share of the line\n");
    const double rate = 62 * 100e3 / (332 * 8);
    for (uint32_t ranks : {2, 4, 8})
    {
        ClusterOptions options = MakeRack(ranks, "atp");
        options.topology = "single-switch:hosts=" + std::to_string(ranks + 1);
        AddRow("T9",
               std::to_string(ranks) + " workers, 62 numbers a packet, a host for the server",
               "M numbers/s",
               NONE,
               rate,
               GetRate(options));
    }
    const double goodput = 32e-3 * rate;
    for (uint32_t slots : {20000, 1200, 300, 1})
    {
        AtpScenario scenario;
        scenario.jobs = static_cast<uint32_t>(m_setting.jobs);
        scenario.slots = slots;
        const AtpJobResult job = MeasureAtpJobs(scenario).jobs[0];
        const std::string what =
            std::to_string(m_setting.jobs) + " jobs, " + std::to_string(slots) + " slots: ";
        AddRow("T10", what + "frames at a server for each sum", "", NONE, NONE, job.serverFrames);
        AddRow("T10",
               what + "goodput; the server's link",
               "Gbit/s",
               NONE,
               goodput / job.serverFrames,
               job.goodput);
    }
    // Hosts of the paper reach 50 Gbit/s with 9 threads.
    AtpScenario scenario;
    scenario.attributes.Set("ns3::training::AtpCommunicator::Threads", "9");
    scenario.slots = 450;
    scenario.window = 450;
    scenario.background = DataRate("80Gbps");
    for (int64_t cost : {0, 350})
    {
        scenario.attributes.Set("ns3::training::AtpCommunicator::PacketCost",
                                TimeValue(NanoSeconds(cost)));
        for (const char* control : {"ecn", "a2tp"})
        {
            scenario.attributes.Set("ns3::training::AtpCommunicator::WindowControl", control);
            const AtpResult result = MeasureAtpJobs(scenario);
            const bool isA2tp = control == std::string("a2tp");
            const std::string what =
                (isA2tp ? "A2TP, " : "ATP, ") + std::to_string(cost) + " ns a packet, job ";
            const auto add = [&](uint32_t job, double published, double slots) {
                const AtpJobResult& mine = result.jobs[job];
                const std::string name = what + (job == 0 ? "A" : "B, which straggles") + ": ";
                AddRow("T11",
                       name + "goodput",
                       "Gbit/s",
                       isA2tp ? published : NONE,
                       NONE,
                       mine.goodput);
                AddRow("T11",
                       name + "slots",
                       "%",
                       isA2tp ? slots : NONE,
                       NONE,
                       100 * mine.occupancy);
            };
            add(0, 50, 48);
            add(1, 15.5, 2.5);
        }
    }
}

void
Comparison::CompareRing()
{
    m_table.PrintHeadings(
        "\nring of hosts over RDMA; published: NCCL; expected: MTU 1024 on the line\n");
    // The host cost of NCCL per number is calibrated with 4 workers.
    double hostSeconds = 0;
    for (const auto& [ranks, bound, nccl, gain] : {std::tuple(4, 2021.0, 1390.0, 2.04),
                                                   std::tuple(8, 1732.0, 1260.0, 2.24),
                                                   std::tuple(16, 1617.0, 980.0, 2.87)})
    {
        const std::string workers = std::to_string(ranks) + " workers";
        ClusterOptions options = MakeRack(static_cast<uint32_t>(ranks), "ring");
        options.mtu = 1024;
        const double ring = GetRate(options);
        AddRow("T4", workers, "M numbers/s", nccl, bound, ring);
        if (hostSeconds == 0)
        {
            hostSeconds = 1e-6 / nccl - 1e-6 / ring;
        }
        options = MakeRack(static_cast<uint32_t>(ranks), LARGE_MESSAGES);
        const double sums = GetRate(options);
        AddRow("T5", workers + ", SwitchML over ring", "x", NONE, 2890 / bound, sums / ring);
        AddRow("T5",
               workers + ", likewise, hosts of the ring as slow as NCCL's with 4",
               "x",
               gain,
               NONE,
               sums * (1e-6 / ring + hostSeconds) * 1e6);
    }
}

void
Comparison::CompareLosses()
{
    m_table.PrintHeadings(
        "\nSwitchML with losses: time over that without; expected: stalls of the paper's 1 ms\n");
    const uint32_t ranks = 8;
    const uint64_t bytes = std::max<uint64_t>(m_setting.bytes, 16 << 20);
    const double line = 204 * 8 / 10e9;
    const double roundTrip = 2 * 5e-6 + 400e-9 + 2 * 192 * 8 / 10e9;
    for (const std::string timer : {"paper", "client"})
    {
        ClusterOptions options =
            MakeRack(ranks, "switchml:elements-per-packet=32,slots=128,timer=" + timer, "10Gbps");
        options.delay = MicroSeconds(5);
        const double best = GetSeconds(options, bytes);
        for (double loss : {1e-4, 1e-3, 1e-2})
        {
            options.loss = loss;
            const double stalls = 1 - std::pow(1 - loss, 2.0 * ranks);
            const bool isPaper = timer == "paper";
            char what[80];
            std::snprintf(what,
                          sizeof(what),
                          "8 workers, 10 Gbit/s, %g %% lost on each link, timer=%s",
                          100 * loss,
                          timer.c_str());
            AddRow("T7",
                   what,
                   "x",
                   NONE,
                   isPaper ? std::max(1.0, (roundTrip + stalls * 1e-3) / (128 * line)) : NONE,
                   GetSeconds(options, bytes) / best);
        }
    }
}

void
Comparison::CompareTrees()
{
    m_table.PrintHeadings(
        "\naggregation trees (SHARP); expected: bytes on the line, values alone for T13\n");
    const uint64_t bytes = m_setting.bytes;
    for (uint32_t ranks : {2, 8, 16})
    {
        const double tree = GetSeconds(MakeRack(ranks, "sharp"), bytes);
        const double ring = GetSeconds(MakeRack(ranks, "ring"), bytes);
        AddRow("T13",
               std::to_string(ranks) + " ranks, streaming over ring",
               "x",
               NONE,
               2.0 * (ranks - 1) / ranks,
               ring / tree);
        AddRow("SH-2",
               std::to_string(ranks) + " ranks, streaming, share of the line",
               "%",
               95,
               NONE,
               100 * 8 * static_cast<double>(bytes) / 100e9 / tree);
    }
    {
        // Two latencies are calibrated to the first two figures: of hosts and of adders.
        ClusterOptions options = MakeRack(128, "recursive-doubling");
        options.topology = "leaf-spine:leaves=8,spines=4";
        options.delay = NanoSeconds(50);
        options.congestionControl = "none";
        options.attributes["ns3::training::RdmaNic::CompletionLatency"] = "683ns";
        AddRow("T14",
               "8 bytes, 128 hosts, recursive doubling (calibrated)",
               "us",
               6.01,
               NONE,
               GetSeconds(options, 8) * 1e6);
        options.algorithm = "sharp:host-latency=683ns,latency=640ns";
        const double tree = GetSeconds(options, 8);
        AddRow("T14", "likewise, low-latency tree (calibrated)", "us", 2.83, NONE, tree * 1e6);
        options.algorithm += ",multicast=true";
        AddRow("T14",
               "likewise, gain by multicast",
               "%",
               16,
               NONE,
               100 * (1 - GetSeconds(options, 8) / tree));
    }
    // NVLink 4: 450 GB/s per direction; buffers for its round trips.
    ClusterOptions options = MakeRack(8, "ring");
    options.topology = "rail-optimized:servers=1";
    const uint64_t large = 4 * bytes;
    const double ring = GetSeconds(options, large);
    options.algorithm = "sharp:children=8,credits=256";
    AddRow("NVLS",
           "8 GPUs, tree of the server's switch over ring",
           "x",
           NONE,
           1.75,
           ring / GetSeconds(options, large));
    options.algorithm = "nvls:framing=ethernet"; // as the ring
    AddRow("NVLS",
           "8 GPUs, sums read from it over ring",
           "x",
           NONE,
           1.56,
           ring / GetSeconds(options, large));
}

void
Comparison::CompareJobs()
{
    m_table.PrintHeadings("\njobs\n");
    // 8.3 % of the FPGA ring's iteration were exposed communication: 7 % / 84.27 %. The rate of its
    // links is unknown; the rate here yields this fraction.
    ClusterOptions options = MakeRack(4, "ring");
    const IterationRecord start = Train(options, false);
    const double wanted = start.computeTimeS * 0.083 / (1 - 0.083);
    options.rate = DataRate(static_cast<uint64_t>(static_cast<double>(options.rate.GetBitRate()) *
                                                  start.exposedCommunicationS / wanted));
    const IterationRecord before = Train(options, false);
    const IterationRecord after = Train(options, true);
    AddRow("T19",
           "FPGA ring, 4 nodes, ResNet-50, batch 32: exposed communication",
           "%",
           8.3,
           NONE,
           100 * before.exposedCommunicationS / before.iterationTimeS);
    AddRow("T19",
           "likewise, all-reduces begin when their layers' gradients are there",
           "%",
           1.3,
           NONE,
           100 * after.exposedCommunicationS / before.iterationTimeS);
    AddRow("T19",
           "change of exposed communication",
           "%",
           -84.27,
           NONE,
           100 * (after.exposedCommunicationS / before.exposedCommunicationS - 1));
    AddRow("T19",
           "change of the iteration",
           "%",
           -7,
           NONE,
           100 * (after.iterationTimeS / before.iterationTimeS - 1));
}

void
Comparison::CheckSums()
{
    const std::vector<double> losses{0, 0.001, 0.01, 0.05};
    if (m_table.IsPrinting())
    {
        std::printf("\nsums of 8 workers, %llu bytes; by frames lost on each link\n%-12s",
                    static_cast<unsigned long long>(m_setting.matrixBytes),
                    "");
        for (double loss : losses)
        {
            std::printf(" %23g %%", 100 * loss);
        }
        std::printf("\n");
    }
    std::vector<std::string> systems{"ring"};
    for (const auto& [name, system] : Registry<InNetworkSystem>::All())
    {
        systems.push_back(name);
    }
    for (const std::string& system : systems)
    {
        if (m_table.IsPrinting())
        {
            std::printf("%-12s", system.c_str());
        }
        for (double loss : losses)
        {
            ClusterOptions options = MakeRack(8, system);
            if (system == "nvls-tree") // joins servers
            {
                options.topology = "rail-optimized:gpus=4,servers=2";
            }
            options.loss = loss;
            options.recovery = "selective-repeat"; // of the ring
            std::string outcome;
            double seconds = NONE;
            try
            {
                const auto result = Measure(options, m_setting.matrixBytes, true);
                seconds = result.seconds;
                outcome = result.mismatch.empty() && result.verified ? "exact" : "wrong";
            }
            catch (const SimulationInterrupted&)
            {
                throw;
            }
            catch (const SimulationStuck& stuck)
            {
                Simulator::Destroy();
                outcome = "error";
            }
            auto row = JsonValue::Object();
            row.Set("system", system).Set("loss", loss).Set("outcome", outcome);
            row.Set("time_us", std::isnan(seconds) ? JsonValue() : JsonValue(seconds * 1e6));
            m_sums.Append(row);
            if (m_table.IsPrinting())
            {
                std::printf(" %8s %13.0f us", outcome.c_str(), seconds * 1e6);
                std::fflush(stdout);
            }
        }
        if (m_table.IsPrinting())
        {
            std::printf("\n");
        }
    }
}

JsonValue
Comparison::ToJson() const
{
    auto document = JsonValue::Object();
    document.Set("rows", m_table.GetRows()).Set("sums", m_sums);
    return document;
}

int
Compare(int argc, char* argv[])
{
    Setting setting;
    ProgramOptions options("in-network-aggregation",
                           "Systems that add in the network: published figures beside ours.");
    options.Group("Experiment");
    options.AddChoice("part",
                      "switchml, atp, ring, loss, sharp, jobs: figures; sums: every "
                      "system under losses",
                      setting.part,
                      {"all", "switchml", "atp", "ring", "loss", "sharp", "jobs", "sums"});
    options.AddBytes("bytes",
                     "of the tensors whose rates are measured",
                     setting.bytes,
                     4 << 10,
                     16ULL << 30);
    options.AddBytes("sum-bytes",
                     "of the tensors that are checked under losses",
                     setting.matrixBytes,
                     4,
                     1 << 30);
    options.AddUnsigned("jobs",
                        "ATP jobs of 4 workers and a server that share the slots of a switch (T10)",
                        setting.jobs,
                        1,
                        16);
    options.AddJson(setting.json);
    setting.files.AddTo(options);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    if (setting.matrixBytes % sizeof(float) != 0)
    {
        throw ConfigurationError("--sum-bytes=" + std::to_string(setting.matrixBytes) +
                                 " (allowed: multiples of 4)");
    }
    Comparison comparison(setting);
    RunExperiment(
        options,
        setting.json,
        setting.files,
        setting.part,
        {{"switchml", [&] { comparison.CompareSwitchMl(); }},
         {"atp", [&] { comparison.CompareAtp(); }},
         {"ring", [&] { comparison.CompareRing(); }},
         {"loss", [&] { comparison.CompareLosses(); }},
         {"sharp", [&] { comparison.CompareTrees(); }},
         {"jobs", [&] { comparison.CompareJobs(); }},
         {"sums", [&] { comparison.CheckSums(); }}},
        [&] { return comparison.ToJson(); },
        comparison.GetCost());
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("in-network-aggregation", [&] { return Compare(argc, argv); });
}
