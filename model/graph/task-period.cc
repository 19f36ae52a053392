/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "task-period.h"

#include <algorithm>
#include <tuple>

namespace ns3::training
{

namespace
{

/// Periods that must come in a row: fewer are not worth the search.
constexpr uint64_t LEAST_PERIODS = 3;

/** @return whether a task is a message whose tag is that of its micro-batch */
bool
HasTagOfMicroBatch(const GraphTask& task)
{
    return task.parallelism == Parallelism::PIPELINE &&
           (task.kind == TaskKind::SEND || task.kind == TaskKind::RECEIVE);
}

/** @return all that must be equal */
auto
Describe(const GraphTask& task)
{
    return std::tie(task.kind,
                    task.parallelism,
                    task.stream,
                    task.operation,
                    task.untilSent,
                    task.isUneven,
                    task.isPart,
                    task.groups,
                    task.peer,
                    task.priority,
                    task.name,
                    task.layer,
                    task.bytes,
                    task.matrix,
                    task.code,
                    task.length);
}

/** @return whether a task is another one, shifted */
bool
IsShifted(const GraphTask& task, const GraphTask& later, const TaskShift& shift)
{
    if (!(Describe(task) == Describe(later)) || task.after.size() != later.after.size() ||
        task.microBatch < 0 ||
        task.microBatch + static_cast<int32_t>(shift.microBatches) != later.microBatch)
    {
        return false;
    }
    const uint64_t tags = HasTagOfMicroBatch(task)            ? shift.microBatches
                          : task.kind == TaskKind::COLLECTIVE ? shift.collectives
                                                              : 0;
    return task.tag + tags == later.tag && std::equal(task.after.begin(),
                                                      task.after.end(),
                                                      later.after.begin(),
                                                      [&shift](uint64_t one, uint64_t other) {
                                                          return one + shift.tasks == other;
                                                      });
}

} // namespace

TaskShift
TaskShift::Times(uint64_t count) const
{
    return {tasks * count, static_cast<uint32_t>(microBatches * count), collectives * count};
}

void
TaskShift::MoveBack(GraphTask& task) const
{
    task.id -= tasks;
    if (task.microBatch >= 0)
    {
        task.microBatch -= static_cast<int32_t>(microBatches);
        task.tag -= HasTagOfMicroBatch(task) ? microBatches : 0;
    }
    task.tag -= task.kind == TaskKind::COLLECTIVE ? collectives : 0;
    for (uint64_t& earlier : task.after)
    {
        earlier -= std::min(earlier, tasks); // what is older has ended
    }
}

std::optional<TaskPeriod>
TaskPeriod::Find(const std::vector<GraphTask>& tasks, uint32_t microBatches)
{
    if (tasks.empty() || tasks.back().id - tasks.front().id + 1 != tasks.size())
    {
        return std::nullopt;
    }
    int32_t last = -1;
    for (const GraphTask& task : tasks)
    {
        last = std::max(last, task.microBatch);
    }
    const auto all = static_cast<uint32_t>(last + 1);
    const uint32_t least = std::max(microBatches, 1U);
    const uint32_t most = microBatches > 0 ? microBatches : all / LEAST_PERIODS;
    const std::size_t middle = tasks.size() / 2;
    std::optional<TaskPeriod> best; // micro-batches of one chunk in a row are a short one
    for (uint32_t count = least; count <= most; count++)
    {
        uint64_t collectives = 0;
        for (std::size_t length = 1; (LEAST_PERIODS - 1) * length < tasks.size() - middle; length++)
        {
            collectives += tasks[middle + length - 1].kind == TaskKind::COLLECTIVE ? 1 : 0;
            const TaskPeriod period = Find(tasks, {length, count, collectives});
            const uint64_t repeated = period.end - period.first;
            if (repeated >= (LEAST_PERIODS - 1) * length &&
                (!best || repeated > best->end - best->first))
            {
                best = period;
            }
            if (best && 2 * repeated >= tasks.size())
            {
                return best; // no other one goes on for longer
            }
        }
    }
    return best;
}

TaskPeriod
TaskPeriod::Find(const std::vector<GraphTask>& tasks, const TaskShift& shift)
{
    const auto comesAgain = [&](std::size_t i) {
        return i + shift.tasks < tasks.size() && IsShifted(tasks[i], tasks[i + shift.tasks], shift);
    };
    std::size_t first = tasks.size() / 2;
    std::size_t end = first;
    while (comesAgain(end))
    {
        end++;
    }
    while (first > 0 && comesAgain(first - 1))
    {
        first--;
    }
    return {shift, tasks.front().id + first, tasks.front().id + end};
}

uint64_t
TaskPeriod::Count(uint64_t next) const
{
    return next < first + shift.tasks || next > end ? 0 : (end - next) / shift.tasks + 1;
}

} // namespace ns3::training
