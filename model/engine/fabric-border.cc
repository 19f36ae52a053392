/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/fabric-border.h"

#include "engine/window-simulator-impl.h"

#include "ns3/log.h"
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

} // namespace

std::unique_ptr<ProcessBorder>
MakeBorder(const Fabric& fabric, Time notice)
{
    WindowSimulatorImpl* loop = WindowSimulatorImpl::GetCurrent();
    if (!loop)
    {
        throw ConfigurationError(
            "another event loop than ns3::training::WindowSimulatorImpl with " +
            std::to_string(Processes::GetCount()) + " processes (allowed: 1 process)");
    }
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
        if (!delay.IsStrictlyPositive()) // rounds must have a length
        {
            throw ConfigurationError("the link from " + fabric.GetEndName(i, 0) + " to " +
                                     fabric.GetEndName(i, 1) +
                                     " joins two processes, but its delay is " + FormatTime(delay) +
                                     " (allowed: 1ps and more)");
        }
        crossing.push_back(i);
        least = std::min(least, delay);
    }
    NS_LOG_INFO(crossing.size() << " links at the border, rounds of " << least);
    auto border = std::make_unique<ProcessBorder>(Processes::GetId(),
                                                  Processes::GetCount(),
                                                  &Processes::Exchange);
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
    loop->SetRounds([to = border.get()](uint64_t next) { return to->Exchange(next); }, least);
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
        const PortCounters counters = port->GetCounters();
        mine.append(reinterpret_cast<const char*>(&counters), sizeof(PortCounters));
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
