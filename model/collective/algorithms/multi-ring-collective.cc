/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Link-disjoint rings along the links of the topology, each with its own part of the vector, see
 * GetDisjointRings(). With rings=1 it is the ring of GetRingOrder(), the ring baseline of the
 * MULTITREE paper. A broadcast or reduce runs along all rings, too, in segments.
 */

#include "collective/collective-phases.h"
#include "collective/disjoint-rings.h"
#include "collective/rank-orders.h"
#include "collective/rank-placement.h"
#include "collective/tree-phases.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

/// Maximum number of rings that a user may request.
constexpr uint64_t MAX_RINGS = 1000;

/// Segments of a chain of a broadcast or reduce; short ones, since a chain is one of many.
constexpr uint64_t CHAIN_SEGMENT_BYTES = 16 << 10;
constexpr uint64_t MAX_CHAIN_SEGMENTS = 64;

/** @return all rings, as hosts */
std::vector<std::vector<uint32_t>>
FindRings(const CollectiveRequest& request)
{
    const RankPlacement placement(request);
    const TopologyGraph& topology = placement.GetTopology();
    const bool isBalanced = request.keys.GetText("balanced") == "true";
    const auto rings = GetLocalRings(topology, placement.GetHosts(), isBalanced);
    return !rings.empty() ? rings
           : isBalanced   ? GetBalancedRings(topology)
                          : GetDisjointRings(topology);
}

std::size_t
CountRings(const CollectiveRequest& request)
{
    return FindRings(request).size();
}

bool
HasRings(const CollectiveRequest& request)
{
    const uint64_t rings = request.keys.GetCount("rings");
    return rings <= 1 || rings <= CountRings(request);
}

std::string
DescribeRings(const CollectiveRequest& request)
{
    return request.Describe() + " with " + std::to_string(CountRings(request)) + " of them";
}

/** @return the ranks of each ring */
std::vector<std::vector<uint32_t>>
OrderRanks(const CollectiveRequest& request)
{
    const RankPlacement placement(request);
    const uint64_t limit = request.keys.GetCount("rings");
    std::vector<std::vector<uint32_t>> orders{GetRingOrder(placement.GetTopology())};
    if (limit != 1)
    {
        orders = FindRings(request);
        orders.resize(limit == 0 ? orders.size() : limit);
    }
    for (auto& order : orders)
    {
        order = placement.GetRanks(order);
    }
    return orders;
}

/** Adds a chain along a ring, from the root or to it. */
void
AddChain(const CollectiveRequest& request,
         CollectiveSchedule& schedule,
         std::vector<uint32_t> order,
         uint32_t ring)
{
    if (request.operation == Operation::BROADCAST)
    {
        AddTreeBroadcast(schedule, MakeChain(StartAt(order, request.root)), ring, 0, ring);
        return;
    }
    std::reverse(order.begin(), order.end());
    AddTreeReduce(schedule, MakeChain(StartAt(order, request.root)), ring, 0, ring);
}

void
BuildMultiRing(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const auto orders = OrderRanks(request);
    const auto count = static_cast<uint32_t>(orders.size());
    const bool hasRoot = HasRoot(request.operation);
    schedule.chunks = hasRoot ? count : request.ranks * count;
    for (uint32_t ring = 0; ring < count; ring++)
    {
        if (hasRoot)
        {
            AddChain(request, schedule, orders[ring], ring);
            continue;
        }
        PhaseGroup group{orders[ring], {}};
        for (uint32_t rank : group.ranks)
        {
            group.parts.emplace_back(rank * count + ring);
        }
        uint32_t step = 0;
        if (request.operation != Operation::ALL_GATHER)
        {
            step = AddRingReduceScatter(schedule, group, step, ring);
        }
        if (request.operation != Operation::REDUCE_SCATTER)
        {
            AddRingAllGather(schedule, group, step, ring);
        }
    }
}

uint32_t
GetSegmentsOfChains(const CollectiveRequest& request)
{
    const uint64_t segments = request.bytes / OrderRanks(request).size() / CHAIN_SEGMENT_BYTES;
    return HasRoot(request.operation)
               ? static_cast<uint32_t>(std::clamp<uint64_t>(segments, 1, MAX_CHAIN_SEGMENTS))
               : 1;
}

const Registry<CollectiveAlgorithm>::Entry g_multiRing(
    "multi-ring",
    {"rings along the links of the topology, each with its part of the vector",
     {Operation::ALL_REDUCE,
      Operation::REDUCE_SCATTER,
      Operation::ALL_GATHER,
      Operation::BROADCAST,
      Operation::REDUCE},
     &BuildMultiRing,
     {Key::Count("rings", 0, 0, MAX_RINGS, "number of rings; 0: as many as share no link"),
      Key::Word("balanced",
                "false",
                {"false", "true"},
                "whether rings may share links if only so all links carry as much: in a full mesh "
                "of 4 hosts")},
     {{"at most as many rings as share no link", &HasRings, &DescribeRings}},
     &GetSegmentsOfChains});

} // namespace

} // namespace ns3::training
