/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * The rings or trees that NCCL has found on a real machine (NcclGraph). Each channel carries its
 * part of the vector. A file describes one server; the servers of a job are alike, and joined as
 * NCCL joins them (nccl, src/graph/connect.cc): rings go from server to server, trees between
 * servers are its two binary trees, for which all channels are doubled. With trees, operations
 * other than all-reduces take the rings, as in NCCL. nccl-tree needs no file: it has a channel for
 * each GPU of a server, which goes on to the next GPUs by number, or in a mesh to and fro.
 */

#include "collective/nccl-graph.h"
#include "collective/tree-phases.h"

#include "ns3/topology-graph.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

/// Segments on their way over a connection: NCCL_STEPS.
constexpr uint32_t CONNECTION_SLOTS = 8;

/// Channels in a server at most, and GPUs in a chain from which on its segments are smaller.
constexpr uint32_t MAX_CHANNELS_OF_SERVER = 8;
constexpr uint64_t SHORT_CHAIN = 8;
constexpr uint64_t MAX_DIVISIONS = 4; // of a segment

/** @return whether the request runs trees */
bool
UsesTrees(const CollectiveRequest& request)
{
    return request.operation == Operation::ALL_REDUCE && request.keys.GetText("graph") == "tree";
}

/** @return ranks of each server, if these are as many and follow each other; otherwise 1 */
uint32_t
CountServerRanks(const CollectiveRequest& request)
{
    const uint32_t hosts = request.topology ? request.topology->shape.GetHostsPerServer() : 1;
    std::vector<uint32_t> servers; // of the ranks, each as often as ranks follow each other
    std::vector<uint32_t> counts;
    for (uint32_t rank = 0; rank < request.ranks; rank++)
    {
        const uint32_t server = request.GetHost(rank) / hosts;
        if (servers.empty() || servers.back() != server)
        {
            servers.push_back(server);
            counts.push_back(0);
        }
        counts.back()++;
    }
    const bool isOnce = std::set<uint32_t>(servers.begin(), servers.end()).size() == counts.size();
    const bool isEven = std::all_of(counts.begin(), counts.end(), [&](uint32_t count) {
        return count == counts.front();
    });
    return isOnce && isEven ? counts.front() : 1;
}

/** @return whether links join hosts directly */
bool
HasMesh(const CollectiveRequest& request)
{
    const auto joinsHosts = [&request](const TopologyGraph::Link& link) {
        return std::max(link.a, link.b) < request.topology->hosts;
    };
    return request.topology &&
           std::any_of(request.topology->links.begin(), request.topology->links.end(), joinsHosts);
}

/** @return channels of trees: one for each GPU, which has a NIC, but within a server only some */
uint32_t
CountChannels(const CollectiveRequest& request, uint32_t gpus)
{
    return gpus == request.ranks ? std::min(gpus, MAX_CHANNELS_OF_SERVER) : gpus;
}

/** @return segments of each channel: the longer a chain, the smaller they are, as NCCL's chunks */
uint32_t
GetTreeSegments(const CollectiveRequest& request)
{
    const uint32_t gpus = CountServerRanks(request);
    const uint64_t divisions = std::clamp<uint64_t>(gpus / SHORT_CHAIN, 1, MAX_DIVISIONS);
    return GetPipelineSegments(divisions * request.bytes / (2 * CountChannels(request, gpus)));
}

/** @return trees through the servers of the topology */
NcclGraph
DeriveTrees(const CollectiveRequest& request)
{
    const uint32_t gpus = CountServerRanks(request);
    // Of a mesh, zigzags through all GPUs use each link equally.
    const bool isZigzag = gpus > 1 && HasMesh(request);
    NcclGraph graph;
    graph.pattern = NcclGraph::BALANCED_TREE;
    graph.channels.resize(CountChannels(request, gpus));
    for (uint32_t channel = 0; channel < graph.channels.size(); channel++)
    {
        for (uint32_t i = 0; i < gpus; i++)
        {
            const uint32_t step = !isZigzag ? i : i % 2 == 1 ? (i + 1) / 2 : gpus - i / 2;
            graph.channels[channel].push_back((channel + step) % gpus);
        }
    }
    return graph;
}

NcclGraph
GetGraph(const CollectiveRequest& request)
{
    return ReadNcclGraph(request.keys.GetText("file"), UsesTrees(request) ? 1 : 0);
}

bool
HasFile(const CollectiveRequest& request)
{
    return request.keys.GetText("file") != "none";
}

bool
FillsServers(const CollectiveRequest& request)
{
    return request.ranks == 1 || request.ranks % GetGraph(request).GetGpus() == 0;
}

std::string
DescribeGraphServers(const CollectiveRequest& request)
{
    return std::to_string(request.ranks) + " ranks with servers of " +
           std::to_string(GetGraph(request).GetGpus()) + " GPUs";
}

void
BuildRings(const CollectiveRequest& request, const NcclGraph& graph, CollectiveSchedule& schedule)
{
    const auto count = static_cast<uint32_t>(graph.channels.size());
    schedule.chunks = HasRoot(request.operation) ? count : request.ranks * count;
    for (uint32_t channel = 0; channel < count; channel++)
    {
        PhaseGroup ring;
        for (uint32_t server = 0; server < request.ranks / graph.GetGpus(); server++)
        {
            const auto chain = graph.GetChain(channel, server);
            ring.ranks.insert(ring.ranks.end(), chain.begin(), chain.end());
        }
        if (request.operation == Operation::BROADCAST)
        {
            const auto ranks = StartAt(ring.ranks, request.root);
            AddTreeBroadcast(schedule, MakeChain(ranks), channel, 0, channel);
            continue;
        }
        if (request.operation == Operation::REDUCE)
        {
            std::reverse(ring.ranks.begin(), ring.ranks.end());
            const auto ranks = StartAt(ring.ranks, request.root);
            AddTreeReduce(schedule, MakeChain(ranks), channel, 0, channel);
            continue;
        }
        for (uint32_t rank : ring.ranks)
        {
            ring.parts.emplace_back(rank * count + channel);
        }
        uint32_t step = 0;
        if (request.operation != Operation::ALL_GATHER)
        {
            step = AddRingReduceScatter(schedule, ring, step, channel);
        }
        if (request.operation != Operation::REDUCE_SCATTER)
        {
            AddRingAllGather(schedule, ring, step, channel);
        }
    }
}

/**
 * @param graph of trees
 * @param ranks number of ranks
 * @param channel a channel of the graph
 * @param isSecond whether servers are joined by the second binary tree
 * @return parent of each rank; the root has its own
 */
std::vector<uint32_t>
JoinServers(const NcclGraph& graph, uint32_t ranks, uint32_t channel, bool isSecond)
{
    const uint32_t servers = ranks / graph.GetGpus();
    const uint32_t last = graph.GetGpus() - 1;
    // Positions of the GPUs to which lower and higher servers are attached
    const uint32_t lower = std::min(last, graph.pattern == NcclGraph::TREE ? 0U : 1U);
    const uint32_t higher = std::min(last, graph.pattern == NcclGraph::SPLIT_TREE ? 1U : 0U);
    const auto above = GetBinaryTreeParents(servers);
    const auto move = [&](uint32_t server) {
        return isSecond ? MoveToSecondTree(server, servers) : server;
    };
    std::vector<uint32_t> parents(ranks);
    for (uint32_t i = 0; i < servers; i++)
    {
        const auto chain = graph.GetChain(channel, move(i));
        const auto next = graph.GetChain(channel, move(above[i]));
        parents[chain[0]] = above[i] == i ? chain[0] : next[i < above[i] ? lower : higher];
        for (std::size_t gpu = 1; gpu < chain.size(); gpu++)
        {
            parents[chain[gpu]] = chain[gpu - 1];
        }
    }
    return parents;
}

void
BuildTrees(const CollectiveRequest& request, const NcclGraph& graph, CollectiveSchedule& schedule)
{
    const auto count = static_cast<uint32_t>(graph.channels.size());
    schedule.chunks = 2 * count;
    std::vector<uint32_t> ranks(request.ranks);
    std::iota(ranks.begin(), ranks.end(), 0);
    for (uint32_t i = 0; i < 2 * count; i++)
    {
        const auto parents = JoinServers(graph, request.ranks, i % count, i >= count);
        const PhaseTree tree = MakeTree(ranks, parents);
        const uint32_t up = AddTreeReduce(schedule, tree, i, 0, i);
        const uint32_t steps = AddTreeBroadcast(schedule, tree, i, up, i);
        schedule.window = std::max(schedule.window, CONNECTION_SLOTS * steps);
    }
}

void
BuildNcclGraph(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const NcclGraph graph = GetGraph(request);
    if (UsesTrees(request))
    {
        BuildTrees(request, graph, schedule);
    }
    else
    {
        BuildRings(request, graph, schedule);
    }
}

uint32_t
GetGraphSegments(const CollectiveRequest& request)
{
    if (!UsesTrees(request) && !HasRoot(request.operation))
    {
        return 1;
    }
    const uint64_t channels = GetGraph(request).channels.size();
    return GetPipelineSegments(request.bytes / (UsesTrees(request) ? 2 * channels : channels));
}

const Registry<CollectiveAlgorithm>::Entry g_ncclGraph(
    "nccl-graph",
    {"rings or trees of a real machine, as NCCL writes them (NCCL_GRAPH_DUMP_FILE)",
     {Operation::ALL_REDUCE,
      Operation::REDUCE_SCATTER,
      Operation::ALL_GATHER,
      Operation::BROADCAST,
      Operation::REDUCE},
     &BuildNcclGraph,
     {Key::Of("file", Key::Type::TEXT, "none", "XML file of graphs"),
      Key::Word("graph", "ring", {"ring", "tree"}, "graph of all-reduces; others take the rings")},
     {{"with file=PATH", &HasFile},
      {"ranks that fill servers, as the graph has them", &FillsServers, &DescribeGraphServers}},
     &GetGraphSegments});

const Registry<CollectiveAlgorithm>::Entry g_ncclTree(
    "nccl-tree",
    {"NCCL's trees: a chain through the GPUs of each server, two binary trees between servers",
     {Operation::ALL_REDUCE},
     [](const CollectiveRequest& request, CollectiveSchedule& schedule) {
         BuildTrees(request, DeriveTrees(request), schedule);
     },
     {},
     {},
     &GetTreeSegments});

} // namespace

} // namespace ns3::training
