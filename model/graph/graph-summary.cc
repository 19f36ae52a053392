/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-summary.h"

namespace ns3::training
{

GraphSummary
SummarizeGraph(const TaskGraph& graph, uint32_t rank, uint32_t iterations)
{
    GraphSummary summary;
    const auto source = graph.MakeSource(rank, iterations);
    GraphTask task;
    while (source->Next(task))
    {
        summary.tasks[static_cast<uint32_t>(task.kind)]++;
        if (task.kind == TaskKind::COMPUTE)
        {
            summary.compute += task.length;
        }
        else if (task.kind == TaskKind::COLLECTIVE)
        {
            summary.collectives[{task.groups, task.operation, task.bytes}]++;
        }
        else if (task.kind == TaskKind::SEND)
        {
            TaskTraffic& sent = summary.sent[static_cast<uint32_t>(task.parallelism)];
            sent.bytes += task.bytes;
            sent.count++;
        }
        task = {};
    }
    return summary;
}

} // namespace ns3::training
