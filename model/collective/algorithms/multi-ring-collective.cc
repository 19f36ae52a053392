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
 * MULTITREE paper.
 */

#include "collective/collective-phases.h"
#include "collective/disjoint-rings.h"
#include "collective/rank-orders.h"
#include "collective/rank-placement.h"

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

/// Maximum number of rings that a user may request.
constexpr uint64_t MAX_RINGS = 1000;

/** @return number of rings that share no link */
std::size_t
CountRings(const CollectiveRequest& request)
{
    return GetDisjointRings(RankPlacement(request).GetTopology()).size();
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

std::vector<PhaseGroup>
MakeRings(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const RankPlacement placement(request);
    const uint64_t limit = request.keys.GetCount("rings");
    std::vector<std::vector<uint32_t>> orders{GetRingOrder(placement.GetTopology())};
    if (limit != 1)
    {
        orders = GetDisjointRings(placement.GetTopology());
        orders.resize(limit == 0 ? orders.size() : limit);
    }
    const auto count = static_cast<uint32_t>(orders.size());
    schedule.chunks = request.ranks * count;
    std::vector<PhaseGroup> rings(count);
    for (uint32_t ring = 0; ring < count; ring++)
    {
        rings[ring].ranks = placement.GetRanks(orders[ring]);
        for (uint32_t rank : rings[ring].ranks)
        {
            rings[ring].parts.emplace_back(rank * count + ring);
        }
    }
    return rings;
}

void
BuildMultiRing(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const auto rings = MakeRings(request, schedule);
    for (uint32_t ring = 0; ring < rings.size(); ring++)
    {
        uint32_t step = 0;
        if (request.operation != Operation::ALL_GATHER)
        {
            step = AddRingReduceScatter(schedule, rings[ring], step, ring);
        }
        if (request.operation != Operation::REDUCE_SCATTER)
        {
            AddRingAllGather(schedule, rings[ring], step, ring);
        }
    }
}

const Registry<CollectiveAlgorithm>::Entry g_multiRing(
    "multi-ring",
    {"rings along the links of the topology, each with its part of the vector",
     {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER},
     &BuildMultiRing,
     {Key::Count("rings", 0, 0, MAX_RINGS, "number of rings; 0: as many as share no link")},
     {{"at most as many rings as share no link", &HasRings, &DescribeRings}}});

} // namespace

} // namespace ns3::training
