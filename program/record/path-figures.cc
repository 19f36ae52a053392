/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "record/path-figures.h"

#include "ns3/fabric-channel.h"
#include "ns3/fabric-frame.h"
#include "ns3/fabric-port.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

namespace ns3::training
{

namespace
{

/// Parts that a line names.
constexpr std::size_t MAX_NAMED_PARTS = 5;

/** @return what a task is for */
std::string
GetKind(const TaskTrace* task)
{
    if (!task)
    {
        return "idle";
    }
    return task->IsCommunication() ? GetName(task->parallelism) : GetName(task->kind);
}

/** Finds the link that was busy for the largest part of the time. */
void
FindBusiestLink(const Fabric& fabric, double elapsedS, PathFigures& figures)
{
    for (uint32_t link = 0; link < fabric.channels.size(); link++)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            const FabricPort& port = fabric.channels[link]->GetPort(end);
            const PortCounters& counters = port.GetCounters();
            const uint64_t bytes =
                counters.transmittedBytes +
                counters.transmittedFrames * (Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
            const double utilization =
                8.0 * static_cast<double>(bytes) / static_cast<double>(port.GetRate()) / elapsedS;
            if (utilization > figures.linkUtilization)
            {
                figures.linkUtilization = utilization;
                figures.link =
                    fabric.GetEndName(link, end) + " -> " + fabric.GetEndName(link, 1 - end);
            }
        }
    }
}

} // namespace

JsonValue
PathFigures::ToJson() const
{
    auto list = JsonValue::Array();
    for (const Part& part : parts)
    {
        list.Append(JsonValue::Object()
                        .Set("task", part.name)
                        .Set("kind", part.kind)
                        .Set("count", part.count)
                        .Set("time_s", part.seconds));
    }
    auto visited = JsonValue::Array();
    for (uint32_t rank : ranks)
    {
        visited.Append(rank);
    }
    return JsonValue::Object()
        .Set("time_s", seconds)
        .Set("parts", list)
        .Set("ranks", visited)
        .Set("busiest_link", link)
        .Set("busiest_link_utilization", linkUtilization);
}

std::string
PathFigures::Format() const
{
    std::string text = "critical path:";
    for (std::size_t i = 0; i < parts.size() && i < MAX_NAMED_PARTS; i++)
    {
        char share[32];
        std::snprintf(share, sizeof(share), " %.1f %%", 100 * parts[i].seconds / seconds);
        text +=
            (i > 0 ? ", " : " ") + (parts[i].name.empty() ? parts[i].kind : parts[i].name) + share;
    }
    if (parts.size() > MAX_NAMED_PARTS)
    {
        text += ", ...";
    }
    if (!link.empty())
    {
        char share[32];
        std::snprintf(share, sizeof(share), " (%.1f %%)", 100 * linkUtilization);
        text += "; busiest link: " + link + share;
    }
    return text + "\n";
}

PathFigures
GetPathFigures(const std::vector<PathStep>& path,
               const TaskGraph& graph,
               const Fabric& fabric,
               double elapsedS)
{
    PathFigures figures;
    std::map<std::pair<std::string, std::string>, PathFigures::Part> parts;
    for (const PathStep& step : path)
    {
        const std::string name = step.task ? graph.GetNames()[step.task->name] : "";
        const std::string kind = GetKind(step.task.get());
        PathFigures::Part& part = parts[{name, kind}];
        part.name = name;
        part.kind = kind;
        part.count++;
        part.seconds += (step.end - step.start).GetSeconds();
        figures.seconds += (step.end - step.start).GetSeconds();
        if (step.task && (figures.ranks.empty() || figures.ranks.back() != step.task->rank))
        {
            figures.ranks.push_back(step.task->rank);
        }
    }
    for (const auto& [key, part] : parts)
    {
        figures.parts.push_back(part);
    }
    std::stable_sort(figures.parts.begin(), figures.parts.end(), [](const auto& a, const auto& b) {
        return a.seconds > b.seconds;
    });
    if (elapsedS > 0)
    {
        FindBusiestLink(fabric, elapsedS, figures);
    }
    return figures;
}

std::vector<CriticalPathRow>
GetPathRows(const std::vector<PathStep>& path, const TaskGraph& graph, Time later)
{
    std::vector<CriticalPathRow> rows;
    for (const PathStep& step : path)
    {
        CriticalPathRow row;
        row.step = static_cast<uint32_t>(rows.size());
        row.rank = step.task ? step.task->rank : rows.empty() ? 0 : rows.back().rank;
        row.task = step.task ? graph.GetNames()[step.task->name] : "";
        row.kind = GetKind(step.task.get());
        row.startS = (step.start + later).GetSeconds();
        row.endS = (step.end + later).GetSeconds();
        rows.push_back(row);
    }
    return rows;
}

} // namespace ns3::training
