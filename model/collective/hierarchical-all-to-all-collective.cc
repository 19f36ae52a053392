/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * All-to-all dimension by dimension, the innermost first: a rank sends to each other one on its
 * line all it has for ranks with the same coordinate there as that one, so that a message carries N
 * / side chunks and goes along one dimension. As many steps as the sides' sum, less one each; every
 * dimension carries (side - 1) / side * S bytes. The dimensions are those of a grid, and servers,
 * packages or groups of equal size. With along=ring ranks forward what is for others on the line,
 * all in one direction: (side - 1) / 2 * S bytes.
 */

#include "collective-phases.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/topology-graph.h"

#include <string>
#include <vector>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingHierarchicalAllToAllCollective");

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

/** @return the sides of the hierarchy, from the outermost on, or none if there is none */
std::vector<uint32_t>
GetSides(const CollectiveRequest& request)
{
    const auto group = static_cast<uint32_t>(request.GetNumber("group"));
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

void
CheckHierarchicalAllToAll(const CollectiveRequest& request)
{
    if (GetSides(request).empty() && request.ranks > 1)
    {
        throw ConfigurationError("hierarchical-all-to-all among " + std::to_string(request.ranks) +
                                 " ranks with group=" + request.Get("group") +
                                 " (allowed: a group that divides the ranks, or 0 with a rank on "
                                 "each host of a grid, or "
                                 "with ranks that fill servers, packages or switches in order)");
    }
}

void
BuildHierarchicalAllToAll(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const uint32_t n = request.ranks;
    const auto sides = GetSides(request);
    uint32_t step = 0;
    uint32_t stride = 1; // between neighbors along the dimension
    for (std::size_t d = sides.size(); d-- > 0; stride *= sides[d])
    {
        const uint32_t side = sides[d];
        const uint32_t outer = stride * side; // between the dimensions' blocks
        uint32_t end = step;
        for (uint32_t line = 0; line < n / side; line++)
        {
            std::vector<uint32_t> ranks;
            for (uint32_t i = 0; i < side; i++)
            {
                ranks.push_back(line / stride * outer + i * stride + line % stride);
            }
            // What came to a rank is from those who differ in the dimensions done; what leaves it
            // differs in those to come.
            const auto what = [&](uint32_t from, uint32_t to) {
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
            end = request.Get("along") == "ring"
                      ? AddRingExchange(schedule, ranks, step, what)
                      : AddDirectExchange(schedule, ranks, step, Kind::RECEIVE, what, {1, false});
        }
        step = end;
    }
}

const Registry<CollectiveAlgorithm>::Entry g_hierarchicalAllToAll(
    "hierarchical-all-to-all",
    {"one dimension of a grid or level of a hierarchy after the other, larger messages",
     {Operation::ALL_TO_ALL, Operation::ALL_TO_ALL_V},
     &BuildHierarchicalAllToAll,
     &CheckHierarchicalAllToAll,
     nullptr,
     {{"along",
       {"direct: a message to each rank on the line; ring: forwarded by the ranks between",
        "direct",
        {"direct", "ring"}}},
      {"group", {"ranks of a group; 0: as the topology has it", "0", {}, 0, 65535}}}});

} // namespace

} // namespace ns3::training
