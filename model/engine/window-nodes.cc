/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/window-nodes.h"

#include "ns3/host-device.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/switch-device.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <optional>

namespace ns3::training
{

namespace
{

/** @return shortest time between an event at one end of a link and one at the other, time steps */
uint64_t
GetLookahead(const FabricPort& port)
{
    // AddLatency() only adds to it, and the line adds the time of a frame.
    const int64_t back = port.GetPeer() ? port.GetPeer()->GetDelay().GetTimeStep() : 0;
    return static_cast<uint64_t>(std::min(port.GetDelay().GetTimeStep(), back));
}

/** A node that may take part. */
struct Candidate
{
    WindowNode node;
    uint64_t lookahead{EventWindows::MAX_LENGTH}; // to its neighbors, time steps
};

/** @return a node with a switch that nobody observes, or an empty optional */
std::optional<Candidate>
FindSwitch(const Node& node)
{
    const auto device = node.GetObject<SwitchDevice>();
    if (!device || node.GetNDevices() > 0 || node.GetNApplications() > 0 || !device->IsUnobserved())
    {
        return std::nullopt;
    }
    Candidate found{{node.GetId(), {}}};
    for (uint16_t i = 0; i < device->GetNPorts(); i++)
    {
        found.lookahead = std::min(found.lookahead, GetLookahead(device->GetPort(i)));
    }
    return found;
}

/** @return a host all of whose ports have RDMA engines that nobody observes */
std::optional<Candidate>
FindHost(const Node& node)
{
    Candidate found{{node.GetId(), {}}};
    for (uint32_t i = 0; i < node.GetNDevices(); i++)
    {
        const auto device = DynamicCast<HostDevice>(node.GetDevice(i));
        if (!device || !device->IsUnobserved())
        {
            return std::nullopt;
        }
        found.node.devices.push_back(PeekPointer(device));
        found.lookahead = std::min(found.lookahead, GetLookahead(device->GetPort()));
    }
    return found.node.devices.empty() || node.GetObject<SwitchDevice>() ? std::nullopt
                                                                        : std::optional(found);
}

} // namespace

WindowNodes
FindWindowNodes(uint64_t longest)
{
    WindowNodes all{{}, std::min(EventWindows::MAX_LENGTH, longest)};
    for (const auto find : {&FindSwitch, &FindHost})
    {
        for (auto i = NodeList::Begin(); i != NodeList::End(); ++i)
        {
            const Node& node = **i;
            const auto found = node.GetSystemId() == Processes::GetId() ? find(node) : std::nullopt;
            if (found && found->lookahead >= SHORTEST_WINDOW)
            {
                all.nodes.push_back(found->node);
                all.length = std::min(all.length, found->lookahead);
            }
        }
    }
    return all;
}

} // namespace ns3::training
