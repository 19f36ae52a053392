/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "record/background-figures.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ns3::training
{

namespace
{

/// Number of rows by size.
constexpr uint32_t ROWS = 10;

/** @return a JSON number, or null if it is unknown */
JsonValue
ToJson(double value)
{
    return std::isnan(value) ? JsonValue() : JsonValue(value);
}

/** Adds the figures of a row to a JSON object. */
JsonValue&
AddTo(JsonValue& object, const FlowStatistics::Row& row)
{
    return object.Set("p50_slowdown", ToJson(row.slowdown.p50))
        .Set("p95_slowdown", ToJson(row.slowdown.p95))
        .Set("p99_slowdown", ToJson(row.slowdown.p99));
}

std::unique_ptr<Figures>
MakeBackgroundFigures(const FiguresRequest& request)
{
    const BackgroundTraffic* traffic = request.cluster.GetBackground();
    if (!traffic)
    {
        return nullptr;
    }
    const FlowStatistics& statistics = traffic->GetStatistics();
    std::vector<uint64_t> bins;
    for (uint32_t i = 1; i <= ROWS; i++)
    {
        const double part = static_cast<double>(i) / ROWS;
        bins.push_back(
            static_cast<uint64_t>(std::ceil(traffic->GetSettings().sizes.GetQuantile(part))));
    }
    bins.erase(std::unique(bins.begin(), bins.end()), bins.end());
    auto figures = std::make_unique<BackgroundFigures>();
    figures->startedFlows = traffic->GetStartedFlows();
    figures->endedFlows = statistics.GetFlows();
    figures->startedBytes = traffic->GetStartedBytes();
    figures->endedBytes = traffic->GetEndedBytes();
    figures->offeredLoad = traffic->GetOfferedLoad(Simulator::Now());
    figures->failure = traffic->GetFailure();
    figures->all = statistics.GetTotal();
    figures->sizes = statistics.GetRows(bins);
    return figures;
}

const Registry<FiguresEntry>::Entry g_background("background",
                                                 {"traffic beside that of the ranks",
                                                  &MakeBackgroundFigures});

} // namespace

JsonValue
BackgroundFigures::ToJson() const
{
    auto rows = JsonValue::Array();
    for (const FlowStatistics::Row& row : sizes)
    {
        auto object = JsonValue::Object();
        object.Set("bytes", row.largest).Set("flows", uint64_t{row.flows});
        rows.Append(AddTo(object, row));
    }
    auto document = JsonValue::Object();
    document.Set("flows", startedFlows)
        .Set("ended_flows", endedFlows)
        .Set("bytes", startedBytes)
        .Set("ended_bytes", endedBytes)
        .Set("offered_load", offeredLoad);
    return AddTo(document, all).Set("failure", failure).Set("sizes", rows);
}

std::string
BackgroundFigures::Format() const
{
    char line[200];
    std::snprintf(line,
                  sizeof(line),
                  "background: %llu flows, %llu ended, %.1f MB, load %.3f; slowdown p50 %.2f, "
                  "p95 %.2f, p99 %.2f\n",
                  static_cast<unsigned long long>(startedFlows),
                  static_cast<unsigned long long>(endedFlows),
                  static_cast<double>(startedBytes) * 1e-6,
                  offeredLoad,
                  all.slowdown.p50,
                  all.slowdown.p95,
                  all.slowdown.p99);
    return failure.empty() ? line : line + ("background: a flow has failed: " + failure + "\n");
}

} // namespace ns3::training
