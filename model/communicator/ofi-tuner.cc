/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator/ofi-tuner.h"

#include <cmath>
#include <vector>

namespace ns3::training
{

namespace
{

using Algorithm = NcclTuning::Algorithm;
using Protocol = NcclTuning::Protocol;

/// Largest size and number of ranks of a region.
constexpr double MAX_BYTES = 100.0 * (1 << 30);
constexpr double MAX_RANKS = 1 << 20;

/** Sizes and ranks for which the plugin has one choice: a polygon in logarithmic scales. */
struct Region
{
    /** A vertex. */
    struct Point
    {
        double bytes;
        double ranks;
    };

    Algorithm algorithm;
    Protocol protocol;
    std::vector<Point> points;
};

double
ToScale(double value)
{
    return value < 1 ? 0 : std::log2(value);
}

/** @return the point where a line leaves the range of regions */
Region::Point
Extend(const Region::Point& a, const Region::Point& b)
{
    const double rise = ToScale(b.ranks) - ToScale(a.ranks);
    const double run = ToScale(b.bytes) - ToScale(a.bytes);
    const double ranks =
        run == 0
            ? MAX_RANKS
            : std::exp2(ToScale(a.ranks) + rise / run * (ToScale(MAX_BYTES) - ToScale(a.bytes)));
    if (run != 0 && ranks < MAX_RANKS)
    {
        return {MAX_BYTES, ranks};
    }
    return {std::exp2(ToScale(a.bytes) + run / rise * (ToScale(MAX_RANKS) - ToScale(a.ranks))),
            MAX_RANKS};
}

/** @return whether a point is in a region or on its border */
bool
Contains(const Region& region, double bytes, double ranks)
{
    constexpr double CLOSE = 1e-9;
    const double x = ToScale(bytes);
    const double y = ToScale(ranks);
    bool isInside = false;
    for (std::size_t i = 0; i < region.points.size(); i++)
    {
        const Region::Point& from = region.points[i];
        const Region::Point& to = region.points[(i + 1) % region.points.size()];
        const double dx = ToScale(to.bytes) - ToScale(from.bytes);
        const double dy = ToScale(to.ranks) - ToScale(from.ranks);
        const double px = x - ToScale(from.bytes);
        const double py = y - ToScale(from.ranks);
        const double along = px * dx + py * dy;
        if (std::abs(px * dy - py * dx) < CLOSE * (1 + std::hypot(dx, dy)) && along >= 0 &&
            along <= dx * dx + dy * dy)
        {
            return true;
        }
        if ((py < 0) != (py - dy < 0) && px < py * dx / dy)
        {
            isInside = !isInside;
        }
    }
    return isInside;
}

/** @return regions of all-reduces on all 8 GPUs of each server */
std::vector<Region>
MakeRegionsOfServers()
{
    const auto treeEnd = Extend({402653184, 2048}, {402653184, 4096});
    const auto ringEnd = Extend({8053063680, 160}, {9663676416, 192});
    return {{Algorithm::TREE,
             Protocol::LL128,
             {{0, 16},
              {31457280, 16},
              {37748736, 32},
              {117440512, 64},
              {301989888, 128},
              {301989888, 256},
              {335544320, 512},
              {536870912, 1024},
              {402653184, 2048},
              {402653184, 4096},
              treeEnd,
              {0, treeEnd.ranks}}},
            {Algorithm::RING,
             Protocol::LL128,
             {{31457280, 17},
              {1073741824, 17},
              {2147483648, 64},
              {2147483648, 128},
              {1342177280, 160},
              {2147483648, 256},
              {1074790400, 256},
              {444596224, 160},
              {301989888, 128},
              {117440512, 64},
              {37748736, 32}}},
            {Algorithm::SWITCH_TREE,
             Protocol::SIMPLE,
             {{2147483648, 128},
              {6442450944, 128},
              {8053063680, 160},
              {9663676416, 192},
              ringEnd,
              treeEnd,
              {402653184, 4096},
              {402653184, 2048},
              {536870912, 1024},
              {335544320, 512},
              {301989888, 256},
              {310378496, 160},
              {444596224, 160},
              {1074790400, 256},
              {2684354560, 256},
              {2147483648, 224},
              {1342177280, 160}}},
            {Algorithm::RING,
             Protocol::SIMPLE,
             {{1073741824, 17},
              {ringEnd.bytes, 17},
              ringEnd,
              {9663676416, 192},
              {8053063680, 160},
              {2684354560, 64},
              {1610612736, 32}}}};
}

/** @return regions of all-reduces on one GPU of each server */
std::vector<Region>
MakeRegionsOfRails()
{
    const auto treeEnd = Extend({9999360, 64}, {119477248, 128});
    const auto ringEnd = Extend({4736000, 2}, {269484032, 128});
    return {{Algorithm::TREE,
             Protocol::LL128,
             {{0, 16}, {2367488, 16}, {9999360, 64}, {119477248, 128}, treeEnd, {0, MAX_RANKS}}},
            {Algorithm::RING,
             Protocol::LL128,
             {{0, 2},
              {4736000, 2},
              {269484032, 128},
              ringEnd,
              treeEnd,
              {119477248, 128},
              {9999360, 64},
              {2367488, 16},
              {0, 16}}},
            {Algorithm::RING,
             Protocol::SIMPLE,
             {{4736000, 2}, {MAX_BYTES, 2}, ringEnd, {269484032, 128}}}};
}

} // namespace

std::optional<NcclTuning::Plan>
FindOfiChoice(CollectiveOperation operation, uint32_t ranks, uint32_t servers, uint64_t bytes)
{
    constexpr uint32_t GPUS = 8;
    static const std::vector<Region> ofServers = MakeRegionsOfServers();
    static const std::vector<Region> ofRails = MakeRegionsOfRails();
    if (operation != CollectiveOperation::ALL_REDUCE || servers <= 2 ||
        (ranks != servers && ranks != GPUS * servers))
    {
        return std::nullopt;
    }
    for (const Region& region : ranks == servers ? ofRails : ofServers)
    {
        if (Contains(region, static_cast<double>(bytes), ranks))
        {
            return NcclTuning::Plan{region.algorithm, region.protocol, 0};
        }
    }
    return std::nullopt;
}

} // namespace ns3::training
