/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "flow-statistics.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

namespace
{

FlowStatistics::Row
MakeRow(uint64_t largest, std::vector<double> slowdowns)
{
    std::sort(slowdowns.begin(), slowdowns.end());
    return {largest,
            slowdowns.size(),
            GetQuantile(slowdowns, 0.5),
            GetQuantile(slowdowns, 0.95),
            GetQuantile(slowdowns, 0.99)};
}

} // namespace

void
FlowStatistics::Add(uint64_t bytes, double slowdown)
{
    m_flows.push_back({bytes, slowdown});
}

std::size_t
FlowStatistics::GetFlows() const
{
    return m_flows.size();
}

std::vector<FlowStatistics::Row>
FlowStatistics::GetRows(const std::vector<uint64_t>& bins) const
{
    std::vector<std::vector<double>> slowdowns(bins.size());
    for (const Flow& flow : m_flows)
    {
        const auto bin = std::lower_bound(bins.begin(), bins.end(), flow.bytes);
        if (bin != bins.end())
        {
            slowdowns[static_cast<std::size_t>(bin - bins.begin())].push_back(flow.slowdown);
        }
    }
    std::vector<Row> rows;
    for (std::size_t i = 0; i < bins.size(); i++)
    {
        rows.push_back(MakeRow(bins[i], std::move(slowdowns[i])));
    }
    return rows;
}

FlowStatistics::Row
FlowStatistics::GetTotal() const
{
    uint64_t largest = 0;
    std::vector<double> slowdowns;
    for (const Flow& flow : m_flows)
    {
        largest = std::max(largest, flow.bytes);
        slowdowns.push_back(flow.slowdown);
    }
    return MakeRow(largest, std::move(slowdowns));
}

double
GetQuantile(const std::vector<double>& sorted, double part)
{
    return sorted.empty()
               ? std::numeric_limits<double>::quiet_NaN()
               : sorted[static_cast<std::size_t>(static_cast<double>(sorted.size()) * part)];
}

} // namespace ns3::training
