/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "task-graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3::training
{

const char*
GetName(Parallelism parallelism)
{
    constexpr const char* NAMES[] = {"none", "data", "tensor", "pipeline", "context", "expert"};
    return NAMES[static_cast<uint32_t>(parallelism)];
}

const char*
GetName(TaskKind kind)
{
    constexpr const char* NAMES[] = {"compute", "collective", "send", "receive", "memory", "mark"};
    return NAMES[static_cast<uint32_t>(kind)];
}

uint64_t
TaskCode::GetPartBytes() const
{
    constexpr uint64_t WORD = sizeof(float);
    const uint64_t numbersOfWord = 8 * WORD / bits;
    return WORD * ((count + numbersOfWord - 1) / numbersOfWord + (count + block - 1) / block);
}

bool
QueuedSource::Next(GraphTask& task)
{
    auto& queue = GetQueue();
    while (queue.empty())
    {
        if (!Write())
        {
            return false;
        }
    }
    task = std::move(queue.front());
    queue.pop_front();
    return true;
}

void
SpreadIds(GraphTask& task, uint64_t stride)
{
    const auto move = [stride](uint64_t& id) { id = (id + 1) * stride; };
    move(task.id);
    std::for_each(task.after.begin(), task.after.end(), move);
    if (task.code && task.code->input > 0)
    {
        auto code = std::make_shared<TaskCode>(*task.code);
        move(code->input);
        task.code = std::move(code);
    }
}

std::vector<uint32_t>
TaskGroups::GetIndices(uint32_t ranks) const
{
    std::vector<uint32_t> indices(ranks, groups.empty() ? 0 : NO_GROUP);
    for (uint32_t group = 0; group < groups.size(); group++)
    {
        for (uint32_t rank : groups[group])
        {
            indices.at(rank) = group;
        }
    }
    return indices;
}

bool
TaskGroups::AreAll(uint32_t ranks) const
{
    if (groups.size() != 1)
    {
        return groups.empty();
    }
    std::vector<uint32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0);
    return groups[0] == all;
}

std::string
TaskGraph::Describe(uint32_t rank, const GraphTask& task) const
{
    const std::string text = "rank " + std::to_string(rank);
    return task.id == 0
               ? text
               : text + ", task " + std::to_string(task.id) + " '" + GetNames().at(task.name) + "'";
}

std::vector<uint32_t>
TaskGraph::GetGroup(uint32_t groups, uint32_t rank) const
{
    const auto& all = GetGroups().at(groups).groups;
    if (all.empty())
    {
        std::vector<uint32_t> ranks(GetRanks());
        std::iota(ranks.begin(), ranks.end(), 0);
        return ranks;
    }
    for (const auto& group : all)
    {
        if (std::find(group.begin(), group.end(), rank) != group.end())
        {
            return group;
        }
    }
    return {};
}

} // namespace ns3::training
