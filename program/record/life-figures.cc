/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "life-figures.h"

#include "ns3/training-quantity.h"

#include <array>
#include <boost/algorithm/string/join.hpp>
#include <cstdio>
#include <utility>

namespace ns3::training
{

namespace
{

/// Names of the uses in text.
constexpr std::array<std::pair<LifeUse, const char*>, LIFE_USES> USES{
    {{LifeUse::PRODUCTIVE, "productive"},
     {LifeUse::CHECKPOINT, "checkpoints"},
     {LifeUse::LOST, "lost"},
     {LifeUse::DETECTION, "detection"},
     {LifeUse::WAITING, "waiting"},
     {LifeUse::RESTART, "restarts"}}};

/** @return a span as a row */
LifeRow
MakeRow(const std::string& kind, Time start, Time end, uint32_t iteration)
{
    LifeRow row;
    row.kind = kind;
    row.startS = start.GetSeconds();
    row.endS = end.GetSeconds();
    row.lengthPs = static_cast<uint64_t>((end - start).GetPicoSeconds());
    row.iteration = iteration;
    return row;
}

} // namespace

JsonValue
LifeFigures::ToJson() const
{
    auto json = JsonValue::Object();
    json.Set("effective_ratio", ledger.GetEffectiveRatio())
        .Set("wall_ps", ledger.GetEnd().GetPicoSeconds());
    for (uint32_t use = 0; use < LIFE_USES; use++)
    {
        const auto each = static_cast<LifeUse>(use);
        json.Set(std::string(training::GetName(each)) + "_ps",
                 ledger.GetTime(each).GetPicoSeconds());
    }
    json.Set("failures", failures).Set("checkpoints", checkpoints).Set("restarts", restarts);
    auto never = JsonValue::Array();
    for (const std::string& failure : missed)
    {
        never.Append(failure);
    }
    json.Set("missed_failures", never);
    return json;
}

std::string
LifeFigures::Format() const
{
    const double wall = ledger.GetEnd().GetSeconds();
    std::array<char, 80> text{};
    std::snprintf(text.data(), text.size(), "life: %.6f s =", wall);
    std::string line = text.data();
    const char* separator = " ";
    for (const auto& [use, name] : USES)
    {
        std::snprintf(text.data(), text.size(), "%.6f", ledger.GetTime(use).GetSeconds());
        line += separator + std::string(name) + " " + text.data();
        separator = " + ";
    }
    std::snprintf(text.data(),
                  text.size(),
                  "effective training time %.3f %%; ",
                  100 * ledger.GetEffectiveRatio());
    return line + "\n" + text.data() + FormatCount(failures, "failure") + ", " +
           FormatCount(checkpoints, "checkpoint") + " stored, " + FormatCount(restarts, "restart") +
           "\n" +
           (missed.empty() ? ""
                           : "life: the job ends before " + boost::join(missed, ", ") +
                                 ", which never happens\n");
}

std::vector<LifeRow>
LifeFigures::GetRows() const
{
    std::vector<LifeRow> rows;
    for (const LifeSpan& span : ledger.GetSpans())
    {
        rows.push_back(MakeRow(training::GetName(span.use), span.start, span.end, span.iteration));
        rows.back().node = span.node;
        rows.back().detail = span.detail;
    }
    for (const CheckpointWrite& write : writes)
    {
        rows.push_back(MakeRow("write", write.start, write.end, write.iteration));
    }
    return rows;
}

} // namespace ns3::training
