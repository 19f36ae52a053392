/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rank-tasks.h"

#include <cmath>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return a duration, rounded to whole picoseconds */
Time
MakeTime(double seconds)
{
    return PicoSeconds(std::llround(seconds * 1e12));
}

/** @return a message, without number */
GraphTask
MakeMessage(TaskKind kind,
            LayerTask name,
            Parallelism parallelism,
            uint32_t peer,
            uint64_t tag,
            uint64_t bytes)
{
    GraphTask task;
    task.kind = kind;
    task.name = static_cast<uint32_t>(name);
    task.parallelism = parallelism;
    task.stream = NO_STREAM;
    task.peer = peer;
    task.tag = tag;
    task.bytes = bytes;
    return task;
}

} // namespace

const std::vector<std::string>&
GetLayerTaskNames()
{
    static const std::vector<std::string> names{
        "embedding",    "attention",      "scores",          "projection",
        "feed-forward", "experts",        "shared experts",  "prediction",
        "output",       "input gradient", "weight gradient", "update",
        "activations",  "gradients",      "keys and values", "heads",
        "dispatch",     "combine",        "parameters",      "embedding gradient",
        "quantization", "dequantization", "barrier",         "end of iteration",
    };
    return names;
}

RankTasks::RankTasks(const ParallelPlan& plan, double memory)
    : m_plan(plan),
      m_memory(memory)
{
}

uint64_t
RankTasks::Compute(LayerTask name, Time length)
{
    return m_writer.Compute(static_cast<uint32_t>(name), length);
}

uint64_t
RankTasks::Move(LayerTask name, double bytes)
{
    return Compute(name, MakeTime(bytes / m_memory));
}

uint64_t
RankTasks::Process(LayerTask name, double bytes, uint64_t after)
{
    return m_writer.Delay(static_cast<uint32_t>(name), MakeTime(bytes / m_memory), after);
}

uint64_t
RankTasks::Communicate(LayerTask name,
                       PlanGroups groups,
                       Stream stream,
                       CollectiveOperation operation,
                       uint64_t bytes,
                       uint64_t after,
                       const ByteMatrix& matrix,
                       int32_t priority,
                       std::shared_ptr<const TaskCode> code)
{
    if (m_plan.GetSize(groups) == 1 || bytes == 0)
    {
        return 0;
    }
    GraphTask task;
    task.kind = TaskKind::COLLECTIVE;
    task.name = static_cast<uint32_t>(name);
    task.groups = static_cast<uint32_t>(groups);
    task.parallelism = m_plan.GetGroups()[task.groups].parallelism;
    task.stream = stream;
    task.operation = operation;
    task.bytes = bytes;
    task.matrix = matrix;
    task.priority = priority;
    task.code = std::move(code);
    task.tag = m_collectives++;
    if (after > 0)
    {
        task.after.push_back(after);
    }
    return m_writer.Start(task);
}

uint64_t
RankTasks::Send(LayerTask name,
                Parallelism parallelism,
                uint32_t peer,
                uint64_t tag,
                uint64_t bytes,
                bool untilSent)
{
    GraphTask task = MakeMessage(TaskKind::SEND, name, parallelism, peer, tag, bytes);
    task.untilSent = untilSent;
    return m_writer.Start(task);
}

uint64_t
RankTasks::Receive(LayerTask name,
                   Parallelism parallelism,
                   uint32_t peer,
                   uint64_t tag,
                   uint64_t bytes)
{
    return m_writer.Post(MakeMessage(TaskKind::RECEIVE, name, parallelism, peer, tag, bytes));
}

void
RankTasks::Mark()
{
    m_writer.Mark(static_cast<uint32_t>(LayerTask::END_OF_ITERATION));
    m_collectives = 0;
}

} // namespace ns3::training
