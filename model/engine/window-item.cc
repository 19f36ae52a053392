/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/window-item.h"

#include "ns3/fabric-frame.h"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <numeric>

namespace ns3::training
{

namespace
{

/// Number of events that are sorted by insertion, in a window or in a part of it.
constexpr std::size_t FEW = 24;

} // namespace

bool
EarlierItem::operator()(const WindowItem& a, const WindowItem& b) const
{
    if ((a.key ^ b.key) <= WindowItem::ACK && !(a.key & WindowItem::NO_FRAME))
    {
        return static_cast<Frame*>(a.impl)->sequence < static_cast<Frame*>(b.impl)->sequence;
    }
    return a.key < b.key;
}

bool
WindowItemSorter::SortRoughly(WindowItems& items, uint64_t length)
{
    // Times are spread over the window: buckets of a part of it have about one event each.
    const uint32_t bits = 64 - static_cast<uint32_t>(__builtin_clzll(items.size() - 1));
    const uint64_t factor = (uint64_t{1} << (32 + bits)) / length;
    const auto getBucket = [factor](const WindowItem& item) {
        return (item.key >> WindowItem::OFFSET_SHIFT) * factor >> 32;
    };
    m_begins.assign((std::size_t{1} << bits) + 1, 0);
    uint32_t most = 0;
    for (const WindowItem& item : items)
    {
        most = std::max(most, ++m_begins[getBucket(item) + 1]);
    }
    if (most > FEW)
    {
        return false;
    }
    std::partial_sum(m_begins.begin(), m_begins.end(), m_begins.begin());
    m_sorted.resize(items.size());
    for (const WindowItem& item : items)
    {
        m_sorted[m_begins[getBucket(item)]++] = item;
    }
    std::copy(m_sorted.begin(), m_sorted.end(), items.begin()); // each keeps its memory
    return true;
}

void
WindowItemSorter::Sort(WindowItems& items, uint64_t length)
{
    if (items.size() > FEW && !SortRoughly(items, length))
    {
        boost::sort::pdqsort(items.begin(), items.end(), EarlierItem());
    }
    else
    {
        for (std::size_t i = 1; i < items.size(); i++)
        {
            const WindowItem item = items[i];
            std::size_t place = i;
            for (; place > 0 && EarlierItem()(item, items[place - 1]); place--)
            {
                items[place] = items[place - 1];
            }
            items[place] = item;
        }
    }
}

} // namespace ns3::training
