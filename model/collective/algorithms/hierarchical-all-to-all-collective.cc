/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * All-to-all dimension by dimension, the innermost first: a rank sends to each other rank on its
 * line all chunks for ranks that share that rank's coordinate in this dimension. A message carries
 * N / side chunks along one dimension; there are (side - 1) steps per dimension, each of which
 * carries (side
 * - 1) / side * S bytes. The dimensions are the grid dimensions, or the levels given by servers,
 *   packages or groups of equal size. With along=ring the ranks of a line forward chunks in one
 *   direction: (side - 1) / 2 * S bytes.
 */

#include "collective/collective-phases.h"

#include "ns3/topology-graph.h"

#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

/** @return the sizes of the hierarchy levels, outermost first; empty if there is no hierarchy */
std::vector<uint32_t>
GetLevelSizes(const CollectiveRequest& request)
{
    const auto group = static_cast<uint32_t>(request.keys.GetCount("group"));
    std::vector<uint32_t> sides;
    if (group > 0)
    {
        sides = {request.ranks / group, group};
    }
    else if (request.topology)
    {
        const TopologyShape& shape = request.topology->shape;
        sides = shape.sides;
        if (sides.empty() && shape.groupSize > 1)
        {
            sides = {request.ranks / shape.groupSize, shape.groupSize};
        }
        for (uint32_t rank = 0; rank < request.ranks; rank++)
        {
            if (request.GetHost(rank) != rank)
            {
                return {};
            }
        }
    }
    uint32_t product = 1;
    for (uint32_t side : sides)
    {
        product *= side;
    }
    return product == request.ranks ? sides : std::vector<uint32_t>();
}

bool
HasSides(const CollectiveRequest& request)
{
    return request.ranks == 1 || !GetLevelSizes(request).empty();
}

std::string
DescribeGroup(const CollectiveRequest& request)
{
    return request.Describe() + " with group=" + request.keys.GetText("group");
}

void
BuildHierarchicalAllToAll(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const uint32_t n = request.ranks;
    const auto sides = GetLevelSizes(request);
    uint32_t step = 0;
    uint32_t stride = 1; // rank distance of neighbors along the dimension
    for (std::size_t d = sides.size(); d-- > 0; stride *= sides[d])
    {
        const uint32_t side = sides[d];
        const uint32_t outer = stride * side; // rank distance of the dimension's blocks
        uint32_t end = step;
        for (uint32_t line = 0; line < n / side; line++)
        {
            std::vector<uint32_t> ranks;
            for (uint32_t i = 0; i < side; i++)
            {
                ranks.push_back(line / stride * outer + i * stride + line % stride);
            }
            // A rank holds chunks whose source differs from it only in completed dimensions, and
            // whose destination differs only in dimensions still to come.
            const auto chunksOf = [&](uint32_t from, uint32_t to) {
                const uint32_t rank = ranks[from];
                std::vector<ChunkRun> runs;
                for (uint32_t inner = 0; inner < stride; inner++)
                {
                    const uint32_t source = rank / stride * stride + inner;
                    for (uint32_t block = 0; block < n / outer; block++)
                    {
                        const uint32_t destination = block * outer + to * stride + rank % stride;
                        runs.push_back({source * n + (destination + n - source) % n, 1});
                    }
                }
                return ChunkList(runs);
            };
            end =
                request.keys.GetText("along") == "ring"
                    ? AddRingExchange(schedule, ranks, step, chunksOf)
                    : AddDirectExchange(schedule, ranks, step, Kind::RECEIVE, chunksOf, {1, false});
        }
        step = end;
    }
}

const Registry<CollectiveAlgorithm>::Entry g_hierarchicalAllToAll(
    "hierarchical-all-to-all",
    {"one dimension of a grid or level of a hierarchy after the other, with larger messages",
     {Operation::ALL_TO_ALL, Operation::ALL_TO_ALL_V},
     &BuildHierarchicalAllToAll,
     {Key::Word("along",
                "direct",
                {"direct", "ring"},
                "direct: a message to each rank on the line; ring: the ranks between forward it"),
      Key::Count("group", 0, 0, 65535, "ranks of a group; 0: as the topology has it")},
     {{"a group that divides the ranks; or, with group=0, a rank on each host of a grid, or ranks "
       "that fill servers, packages or switches in order",
       &HasSides,
       &DescribeGroup}}});

} // namespace

} // namespace ns3::training
