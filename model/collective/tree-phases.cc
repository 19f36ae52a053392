/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/tree-phases.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;

/** @return for each edge of a tree, the parts of all ranks in the subtree below it */
std::vector<ChunkList>
GetSubtrees(const CollectiveSchedule& schedule, const PhaseTree& tree, const PhaseGroup& group)
{
    std::vector<std::vector<const ChunkList*>> below(schedule.GetSize());
    for (std::size_t i = 0; i < group.ranks.size(); i++)
    {
        below[group.ranks[i]].push_back(&group.parts[i]);
    }
    std::vector<ChunkList> subtrees(tree.edges.size(), 0);
    for (std::size_t i = tree.edges.size(); i-- > 0;)
    {
        const auto& [parent, child, step] = tree.edges[i];
        subtrees[i] = Join(below[child]);
        below[parent].insert(below[parent].end(), below[child].begin(), below[child].end());
    }
    return subtrees;
}

/** Appends sends from parents to children, in edge order. */
uint32_t
AddSendsToChildren(CollectiveSchedule& schedule,
                   const PhaseTree& tree,
                   const std::vector<ChunkList>& chunks,
                   uint32_t step,
                   uint32_t message)
{
    for (std::size_t i = 0; i < tree.edges.size(); i++)
    {
        const auto& [parent, child, at] = tree.edges[i];
        schedule.Add(parent, Kind::SEND, child, chunks[i], step + at, {}, message);
        schedule.Add(child, Kind::RECEIVE, parent, chunks[i], step + at, {}, message);
    }
    return step + tree.GetSteps();
}

/** Appends sends from children to parents, in reverse edge order. */
uint32_t
AddSendsToParents(CollectiveSchedule& schedule,
                  const PhaseTree& tree,
                  const std::vector<ChunkList>& chunks,
                  uint32_t step,
                  uint32_t message,
                  Kind receive)
{
    const uint32_t end = step + tree.GetSteps();
    for (std::size_t i = tree.edges.size(); i-- > 0;)
    {
        const auto& [parent, child, at] = tree.edges[i];
        schedule.Add(child, Kind::SEND, parent, chunks[i], end - 1 - at, {}, message);
        schedule.Add(parent, receive, child, chunks[i], end - 1 - at, {}, message);
    }
    return end;
}

} // namespace

uint32_t
PhaseTree::GetSteps() const
{
    uint32_t steps = 0;
    for (const Edge& edge : edges)
    {
        steps = std::max(steps, edge.step + 1);
    }
    return steps;
}

PhaseTree
MakeChain(const std::vector<uint32_t>& ranks)
{
    PhaseTree tree;
    for (uint32_t i = 0; i + 1 < ranks.size(); i++)
    {
        tree.edges.push_back({ranks[i], ranks[i + 1], i});
    }
    return tree;
}

PhaseTree
MakeStar(const std::vector<uint32_t>& ranks)
{
    PhaseTree tree;
    for (std::size_t i = 1; i < ranks.size(); i++)
    {
        tree.edges.push_back({ranks[0], ranks[i], 0});
    }
    return tree;
}

std::vector<uint32_t>
GetBinaryTreeParents(uint32_t size)
{
    std::vector<uint32_t> parents{0};
    for (uint32_t i = 1; i < size; i++)
    {
        const uint32_t bit = i & (~i + 1);
        const uint32_t up = (i ^ bit) | bit << 1;
        parents.push_back(up >= size ? i ^ bit : up);
    }
    return parents;
}

uint32_t
MoveToSecondTree(uint32_t position, uint32_t size)
{
    return size % 2 == 0 ? size - 1 - position : (position + 1) % size;
}

PhaseTree
MakeTree(const std::vector<uint32_t>& ranks, const std::vector<uint32_t>& parents)
{
    std::vector<std::vector<uint32_t>> children(ranks.size());
    std::vector<uint32_t> level;
    for (uint32_t i = 0; i < ranks.size(); i++)
    {
        (parents[i] == i ? level : children[parents[i]]).push_back(i);
    }
    PhaseTree tree;
    for (uint32_t step = 0; !level.empty(); step++)
    {
        std::vector<uint32_t> next;
        for (uint32_t parent : level)
        {
            for (uint32_t child : children[parent])
            {
                tree.edges.push_back({ranks[parent], ranks[child], step});
                next.push_back(child);
            }
        }
        level = std::move(next);
    }
    return tree;
}

PhaseTree
MakeBinomialTree(const std::vector<uint32_t>& ranks)
{
    const auto n = static_cast<uint32_t>(ranks.size());
    PhaseTree tree;
    for (uint32_t step = 0; step < CeilLog2(n); step++)
    {
        const uint32_t distance = 1U << (CeilLog2(n) - 1 - step);
        for (uint32_t v = 0; v + distance < n; v += 2 * distance)
        {
            tree.edges.push_back({ranks[v], ranks[v + distance], step});
        }
    }
    return tree;
}

uint32_t
AddTreeBroadcast(CollectiveSchedule& schedule,
                 const PhaseTree& tree,
                 const ChunkList& chunks,
                 uint32_t step,
                 uint32_t message)
{
    const std::vector<ChunkList> all(tree.edges.size(), chunks);
    return AddSendsToChildren(schedule, tree, all, step, message);
}

uint32_t
AddTreeReduce(CollectiveSchedule& schedule,
              const PhaseTree& tree,
              const ChunkList& chunks,
              uint32_t step,
              uint32_t message)
{
    const std::vector<ChunkList> all(tree.edges.size(), chunks);
    return AddSendsToParents(schedule, tree, all, step, message, Kind::RECEIVE_REDUCE);
}

uint32_t
AddTreeScatter(CollectiveSchedule& schedule,
               const PhaseTree& tree,
               const PhaseGroup& group,
               uint32_t step)
{
    return AddSendsToChildren(schedule, tree, GetSubtrees(schedule, tree, group), step, 0);
}

uint32_t
AddTreeGather(CollectiveSchedule& schedule,
              const PhaseTree& tree,
              const PhaseGroup& group,
              uint32_t step)
{
    return AddSendsToParents(schedule,
                             tree,
                             GetSubtrees(schedule, tree, group),
                             step,
                             0,
                             Kind::RECEIVE);
}

} // namespace ns3::training
