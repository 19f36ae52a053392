/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * A chain of ranks: the whole vector is reduced from rank 0 to rank N - 1, then the sum is
 * distributed, either back along the chain or forward around the ring. In segments both passes
 * overlap: going back, each link carries the vector once in each direction; going forward, twice in
 * one direction. It is the order in which the FPGA ring all-reduce of NTT adds (US patent
 * 12131246).
 */

#include "collective/tree-phases.h"

#include <numeric>
#include <vector>

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

void
BuildChain(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    schedule.chunks = 1;
    std::vector<uint32_t> ranks(request.ranks);
    std::iota(ranks.rbegin(), ranks.rend(), 0); // N - 1 to 0
    const uint32_t step = AddTreeReduce(schedule, MakeChain(ranks), 0, 0);
    if (request.keys.GetText("distribute") == "forward")
    {
        std::iota(ranks.begin() + 1, ranks.end(), 0);
    }
    AddTreeBroadcast(schedule, MakeChain(ranks), 0, step);
}

const Registry<CollectiveAlgorithm>::Entry g_chain(
    "chain",
    {"reduces the whole vector along a chain of ranks and distributes the sum; for engines that "
     "forward packet by packet",
     {Operation::ALL_REDUCE},
     &BuildChain,
     {Key::Word("distribute",
                "back",
                {"back", "forward"},
                "way of the sum: back along the chain, or forward around the ring")}});

} // namespace

} // namespace ns3::training
