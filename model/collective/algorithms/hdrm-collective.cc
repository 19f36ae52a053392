/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * HDRM, halving and doubling with rank mapping (Dong et al., "EFLOPS", HPCA 2020): recursive
 * halving and doubling among ranks that GetHdrmOrder() maps to the hosts of a BiGraph such that no
 * two exchanges of a step share a link.
 */

#include "collective/algorithm-needs.h"
#include "collective/butterfly-phases.h"
#include "collective/rank-orders.h"
#include "collective/rank-placement.h"

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

/** @return whether the mapping exists for M hosts per switch and N switches, see GetHdrmOrder() */
bool
HasHdrmSizes(const CollectiveRequest& request)
{
    const uint32_t m = request.topology->shape.groupSize;
    const uint32_t n = request.topology->hosts / m;
    return IsPowerOfTwo(m) && IsPowerOfTwo(n) && m <= n / 2;
}

void
BuildHdrm(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const RankPlacement placement(request);
    const TopologyGraph& topology = placement.GetTopology();
    const uint32_t m = topology.shape.groupSize;
    PhaseGroup group;
    group.ranks = placement.GetRanks(GetHdrmOrder(m, topology.hosts / m));
    for (uint32_t i = 0; i < request.ranks; i++)
    {
        // An all-reduce may assign any part to any rank: parts of one message get consecutive
        // numbers.
        group.parts.emplace_back(request.operation == Operation::ALL_REDUCE ? i : group.ranks[i]);
    }
    const Butterfly halves = MakeDistanceHalving(request.ranks);
    uint32_t step = 0;
    if (request.operation != Operation::ALL_GATHER)
    {
        step = AddButterflyReduceScatter(schedule, group, halves, step);
    }
    if (request.operation != Operation::REDUCE_SCATTER)
    {
        AddButterflyAllGather(schedule, group, halves, step);
    }
}

const Registry<CollectiveAlgorithm>::Entry g_hdrm(
    "hdrm",
    {"recursive halving and doubling; ranks are mapped to hosts such that no exchanges share a "
     "link",
     {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER},
     &BuildHdrm,
     {},
     {NEEDS_BIPARTITE_SWITCHES,
      NEEDS_RANK_ON_EVERY_HOST,
      {"powers of two of hosts on a switch M and switches N, M up to N / 2", &HasHdrmSizes}}});

} // namespace

} // namespace ns3::training
