/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/image-paths.h"

#include "ns3/path-choice.h"
#include "ns3/training-key-values.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/** @return whether senders react to queues, other than to marks of dcqcn, which are checked later
 */
bool
FollowsQueues(const ClusterOptions& options)
{
    const std::string control = options.FindRdmaControl().value_or("none");
    const auto all = {"none", "window", "dcqcn"};
    return std::find(all.begin(), all.end(), KeyValues::Split(control).GetName()) == all.end();
}

} // namespace

ImagePaths::ImagePaths(const Cluster& cluster)
    : m_cluster(cluster),
      m_images(cluster.GetOptions().images),
      m_network(cluster.GetFabric().topology, cluster.GetRanks(), m_images),
      m_nodeOfPort(cluster.GetFabric().topology.switches),
      m_followsQueues(FollowsQueues(cluster.GetOptions())),
      m_sprays(GetPathChoice(cluster.GetOptions().path).sprays ||
               cluster.GetOptions().transport == "uec") // each packet has an entropy value
{
    const Fabric& fabric = cluster.GetFabric();
    for (uint32_t number = 0; number < fabric.channels.size(); number++)
    {
        const auto& link = fabric.topology.links[number];
        for (uint32_t end : {0, 1})
        {
            const uint32_t node = end == 0 ? link.a : link.b;
            if (node >= fabric.topology.hosts)
            {
                auto& nodes = m_nodeOfPort[node - fabric.topology.hosts];
                const uint16_t port = fabric.channels[number]->GetPort(end).GetIndex();
                nodes.resize(std::max<std::size_t>(nodes.size(), port + 1));
                nodes[port] = TopologyGraph::GetPeer(link, node);
            }
        }
    }
}

/** @return the node at the other end of the link of a host's port */
uint32_t
ImagePaths::GetOtherEnd(uint32_t endpoint) const
{
    const Fabric& fabric = m_cluster.GetFabric();
    return TopologyGraph::GetPeer(fabric.topology.links[fabric.linkOfEndpoint[endpoint]],
                                  fabric.hostOfEndpoint[endpoint]);
}

/** @return number of a host's port with an endpoint */
std::size_t
ImagePaths::FindPlace(uint32_t host, uint32_t endpoint) const
{
    const auto& rails = m_cluster.GetFabric().rails[host];
    return std::find_if(rails.begin(),
                        rails.end(),
                        [&](const auto& device) { return device->GetEndpoint() == endpoint; }) -
           rails.begin();
}

/** @return where a switch sends what is for an endpoint */
ImagePaths::Ends
ImagePaths::GetNext(uint32_t node, uint32_t endpoint) const
{
    const uint32_t index = node - m_cluster.GetFabric().topology.hosts;
    Ends next;
    for (uint16_t port : m_cluster.GetFabric().devicesOfSwitches[index]->GetTable().Get(endpoint))
    {
        next.push_back(m_nodeOfPort[index][port]);
    }
    std::sort(next.begin(), next.end());
    return next;
}

/** @return the images of nodes */
ImagePaths::Ends
ImagePaths::Turn(Ends nodes, uint32_t images) const
{
    for (uint32_t& node : nodes)
    {
        node = m_network.Turn(node, images);
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
}

void
ImagePaths::Refuse(const std::string& reason) const
{
    RefuseImages(reason + " " + m_between);
}

void
ImagePaths::Add(uint32_t rank, uint32_t peer)
{
    if (!m_pairs.emplace(rank, peer).second)
    {
        return;
    }
    const auto pairs = m_cluster.GetTransports().GetPortPairs().GetPortPairs(rank, peer);
    m_between = "between rank " + std::to_string(rank) + " and rank " + std::to_string(peer);
    const auto ports = static_cast<uint32_t>(pairs.size());
    for (uint32_t images = 0; images < m_images.GetCount(); images++)
    {
        // The sum of two ranks says which port their first message takes.
        if ((m_images.Turn(rank, images) + m_images.Turn(peer, images)) % ports !=
            (rank + peer) % ports)
        {
            Refuse("messages begin at different ports");
        }
    }
    m_isChosen = m_isChosen || (ports > 1 && m_cluster.GetOptions().portPairs == "spray");
    for (const PortPair& pair : pairs)
    {
        AddPort(pair, peer);
    }
}

/** Checks the way from a port. */
void
ImagePaths::AddPort(const PortPair& pair, uint32_t peer)
{
    const Fabric& fabric = m_cluster.GetFabric();
    const uint32_t hosts = fabric.topology.hosts;
    const uint32_t images = m_images.GetImage(peer);
    const uint32_t endpoint = pair.remoteEndpoint;
    const uint32_t host = fabric.hostOfEndpoint[endpoint];
    const uint32_t node = GetOtherEnd(pair.localEndpoint);
    const bool isTurned = images > 0 && host != peer;
    if (node < hosts
            ? node != peer || images > 0
            : !m_network.IsSimulated(node) || (isTurned && m_network.Turn(node, images) != node))
    {
        Refuse("replicas share more than switches");
    }
    if (node >= hosts)
    {
        const uint32_t place = FindPlace(host, endpoint);
        Walk(node,
             peer,
             fabric.rails[peer][place]->GetEndpoint(),
             fabric.rails[m_images.GetSimulated(peer)][place]->GetEndpoint(),
             isTurned);
    }
}

/**
 * Follows the paths from a switch on.
 * @param node the switch
 * @param peer the rank that messages are for
 * @param own its endpoint
 * @param simulated endpoint of the simulated rank; the same if it is that
 * @param isTurned whether messages have that address already
 */
void
ImagePaths::Walk(uint32_t node, uint32_t peer, uint32_t own, uint32_t simulated, bool isTurned)
{
    if (!m_walked.emplace(node, own, isTurned).second)
    {
        return;
    }
    const uint32_t images = m_images.GetImage(peer);
    const auto isSimulated = [this](uint32_t each) { return m_network.IsSimulated(each); };
    Ends next = GetNext(node, isTurned ? simulated : own);
    if (!isTurned && own != simulated && m_network.Turn(node, images) == node &&
        std::none_of(next.begin(), next.end(), isSimulated))
    {
        m_turns.push_back({node, own, simulated});
        next = GetNext(node, simulated);
        isTurned = true;
    }
    if (!std::all_of(next.begin(), next.end(), isSimulated) ||
        (isTurned && Turn(next, images) != GetNext(m_network.Turn(node, images), own)))
    {
        Refuse("replicas share more than switches");
    }
    if (next.size() > 1 && !m_sprays)
    {
        Refuse("flows are hashed on paths");
    }
    if (next.size() > 1 && m_followsQueues)
    {
        Refuse("rates follow queues that grow otherwise at each image, on several paths");
    }
    m_isChosen = m_isChosen || next.size() > 1;
    for (uint32_t each : next)
    {
        if (each >= m_cluster.GetTopology().hosts)
        {
            Walk(each, peer, own, simulated, isTurned);
        }
    }
}

void
ImagePaths::Apply() const
{
    const Fabric& fabric = m_cluster.GetFabric();
    for (const auto& [node, own, simulated] : m_turns)
    {
        fabric.devicesOfSwitches[node - fabric.topology.hosts]->Readdress(own, simulated);
    }
}

} // namespace ns3::training
