/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Bus bandwidth against message size on GPU clusters, published next to simulated:
 *
 *   ./ns3w run nccl-tables
 */

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// Bus bandwidth within a server of H100s as measured by SimAI, GB/s, as a rate.
constexpr const char* LOCAL_RATE = "2966.4Gbps";
/// Peak bus bandwidth of 8 NICs of 400 Gbit/s, the reference of SimAI's ratios, GB/s.
constexpr double SIMAI_PEAK = 388;

/** A size and its published value. */
struct Point
{
    const char* bytes;
    double published; ///< bus bandwidth, GB/s
};

/** A cluster and its table. */
struct Table
{
    const char* name;
    const char* source;
    const char* operation;
    const char* algorithm;
    uint32_t servers; ///< servers of 8 GPUs, each GPU with a NIC of 400 Gbit/s
    double factor;    ///< converts the published numbers to GB/s
    std::vector<Point> points;
};

const std::vector<Table>&
GetTables()
{
    static const std::vector<Table> tables{
        {"8 H200, NVLink",
         "nccl-tests; from 64 MiB on summed in the NVSwitch (NVLS), simulated is a ring",
         "all-reduce",
         "ring",
         1,
         1,
         {{"1M", 39.9}, {"8M", 155.5}, {"64M", 346.5}, {"512M", 450.3}}},
        {"8 H100 of Azure ND v5, NVLink",
         "nccl-tests; summed in the NVSwitch (NVLS), simulated is a ring",
         "all-reduce",
         "ring",
         1,
         1,
         {{"1M", 43.7},
          {"4M", 128.7},
          {"16M", 234.5},
          {"64M", 361.8},
          {"256M", 423.4},
          {"1G", 466.4}}},
        {"2 x 8 H100, 8 x 400 Gbit/s",
         "SimAI's ratio of the peak of 388 GB/s",
         "all-reduce",
         "multi-ring",
         2,
         SIMAI_PEAK,
         {{"16M", .32},
          {"32M", .47},
          {"64M", .50},
          {"128M", .67},
          {"256M", .85},
          {"512M", .89},
          {"1G", .92}}},
        {"8 x 8 H100, 8 x 400 Gbit/s",
         "SimAI's ratio of the peak of 388 GB/s",
         "all-reduce",
         "multi-ring",
         8,
         SIMAI_PEAK,
         {{"16M", .13},
          {"32M", .24},
          {"64M", .39},
          {"128M", .54},
          {"256M", .69},
          {"512M", .78},
          {"1G", .90}}},
        {"16 x 8 H100, 8 x 400 Gbit/s",
         "SimAI's ratio of the peak of 388 GB/s",
         "all-reduce",
         "multi-ring",
         16,
         SIMAI_PEAK,
         {{"16M", .05},
          {"32M", .11},
          {"64M", .21},
          {"128M", .38},
          {"256M", .57},
          {"512M", .73},
          {"1G", .76}}},
        {"4 x 8 H100, 8 x 400 Gbit/s",
         "SimAI's simulation of a ring",
         "all-reduce",
         "multi-ring",
         4,
         1,
         {{"16M", 141.8}, {"64M", 160.6}, {"256M", 165.7}, {"512M", 166.7}}}};
    return tables;
}

/** @return bus bandwidth, GB/s */
double
Measure(const Table& table, uint64_t bytes, const std::string& hostModel)
{
    double bandwidth = 0;
    {
        ClusterOptions options;
        options.ranks = 8 * table.servers;
        options.topology = "rail-optimized:gpus=8,servers=" + std::to_string(table.servers) +
                           ",local-rate=" + LOCAL_RATE;
        options.rate = DataRate(400000000000);
        options.algorithm = table.algorithm;
        options.hostModel = hostModel;
        const Cluster cluster(options);
        GuardedRun run(cluster);
        const auto operation = FindCollectiveOperation(table.operation);
        MeasureCollective(cluster, run, operation, 8, false, 1); // opens connections
        bandwidth = MeasureCollective(cluster, run, operation, bytes, false, 1).busBandwidth;
    }
    Simulator::Destroy();
    return bandwidth;
}

int
Tables(int argc, char* argv[])
{
    uint64_t most = 64 << 20;
    std::string target;
    ProgramOptions options("nccl-tables",
                           "Bus bandwidth of GPU clusters, published beside simulated with the "
                           "host models nccl and none.");
    options.Group("Tables");
    options.AddBytes("most", "largest size", most, 1);
    options.AddJson(target);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    const JsonOutput json(target);
    auto rows = JsonValue::Array();
    for (const Table& table : GetTables())
    {
        if (target != "-")
        {
            std::printf("# %s, %s. %s\n%12s %18s %22s %22s\n",
                        table.name,
                        table.operation,
                        table.source,
                        "bytes",
                        "published (GB/s)",
                        "host model nccl (GB/s)",
                        "host model none (GB/s)");
        }
        for (const Point& point : table.points)
        {
            const uint64_t bytes = ParseBytes(point.bytes).value();
            if (bytes > most)
            {
                continue;
            }
            const double published = point.published * table.factor;
            const double nccl = Measure(table, bytes, "nccl");
            const double none = Measure(table, bytes, "none");
            rows.Append(JsonValue::Object()
                            .Set("cluster", table.name)
                            .Set("source", table.source)
                            .Set("operation", table.operation)
                            .Set("algorithm", table.algorithm)
                            .Set("bytes", bytes)
                            .Set("published_GBps", published)
                            .Set("nccl_GBps", nccl)
                            .Set("none_GBps", none));
            if (target != "-")
            {
                std::printf("%12s %18.1f %22.1f %22.1f\n", point.bytes, published, nccl, none);
                std::fflush(stdout);
            }
        }
    }
    json.Write(JsonValue::Object()
                   .Set("rows", rows)
                   .Set("configuration", options.ToJson())
                   .Set("version", GetVersion()));
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("nccl-tables", [&] { return Tables(argc, argv); });
}
