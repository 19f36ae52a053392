/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "measure/queue-lengths.h"

#include "ns3/callback.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"

#include <algorithm>

namespace ns3::training
{

void
QueueLengths::Watch::OnLength(uint16_t port, uint8_t priority, uint64_t bytes)
{
    if (port >= ports.size())
    {
        ports.resize(port + 1);
    }
    Port& at = ports[port];
    const int64_t now = EventLoop::Now();
    at.area += static_cast<double>(at.sum) * static_cast<double>(now - at.since);
    at.since = now;
    at.sum += bytes - at.bytes[priority];
    at.bytes[priority] = bytes;
    at.peak = std::max(at.peak, at.sum);
}

QueueLengths::QueueLengths(const Fabric& fabric)
    : m_fabric(fabric),
      m_begin(EventLoop::Now())
{
    for (const auto& device : fabric.devicesOfSwitches)
    {
        m_watches.push_back(Create<Watch>());
        m_watches.back()->ports.resize(device->GetNPorts());
        for (Port& port : m_watches.back()->ports)
        {
            port.since = m_begin;
        }
        device->TraceConnectWithoutContext("QueueLength",
                                           MakeCallback(&Watch::OnLength, m_watches.back()));
    }
}

QueueLengths::~QueueLengths()
{
    for (std::size_t i = 0; i < m_watches.size(); i++)
    {
        m_fabric.devicesOfSwitches[i]->TraceDisconnectWithoutContext(
            "QueueLength",
            MakeCallback(&Watch::OnLength, m_watches[i]));
    }
}

JsonValue
QueueLengths::ToJson() const
{
    const int64_t now = EventLoop::Now();
    auto list = JsonValue::Array();
    for (uint32_t link = 0; link < m_fabric.channels.size(); link++)
    {
        const auto& ends = m_fabric.topology.links[link];
        for (uint32_t end = 0; end < 2; end++)
        {
            const uint32_t node = end == 0 ? ends.a : ends.b;
            if (node < m_fabric.topology.hosts)
            {
                continue;
            }
            const uint16_t index = m_fabric.channels[link]->GetPort(end).GetIndex();
            const Port& port = m_watches[node - m_fabric.topology.hosts]->ports[index];
            const double area =
                port.area + static_cast<double>(port.sum) * static_cast<double>(now - port.since);
            const double mean = now > m_begin ? area / static_cast<double>(now - m_begin) : 0;
            auto object = JsonValue::Object();
            object.Set("node", m_fabric.GetEndName(link, end))
                .Set("port", uint32_t{index})
                .Set("peer", m_fabric.GetEndName(link, 1 - end))
                .Set("peak_queue_bytes", port.peak)
                .Set("mean_queue_bytes", mean);
            list.Append(object);
        }
    }
    return list;
}

} // namespace ns3::training
