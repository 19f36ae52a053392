/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of EventWindows that tells quiet events of hosts from others.

#include "engine/event-windows.h"

#include "ns3/fabric-port.h"
#include "ns3/host-device.h"

#include <algorithm>

namespace ns3::training
{

bool
EventWindows::IsQuiet(uint32_t index) const
{
    const auto& devices = m_who[index].devices;
    return std::all_of(devices.begin(), devices.end(), [this](const HostDevice* device) {
        return device->IsQuiet(static_cast<int64_t>(m_length));
    });
}

void
EventWindows::PassOn(uint64_t time, uint64_t order, uint32_t index, EventImpl* impl)
{
    const auto uid =
        static_cast<uint32_t>(order & NO_FRAME ? order : static_cast<Frame*>(impl)->sequence);
    m_size--;
    m_passOn(time, m_who[index].id, uid, impl);
}

void
EventWindows::PassOn(uint32_t index, const Item& item)
{
    PassOn(m_end - m_length + (item.key >> OFFSET_SHIFT), item.key & ORDER, index, item.impl);
}

void
EventWindows::PassOnAll(uint32_t index)
{
    Items& items = m_nodes[index].items[m_window % SLOTS];
    for (const Item& item : items)
    {
        PassOn(index, item);
    }
    items.clear();
}

void
EventWindows::PassOnFrom(uint32_t index, const Item& first)
{
    Items& items = m_nodes[index].items[m_window % SLOTS];
    const auto others = std::partition(items.begin(), items.end(), [&](const Item& item) {
        return Earlier()(item, first);
    });
    for (auto item = others; item != items.end(); ++item)
    {
        PassOn(index, *item);
    }
    items.erase(others, items.end());
}

void
EventWindows::ScreenAcks(const std::vector<AckArrival>& acks)
{
    constexpr std::size_t FAR = 12; // prefetch distance of a frame
    const auto getFrame = [&](std::size_t i) -> const Frame& {
        return static_cast<const Frame&>(*acks[i].item.impl);
    };
    for (std::size_t i = 0; i < acks.size(); i++)
    {
        const std::size_t left = acks.size() - i;
        if (left > FAR)
        {
            Prefetch(acks[i + FAR].item, true);
        }
        if (left > MIDDLE)
        {
            getFrame(i + MIDDLE).port->GetOwner().Prefetch(getFrame(i + MIDDLE));
        }
        if (left > NEAR)
        {
            getFrame(i + NEAR).port->GetOwner().PrefetchSoon(getFrame(i + NEAR));
        }
        const auto& [item, index] = acks[i];
        const Frame& frame = getFrame(i);
        const auto& device = static_cast<const HostDevice&>(frame.port->GetOwner());
        if (!IsOrdered(index) && !device.IsQuiet(frame))
        {
            PassOnFrom(index, item);
        }
    }
}

void
EventWindows::Screen()
{
    const uint64_t slot = m_window % SLOTS;
    for (const uint32_t index : m_active[slot])
    {
        if (index < m_switches || IsOrdered(index))
        {
            continue;
        }
        Host& host = m_hosts[index - m_switches];
        if (host.quiet != m_epoch && !IsQuiet(index))
        {
            host.ordered = m_window;
            host.isLoud = true;
            PassOnAll(index);
        }
        else
        {
            host.quiet = m_epoch; // until it is ordered: quiet events leave it quiet
        }
    }
    ScreenAcks(m_acks[slot]);
    m_acks[slot].clear();
}

void
EventWindows::Order(uint32_t context, uint64_t time, uint64_t order)
{
    const uint32_t index = m_indices[context];
    const uint64_t ofNode = order & NO_FRAME ? order & ORDER : (order & ORDER) << INGRESS_SHIFT;
    const uint64_t key = (time - (m_end - m_length)) << OFFSET_SHIFT | ofNode;
    index < m_switches ? ExecuteUpTo(index, key) : OrderFrom(index, key);
}

void
EventWindows::CatchUp(uint32_t host, uint64_t time, uint32_t context)
{
    OrderFrom(m_indices[host], (time - (m_end - m_length) + (host < context)) << OFFSET_SHIFT);
}

void
EventWindows::OrderFrom(uint32_t index, uint64_t key)
{
    if (!IsOrdered(index))
    {
        Host& host = m_hosts[index - m_switches];
        host.ordered = m_window;
        host.quiet = 0;
        host.isLoud = host.isLoud && !IsQuiet(index);
        ExecuteUpTo(index, key);
        PassOnAll(index);
    }
}

void
EventWindows::OrderAll()
{
    m_ordered = m_window;
    m_epoch++;
    for (const uint32_t index : m_active[m_window % SLOTS])
    {
        if (index >= m_switches)
        {
            PassOnAll(index);
        }
    }
}

} // namespace ns3::training
