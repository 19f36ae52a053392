/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/workload-summary.h"

#include "ns3/training-quantity.h"

#include <sstream>

namespace ns3::training
{

namespace
{

/** @return seconds, rounded once; Time::GetSeconds() rounds more often */
double
ToSeconds(Time time)
{
    return static_cast<double>(time.GetPicoSeconds()) / 1e12;
}

/** Counts the tasks of a workload. */
class Counter
{
  public:
    Counter(const TaskGraph& graph, bool gathersParts, WorkloadSummary& summary)
        : m_graph(graph),
          m_gathersParts(gathersParts),
          m_summary(summary)
    {
    }

    /** @param times that its tasks count, as other ranks do the same */
    void CountRank(uint32_t rank, uint64_t times)
    {
        m_times = times;
        const auto source = m_graph.MakeSource(rank, 1);
        GraphTask task;
        while (source->Next(task))
        {
            Count(rank, task);
        }
        // Each rank ends its iteration with one.
        m_summary.tasks[static_cast<uint32_t>(TaskKind::MARK)] -= times;
    }

  private:
    void Count(uint32_t rank, const GraphTask& task)
    {
        const bool computes = task.kind == TaskKind::COMPUTE;
        if (task.kind == TaskKind::MEMORY && m_graph.GetNames().at(task.name) == IDLE_TASK)
        {
            m_summary.idle += rank == 0 ? task.length : Time();
            return;
        }
        // What takes no time, and has no place in a stream, orders others.
        const bool isMark = computes && task.stream == NO_STREAM && task.length.IsZero();
        m_summary.tasks[static_cast<uint32_t>(isMark ? TaskKind::MARK : task.kind)] += m_times;
        if (rank != 0)
        {
            return;
        }
        m_summary.compute += computes ? task.length : Time();
        if (task.kind == TaskKind::COLLECTIVE)
        {
            const bool isPart = m_gathersParts && task.operation == CollectiveOperation::ALL_GATHER;
            TaskTraffic& traffic = m_summary.collectives[task.operation];
            traffic.bytes += task.bytes / (isPart ? GetSize(task.groups) : 1);
            traffic.count++;
        }
    }

    /** @return ranks of the group of rank 0 */
    uint64_t GetSize(uint32_t groups)
    {
        const auto [size, isNew] = m_sizes.emplace(groups, 0);
        if (isNew)
        {
            size->second = m_graph.GetGroup(groups, 0).size();
        }
        return size->second;
    }

    const TaskGraph& m_graph;
    bool m_gathersParts;
    WorkloadSummary& m_summary;
    uint64_t m_times{1};
    std::map<uint32_t, uint64_t> m_sizes; // by groups
};

} // namespace

WorkloadSummary
SummarizeWorkload(const TaskGraph& graph, bool isUniform, bool gathersParts)
{
    WorkloadSummary summary;
    summary.ranks = graph.GetRanks();
    Counter counter(graph, gathersParts, summary);
    for (uint32_t rank = 0; rank < (isUniform ? 1 : summary.ranks); rank++)
    {
        counter.CountRank(rank, isUniform ? summary.ranks : 1);
    }
    return summary;
}

JsonValue
WorkloadSummary::ToJson() const
{
    auto kinds = JsonValue::Object();
    for (uint32_t kind = 0; kind < TASK_KINDS; kind++)
    {
        kinds.Set(GetName(static_cast<TaskKind>(kind)), tasks[kind]);
    }
    auto list = JsonValue::Array();
    for (const auto& [operation, traffic] : collectives)
    {
        auto row = JsonValue::Object();
        row.Set("operation", GetName(operation));
        row.Set("bytes", traffic.bytes).Set("count", traffic.count);
        list.Append(row);
    }
    auto lines = JsonValue::Array();
    for (const std::string& problem : problems)
    {
        lines.Append(problem);
    }
    auto document = JsonValue::Object();
    document.Set("format", format).Set("ranks", ranks).Set("tasks", kinds);
    document.Set("compute_s", ToSeconds(compute)).Set("idle_s", ToSeconds(idle));
    document.Set("collectives", list).Set("problems", lines);
    return document;
}

std::string
WorkloadSummary::Format() const
{
    std::ostringstream text;
    text << "format: " << format << "\nranks: " << ranks << "\ntasks of all ranks:";
    for (uint32_t kind = 0; kind < TASK_KINDS; kind++)
    {
        text << " " << tasks[kind] << " " << GetName(static_cast<TaskKind>(kind));
    }
    text << "\ncomputations of rank 0: " << FormatTime(compute);
    if (!idle.IsZero())
    {
        text << ", and gaps of " << FormatTime(idle);
    }
    text << "\ncollectives of rank 0:" << (collectives.empty() ? " none" : "") << "\n";
    for (const auto& [operation, traffic] : collectives)
    {
        text << "  " << GetName(operation) << ": " << traffic.count << ", " << traffic.bytes
             << " bytes\n";
    }
    text << "problems:" << (problems.empty() ? " none" : "") << "\n";
    for (const std::string& problem : problems)
    {
        text << "  " << problem << "\n";
    }
    return text.str();
}

} // namespace ns3::training
