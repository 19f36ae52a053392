/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Bus bandwidth against message size of NCCL, published next to simulated:
 *
 *   ./ns3w run nccl-tables
 */

#include "hidden-global-values.h"

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// Bus bandwidth of rings within a server of H100s as measured by SimAI, as a rate: NVLink without
/// its headers and responses. Sums in the switch have NVLink's rate and its packets.
constexpr const char* RING_RATE = "2966.4Gbps";
constexpr const char* NVLINK_RATE = "3600Gbps";
/// Rate between two of four A100s, measured (simllm): 94 GB/s.
constexpr const char* A100_LOCAL_RATE = "752Gbps";
/// Peak bus bandwidth of 8 NICs of 400 Gbit/s, the reference of SimAI's ratios, GB/s.
constexpr double SIMAI_PEAK = 388;
/// Half of the last digit of SimAI's ratios.
constexpr double SIMAI_ROUNDING = .005;

/** What a row shows. */
enum class Role
{
    PREDICTED, ///< the host model knows nothing of it
    CALIBRATES ///< a constant of the host model was chosen with it
};

constexpr const char* ROLES[] = {"predicted", "calibration"};

/// NCCL's algorithms, by NcclTuning::Algorithm.
constexpr const char* ALGORITHMS[] = {"tree", "ring", "nvls", "nvls-tree"};

/** A size and its published value. */
struct Point
{
    const char* bytes;
    double published; ///< bus bandwidth, GB/s, or time, us; of several values their mean
    Role role{Role::PREDICTED};
    double least{0}; ///< of several published values, GB/s; 0: there is one
    double most{0};  ///< of several published values, GB/s
};

/** A cluster and its table. */
struct Table
{
    const char* name;
    const char* source;
    const char* operation;
    const char* algorithm;
    uint32_t servers;
    const char* hostModel;
    double factor; ///< converts the published numbers to GB/s; 0: they are times, us
    std::vector<Point> points;
    uint32_t gpus{8}; ///< of a server: 8 with a NIC of 400 Gbit/s each; 1 or 4: kernel TCP

    /** @return number of ranks */
    uint32_t GetRanks() const
    {
        return servers * gpus;
    }

    /** @return whether over kernel TCP */
    bool IsTcp() const
    {
        return gpus < 8;
    }
};

const std::vector<Table>&
GetTables()
{
    constexpr const char* NCCL_TESTS = "nccl-tests";
    // Packets of 1 KiB.
    constexpr const char* NVLS = "nvls:elements-per-packet=256";
    constexpr const char* SIMAI = "SimAI's ratio of the peak of 388 GB/s";
    // LL128 would be 40 % faster at 16 MiB.
    constexpr const char* SIMPLE = "nccl:protocol=simple";
    constexpr const char* SOCKET = "NCCL 2.31, NET/Socket, one port of 200 Gbit/s (simllm)";
    static const std::vector<Table> tables{
        {"8 H200, NVLink", NCCL_TESTS, "all-reduce", "ring", 1, "nccl", 1, {{"1M", 39.9}}},
        {"8 H200, NVLink",
         NCCL_TESTS,
         "all-reduce",
         NVLS,
         1,
         "nccl",
         1,
         {{"1M", 39.9}, {"8M", 155.5}, {"64M", 346.5}, {"512M", 450.3}}},
        {"8 H100 of Azure ND v5, NVLink",
         NCCL_TESTS,
         "all-reduce",
         NVLS,
         1,
         "nccl",
         1,
         {{"1M", 43.7},
          {"4M", 128.7},
          {"16M", 234.5},
          {"64M", 361.8},
          {"128M", 400.6},
          {"256M", 423.4},
          {"512M", 438.5},
          {"1G", 466.4}}},
        {"2 x 8 H100, 8 x 400 Gbit/s",
         SIMAI,
         "all-reduce",
         "multi-ring",
         2,
         SIMPLE,
         SIMAI_PEAK,
         {{"16M", .32, Role::CALIBRATES},
          {"32M", .47},
          {"128M", .67},
          {"256M", .85},
          {"512M", .89},
          {"1G", .92}}},
        {"2 x 8 H100, 8 x 400 Gbit/s",
         "mean of SimAI, 194, and logs of nccl-tests on two other clusters, 214 and 286",
         "all-reduce",
         "multi-ring",
         2,
         SIMPLE,
         1,
         {{"64M", 231.3, Role::PREDICTED, 194, 286}}},
        {"8 x 8 H100, 8 x 400 Gbit/s",
         SIMAI,
         "all-reduce",
         "multi-ring",
         8,
         SIMPLE,
         SIMAI_PEAK,
         {{"16M", .13},
          {"32M", .24},
          {"64M", .39},
          {"128M", .54},
          {"256M", .69},
          {"512M", .78},
          {"1G", .90}}},
        {"16 x 8 H100, 8 x 400 Gbit/s",
         SIMAI,
         "all-reduce",
         "multi-ring",
         16,
         SIMPLE,
         SIMAI_PEAK,
         {{"16M", .05},
          {"32M", .11},
          {"64M", .21},
          {"128M", .38},
          {"256M", .57},
          {"512M", .73},
          {"1G", .76}}},
        {"2 hosts, kernel TCP, one message",
         SOCKET,
         "broadcast",
         "direct",
         2,
         "nccl-socket",
         0,
         {{"8", 18.8, Role::CALIBRATES},
          {"512K", 172.1},
          {"4M", 1218},
          {"128M", 40665, Role::CALIBRATES}},
         1},
        {"2 hosts, kernel TCP",
         SOCKET,
         "all-reduce",
         "ring",
         2,
         "nccl-socket",
         0,
         {{"8", 40.1}, {"512K", 973.4, Role::CALIBRATES}, {"4M", 2800}, {"128M", 83389}},
         1},
        {"2 hosts, kernel TCP, bytes for all ranks",
         SOCKET,
         "all-to-all",
         "direct",
         2,
         "nccl-socket",
         0,
         {{"16", 41.1}, {"1M", 469.6}, {"8M", 2689}, {"256M", 96231}},
         1},
        {"2 x 4 A100, kernel TCP",
         SOCKET,
         "all-reduce",
         "multi-ring",
         2,
         "nccl-socket",
         0,
         {{"8", 50.8}, {"512K", 936.2}, {"4M", 1321}, {"128M", 45691}},
         4},
        {"2 x 4 A100, kernel TCP, bytes for all ranks",
         SOCKET,
         "all-to-all",
         "direct",
         2,
         "nccl-socket",
         0,
         {{"64", 89.8, Role::CALIBRATES},
          {"4M", 2366},
          {"32M", 11828},
          {"1G", 417125, Role::CALIBRATES}},
         4}};
    return tables;
}

ClusterOptions
MakeOptions(const Table& table, const std::string& hostModel)
{
    ClusterOptions options;
    options.algorithm = table.algorithm;
    options.hostModel = hostModel;
    options.ranks = table.GetRanks();
    if (table.IsTcp())
    {
        options.transport = "tcp";
        options.rate = DataRate(200000000000);
        if (table.gpus > 1)
        {
            options.topology = "rail-optimized:gpus=" + std::to_string(table.gpus) +
                               ",servers=" + std::to_string(table.servers) +
                               ",local-rate=" + A100_LOCAL_RATE;
        }
        return options;
    }
    options.topology = "rail-optimized:gpus=8,servers=" + std::to_string(table.servers) +
                       ",local-rate=" + (IsInNetwork(table.algorithm) ? NVLINK_RATE : RING_RATE);
    options.rate = DataRate(400000000000);
    if (IsInNetwork(table.algorithm))
    {
        options.attributes["ns3::training::SharpProgram::Children"] = "8"; // the switch's memory
    }
    return options;
}

/**
 * @param cost receives that of the simulation
 * @return bus bandwidth, GB/s
 */
double
Measure(const Table& table, uint64_t bytes, const std::string& hostModel, RunCost& cost)
{
    const CollectiveRun run = RunCollectives(MakeOptions(table, hostModel),
                                             FindCollectiveOperation(table.operation),
                                             {8, bytes}); // the first opens connections
    cost.Add(run.cost);
    return run.measurements.back().busBandwidth;
}

/** The published values of a row, bus bandwidth, GB/s. */
struct Published
{
    double mean;
    double least;
    double most;

    /** @return relative distance of a value from the range of the published ones */
    double GetDistance(double value) const
    {
        return value < least ? value / least - 1 : value > most ? value / most - 1 : 0;
    }
};

/** @return published bus bandwidth; a rounded number stands for a range */
Published
GetPublished(const Table& table, const Point& point, uint64_t bytes)
{
    if (point.least > 0)
    {
        return {point.published, point.least, point.most};
    }
    if (table.factor > 0)
    {
        const double rounding = table.factor == SIMAI_PEAK ? SIMAI_ROUNDING : 0;
        return {point.published * table.factor,
                (point.published - rounding) * table.factor,
                (point.published + rounding) * table.factor};
    }
    const double factor = GetBusFactor(FindCollectiveOperation(table.operation), table.GetRanks());
    const double bandwidth = factor * static_cast<double>(bytes) / point.published * 1e-3;
    return {bandwidth, bandwidth, bandwidth};
}

/** What NCCL's tuning expects of its best algorithm and protocol. */
struct Expected
{
    double bandwidth{std::nan("")}; ///< bus bandwidth, GB/s
    std::string choice;             ///< algorithm and protocol
};

/** @return what NCCL's tuning expects; nothing if the table is not of GPUs */
Expected
GetExpected(const Table& table, uint64_t bytes)
{
    Expected best;
    if (table.IsTcp())
    {
        return best;
    }
    NcclTuning::System system;
    system.ranks = table.GetRanks();
    system.servers = table.servers;
    system.localRate = 370.8e9;
    system.remoteRate = SIMAI_PEAK * 1e9;
    const NcclTuning tuning(system);
    const auto operation = FindCollectiveOperation(table.operation);
    double least = std::numeric_limits<double>::infinity();
    for (uint32_t i = 0; i < std::size(ALGORITHMS); i++)
    {
        const auto algorithm = static_cast<NcclTuning::Algorithm>(i);
        const auto protocol = tuning.SelectProtocol(operation, algorithm, bytes);
        const double seconds = tuning.GetSeconds(operation, algorithm, protocol, bytes);
        if (seconds < least)
        {
            least = seconds;
            best.choice = std::string(ALGORITHMS[i]) + " " +
                          NcclTuning::GetProtocols()[static_cast<uint32_t>(protocol)];
        }
    }
    best.bandwidth =
        GetBusFactor(operation, system.ranks) * static_cast<double>(bytes) / least * 1e-9;
    return best;
}

int
Tables(int argc, char* argv[])
{
    uint64_t most = 64 << 20;
    std::string target;
    ProgramOptions options("nccl-tables",
                           "Bus bandwidth of NCCL, published beside simulated with the host models "
                           "nccl or nccl-socket, and none.");
    options.Group("Tables");
    options.AddBytes("most", "largest size", most, 1);
    options.AddJson(target);
    RunFilesOptions files;
    files.AddTo(options);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    const JsonOutput json(target);
    auto rows = JsonValue::Array();
    RunCost cost;
    RecordAll(options, files, [&] {
        for (const Table& table : GetTables())
        {
            if (target != "-")
            {
                std::printf("# %s, %s by %s. %s. Host model: %s\n"
                            "%12s %18s %16s %10s %12s %16s %16s  %-16s  %s\n",
                            table.name,
                            table.operation,
                            table.algorithm,
                            table.source,
                            table.hostModel,
                            "bytes",
                            "published (GB/s)",
                            "simulated (GB/s)",
                            "deviation",
                            "from range",
                            "none (GB/s)",
                            "tuning (GB/s)",
                            "its choice",
                            "role");
            }
            for (const Point& point : table.points)
            {
                const uint64_t bytes = ParseBytes(point.bytes).value();
                if (bytes > most)
                {
                    continue;
                }
                const Published published = GetPublished(table, point, bytes);
                const double nccl = Measure(table, bytes, table.hostModel, cost);
                const double none = Measure(table, bytes, "none", cost);
                const Expected expected = GetExpected(table, bytes);
                const char* role = ROLES[static_cast<int>(point.role)];
                rows.Append(JsonValue::Object()
                                .Set("cluster", table.name)
                                .Set("source", table.source)
                                .Set("operation", table.operation)
                                .Set("algorithm", table.algorithm)
                                .Set("host_model", table.hostModel)
                                .Set("role", role)
                                .Set("bytes", bytes)
                                .Set("published_GBps", published.mean)
                                .Set("published_least_GBps", published.least)
                                .Set("published_most_GBps", published.most)
                                .Set("nccl_GBps", nccl)
                                .Set("none_GBps", none)
                                .Set("tuning_GBps", expected.bandwidth)
                                .Set("tuning_choice", expected.choice));
                if (target != "-")
                {
                    std::printf(
                        "%12s %18.4g %16.4g %+8.0f %% %+10.0f %% %16.4g %16.4g  %-16s  %s\n",
                        point.bytes,
                        published.mean,
                        nccl,
                        100 * (nccl / published.mean - 1),
                        100 * published.GetDistance(nccl),
                        none,
                        expected.bandwidth,
                        expected.choice.c_str(),
                        role);
                    std::fflush(stdout);
                }
            }
        }
    });
    const std::string inputs = "host model of each table; a constant of it is chosen with the rows "
                               "of role calibration";
    if (target != "-")
    {
        std::printf("%s\n%s", FormatRunCost(cost).c_str(), FormatInputs(inputs).c_str());
    }
    auto document = JsonValue::Object();
    document.Set("rows", rows);
    AddRunCost(document, cost);
    document.Set("inputs", inputs)
        .Set("configuration", options.ToJson())
        .Set("version", GetVersion());
    json.Write(document);
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("nccl-tables", [&] { return Tables(argc, argv); });
}
