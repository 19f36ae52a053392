/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "task-writer.h"

#include <utility>

namespace ns3::training
{

uint64_t
TaskWriter::Add(GraphTask task)
{
    task.id = m_next++;
    task.layer = m_layer;
    task.microBatch = m_microBatch;
    m_tasks.push_back(std::move(task));
    return m_tasks.back().id;
}

void
TaskWriter::Await(uint64_t id)
{
    if (id > 0)
    {
        m_awaited.push_back(id);
    }
}

std::vector<uint64_t>
TaskWriter::GetAwaited() const
{
    std::vector<uint64_t> awaited = m_awaited;
    if (m_last > 0)
    {
        awaited.push_back(m_last);
    }
    return awaited;
}

uint64_t
TaskWriter::Compute(uint32_t name, Time length, bool isPart)
{
    GraphTask task;
    task.name = name;
    task.isPart = isPart;
    task.length = length;
    task.after.swap(m_awaited); // its stream orders it behind the one before
    m_last = Add(std::move(task));
    return m_last;
}

uint64_t
TaskWriter::Start(GraphTask task)
{
    const std::vector<uint64_t> awaited = GetAwaited();
    task.after.insert(task.after.end(), awaited.begin(), awaited.end());
    return Add(std::move(task));
}

uint64_t
TaskWriter::Post(GraphTask task)
{
    return Add(std::move(task));
}

uint64_t
TaskWriter::Delay(uint32_t name, Time length, uint64_t id)
{
    if (length.IsZero() || id == 0)
    {
        return id;
    }
    GraphTask task;
    task.kind = TaskKind::MEMORY;
    task.name = name;
    task.stream = NO_STREAM;
    task.length = length;
    task.after.push_back(id);
    return Add(std::move(task));
}

void
TaskWriter::Mark(uint32_t name)
{
    GraphTask task;
    task.kind = TaskKind::MARK;
    task.name = name;
    task.after.swap(m_awaited);
    m_layer = -1;
    m_microBatch = -1;
    m_last = Add(std::move(task));
}

} // namespace ns3::training
