/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/goal-rank.h"

#include "ns3/training-configuration-error.h"

#include <set>
#include <utility>

namespace ns3::training
{

void
NoteGoalLabels(const GoalOperation& operation, const std::string& where, FormatProblems& problems)
{
    problems.Use();
    if (operation.kind != TaskKind::COMPUTE && operation.cpu != 0)
    {
        problems.Ignore("label cpu of a message", where);
    }
    if (operation.nic != 0)
    {
        problems.Add("label nic above 0, which has no effect: a rank has one NIC", where);
    }
}

GoalRank::GoalRank(ListedGraph& graph)
    : m_compute(graph.AddName("calc")),
      m_send(graph.AddName("send")),
      m_receive(graph.AddName("recv"))
{
}

std::size_t
GoalRank::Add(const GoalOperation& operation)
{
    GraphTask task;
    task.kind = operation.kind;
    task.place = operation.place;
    if (operation.kind == TaskKind::COMPUTE)
    {
        task.name = m_compute;
        task.stream = static_cast<uint16_t>(operation.cpu);
        task.length = NanoSeconds(static_cast<int64_t>(operation.amount));
    }
    else
    {
        task.name = operation.kind == TaskKind::SEND ? m_send : m_receive;
        task.stream = NO_STREAM;
        task.bytes = operation.amount;
        task.peer = operation.peer;
        task.tag = operation.tag;
    }
    if (operation.anySource || operation.anyTag)
    {
        m_wildcards.push_back(
            {m_operations.size(), operation.anySource, operation.anyTag, operation.where});
    }
    m_operations.push_back(std::move(task));
    m_startIsAwaited.push_back(false);
    return m_operations.size() - 1;
}

void
GoalRank::Require(std::size_t operation, std::size_t earlier, bool onStart)
{
    m_waits.push_back({operation, earlier, onStart});
    m_startIsAwaited[earlier] = m_startIsAwaited[earlier] || onStart;
}

void
GoalRank::Sort(uint32_t rank, const std::string& where)
{
    std::vector<std::size_t> starts;  // by operation, place of its start, or of itself
    std::vector<std::size_t> ends;    // by operation, its place
    std::vector<std::size_t> numbers; // by place, its operation
    for (std::size_t operation = 0; operation < m_operations.size(); operation++)
    {
        GraphTask& task = m_operations[operation];
        if (m_startIsAwaited[operation])
        {
            GraphTask start; // takes no time
            start.name = task.name;
            start.stream = task.kind == TaskKind::COMPUTE ? task.stream : NO_STREAM;
            starts.push_back(m_sorter.Add(start));
            numbers.push_back(operation);
        }
        ends.push_back(m_sorter.Add(std::move(task)));
        numbers.push_back(operation);
        if (m_startIsAwaited[operation])
        {
            m_sorter.Require(ends.back(), starts.back());
        }
        else
        {
            starts.push_back(ends.back());
        }
    }
    for (const Wait& wait : m_waits)
    {
        m_sorter.Require(starts[wait.operation],
                         wait.onStart ? starts[wait.earlier] : ends[wait.earlier]);
    }
    const auto cycle = m_sorter.FindCycle();
    if (!cycle.empty())
    {
        std::set<std::size_t> operations;
        for (std::size_t place : cycle)
        {
            operations.insert(numbers[place]);
        }
        throw ConfigurationError(
            where + ": " + std::to_string(operations.size()) + " operations of rank " +
            std::to_string(rank) + " wait for each other, operation " +
            std::to_string(*operations.begin() + 1) + " is the first of them (allowed: no cycles)");
    }
    for (Wildcard& wildcard : m_wildcards)
    {
        wildcard.place = ends[wildcard.place];
    }
    // Files have many operations: their memory is that of the tasks now.
    m_operations = std::vector<GraphTask>();
    m_startIsAwaited = std::vector<bool>();
    m_waits = std::vector<Wait>();
}

} // namespace ns3::training
