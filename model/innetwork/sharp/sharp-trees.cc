/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sharp-trees.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/** @return the sum that a switch makes of numbers [begin, end), encoded */
std::vector<uint8_t>
AddBelow(const SharpSums& sums,
         uint32_t at,
         NumberFormat format,
         const std::vector<std::vector<float>>& inputs,
         uint64_t begin,
         uint64_t end)
{
    std::vector<std::vector<uint8_t>> parts;
    for (const SharpSum::Child& child : sums[at].children)
    {
        if (!child.isRank)
        {
            parts.push_back(AddBelow(sums, child.index, format, inputs, begin, end));
            continue;
        }
        parts.emplace_back((end - begin) * GetBytes(format));
        WriteNumbers(format, inputs[child.index].data() + begin, end - begin, parts.back().data());
    }
    std::vector<const uint8_t*> addends;
    for (const auto& part : parts)
    {
        addends.push_back(part.data());
    }
    AddNumbers(format, addends, end - begin, parts[0].data());
    return parts[0];
}

/** @return maximum number of switches on the path from a rank to the root */
uint32_t
GetHeight(const SharpSums& sums, uint32_t at = 0)
{
    uint32_t below = 0;
    for (const SharpSum::Child& child : sums[at].children)
    {
        below = std::max(below, child.isRank ? 0 : GetHeight(sums, child.index));
    }
    return below + 1;
}

} // namespace

std::pair<uint64_t, uint64_t>
SharpTrees::GetPart(uint32_t tree, uint64_t values) const
{
    const uint64_t trees = GetCount();
    return {values * tree / trees, values * (tree + 1) / trees};
}

void
SharpTrees::Add(uint32_t tree,
                NumberFormat format,
                const std::vector<std::vector<float>>& inputs,
                uint64_t begin,
                uint64_t end,
                std::vector<float>& sum) const
{
    const auto bytes = AddBelow((*m_sums)[tree], 0, format, inputs, begin, end);
    ReadNumbers(format, bytes.data(), end - begin, sum.data() + begin);
}

double
SharpTrees::GetErrorBound(NumberFormat format, int8_t exponent, uint32_t ranks) const
{
    double bound = 0;
    for (const SharpSums& sums : *m_sums)
    {
        const auto switches = static_cast<uint32_t>(sums.size());
        bound =
            std::max(bound, GetSumErrorBound(format, exponent, ranks, switches, GetHeight(sums)));
    }
    return bound;
}

} // namespace ns3::training
