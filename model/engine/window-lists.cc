/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/window-lists.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

void
WindowLists::SetNodes(std::size_t nodes, uint32_t switches)
{
    m_switches = switches;
    m_nodes.clear();
    m_nodes.resize(nodes);
    for (auto& active : m_active)
    {
        active.clear();
    }
}

bool
WindowLists::Remove(uint64_t window, uint32_t index, const EventImpl* impl)
{
    WindowItems& items = Get(window, index);
    const auto found = std::find_if(items.begin(), items.end(), [impl](const WindowItem& item) {
        return item.impl == impl;
    });
    if (found == items.end())
    {
        return false;
    }
    items.erase(found); // the node stays active, perhaps without an event
    return true;
}

void
WindowLists::Recycle(uint32_t index, WindowItems& items)
{
    if (items.capacity() > 0)
    {
        m_spare[index >= m_switches].push_back(std::exchange(items, WindowItems()));
    }
}

uint64_t
WindowLists::FindWindow(uint64_t first) const
{
    uint64_t window = first;
    while (window < first + SLOTS && m_active[window % SLOTS].empty())
    {
        window++;
    }
    return window;
}

std::vector<FarEvents::Item>
WindowLists::List(uint64_t first, uint64_t length) const
{
    std::vector<FarEvents::Item> all;
    for (uint64_t window = first; window < first + SLOTS; window++)
    {
        std::vector<uint32_t> active = m_active[window % SLOTS];
        std::sort(active.begin(), active.end()); // a node may be active twice
        active.erase(std::unique(active.begin(), active.end()), active.end());
        for (const uint32_t index : active)
        {
            for (const WindowItem& item : m_nodes[index].items[window % SLOTS])
            {
                all.push_back({window * length + (item.key >> WindowItem::OFFSET_SHIFT),
                               item.key & WindowItem::ORDER,
                               item.impl,
                               index});
            }
        }
    }
    return all;
}

std::vector<FarEvents::Item>
WindowLists::TakeAll(uint64_t first, uint64_t length)
{
    for (uint64_t window = first; window < first + SLOTS; window++)
    {
        for (const uint32_t index : GetActive(window))
        {
            WindowItems& items = Get(window, index);
            std::sort(items.begin(), items.end(), EarlierItem());
        }
    }
    std::vector<FarEvents::Item> all = List(first, length);
    for (uint64_t window = first; window < first + SLOTS; window++)
    {
        for (const uint32_t index : GetActive(window))
        {
            Get(window, index) = WindowItems();
        }
        GetActive(window).clear();
        GetAcks(window).clear();
    }
    return all;
}

} // namespace ns3::training
