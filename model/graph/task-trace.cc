/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "task-trace.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

TaskTrace::TaskTrace(const GraphTask& task, uint32_t taskRank)
    : rank(taskRank),
      kind(task.kind),
      parallelism(task.parallelism),
      name(task.name),
      layer(task.layer),
      microBatch(task.microBatch)
{
}

TaskTrace::~TaskTrace()
{
    // Chains are long: one that nobody else keeps ends here without recursion.
    std::vector<Pointer> ends;
    const auto take = [&ends](Pointer& pointer) {
        if (pointer.use_count() == 1)
        {
            ends.push_back(std::move(pointer));
        }
    };
    take(cause);
    take(partner);
    while (!ends.empty())
    {
        const Pointer trace = std::move(ends.back());
        ends.pop_back();
        auto& earlier = const_cast<TaskTrace&>(*trace); // nobody else sees it any more
        take(earlier.cause);
        take(earlier.partner);
    }
}

bool
TaskTrace::IsCommunication() const
{
    return kind == TaskKind::COLLECTIVE || kind == TaskKind::SEND || kind == TaskKind::RECEIVE;
}

void
IdleTimes::Add(const TaskTrace::Pointer& cause, Time from, Time to)
{
    for (const TaskTrace* task = cause.get(); task && to > from; task = task->cause.get())
    {
        if (task->end < to) // nothing was in progress
        {
            other += to - std::max(task->end, from);
            to = std::max(task->end, from);
        }
        if (task->IsCommunication())
        {
            const Time ready = std::clamp(task->ready, from, to);
            exposed[static_cast<uint32_t>(task->parallelism)] += to - ready;
            to = ready;
            const Time start = std::clamp(task->start, from, to);
            bubble += to - start;
            to = start;
        }
        else
        {
            const Time start = std::clamp(task->start, from, to);
            other += to - start;
            to = start;
        }
    }
    other += std::max(to - from, Time());
}

void
BusySpans::Add(Time from, Time to)
{
    while (!m_spans.empty() && m_spans.back().second >= from)
    {
        from = std::min(from, m_spans.back().first);
        m_length -= m_spans.back().second - m_spans.back().first;
        m_spans.pop_back();
    }
    if (to > from)
    {
        m_length += to - from;
        m_spans.emplace_back(from, to);
    }
}

void
BusySpans::Settle()
{
    m_spans.clear();
}

Time
BusySpans::GetEnd() const
{
    return m_spans.empty() ? Time() : m_spans.back().second;
}

BusySpans
BusySpans::Join(const std::vector<TaskTrace::Pointer>& messages, Time begin) const
{
    std::vector<std::pair<Time, Time>> all(m_spans.begin(), m_spans.end());
    for (const TaskTrace::Pointer& message : messages)
    {
        all.emplace_back(std::max(message->ready, begin), message->end);
    }
    std::sort(all.begin(), all.end(), [](const auto& one, const auto& other) {
        return one.second < other.second;
    });
    BusySpans joined;
    for (const auto& [from, to] : all)
    {
        joined.Add(from, to);
    }
    return joined;
}

PathFinder::PathFinder(Time start, Time end)
    : m_start(start),
      m_until(end)
{
}

void
PathFinder::Add(const TaskTrace::Pointer& task, Time from)
{
    from = std::clamp(from, m_start, m_until);
    if (from < m_until)
    {
        m_steps.push_back({task, from, m_until});
        m_until = from;
    }
}

TaskTrace::Pointer
PathFinder::Follow(TaskTrace::Pointer task)
{
    while (task && m_until > m_start)
    {
        if (task->isDistant)
        {
            return task;
        }
        Add(nullptr, task->end);
        Add(task, task->ready);
        task = task->partner ? task->partner : task->cause;
    }
    return nullptr;
}

std::vector<PathStep>
PathFinder::Finish()
{
    Add(nullptr, m_start);
    return {m_steps.rbegin(), m_steps.rend()};
}

std::vector<PathStep>
FindCriticalPath(const TaskTrace::Pointer& last, Time start)
{
    PathFinder finder(start, last ? std::max(last->end, start) : start);
    finder.Follow(last);
    return finder.Finish();
}

} // namespace ns3::training
