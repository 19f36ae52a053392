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

FlowStatistics::Percentiles
MakePercentiles(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return {GetQuantile(values, 0.5),
            GetQuantile(values, 0.95),
            GetQuantile(values, 0.99),
            GetQuantile(values, 0.999)};
}

/** The slowdowns and the completion times of the flows of a row. */
struct RowValues
{
    std::vector<double> slowdowns;
    std::vector<double> seconds;

    FlowStatistics::Row MakeRow(uint64_t largest) const
    {
        return {largest, slowdowns.size(), MakePercentiles(slowdowns), MakePercentiles(seconds)};
    }
};

} // namespace

void
FlowStatistics::Add(uint64_t bytes, double slowdown, double seconds)
{
    m_flows.push_back({bytes, slowdown, seconds});
}

std::size_t
FlowStatistics::GetFlows() const
{
    return m_flows.size();
}

std::vector<FlowStatistics::Row>
FlowStatistics::GetRows(const std::vector<uint64_t>& bins) const
{
    std::vector<RowValues> values(bins.size());
    for (const Flow& flow : m_flows)
    {
        const auto bin = std::lower_bound(bins.begin(), bins.end(), flow.bytes);
        if (bin != bins.end())
        {
            RowValues& row = values[static_cast<std::size_t>(bin - bins.begin())];
            row.slowdowns.push_back(flow.slowdown);
            row.seconds.push_back(flow.seconds);
        }
    }
    std::vector<Row> rows;
    for (std::size_t i = 0; i < bins.size(); i++)
    {
        rows.push_back(values[i].MakeRow(bins[i]));
    }
    return rows;
}

FlowStatistics::Row
FlowStatistics::GetTotal() const
{
    uint64_t largest = 0;
    RowValues values;
    for (const Flow& flow : m_flows)
    {
        largest = std::max(largest, flow.bytes);
        values.slowdowns.push_back(flow.slowdown);
        values.seconds.push_back(flow.seconds);
    }
    return values.MakeRow(largest);
}

double
GetQuantile(const std::vector<double>& sorted, double part)
{
    return sorted.empty()
               ? std::numeric_limits<double>::quiet_NaN()
               : sorted[static_cast<std::size_t>(static_cast<double>(sorted.size()) * part)];
}

} // namespace ns3::training
