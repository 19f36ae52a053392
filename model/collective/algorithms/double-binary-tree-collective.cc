/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Two binary trees, each for half of the vector; nearly every rank is a leaf in one of them. A
 * reduction flows up and a broadcast flows down, pipelined in segments: at most 2S bytes per rank
 * and about 2 log2 N steps. The trees of the all-reduce are NCCL's (trees.cc). In a broadcast or
 * reduce the root is in neither tree and serves the roots of both (Sanders, Speck, Traeff,
 * "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009).
 */

#include "collective/rank-placement.h"
#include "collective/tree-phases.h"

#include "ns3/shortest-paths.h"
#include "ns3/topology-graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

/** @return both trees over some ranks */
std::array<PhaseTree, 2>
MakeTrees(const std::vector<uint32_t>& ranks)
{
    const auto n = static_cast<uint32_t>(ranks.size());
    const auto first = GetBinaryTreeParents(n);
    std::vector<uint32_t> second(n);
    for (uint32_t i = 0; i < n; i++)
    {
        second[MoveToSecondTree(i, n)] = MoveToSecondTree(first[i], n);
    }
    return {MakeTree(ranks, first), MakeTree(ranks, second)};
}

/** Adds a root above a tree. */
PhaseTree
AddRoot(uint32_t root, uint32_t top, const PhaseTree& below)
{
    PhaseTree tree;
    tree.edges.push_back({root, top, 0});
    for (PhaseTree::Edge edge : below.edges)
    {
        edge.step++;
        tree.edges.push_back(edge);
    }
    return tree;
}

/**
 * @return bits that are on their way between two ranks that are neighbours in a tree, at most: rate
 *         of the slowest link on their path, times its delay in both directions
 */
double
GetBitsOnTheWay(const CollectiveRequest& request, const std::array<PhaseTree, 2>& trees)
{
    const RankPlacement placement(request);
    const std::vector<uint32_t>& hosts = placement.GetHosts();
    std::map<uint32_t, std::vector<uint32_t>> children;
    for (const PhaseTree& tree : trees)
    {
        for (const PhaseTree::Edge& edge : tree.edges)
        {
            children[hosts[edge.parent]].push_back(hosts[edge.child]);
        }
    }
    double bits = 0;
    ShortestPaths paths(*request.topology);
    for (const auto& [parent, ends] : children)
    {
        paths.Search(parent);
        const auto best = paths.GetPaths();
        for (const uint32_t child : ends)
        {
            bits = std::max(bits,
                            2 * best[child].delay.GetSeconds() *
                                static_cast<double>(best[child].rate));
        }
    }
    return bits;
}

/**
 * If leaves ran ahead, messages of both trees would collide at inner ranks.
 * @param steps of a segment
 * @return segments on their way that keep all links busy: in each step a segment waits as long as
 *         it is sent, among the four that share a link, and passes the network
 */
uint32_t
GetWindow(const CollectiveRequest& request, const std::array<PhaseTree, 2>& trees, uint32_t steps)
{
    constexpr double SHARED_BITS = 4 * 8 * PIPELINE_SEGMENT;
    double segments = 2;
    if (request.topology)
    {
        segments += GetBitsOnTheWay(request, trees) / SHARED_BITS;
    }
    return static_cast<uint32_t>(std::ceil(steps * segments));
}

void
BuildDoubleBinaryTree(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    auto ranks = StartAt(AllRanks(schedule).ranks, request.root);
    schedule.chunks = request.operation == Operation::BARRIER ? 1 : 2;
    const uint32_t n = request.ranks;
    if (HasRoot(request.operation))
    {
        ranks.erase(ranks.begin());
    }
    auto trees = MakeTrees(ranks);
    if (HasRoot(request.operation))
    {
        const uint32_t top = (n - 1) % 2 == 0 ? n - 2 : 1 % (n - 1); // root of the second tree
        trees[0] = AddRoot(request.root, ranks[0], trees[0]);
        trees[1] = AddRoot(request.root, ranks[top], trees[1]);
    }
    uint32_t steps = 0;
    for (uint32_t half = 0; half < schedule.chunks; half++)
    {
        uint32_t step = 0;
        if (request.operation != Operation::BROADCAST)
        {
            step = AddTreeReduce(schedule, trees[half], half, step, half);
        }
        if (request.operation != Operation::REDUCE)
        {
            step = AddTreeBroadcast(schedule, trees[half], half, step, half);
        }
        steps = std::max(steps, step);
    }
    schedule.window = GetWindow(request, trees, steps);
}

uint32_t
GetSegments(const CollectiveRequest& request)
{
    return GetPipelineSegments(request.bytes / 2);
}

const Registry<CollectiveAlgorithm>::Entry g_doubleBinaryTree(
    "double-binary-tree",
    {"NCCL's two trees, pipelined: about 2 log2 N steps and 2S bytes",
     {Operation::ALL_REDUCE, Operation::BROADCAST, Operation::REDUCE, Operation::BARRIER},
     &BuildDoubleBinaryTree,
     {},
     {},
     &GetSegments});

} // namespace

} // namespace ns3::training
