/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/algorithm-needs.h"

#include "collective/collective-phases.h"
#include "collective/rank-placement.h"

#include <algorithm>

namespace ns3::training
{

bool
HasPowerOfTwoRanks(const CollectiveRequest& request)
{
    return IsPowerOfTwo(request.ranks);
}

bool
HasRankOnEveryHost(const CollectiveRequest& request)
{
    return RankPlacement(request).IsFull();
}

bool
HasTwoDimensions(const CollectiveRequest& request)
{
    if (!request.topology)
    {
        return false;
    }
    const auto& sides = request.topology->shape.sides;
    return std::count_if(sides.begin(), sides.end(), [](uint32_t side) { return side > 1; }) == 2;
}

bool
HasBipartiteSwitches(const CollectiveRequest& request)
{
    return request.topology && request.topology->shape.bipartite;
}

bool
HasRankInEveryPlace(const CollectiveRequest& request)
{
    uint64_t places = 1;
    for (uint32_t size : RankPlacement::GetSizes(RankPlacement(request).GetPlaces()))
    {
        places *= size;
    }
    return places == request.ranks;
}

std::string
DescribePlaces(const CollectiveRequest& request)
{
    std::string text;
    for (uint32_t size : RankPlacement::GetSizes(RankPlacement(request).GetPlaces()))
    {
        text += (text.empty() ? "" : " x ") + std::to_string(size);
    }
    return std::to_string(request.ranks) + " ranks in " + text + " places";
}

} // namespace ns3::training
