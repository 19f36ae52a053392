/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph/shared-path.h"

#include "ns3/training-byte-archive.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

namespace ns3::training
{

namespace
{

/** A distributed search: the process that has the earliest task known so far adds what it knows. */
class SharedPath
{
  public:
    SharedPath(const TaskMeetings& meetings, const TaskTrace::Pointer& last, Time start);

    std::vector<PathStep> Find();

  private:
    void FindLast(const TaskTrace::Pointer& last);
    std::string Extend(TaskTrace::Pointer task);
    void Read(const std::string& part);

    const TaskMeetings& m_meetings;
    Time m_start;
    Time m_end;
    std::unique_ptr<PathFinder> m_finder;
    TaskTrace::Pointer m_task;                     // where it goes on, if that is here
    std::shared_ptr<const DistantCause> m_distant; // where it goes on; null: it is complete
};

SharedPath::SharedPath(const TaskMeetings& meetings, const TaskTrace::Pointer& last, Time start)
    : m_meetings(meetings),
      m_start(start),
      m_end(start)
{
    FindLast(last);
    m_finder = std::make_unique<PathFinder>(m_start, m_end);
}

/** Finds the task with which the path ends, in all processes. */
void
SharedPath::FindLast(const TaskTrace::Pointer& last)
{
    ByteWriter mine;
    mine(last != nullptr, last ? last->end : Time(), last ? last->rank : 0);
    bool exists = false;
    uint32_t lastRank = 0;
    for (const std::string& bytes : Processes::Gather(mine.GetText()))
    {
        ByteReader reader(bytes.data(), bytes.size());
        const bool has = reader.Next<bool>();
        const Time end = reader.Next<Time>();
        const auto rank = reader.Next<uint32_t>();
        if (has && (!exists || end > m_end || (end == m_end && rank > lastRank)))
        {
            exists = true;
            m_end = end;
            lastRank = rank;
        }
    }
    m_end = std::max(m_end, m_start);
    if (exists && last && last->rank == lastRank)
    {
        m_task = last;
    }
}

/** Follows the path from a task of this process. @return what has been added */
std::string
SharedPath::Extend(TaskTrace::Pointer task)
{
    const std::size_t known = m_finder->GetBackwards().size();
    const auto distant =
        std::static_pointer_cast<const DistantCause>(m_finder->Follow(std::move(task)));
    ByteWriter writer;
    const std::vector<PathStep>& steps = m_finder->GetBackwards();
    writer(steps.size() - known);
    for (std::size_t i = known; i < steps.size(); i++)
    {
        const TaskTrace::Pointer& step = steps[i].task;
        writer(steps[i].start, step != nullptr);
        if (step)
        {
            writer(step->rank, step->kind, step->parallelism, step->name);
            writer(step->layer, step->microBatch, step->start, step->ready, step->end);
        }
    }
    writer(distant != nullptr);
    if (distant)
    {
        writer(distant->rank);
        for (uint64_t part : distant->key)
        {
            writer(part);
        }
    }
    m_distant = distant;
    return writer.GetText();
}

/** @param part what another process has added */
void
SharedPath::Read(const std::string& part)
{
    ByteReader reader(part.data(), part.size());
    for (auto left = reader.Next<std::size_t>(); left > 0; left--)
    {
        const Time from = reader.Next<Time>();
        std::shared_ptr<TaskTrace> task;
        if (reader.Next<bool>())
        {
            task = std::make_shared<TaskTrace>();
            reader(task->rank, task->kind, task->parallelism, task->name);
            reader(task->layer, task->microBatch, task->start, task->ready, task->end);
        }
        m_finder->Add(task, from);
    }
    m_distant = nullptr;
    if (reader.Next<bool>())
    {
        const auto rank = reader.Next<uint32_t>();
        StartKey key;
        for (uint64_t& each : key)
        {
            reader(each);
        }
        m_distant = std::make_shared<DistantCause>(rank, key);
    }
}

std::vector<PathStep>
SharedPath::Find()
{
    do
    {
        if (m_distant)
        {
            m_task =
                m_meetings.IsLocal(m_distant->rank) ? m_meetings.FindCause(*m_distant) : nullptr;
        }
        m_distant = nullptr;
        const std::string mine = m_task ? Extend(m_task) : "";
        for (const std::string& part : Processes::Gather(mine))
        {
            if (mine.empty() && !part.empty())
            {
                Read(part);
            }
        }
    } while (m_distant);
    return m_finder->Finish();
}

} // namespace

std::vector<PathStep>
FindSharedPath(const TaskMeetings& meetings, const TaskTrace::Pointer& last, Time start)
{
    return SharedPath(meetings, last, start).Find();
}

} // namespace ns3::training
