/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/rank-orders.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ns3::training
{

namespace
{

/** @return whether a number has odd parity */
bool
IsOdd(uint32_t number)
{
    bool odd = false;
    for (; number > 0; number &= number - 1)
    {
        odd = !odd;
    }
    return odd;
}

/** A walk through some dimensions (the rows), extended by one more dimension (the columns). */
struct Plane
{
    const std::vector<uint32_t>& walk; ///< per row, the node with a last coordinate of 0
    uint32_t columns;                  ///< length of the last dimension
    bool transposed;                   ///< whether rows and columns are swapped

    uint32_t GetRows() const
    {
        return transposed ? columns : static_cast<uint32_t>(walk.size());
    }

    uint32_t GetColumns() const
    {
        return transposed ? static_cast<uint32_t>(walk.size()) : columns;
    }

    uint32_t GetNode(uint32_t row, uint32_t column) const
    {
        return transposed ? walk[column] * columns + row : walk[row] * columns + column;
    }
};

/** Extends a closed walk of odd length by one dimension; both wrap around. */
std::vector<uint32_t>
CloseOddPlane(const Plane& plane)
{
    // A row walked to the right ends one column to the left of its start, and vice versa. Walking
    // `columns` more rows to the right than to the left returns to the first column.
    std::vector<uint32_t> nodes;
    const uint32_t rows = plane.GetRows();
    const uint32_t columns = plane.GetColumns();
    uint32_t column = 0;
    for (uint32_t row = 0; row < rows; row++)
    {
        const uint32_t step = row < (rows + columns) / 2 ? 1 : columns - 1;
        for (uint32_t i = 0; i < columns; i++)
        {
            nodes.push_back(plane.GetNode(row, column));
            column = (column + step) % columns;
        }
        column = (column + columns - step) % columns;
    }
    return nodes;
}

/** @return the Hamiltonian cycle of a plane with an even number of columns */
std::vector<uint32_t>
CloseEvenPlane(const Plane& plane)
{
    std::vector<uint32_t> nodes;
    const uint32_t rows = plane.GetRows();
    const uint32_t columns = plane.GetColumns();
    for (uint32_t column = 0; column < columns; column++)
    {
        nodes.push_back(plane.GetNode(0, column));
    }
    for (uint32_t column = columns; column-- > 0;)
    {
        for (uint32_t i = 1; i < rows; i++)
        {
            const bool down = (columns - column) % 2 == 1;
            nodes.push_back(plane.GetNode(down ? i : rows - i, column));
        }
    }
    return nodes;
}

/**
 * @return all nodes in boustrophedon order: row by row, alternately to the right and to the left
 */
std::vector<uint32_t>
SnakeThroughPlane(const Plane& plane)
{
    std::vector<uint32_t> nodes;
    for (uint32_t row = 0; row < plane.GetRows(); row++)
    {
        for (uint32_t i = 0; i < plane.GetColumns(); i++)
        {
            nodes.push_back(plane.GetNode(row, row % 2 == 0 ? i : plane.GetColumns() - 1 - i));
        }
    }
    return nodes;
}

/** @return the ring order of hosts on a BiGraph */
std::vector<uint32_t>
GetBiGraphRing(uint32_t m, uint32_t n)
{
    const uint32_t half = n / 2;
    std::vector<uint32_t> order;
    for (uint32_t place = 0; place < m; place++)
    {
        // Down by `place` switches and up by 1 - place. With an even number of switches, odd places
        // walk to the left to use the other half of the up-links.
        const bool left = place % 2 == 1 && half % 2 == 0;
        for (uint32_t i = 0; i < half; i++)
        {
            const uint32_t upper = left ? (half - i) % half : i;
            order.push_back(upper * m + place);
            order.push_back((half + (upper + place) % half) * m + place);
        }
    }
    return order;
}

} // namespace

GridWalk
WalkGrid(const std::vector<uint32_t>& sides, bool wraps)
{
    GridWalk walk{{0}, true};
    for (uint32_t side : sides)
    {
        const auto size = static_cast<uint32_t>(walk.nodes.size());
        const bool closes = wraps || side <= 2;
        if (side == 1 || size == 1)
        {
            std::vector<uint32_t> nodes(size * side);
            std::iota(nodes.begin(), nodes.end(), 0);
            walk = size == 1 ? GridWalk{nodes, closes} : walk;
        }
        else if (side % 2 == 0 || size % 2 == 0)
        {
            walk = {CloseEvenPlane({walk.nodes, side, side % 2 != 0}), true};
        }
        else if (walk.closed && closes)
        {
            walk = {CloseOddPlane({walk.nodes, side, side > size}), true};
        }
        else
        {
            walk = {SnakeThroughPlane({walk.nodes, side, false}), false};
        }
    }
    return walk;
}

std::vector<uint32_t>
GetRingOrder(const TopologyGraph& topology)
{
    const TopologyShape& shape = topology.shape;
    if (!shape.sides.empty())
    {
        return WalkGrid(shape.sides, shape.wraps).nodes;
    }
    if (shape.bipartite)
    {
        return GetBiGraphRing(shape.groupSize, topology.hosts / shape.groupSize);
    }
    std::vector<uint32_t> order(topology.hosts);
    std::iota(order.begin(), order.end(), 0);
    if (shape.ringAcrossGroups)
    {
        const uint32_t groups = topology.hosts / shape.groupSize;
        for (uint32_t i = 0; i < topology.hosts; i++)
        {
            order[i] = i % groups * shape.groupSize + i / groups;
        }
    }
    return order;
}

std::vector<uint32_t>
GetHdrmOrder(uint32_t m, uint32_t n)
{
    const uint32_t half = n / 2;
    std::vector<uint32_t> order(m * n);
    for (uint32_t place = 0; place < m; place++)
    {
        for (uint32_t i = 0; i < half; i++)
        {
            const bool swapped = IsOdd(i) != IsOdd(place);
            const uint32_t upper = (i + place) % half;
            order[place * n + 2 * i + (swapped ? 1 : 0)] = upper * m + place;
            order[place * n + 2 * i + (swapped ? 0 : 1)] = (half + i) * m + place;
        }
    }
    return order;
}

} // namespace ns3::training
