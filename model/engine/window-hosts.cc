/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/window-hosts.h"

#include "core/event-kinds.h"
#include "engine/window-turn.h"

#include "ns3/fabric-port.h"
#include "ns3/host-device.h"
#include "ns3/roce-opcode.h"

#include <algorithm>
#include <typeinfo>
#include <utility>

namespace ns3::training
{

namespace
{

/// Prefetch distance in nodes.
constexpr std::size_t NODES_AHEAD = 4;

/** @return whether a frame that arrives at a quiet host is quiet, unless it is an ACK */
bool
IsQuietArrival(const Frame& frame)
{
    switch (frame.kind)
    {
    case FrameKind::ROCE_DATA:
        return !IsLast(frame.opcode);
    case FrameKind::ROCE_ACK:
    case FrameKind::ROCE_CNP:
        return true;
    default:
        return false;
    }
}

} // namespace

WindowHosts::WindowHosts(WindowLists& lists, Taker passOn)
    : m_lists(lists),
      m_passOn(std::move(passOn))
{
}

void
WindowHosts::SetNodes(const std::vector<WindowNode>& nodes, uint32_t switches, uint64_t length)
{
    m_nodes = &nodes;
    m_switches = switches;
    m_length = length;
    m_ordered = FarEvents::NEVER;
    m_hosts.assign(nodes.size() - switches, {});
    for (std::size_t i = 0; i < m_hosts.size(); i++)
    {
        m_hosts[i].device = nodes[switches + i].devices.front();
    }
}

bool
WindowHosts::MayBeQuiet(const EventImpl& impl, uint32_t node)
{
    if (&typeid(impl) == &typeid(Frame)) // same library, so comparing addresses is enough
    {
        return IsQuietArrival(static_cast<const Frame&>(impl));
    }
    if (&typeid(impl) == &typeid(FabricPort)) // the line is free
    {
        return true;
    }
    const auto* quiet = dynamic_cast<const QuietEvent*>(&impl);
    return quiet && quiet->GetNode() == node;
}

bool
WindowHosts::IsQuiet(uint32_t index) const
{
    const auto& devices = (*m_nodes)[index].devices;
    return std::all_of(devices.begin(), devices.end(), [this](const HostDevice* device) {
        return device->IsQuiet(static_cast<int64_t>(m_length));
    });
}

void
WindowHosts::PassOn(const FarEvents::Item& item)
{
    const auto uid = static_cast<uint32_t>(
        item.order & WindowItem::NO_FRAME ? item.order : static_cast<Frame*>(item.impl)->sequence);
    m_passedOn++;
    m_passOn(item.time, (*m_nodes)[item.index].id, uid, item.impl);
}

void
WindowHosts::PassOn(uint32_t index, const WindowItem& item)
{
    PassOn({m_window * m_length + (item.key >> WindowItem::OFFSET_SHIFT),
            item.key & WindowItem::ORDER,
            item.impl,
            index});
}

void
WindowHosts::PassOnAll(uint32_t index)
{
    WindowItems& items = m_lists.Get(m_window, index);
    for (const WindowItem& item : items)
    {
        PassOn(index, item);
    }
    items.clear();
}

void
WindowHosts::PassOnFrom(uint32_t index, const WindowItem& first)
{
    WindowItems& items = m_lists.Get(m_window, index);
    const auto others = std::partition(items.begin(), items.end(), [&](const WindowItem& item) {
        return EarlierItem()(item, first);
    });
    for (auto item = others; item != items.end(); ++item)
    {
        PassOn(index, *item);
    }
    items.erase(others, items.end());
}

void
WindowHosts::ScreenAcks()
{
    const auto& acks = m_lists.GetAcks(m_window);
    constexpr std::size_t FAR = 12; // prefetch distance of a frame
    const auto getFrame = [&](std::size_t i) -> const Frame& {
        return static_cast<const Frame&>(*acks[i].item.impl);
    };
    for (std::size_t i = 0; i < acks.size(); i++)
    {
        const std::size_t left = acks.size() - i;
        if (left > FAR)
        {
            acks[i + FAR].item.Prefetch(true);
        }
        if (left > WindowTurn::MIDDLE)
        {
            getFrame(i + WindowTurn::MIDDLE)
                .port->GetOwner()
                .Prefetch(getFrame(i + WindowTurn::MIDDLE));
        }
        if (left > WindowTurn::NEAR)
        {
            getFrame(i + WindowTurn::NEAR)
                .port->GetOwner()
                .PrefetchSoon(getFrame(i + WindowTurn::NEAR));
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
WindowHosts::Screen()
{
    for (const uint32_t index : m_lists.GetActive(m_window))
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
    ScreenAcks();
    m_lists.GetAcks(m_window).clear();
}

void
WindowHosts::Order(uint32_t index)
{
    Host& host = m_hosts[index - m_switches];
    host.ordered = m_window;
    host.quiet = 0;
    host.isLoud = host.isLoud && !IsQuiet(index);
}

void
WindowHosts::OrderAll()
{
    m_ordered = m_window;
    m_epoch++;
    for (const uint32_t index : m_lists.GetActive(m_window))
    {
        if (index >= m_switches)
        {
            PassOnAll(index);
        }
    }
}

void
WindowHosts::Prefetch(std::size_t current) const
{
    const std::vector<uint32_t>& active = m_lists.GetActive(m_window);
    if (current + NODES_AHEAD < active.size())
    {
        m_lists.Prefetch(m_window, active[current + NODES_AHEAD]);
    }
    for (uint32_t stage = 0; stage < HostDevice::TURN_STAGES; stage++)
    {
        const std::size_t ahead = current + HostDevice::TURN_STAGES - stage;
        if (ahead < active.size() && active[ahead] >= m_switches)
        {
            m_hosts[active[ahead] - m_switches].device->PrefetchTurn(stage);
        }
    }
}

} // namespace ns3::training
