/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-border.h"

#include "ns3/log.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFabricBorder");

namespace
{

/// Minimum delay of a cross-process link, ps: the lookahead is half of it and must not be 0.
constexpr int64_t MIN_DELAY = 2;

/** @return the ports of a process, in the same order in all processes */
std::vector<FabricPort*>
GetPorts(const Fabric& fabric, uint32_t process)
{
    std::vector<FabricPort*> ports;
    for (const auto& channel : fabric.channels)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            if (GetProcess(channel->GetPort(end)) == process)
            {
                ports.push_back(&channel->GetPort(end));
            }
        }
    }
    return ports;
}

/** @return for each process, the id of one of its nodes */
std::vector<uint32_t>
GetMailboxes()
{
    std::vector<uint32_t> nodes(Processes::GetCount());
    for (uint32_t node = NodeList::GetNNodes(); node-- > 0;)
    {
        nodes.at(NodeList::GetNode(node)->GetSystemId()) = node;
    }
    return nodes;
}

} // namespace

std::unique_ptr<ProcessBorder>
MakeBorder(const Fabric& fabric, Time notice)
{
    std::vector<uint32_t> crossing;
    Time least = notice;
    for (uint32_t i = 0; i < fabric.channels.size(); i++)
    {
        const FabricPort& a = fabric.channels[i]->GetPort(0);
        const FabricPort& b = fabric.channels[i]->GetPort(1);
        if (GetProcess(a) == GetProcess(b))
        {
            continue;
        }
        const Time delay = std::min(a.GetDelay(), b.GetDelay());
        if (delay.GetTimeStep() < MIN_DELAY)
        {
            throw ConfigurationError("the link from " + fabric.GetEndName(i, 0) + " to " +
                                     fabric.GetEndName(i, 1) +
                                     " joins two processes, but its delay is " + FormatTime(delay) +
                                     " (allowed: 2ps and more)");
        }
        crossing.push_back(i);
        least = std::min(least, delay);
    }
    const Time lookAhead = TimeStep(static_cast<uint64_t>(least.GetTimeStep() / 2));
    NS_LOG_INFO(crossing.size() << " links at the border, lookahead " << lookAhead);
    auto border = std::make_unique<ProcessBorder>(
        Processes::GetId(),
        Processes::GetCount(),
        lookAhead,
        Processes::MAX_MESSAGE,
        [lookAhead](uint32_t process, const uint8_t* data, uint32_t size) {
            Processes::Send(process, data, size, lookAhead);
        });
    for (uint32_t i : crossing)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            FabricPort& port = fabric.channels[i]->GetPort(end);
            if (GetProcess(port) == Processes::GetId())
            {
                const uint32_t number = 2 * i + end;
                border->AddLink(port, number, number ^ 1, GetProcess(*port.GetPeer()));
            }
        }
    }
    Processes::Connect(
        GetMailboxes(),
        lookAhead,
        [to = border.get()](const uint8_t* data, uint32_t size) { to->Receive(data, size); });
    return border;
}

void
GatherCounters(const Fabric& fabric)
{
    if (Processes::GetCount() == 1)
    {
        return;
    }
    static_assert(std::is_trivially_copyable_v<PortCounters>, "copied as bytes");
    std::string mine;
    for (const FabricPort* port : GetPorts(fabric, Processes::GetId()))
    {
        mine.append(reinterpret_cast<const char*>(&port->GetCounters()), sizeof(PortCounters));
    }
    const auto all = Processes::Gather(mine);
    for (uint32_t process = 0; process < all.size(); process++)
    {
        const char* from = all[process].data();
        for (FabricPort* port : GetPorts(fabric, process))
        {
            PortCounters counters;
            std::memcpy(&counters, from, sizeof(counters));
            port->SetCounters(counters);
            from += sizeof(PortCounters);
        }
    }
}

} // namespace ns3::training
