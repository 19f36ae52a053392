/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "measure/hpcc-experiment.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/string.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-registry.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

namespace ns3::training
{

namespace
{

constexpr double UNKNOWN = std::numeric_limits<double>::quiet_NaN();

/// By distribution and congestion control; DCQCN and TIMELY with windows ("+w").
const std::map<std::string, HpccExperiment::Slowdowns> PUBLISHED{
    {"websearch hpcc",
     {{1.3, 1.5, 1.7, 1.93, 2.1, 2.75, 3.75, 4.05, 4.35, 4.0},
      {1.7, 1.9, 2.1, 2.45, 2.75, 3.6, 5.1, 5.8, 6.3, 5.1}}},
    {"websearch dcqcn",
     {{3.05, 3.05, 3.05, 3.05, 2.8, 3.2, 3.7, 3.85, 3.7, 3.25},
      {4.3, UNKNOWN, UNKNOWN, UNKNOWN, 3.7, 4.0, 6.1, 5.4, 5.0, 4.1}}},
    {"websearch dctcp",
     {{2.6, 2.6, 2.6, 2.6, 2.6, 3.2, 4.2, UNKNOWN, UNKNOWN, 3.1},
      {3.8, UNKNOWN, UNKNOWN, UNKNOWN, 3.4, UNKNOWN, 6.8, UNKNOWN, UNKNOWN, 4.0}}},
    // The paper says of TIMELY+w that it is about the same as DCQCN+w.
    {"websearch timely",
     {{3.05, 3.05, 3.05, 3.05, 2.8, 3.2, 3.7, 3.85, 3.7, 3.25}, std::vector<double>(10, UNKNOWN)}},
    {"fbhadoop hpcc",
     {{1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.9, 2.4, 4.3},
      {2.12, 2.12, 2.12, 2.12, 2.12, 2.12, 2.12, UNKNOWN, UNKNOWN, UNKNOWN}}},
    {"fbhadoop dcqcn",
     {{2.75, 2.75, 2.75, 2.75, 2.75, 2.75, 2.75, UNKNOWN, UNKNOWN, 3.3},
      {4.15, 4.15, 4.15, 4.15, 4.15, 4.15, 4.15, UNKNOWN, UNKNOWN, UNKNOWN}}},
    {"fbhadoop timely",
     {{2.8, 2.8, 2.8, 2.8, 2.8, 2.8, 2.8, UNKNOWN, UNKNOWN, UNKNOWN},
      {4.3, 4.3, 4.3, 4.3, 4.3, 4.3, 4.3, UNKNOWN, UNKNOWN, UNKNOWN}}},
    {"fbhadoop dctcp",
     {{2.45, 2.45, 2.45, 2.45, 2.45, 2.45, 2.45, UNKNOWN, UNKNOWN, UNKNOWN},
      {3.55, 3.55, 3.55, 3.55, 3.55, 3.55, 3.55, UNKNOWN, UNKNOWN, UNKNOWN}}}};

/** Sets the default of an attribute, unless the user has changed it. */
void
SetDefault(const std::string& type, const std::string& name, const AttributeValue& value)
{
    const std::string full = "ns3::training::" + type;
    if (IsDefaultUnchanged(TypeId::LookupByName(full), name))
    {
        Config::SetDefault(full + "::" + name, value);
    }
}

} // namespace

ClusterOptions
HpccExperiment::GetNetwork()
{
    ClusterOptions options;
    options.ranks = 320;
    options.topology = "pods:uplink=400Gbps";
    options.rate = DataRate("100Gbps");
    options.delay = MicroSeconds(1);
    options.mtu = 1000;
    options.congestionControl = "hpcc";
    return options;
}

void
HpccExperiment::SetAttributes(const std::string& congestionControl)
{
    for (const char* name : {"Dcqcn", "Dctcp", "Hpcc", "PowerTcp", "ThetaPowerTcp", "Timely"})
    {
        SetDefault(std::string("Rdma") + name, "MinimumRate", StringValue("1Gbps"));
    }
    SetDefault("RdmaHpcc", "Eta", DoubleValue(0.99));
    SetDefault("RdmaHpcc", "MaxStage", UintegerValue(0));
    SetDefault("RdmaHpcc", "AdditiveIncrease", DoubleValue(0.0004));
    SetDefault("RdmaDcqcn", "Window", BooleanValue(true));
    SetDefault("RdmaTimely", "Window", BooleanValue(true));
    // Acknowledgements share the class of data, except with TIMELY. Each carries the ECN echo, and
    // DCQCN checks once per microsecond whether there was one.
    const uint8_t answers = congestionControl == "timely" ? 6 : 3;
    SetDefault("RdmaNic", "AckPriority", UintegerValue(answers));
    SetDefault("RdmaNic", "CnpPriority", UintegerValue(answers));
    SetDefault("RdmaNic", "CnpInterval", TimeValue(MicroSeconds(1)));
    SetDefault("SwitchDevice", "BufferSize", UintegerValue(32 << 20));
    SetDefault("SwitchDevice", "LargestFrame", UintegerValue(1200));
    const double step = Registry<CongestionControlEntry>::Find(congestionControl).ecnStepPerGbps;
    if (step > 0)
    {
        SetDefault("SwitchDevice", "EcnKminPerGbps", DoubleValue(step));
        SetDefault("SwitchDevice", "EcnKmaxPerGbps", DoubleValue(step));
    }
}

PublishedTable
HpccExperiment::Compare(const std::vector<FlowStatistics::Row>& ours,
                        const Slowdowns& published,
                        const std::string& json)
{
    PublishedTable table({{"bytes", "size <=", 10, "%.0f"},
                          {"published_p95_slowdown", "p95: published", 15, "%.2f"},
                          {"p95_slowdown", "ours", 8, "%.2f"},
                          {"p95_error_percent", "%", 7, "%+.1f"},
                          {"published_p99_slowdown", "p99: published", 15, "%.2f"},
                          {"p99_slowdown", "ours", 8, "%.2f"},
                          {"p99_error_percent", "%", 7, "%+.1f"}},
                         json == "-" ? PublishedTable::Printing::NEVER
                                     : PublishedTable::Printing::AT_END);
    std::vector<double> errors[2];
    for (std::size_t i = 0; i < std::min(ours.size(), published.p95.size()); i++)
    {
        const double values[] = {ours[i].slowdown.p95, ours[i].slowdown.p99};
        const double theirs[] = {published.p95[i], published.p99[i]};
        double percent[2];
        for (std::size_t j = 0; j < 2; j++)
        {
            percent[j] = 100 * (values[j] / theirs[j] - 1);
            if (!std::isnan(percent[j]))
            {
                errors[j].push_back(percent[j]);
            }
        }
        table.AddRow({static_cast<double>(ours[i].largest),
                      theirs[0],
                      values[0],
                      percent[0],
                      theirs[1],
                      values[1],
                      percent[1]});
    }
    table.Print("slowdowns of HPCC's paper, read from plots to 5 %; p50 is not published\n");
    if (table.IsPrinting() && !published.p95.empty())
    {
        std::string line;
        for (std::size_t j = 0; j < 2; j++)
        {
            std::sort(errors[j].begin(), errors[j].end());
            char text[30];
            std::snprintf(text, sizeof(text), "%+.1f %%", GetQuantile(errors[j], 0.5));
            line += (j == 0 ? "median errors: p95 " : ", p99 ") +
                    (errors[j].empty() ? std::string("-") : std::string(text));
        }
        std::printf("%s\n", line.c_str());
    }
    return table;
}

HpccExperiment::Slowdowns
HpccExperiment::GetPublished(const std::string& flowSizes, const std::string& congestionControl)
{
    const auto found = PUBLISHED.find(flowSizes + " " + congestionControl);
    return found == PUBLISHED.end() ? Slowdowns() : found->second;
}

} // namespace ns3::training
