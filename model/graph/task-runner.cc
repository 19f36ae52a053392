/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "task-runner.h"

#include "ns3/abort.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ns3::training
{

TaskRunner::TaskRunner(std::unique_ptr<TaskSource> source, std::size_t window, Starter start)
    : m_source(std::move(source)),
      m_window(window),
      m_start(std::move(start))
{
}

TaskRunner::~TaskRunner() = default;

void
TaskRunner::Run()
{
    Advance();
}

void
TaskRunner::Complete(uint64_t id, TaskTrace::Pointer trace)
{
    m_complete.emplace_back(id, std::move(trace));
    Advance();
}

bool
TaskRunner::IsFinished() const
{
    return !m_source && m_open.empty();
}

/** @return the first open task from an id on */
std::vector<TaskRunner::Open*>::const_iterator
TaskRunner::FindOpen(uint64_t id) const
{
    return std::lower_bound(
        m_inOrder.begin(),
        m_inOrder.end(),
        id,
        [](const Open* open, uint64_t number) { return open->task.id < number; });
}

uint32_t
TaskRunner::GetReach() const
{
    uint32_t ends = 0;
    uint32_t reach = 0;
    for (const Open* open : m_inOrder)
    {
        reach = open->isRunning ? ends + 1 : reach;
        ends += open->task.kind == TaskKind::MARK ? 1 : 0;
    }
    return reach;
}

void
TaskRunner::EndAfter(uint32_t iterations)
{
    NS_ABORT_MSG_IF(iterations == 0 || iterations < GetReach(), "a task of it has started");
    auto last = m_inOrder.begin();
    while (last != m_inOrder.end() && iterations > 0)
    {
        iterations -= (*last)->task.kind == TaskKind::MARK ? 1 : 0;
        last++;
    }
    if (iterations > 0)
    {
        m_iterationsLeft = iterations;
        return;
    }
    m_source = nullptr;
    Forget(last == m_inOrder.end() ? m_inOrder.back()->task.id + 1 : (*last)->task.id);
}

/** Drops tasks that have not started. */
void
TaskRunner::Forget(uint64_t first)
{
    const auto forget = [first](auto& ids) {
        ids.erase(
            std::remove_if(ids.begin(), ids.end(), [first](uint64_t id) { return id >= first; }),
            ids.end());
    };
    const auto from = FindOpen(first);
    for (auto open = from; open != m_inOrder.cend(); open++)
    {
        const uint64_t id = (*open)->task.id; // goes with the task
        m_open.erase(id);
        m_waiting--;
    }
    m_inOrder.erase(from, m_inOrder.cend());
    for (auto& [id, open] : m_open)
    {
        forget(open.waiting);
    }
    for (auto& [number, stream] : m_streams)
    {
        forget(stream.queue);
    }
    for (auto& [groups, order] : m_order)
    {
        forget(order);
    }
}

std::vector<const GraphTask*>
TaskRunner::GetRunning() const
{
    std::vector<const GraphTask*> running;
    for (const auto& [id, open] : m_open)
    {
        if (open.isRunning)
        {
            running.push_back(&open.task);
        }
    }
    return running;
}

Time
TaskRunner::GetLeastTimeTo(const std::function<bool(const GraphTask&)>& counts,
                           const std::function<Time(const GraphTask&, bool)>& least) const
{
    std::vector<Time> ends;           // of open tasks
    std::map<uint16_t, Time> streams; // end of the last task so far
    Time earliest = Time::Max();
    Time beyond; // start of the last task of COMPUTE_STREAM
    for (const Open* open : m_inOrder)
    {
        const GraphTask& task = open->task;
        Time start;
        if (!open->isRunning)
        {
            start = task.stream == NO_STREAM ? Time(0) : streams[task.stream];
            for (uint64_t earlier : task.after)
            {
                const auto found = FindOpen(earlier);
                const auto place = static_cast<std::size_t>(found - m_inOrder.begin());
                start = place < ends.size() && (*found)->task.id == earlier
                            ? std::max(start, ends[place])
                            : start;
            }
        }
        earliest = counts(task) ? std::min(earliest, start) : earliest;
        if (task.stream == COMPUTE_STREAM)
        {
            beyond = start;
            if (start >= earliest)
            {
                break; // later ones wait for it
            }
        }
        const Time end = start + least(task, open->isRunning);
        ends.push_back(end);
        if (task.stream != NO_STREAM)
        {
            streams[task.stream] = std::max(streams[task.stream], end);
        }
    }
    return m_source ? std::min(earliest, beyond) : earliest;
}

void
TaskRunner::Advance()
{
    if (m_advancing)
    {
        return; // a task was complete as soon as it started
    }
    m_advancing = true;
    TakeIn();
    while (!m_complete.empty())
    {
        const auto [id, trace] = std::move(m_complete.front());
        m_complete.pop_front();
        const auto found = m_open.find(id);
        NS_ABORT_MSG_IF(found == m_open.end() || !found->second.isRunning,
                        "task " << id << " complete before its start, or twice");
        m_inOrder.erase(FindOpen(id));
        const Open done = std::move(found->second);
        m_open.erase(found);
        for (uint64_t later : done.waiting)
        {
            m_open.at(later).missing--;
            SetCause(later, trace);
            Consider(later);
        }
        if (done.task.stream != NO_STREAM)
        {
            Stream& stream = m_streams[done.task.stream];
            stream.isBusy = false;
            if (!stream.queue.empty())
            {
                SetCause(stream.queue.front(), trace);
                Consider(stream.queue.front());
            }
        }
        TakeIn();
    }
    m_advancing = false;
}

void
TaskRunner::TakeIn()
{
    GraphTask task;
    while (m_source && m_waiting < m_window)
    {
        if (m_iterationsLeft != 0U && Next(task))
        {
            if (m_iterationsLeft && task.kind == TaskKind::MARK)
            {
                --*m_iterationsLeft;
            }
            Add(std::exchange(task, {}));
        }
        else
        {
            m_source = nullptr;
        }
    }
}

/** @return whether the source has another task, with the numbers of those that were left out */
bool
TaskRunner::Next(GraphTask& task)
{
    if (!m_source->Next(task))
    {
        return false;
    }
    if (m_skipped > 0)
    {
        TaskShift shift = m_shift;
        shift.tasks = m_skipped;
        shift.MoveBack(task);
    }
    if (task.kind == TaskKind::MARK)
    {
        m_shift = {};
    }
    return true;
}

void
TaskRunner::Skip(const TaskShift& shift, std::unique_ptr<TaskSource> source)
{
    const uint64_t last = GetNext() + shift.tasks - 1;
    Forget(m_touched + 1);
    m_source = std::move(source);
    GraphTask task;
    do
    {
        task = {};
        NS_ABORT_MSG_UNLESS(m_source->Next(task), "there are no more tasks");
    } while (task.id < last);
    m_lastId = m_touched;
    m_skipped += shift.tasks;
    m_shift = shift;
}

void
TaskRunner::AddState(std::vector<uint64_t>& state) const
{
    const auto end = FindOpen(m_touched + 1);
    for (auto open = m_inOrder.begin(); open != end; open++)
    {
        state.push_back(2 * (m_touched - (*open)->task.id) + ((*open)->isRunning ? 1 : 0));
    }
}

void
TaskRunner::Add(GraphTask task)
{
    const uint64_t id = task.id;
    NS_ABORT_MSG_IF(m_lastId && *m_lastId >= id, "task " << id << " comes after " << *m_lastId);
    m_lastId = id;
    Open& open = m_open[id];
    open.task = std::move(task);
    m_inOrder.push_back(&open);
    for (uint64_t earlier : open.task.after)
    {
        const auto found = m_open.find(earlier);
        if (found != m_open.end() && earlier != id)
        {
            found->second.waiting.push_back(id);
            open.missing++;
        }
    }
    if (open.task.stream != NO_STREAM)
    {
        m_streams[open.task.stream].queue.push_back(id);
    }
    if (open.task.kind == TaskKind::COLLECTIVE)
    {
        m_order[open.task.groups].push_back(id);
    }
    m_waiting++;
    Consider(id);
}

bool
TaskRunner::MayStart(const Open& open) const
{
    const GraphTask& task = open.task;
    if (open.missing > 0 || open.isRunning)
    {
        return false;
    }
    if (task.stream != NO_STREAM)
    {
        const Stream& stream = m_streams.at(task.stream);
        if (stream.isBusy || stream.queue.front() != task.id)
        {
            return false;
        }
    }
    return task.kind != TaskKind::COLLECTIVE || m_order.at(task.groups).front() == task.id;
}

void
TaskRunner::Consider(uint64_t id)
{
    // A collective that starts lets the next one of its groups start, and so on.
    for (bool goesOn = true; goesOn;)
    {
        goesOn = false;
        const auto found = m_open.find(id);
        if (found == m_open.end() || !MayStart(found->second))
        {
            return;
        }
        const GraphTask& task = found->second.task;
        if (task.stream != NO_STREAM)
        {
            Stream& stream = m_streams[task.stream];
            stream.queue.pop_front();
            stream.isBusy = true;
        }
        uint64_t next = 0;
        if (task.kind == TaskKind::COLLECTIVE)
        {
            auto& order = m_order[task.groups];
            order.pop_front();
            goesOn = !order.empty();
            next = goesOn ? order.front() : 0;
        }
        Start(found->second);
        id = next;
    }
}

/** A task has ended for which another one waited. */
void
TaskRunner::SetCause(uint64_t id, const TaskTrace::Pointer& trace)
{
    m_open.at(id).cause = trace;
    m_touched = std::max(m_touched, id);
}

void
TaskRunner::Start(Open& open)
{
    open.isRunning = true;
    m_touched = std::max(m_touched, open.task.id);
    m_waiting--;
    const auto cause = std::exchange(open.cause, nullptr);
    m_start(open.task, cause);
}

} // namespace ns3::training
