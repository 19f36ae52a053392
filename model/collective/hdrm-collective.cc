/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * HDRM, halving and doubling with rank mapping (Dong et al., "EFLOPS", HPCA 2020): recursive
 * halving and doubling among ranks that are mapped to the hosts of a BiGraph by GetHdrmOrder(), so
 * that each exchange has links of its own.
 */

#include "butterfly-phases.h"
#include "rank-orders.h"
#include "rank-placement.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingHdrmCollective");

namespace
{

using Operation = CollectiveOperation;

/** @return m or n of a BiGraph; 0 of anything else */
uint32_t
GetNumber(const TopologyGraph& topology, const std::string& name)
{
    const auto& numbers = topology.shape.numbers;
    return topology.shape.kind == "bigraph" ? static_cast<uint32_t>(numbers.at(name)) : 0;
}

void
CheckHdrm(const CollectiveRequest& request)
{
    const RankPlacement placement(request);
    const TopologyGraph& topology = placement.GetTopology();
    const uint32_t m = GetNumber(topology, "m");
    const uint32_t n = GetNumber(topology, "n");
    if (m == 0 || !placement.IsFull() || !IsPowerOfTwo(m) || !IsPowerOfTwo(n) || m > n / 2)
    {
        throw ConfigurationError(
            "hdrm: " + std::to_string(request.ranks) + " ranks on topology '" + topology.name +
            "' (allowed: bigraph:m=M,n=N of powers of two, M up to N / 2, with "
            "a rank on every host)");
    }
}

void
BuildHdrm(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const RankPlacement placement(request);
    const TopologyGraph& topology = placement.GetTopology();
    PhaseGroup group;
    group.ranks =
        placement.GetRanks(GetHdrmOrder(GetNumber(topology, "m"), GetNumber(topology, "n")));
    for (uint32_t i = 0; i < request.ranks; i++)
    {
        // In an all-reduce any part is as good as another: those that travel together are in a row.
        group.parts.emplace_back(request.operation == Operation::ALL_REDUCE ? i : group.ranks[i]);
    }
    const Butterfly halves = MakeFarFirst(request.ranks);
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
    {"recursive halving and doubling with ranks mapped to hosts so that no exchanges share a link; "
     "needs a BiGraph",
     {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER},
     &BuildHdrm,
     &CheckHdrm});

} // namespace

} // namespace ns3::training
