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

#include "collective-phases.h"
#include "rank-orders.h"
#include "rank-placement.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingHdrmCollective");

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

bool
IsPowerOfTwo(uint64_t number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

void
CheckHdrm(const CollectiveRequest& request)
{
    const RankPlacement placement(request);
    const TopologyGraph& topology = placement.GetTopology();
    const auto& numbers = topology.shape.numbers;
    if (topology.shape.kind != "bigraph" || !placement.IsFull() || !IsPowerOfTwo(numbers.at("m")) ||
        !IsPowerOfTwo(numbers.at("n")) || 2 * numbers.at("m") > numbers.at("n"))
    {
        throw ConfigurationError(
            "hdrm: " + std::to_string(request.ranks) + " ranks on topology '" + topology.name +
            "' (allowed: bigraph:m=M,n=N of powers of two, M up to N / 2, with "
            "a rank on every host)");
    }
}

/** @return the parts of `count` members from `first` on, as one list */
ChunkList
JoinParts(const std::vector<uint32_t>& chunks, uint32_t first, uint32_t count)
{
    std::vector<ChunkRun> runs;
    for (uint32_t i = first; i < first + count; i++)
    {
        if (!runs.empty() && runs.back().first + runs.back().count == chunks[i])
        {
            runs.back().count++;
        }
        else
        {
            runs.push_back({chunks[i], 1});
        }
    }
    return runs;
}

void
BuildHdrm(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const RankPlacement placement(request);
    const auto& numbers = placement.GetTopology().shape.numbers;
    const auto order = placement.GetRanks(GetHdrmOrder(static_cast<uint32_t>(numbers.at("m")),
                                                       static_cast<uint32_t>(numbers.at("n"))));
    const uint32_t n = request.ranks;
    std::vector<uint32_t> chunks(n);
    for (uint32_t i = 0; i < n; i++)
    {
        chunks[i] = request.operation == Operation::ALL_REDUCE ? i : order[i];
    }
    uint32_t step = 0;
    const auto exchange = [&](uint32_t distance, bool halving) {
        for (uint32_t i = 0; i < n; i++)
        {
            const uint32_t peer = i ^ distance;
            const ChunkList mine = JoinParts(chunks, i / distance * distance, distance);
            const ChunkList theirs = JoinParts(chunks, peer / distance * distance, distance);
            schedule.Add(order[i], Kind::SEND, order[peer], halving ? theirs : mine, step);
            schedule.Add(order[i],
                         halving ? Kind::RECEIVE_REDUCE : Kind::RECEIVE,
                         order[peer],
                         halving ? mine : theirs,
                         step);
        }
        step++;
    };
    for (uint32_t d = n / 2; d > 0 && request.operation != Operation::ALL_GATHER; d /= 2)
    {
        exchange(d, true);
    }
    for (uint32_t d = 1; d < n && request.operation != Operation::REDUCE_SCATTER; d *= 2)
    {
        exchange(d, false);
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
