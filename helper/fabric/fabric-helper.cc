/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-helper.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/shortest-paths.h"
#include "ns3/time-resolution.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFabricHelper");

namespace
{

/** An endpoint, and its place among those of its host at the same switch. */
struct Rail
{
    uint32_t endpoint;
    uint32_t number;
    uint32_t count;
};

/** @return the endpoints with their places */
std::vector<Rail>
CountRails(const Fabric& fabric, const std::vector<uint32_t>& endpoints)
{
    std::map<uint32_t, uint32_t> counts; // by host
    std::vector<Rail> rails;
    for (uint32_t endpoint : endpoints)
    {
        const bool isHost = endpoint < fabric.devices.size();
        rails.push_back({endpoint, isHost ? counts[fabric.hostOfEndpoint[endpoint]]++ : 0, 1});
    }
    for (Rail& rail : rails)
    {
        if (rail.endpoint < fabric.devices.size())
        {
            rail.count = counts[fabric.hostOfEndpoint[rail.endpoint]];
        }
    }
    return rails;
}

/** @return the ports for one rail; those of a host at one switch share equally good ports */
ForwardingTable::Group
GetShare(const ForwardingTable::Group& ports, const Rail& rail)
{
    const std::size_t shares = std::min<std::size_t>(ports.size(), rail.count);
    ForwardingTable::Group share;
    for (std::size_t i = 0; i < ports.size(); i++)
    {
        if (i % shares == rail.number % shares)
        {
            share.push_back(ports[i]);
        }
    }
    return share;
}

/**
 * Sets the routes of all switches to the endpoints at one switch.
 * @param fabric the fabric
 * @param index of the switch
 * @param endpoints at the switch
 * @param paths of its topology
 */
void
SetRoutes(Fabric& fabric,
          uint32_t index,
          const std::vector<uint32_t>& endpoints,
          ShortestPaths& paths)
{
    const TopologyGraph& topology = fabric.topology;
    const auto getPort = [&](uint32_t link, uint32_t node) {
        return fabric.channels[link]->GetPort(topology.links[link].a == node ? 0 : 1).GetIndex();
    };
    const bool allUp = std::all_of(fabric.channels.begin(),
                                   fabric.channels.end(),
                                   [](const auto& channel) { return channel->IsUp(); });
    ShortestPaths::LinkFilter usable;
    if (!allUp)
    {
        usable = [&fabric](uint32_t link) { return fabric.channels[link]->IsUp(); };
    }
    paths.Search(topology.hosts + index, usable);
    const std::vector<Rail> rails = CountRails(fabric, endpoints);
    std::vector<uint32_t> next;
    ForwardingTable::Group ports;
    for (uint32_t i = 0; i < topology.switches; i++)
    {
        const uint32_t node = topology.hosts + i;
        paths.GetNextLinks(node, next);
        ports.clear();
        for (uint32_t link : next)
        {
            ports.push_back(getPort(link, node));
        }
        ForwardingTable& table = fabric.devicesOfSwitches[i]->GetTable();
        for (const Rail& rail : rails)
        {
            const uint32_t endpoint = rail.endpoint;
            const bool isHost = endpoint < fabric.devices.size();
            const uint32_t last = isHost ? fabric.linkOfEndpoint[endpoint] : Fabric::NO_LINK;
            if (isHost && !fabric.channels[last]->IsUp())
            {
                table.Set(endpoint, {});
            }
            else if (isHost && i == index)
            {
                table.Set(endpoint, {getPort(last, node)});
            }
            else
            {
                table.Set(endpoint, rail.count > 1 ? GetShare(ports, rail) : ports);
            }
        }
    }
}

/** @return for each host, the parts of the network that its links lead to */
std::vector<std::set<uint32_t>>
FindParts(const TopologyGraph& topology)
{
    ShortestPaths paths(topology);
    std::vector<uint32_t> partOf(topology.GetNodes(), Fabric::NO_LINK);
    uint32_t parts = 0;
    for (uint32_t root = topology.hosts; root < topology.GetNodes(); root++)
    {
        if (partOf[root] == Fabric::NO_LINK)
        {
            paths.Search(root);
            for (uint32_t node = topology.hosts; node < topology.GetNodes(); node++)
            {
                partOf[node] = paths.IsReached(node) ? parts : partOf[node];
            }
            parts++;
        }
    }
    std::vector<std::set<uint32_t>> partsOf(topology.hosts);
    for (const auto& link : topology.links)
    {
        const bool direct = link.a < topology.hosts && link.b < topology.hosts;
        for (uint32_t host : {link.a, link.b})
        {
            if (host < topology.hosts)
            {
                partsOf[host].insert(direct ? parts : partOf[TopologyGraph::GetPeer(link, host)]);
            }
        }
        parts += direct;
    }
    return partsOf;
}

/** @throw ConfigurationError if a host cannot reach another one */
void
CheckReachable(const TopologyGraph& topology)
{
    const std::vector<std::set<uint32_t>> parts = FindParts(topology);
    const auto meet = [&parts](uint32_t a, uint32_t b) {
        return std::any_of(parts[a].begin(), parts[a].end(), [&](uint32_t part) {
            return parts[b].count(part) > 0;
        });
    };
    for (uint32_t to = 0; to < topology.hosts; to++)
    {
        if (parts[to].size() == 1 && parts[to] == parts[0] && to > 0)
        {
            continue; // as host 0
        }
        for (uint32_t from = 0; from < topology.hosts; from++)
        {
            if (from != to && !meet(from, to))
            {
                throw ConfigurationError("topology '" + topology.name + "': host " +
                                         std::to_string(from) + " cannot reach host " +
                                         std::to_string(to) + " (allowed: all can)");
            }
        }
    }
}

} // namespace

std::string
Fabric::GetEndName(uint32_t link, uint32_t end) const
{
    return topology.GetName(end == 0 ? topology.links[link].a : topology.links[link].b);
}

void
Fabric::UpdateRoutes()
{
    std::vector<std::vector<uint32_t>> endpointsOf(topology.switches);
    for (uint32_t endpoint = 0; endpoint < devices.size(); endpoint++)
    {
        const uint32_t link = linkOfEndpoint[endpoint];
        const uint32_t last = link == NO_LINK ? 0
                                              : TopologyGraph::GetPeer(topology.links[link],
                                                                       hostOfEndpoint[endpoint]);
        if (last >= topology.hosts)
        {
            endpointsOf[last - topology.hosts].push_back(endpoint);
        }
    }
    for (uint32_t i = 0; i < addressedSwitches.size(); i++)
    {
        endpointsOf[addressedSwitches[i]].push_back(static_cast<uint32_t>(devices.size()) + i);
    }
    ShortestPaths paths(topology);
    for (uint32_t index = 0; index < topology.switches; index++)
    {
        if (!endpointsOf[index].empty())
        {
            SetRoutes(*this, index, endpointsOf[index], paths);
        }
    }
}

void
Fabric::PinPath(uint32_t source, uint32_t destination, const std::vector<uint32_t>& nodes)
{
    // The ports on the way: a host's, then one of each switch, to the next node.
    const FabricPort* port = &devices.at(source)->GetPort();
    const FabricPort* last = devices.at(destination)->GetPort().GetPeer();
    std::vector<std::pair<uint32_t, uint16_t>> pins; // switch, port
    for (std::size_t i = 0; i < nodes.size(); i++)
    {
        const bool isSwitch = nodes[i] >= topology.hosts && nodes[i] < topology.GetNodes();
        if (!isSwitch || port->GetPeer()->GetNodeId() != GetId(nodes[i]))
        {
            break;
        }
        auto& device = *devicesOfSwitches[nodes[i] - topology.hosts];
        std::vector<uint16_t> next;
        for (uint16_t index = 0; index < device.GetNPorts(); index++)
        {
            const FabricPort& candidate = device.GetPort(index);
            const bool leads = i + 1 < nodes.size() && nodes[i + 1] < topology.GetNodes() &&
                               candidate.GetPeer()->GetNodeId() == GetId(nodes[i + 1]);
            if (leads || (i + 1 == nodes.size() && &candidate == last))
            {
                next.push_back(index);
            }
        }
        if (next.empty())
        {
            break;
        }
        pins.emplace_back(nodes[i] - topology.hosts, next[source % next.size()]);
        port = &device.GetPort(pins.back().second);
    }
    if (pins.empty() || pins.size() < nodes.size())
    {
        std::string text;
        for (uint32_t node : nodes)
        {
            text += (text.empty() ? "" : ", ") + std::to_string(node);
        }
        throw ConfigurationError("path from endpoint " + std::to_string(source) + " to " +
                                 std::to_string(destination) + " by nodes '" + text +
                                 "' (allowed: switches, each with a link to the next)");
    }
    for (const auto& [index, egress] : pins)
    {
        devicesOfSwitches[index]->GetPaths().Pin(source, destination, egress);
    }
}

uint32_t
Fabric::GetId(uint32_t node) const
{
    return (node < topology.hosts ? hosts.Get(node) : switches.Get(node - topology.hosts))->GetId();
}

uint32_t
Fabric::AddressSwitch(uint32_t index)
{
    const auto found = std::find(addressedSwitches.begin(), addressedSwitches.end(), index);
    const auto endpoint =
        static_cast<uint32_t>(devices.size() + (found - addressedSwitches.begin()));
    if (found == addressedSwitches.end())
    {
        addressedSwitches.push_back(index);
        ShortestPaths paths(topology);
        SetRoutes(*this, index, {endpoint}, paths);
    }
    return endpoint;
}

uint64_t
Fabric::GetPacketHops() const
{
    return GetTotal().transmittedFrames;
}

PortCounters
Fabric::GetTotal() const
{
    PortCounters total;
    for (const auto& channel : channels)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            total += channel->GetPort(end).counters;
        }
    }
    return total;
}

FabricHelper::FabricHelper()
{
    m_host.SetTypeId(HostDevice::GetTypeId());
    m_switch.SetTypeId(SwitchDevice::GetTypeId());
}

void
FabricHelper::SetHostAttribute(const std::string& name, const AttributeValue& value)
{
    m_host.Set(name, value);
}

void
FabricHelper::SetSwitchAttribute(const std::string& name, const AttributeValue& value)
{
    m_switch.Set(name, value);
}

void
FabricHelper::SetPartition(std::vector<uint32_t> processOf)
{
    m_processOf = std::move(processOf);
}

Fabric
FabricHelper::Install(const TopologyGraph& topology) const
{
    UsePicoseconds();
    CheckReachable(topology);
    Fabric fabric;
    fabric.topology = topology;
    for (uint32_t node = 0; node < topology.GetNodes(); node++)
    {
        NodeContainer& nodes = node < topology.hosts ? fabric.hosts : fabric.switches;
        nodes.Create(1, m_processOf.empty() ? 0 : m_processOf.at(node));
    }
    int64_t stream = FIRST_STREAM;
    for (uint32_t i = 0; i < topology.switches; i++)
    {
        auto device = m_switch.Create<SwitchDevice>();
        device->SetNodeId(fabric.switches.Get(i)->GetId());
        fabric.switches.Get(i)->AggregateObject(device);
        stream += device->AssignStreams(stream);
        fabric.devicesOfSwitches.push_back(device);
    }
    AddRails(fabric);
    std::vector<uint32_t> rail(topology.hosts, 0); // of each host, the one its next link is for
    for (uint32_t l = 0; l < topology.links.size(); l++)
    {
        const auto& link = topology.links[l];
        auto channel = CreateObject<FabricChannel>();
        FabricPort* ports[2];
        Time pipelines[2];
        for (uint32_t end = 0; end < 2; end++)
        {
            const uint32_t node = end == 0 ? link.a : link.b;
            if (node < topology.hosts)
            {
                auto device = fabric.rails[node][rail[node]++];
                ports[end] = &device->GetPort();
                device->SetChannel(channel);
                fabric.linkOfEndpoint[device->GetEndpoint()] = l;
            }
            else
            {
                auto device = fabric.devicesOfSwitches[node - topology.hosts];
                ports[end] = &device->AddPort();
                pipelines[end] = device->GetPipelineDelay();
            }
        }
        channel->Connect(*ports[0], *ports[1], link.rate, link.delay, pipelines[0], pipelines[1]);
        fabric.channels.push_back(channel);
    }
    SetPlaces(fabric);
    SetOrder(fabric);
    for (const auto& device : fabric.devicesOfSwitches)
    {
        device->Configure();
    }
    fabric.UpdateRoutes();
    return fabric;
}

void
FabricHelper::SetPlaces(Fabric& fabric)
{
    const TopologyGraph& topology = fabric.topology;
    if (std::none_of(topology.links.begin(), topology.links.end(), [](const auto& link) {
            return link.dateline;
        }))
    {
        return;
    }
    constexpr uint8_t TO_HOST = TopologyGraph::NO_DIMENSION - 1; // which no other link is along
    for (uint32_t l = 0; l < topology.links.size(); l++)
    {
        const auto& link = topology.links[l];
        for (uint32_t end = 0; end < 2; end++)
        {
            const uint32_t node = end == 0 ? link.a : link.b;
            if (node >= topology.hosts)
            {
                const bool toHost = TopologyGraph::GetPeer(link, node) < topology.hosts;
                fabric.devicesOfSwitches[node - topology.hosts]->SetPlace(
                    fabric.channels[l]->GetPort(end).GetIndex(),
                    toHost ? TO_HOST : link.dimension,
                    link.dateline);
            }
        }
    }
}

void
FabricHelper::SetOrder(Fabric& fabric)
{
    const TopologyGraph& topology = fabric.topology;
    constexpr uint32_t NOWHERE = std::numeric_limits<uint32_t>::max();
    // Endpoints by the switch they are on.
    std::vector<std::vector<uint32_t>> endpointsOf(topology.GetNodes());
    for (uint32_t endpoint = 0; endpoint < fabric.devices.size(); endpoint++)
    {
        const uint32_t link = fabric.linkOfEndpoint[endpoint];
        if (link != Fabric::NO_LINK)
        {
            const uint32_t host = fabric.hostOfEndpoint[endpoint];
            endpointsOf[TopologyGraph::GetPeer(topology.links[link], host)].push_back(endpoint);
        }
    }
    auto order = std::make_shared<std::vector<uint32_t>>(fabric.devices.size(), 0);
    std::vector<uint32_t> below(topology.GetNodes(), 0); // endpoints
    std::vector<uint32_t> stride(topology.GetNodes(), NOWHERE);
    std::vector<uint32_t> level;
    uint32_t place = 0;
    for (uint32_t node = topology.hosts; node < topology.GetNodes(); node++)
    {
        for (uint32_t endpoint : endpointsOf[node])
        {
            (*order)[endpoint] = place++;
        }
        if (!endpointsOf[node].empty())
        {
            below[node] = static_cast<uint32_t>(endpointsOf[node].size());
            stride[node] = 1;
            level.push_back(node);
        }
    }
    const auto linksOf = topology.GetLinksOfNodes();
    while (!level.empty())
    {
        std::set<std::pair<uint32_t, uint32_t>> ways; // from the next level to this one
        for (uint32_t node : level)
        {
            for (uint32_t link : linksOf[node])
            {
                const uint32_t peer = TopologyGraph::GetPeer(topology.links[link], node);
                if (stride[peer] == NOWHERE && peer >= topology.hosts)
                {
                    ways.insert({peer, node});
                }
            }
        }
        level.clear();
        for (const auto& [node, child] : ways)
        {
            if (stride[node] == NOWHERE)
            {
                stride[node] = below[child];
                level.push_back(node);
            }
            below[node] += below[child];
        }
    }
    for (uint32_t i = 0; i < topology.switches; i++)
    {
        const uint32_t found = stride[topology.hosts + i];
        fabric.devicesOfSwitches[i]->GetPaths().SetOrder(order, found == NOWHERE ? 1 : found);
    }
}

void
FabricHelper::AddRails(Fabric& fabric) const
{
    const TopologyGraph& topology = fabric.topology;
    std::vector<uint32_t> links(topology.hosts, 0);
    for (const auto& link : topology.links)
    {
        for (uint32_t node : {link.a, link.b})
        {
            if (node < topology.hosts)
            {
                links[node]++;
            }
        }
    }
    fabric.rails.resize(topology.hosts);
    fabric.devices.resize(topology.hosts);
    fabric.hostOfEndpoint.resize(topology.hosts);
    fabric.linkOfEndpoint.resize(topology.hosts, Fabric::NO_LINK);
    for (uint32_t host = 0; host < topology.hosts; host++)
    {
        // A host alone has no link, but a device all the same.
        for (uint32_t rail = 0; rail < std::max<uint32_t>(1, links[host]); rail++)
        {
            auto device = m_host.Create<HostDevice>();
            fabric.hosts.Get(host)->AddDevice(device);
            const auto endpoint = rail == 0 ? host : static_cast<uint32_t>(fabric.devices.size());
            device->SetEndpoint(endpoint);
            if (rail > 0)
            {
                fabric.devices.emplace_back();
                fabric.hostOfEndpoint.emplace_back();
                fabric.linkOfEndpoint.push_back(Fabric::NO_LINK);
            }
            fabric.devices[endpoint] = device;
            fabric.hostOfEndpoint[endpoint] = host;
            fabric.rails[host].push_back(device);
        }
    }
}

} // namespace ns3::training
