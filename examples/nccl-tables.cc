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
#include "nccl-published.h"

#include "ns3/cluster-command-line.h"
#include "ns3/experiment.h"
#include "ns3/json-output.h"
#include "ns3/nccl-tuning.h"
#include "ns3/recorded-collectives.h"
#include "ns3/run-cost.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

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

constexpr const char* ROLES[] = {"predicted", "calibration"};

/// NCCL's algorithms, by NcclTuning::Algorithm.
constexpr const char* ALGORITHMS[] = {"tree", "ring", "nvls", "nvls-tree"};

/**
 * @param cost receives that of the simulation
 * @return bus bandwidth, GB/s
 */
double
Measure(const NcclTable& table, uint64_t bytes, const std::string& hostModel, RunCost& cost)
{
    const CollectiveRun run = RunCollectives(MakeNcclCluster(table, hostModel),
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
GetPublished(const NcclTable& table, const NcclPoint& point, uint64_t bytes)
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
GetExpected(const NcclTable& table, uint64_t bytes)
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
        for (const NcclTable& table : GetNcclTables())
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
            for (const NcclPoint& point : table.points)
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
