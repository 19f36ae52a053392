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

#include "../hidden-global-values.h"
#include "communicator/nccl-tuning.h"
#include "measure/recorded-collectives.h"
#include "nccl-published.h"

#include "ns3/cluster-command-line.h"
#include "ns3/experiment.h"
#include "ns3/json-output.h"
#include "ns3/run-cost.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// Peak bus bandwidth of 8 NICs of 400 Gbit/s, the reference of SimAI's ratios, B/s.
constexpr double PEAK = 388e9;

/// NCCL's algorithms, by NcclTuning::Algorithm.
constexpr const char* ALGORITHMS[] = {"tree", "ring", "nvls", "nvls-tree"};

/** Prints rows of the tables, or gathers them for JSON. */
class NcclTables
{
  public:
    /** @return exit status */
    int Run(int argc, char* argv[]);

  private:
    void PrintHeadings(const PublishedCase& point);
    void AddRow(const PublishedCase& point);
    double Measure(const PublishedCase& point, const std::string& hostModel);

    uint64_t m_most{64 << 20};
    std::string m_json;
    std::string m_headings; // of the table
    JsonValue m_rows{JsonValue::Array()};
    RunCost m_cost;
};

/** @return simulated bus bandwidth, GB/s */
double
NcclTables::Measure(const PublishedCase& point, const std::string& hostModel)
{
    const CollectiveRun run =
        RunCollectives(MakeNcclCluster(point, hostModel),
                       FindCollectiveOperation(point.GetText("operation")),
                       {8, ParseBytes(point.GetText("bytes")).value()}); // 8 opens connections
    m_cost.Add(run.cost);
    return run.measurements.back().busBandwidth;
}

/** @return published bus bandwidth, GB/s: value, least and most; a rounded number is a range */
std::array<double, 3>
GetPublished(const PublishedCase& point, double transferred)
{
    const double value = point.Get("published");
    const double factor = point.Get("factor");
    if (std::isnan(factor)) // a time, us
    {
        const double bandwidth = transferred / value * 1e-3;
        return {bandwidth, bandwidth, bandwidth};
    }
    const double rounding = std::max(0., point.Get("rounding"));
    return {value * factor, (value - rounding) * factor, (value + rounding) * factor};
}

/**
 * What NCCL's tuning expects of its best algorithm and protocol; nothing if they are not of GPUs.
 * @return time, s, and their names
 */
std::pair<double, std::string>
GetExpected(const PublishedCase& point, CollectiveOperation operation, uint64_t bytes)
{
    std::pair<double, std::string> best{NONE, ""};
    if (IsTcp(point))
    {
        return best;
    }
    NcclTuning::System system;
    system.servers = static_cast<uint32_t>(point.GetCount("servers"));
    system.ranks = 8 * system.servers;
    system.localRate = 370.8e9;
    system.remoteRate = PEAK;
    const NcclTuning tuning(system);
    for (uint32_t i = 0; i < std::size(ALGORITHMS); i++)
    {
        const auto algorithm = static_cast<NcclTuning::Algorithm>(i);
        const auto protocol = tuning.SelectProtocol(operation, algorithm, bytes);
        const double seconds = tuning.GetSeconds(operation, algorithm, protocol, bytes);
        if (!(seconds >= best.first))
        {
            best = {seconds,
                    std::string(ALGORITHMS[i]) + " " +
                        NcclTuning::GetProtocols()[static_cast<uint32_t>(protocol)]};
        }
    }
    return best;
}

/** Prints the headings of the table of a point, if they are new. */
void
NcclTables::PrintHeadings(const PublishedCase& point)
{
    const std::string headings =
        point.Fill("# {cluster}, {operation} by {algorithm}. {source}. Host model: {host_model}");
    if (m_json != "-" && headings != m_headings)
    {
        std::printf("%s\n%12s %18s %16s %10s %12s %16s %16s  %-16s  %s\n",
                    headings.c_str(),
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
    m_headings = headings;
}

void
NcclTables::AddRow(const PublishedCase& point)
{
    const std::string size = point.GetText("bytes");
    const uint64_t bytes = ParseBytes(size).value();
    const std::string hostModel = point.GetText("host_model");
    const auto operation = FindCollectiveOperation(point.GetText("operation"));
    const double transferred = GetBusFactor(operation, MakeNcclCluster(point, hostModel).ranks) *
                               static_cast<double>(bytes);
    const auto [mean, least, most] = GetPublished(point, transferred);
    const double nccl = Measure(point, hostModel);
    const double none = Measure(point, "none");
    const auto [seconds, choice] = GetExpected(point, operation, bytes);
    const double tuning = transferred / seconds * 1e-9;
    auto row = JsonValue::Object();
    for (const char* key : {"cluster", "source", "operation", "algorithm", "host_model", "role"})
    {
        row.Set(key, point.GetText(key));
    }
    m_rows.Append(row.Set("bytes", bytes)
                      .Set("published_GBps", mean)
                      .Set("published_least_GBps", least)
                      .Set("published_most_GBps", most)
                      .Set("nccl_GBps", nccl)
                      .Set("none_GBps", none)
                      .Set("tuning_GBps", tuning)
                      .Set("tuning_choice", choice));
    if (m_json != "-")
    {
        const double nearest = std::clamp(nccl, least, most);
        std::printf("%12s %18.4g %16.4g %+8.0f %% %+10.0f %% %16.4g %16.4g  %-16s  %s\n",
                    size.c_str(),
                    mean,
                    nccl,
                    100 * (nccl / mean - 1),
                    100 * (nccl / nearest - 1),
                    none,
                    tuning,
                    choice.c_str(),
                    point.GetText("role").c_str());
        std::fflush(stdout);
    }
}

int
NcclTables::Run(int argc, char* argv[])
{
    ProgramOptions options("nccl-tables",
                           "Bus bandwidth of NCCL, published beside simulated with the host models "
                           "nccl or nccl-socket, and none.");
    options.Group("Tables");
    options.AddBytes("most", "largest size", m_most, 1);
    options.AddJson(m_json);
    RunFilesOptions files;
    files.AddTo(options);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    const JsonOutput json(m_json);
    RecordAll(options, files, [&] {
        for (const PublishedCase& point : GetNcclPoints())
        {
            PrintHeadings(point);
            if (ParseBytes(point.GetText("bytes")).value() <= m_most)
            {
                AddRow(point);
            }
        }
    });
    const std::string inputs = "host model of each table; a constant of it is chosen with the rows "
                               "of role calibration";
    if (m_json != "-")
    {
        std::printf("%s\n%s", FormatRunCost(m_cost).c_str(), FormatInputs(inputs).c_str());
    }
    auto document = JsonValue::Object();
    document.Set("rows", m_rows);
    AddRunCost(document, m_cost);
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
    return RunProgram("nccl-tables", [&] { return NcclTables().Run(argc, argv); });
}
