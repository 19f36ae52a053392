/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/network-images.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ns3::training
{

namespace
{

/// Value in place of a node: none is known yet, or a host without a rank.
constexpr uint32_t NOWHERE = UINT32_MAX;

/** @return what distinguishes a link */
auto
Describe(const TopologyGraph::Link& link)
{
    return std::make_tuple(link.rate.GetBitRate(),
                           link.delay.GetTimeStep(),
                           link.cost,
                           link.loss,
                           link.internal);
}

} // namespace

NetworkImages::NetworkImages(const TopologyGraph& topology,
                             uint32_t ranks,
                             const RankImages& images)
    : m_topology(topology),
      m_ranks(ranks),
      m_images(images),
      m_linksOf(topology.GetNodes())
{
    for (uint32_t link = 0; link < topology.links.size(); link++)
    {
        m_linksOf[topology.links[link].a].push_back(link);
        m_linksOf[topology.links[link].b].push_back(link);
    }
    m_next = FindMap([this](uint32_t rank) { return m_images.Turn(rank, 1); });
    // All other shifts follow from one within rows, and one of rows.
    m_nextRow = m_next;
    if (m_images.GetRow() < m_images.GetCount() && m_obstacle.empty())
    {
        m_nextRow =
            FindMap([this](uint32_t rank) { return m_images.Turn(rank, m_images.GetRow()); });
    }
    if (m_obstacle.empty())
    {
        FindSimulated();
    }
}

/** @return the image of each node, if ranks turn so */
NetworkImages::Map
NetworkImages::FindMap(const std::function<uint32_t(uint32_t)>& turn)
{
    Map map(m_topology.GetNodes(), NOWHERE);
    Map nodeOf(m_topology.GetNodes(), NOWHERE); // the other way
    Map queue;
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        map[rank] = turn(rank);
        nodeOf[map[rank]] = rank;
        queue.push_back(rank);
    }
    for (std::size_t i = 0; i < queue.size(); i++)
    {
        const uint32_t node = queue[i];
        if (!AddPeers(node, map[node], map, nodeOf, queue))
        {
            m_obstacle = "the links of " + m_topology.GetName(map[node]) +
                         " are no images of those of " + m_topology.GetName(node);
            return {};
        }
    }
    const auto unequal = std::find_if(queue.begin(), queue.end(), [&](uint32_t node) {
        return !IsEqual(node, map);
    });
    if (unequal != queue.end())
    {
        m_obstacle =
            m_topology.GetName(map[*unequal]) + " is no image of " + m_topology.GetName(*unequal);
        return {};
    }
    for (uint32_t node = 0; node < map.size(); node++)
    {
        map[node] = map[node] == NOWHERE ? node : map[node];
    }
    return map;
}

/**
 * Maps the switches at the links of a node: those that have no image yet on those that are none
 * yet, in their order. IsEqual() checks the result.
 */
bool
NetworkImages::AddPeers(uint32_t node, uint32_t image, Map& map, Map& nodeOf, Map& queue) const
{
    const auto list = [&](uint32_t of, const Map& known) {
        std::vector<uint32_t> peers;
        for (uint32_t link : m_linksOf[of])
        {
            const uint32_t peer = TopologyGraph::GetPeer(m_topology.links[link], of);
            const bool isNew = peer >= m_topology.hosts && known[peer] == NOWHERE &&
                               std::find(peers.begin(), peers.end(), peer) == peers.end();
            if (of < m_topology.hosts || isNew) // ports of ranks are images in their order
            {
                peers.push_back(peer);
            }
        }
        return peers;
    };
    const auto peers = list(node, map);
    const auto peersOfImage = list(image, nodeOf);
    if (peers.size() != peersOfImage.size() || m_linksOf[node].size() != m_linksOf[image].size())
    {
        return false;
    }
    for (std::size_t i = 0; node < m_topology.hosts && i < peers.size(); i++)
    {
        // Parallel links may differ, too.
        if (Describe(m_topology.links[m_linksOf[node][i]]) !=
            Describe(m_topology.links[m_linksOf[image][i]]))
        {
            return false;
        }
    }
    for (std::size_t i = 0; i < peers.size(); i++)
    {
        uint32_t& imageOfPeer = map[peers[i]];
        if (imageOfPeer == NOWHERE && nodeOf[peersOfImage[i]] == NOWHERE &&
            std::min(peers[i], peersOfImage[i]) >= m_topology.hosts)
        {
            imageOfPeer = peersOfImage[i];
            nodeOf[imageOfPeer] = peers[i];
            queue.push_back(peers[i]);
        }
        if (imageOfPeer != peersOfImage[i])
        {
            return false;
        }
    }
    return true;
}

/** @return whether the links of a node lead to the same as those of its image */
bool
NetworkImages::IsEqual(uint32_t node, const Map& map) const
{
    using End = std::pair<decltype(Describe(m_topology.links[0])), uint32_t>;
    const auto list = [&](uint32_t of, bool isTurned) {
        std::vector<End> ends;
        for (uint32_t number : m_linksOf[of])
        {
            const auto& link = m_topology.links[number];
            const uint32_t peer = TopologyGraph::GetPeer(link, of);
            const bool isUsed = peer < m_ranks || peer >= m_topology.hosts;
            ends.emplace_back(Describe(link), !isUsed ? NOWHERE : isTurned ? map[peer] : peer);
        }
        std::sort(ends.begin(), ends.end());
        return ends;
    };
    return list(node, true) == list(map[node], false) &&
           m_topology.IsScaleUpSwitch(node) == m_topology.IsScaleUpSwitch(map[node]);
}

/** Finds what the links of image 0 reach first. */
void
NetworkImages::FindSimulated()
{
    m_simulated.assign(m_topology.GetNodes(), NOWHERE);
    Map queue;
    const auto add = [&](uint32_t node) {
        if (m_simulated[node] != NOWHERE)
        {
            return;
        }
        queue.push_back(node);
        Map images{node};
        for (m_simulated[node] = node; !images.empty();)
        {
            const uint32_t image = images.back();
            images.pop_back();
            for (uint32_t next : {m_next[image], m_nextRow[image]})
            {
                if (m_simulated[next] == NOWHERE)
                {
                    m_simulated[next] = node;
                    images.push_back(next);
                }
            }
        }
    };
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        if (m_images.GetImage(rank) == 0)
        {
            add(rank);
        }
    }
    for (std::size_t i = 0; i < queue.size(); i++)
    {
        for (uint32_t link : m_linksOf[queue[i]])
        {
            add(TopologyGraph::GetPeer(m_topology.links[link], queue[i]));
        }
    }
}

uint32_t
NetworkImages::Turn(uint32_t node, uint32_t images) const
{
    for (uint32_t place = 0; place < images % m_images.GetRow(); place++)
    {
        node = m_next[node];
    }
    for (uint32_t row = 0; row < images / m_images.GetRow(); row++)
    {
        node = m_nextRow[node];
    }
    return node;
}

uint32_t
NetworkImages::GetUsers(uint32_t node) const
{
    uint32_t users = 0;
    for (uint32_t image = 0; image < m_images.GetCount(); image++)
    {
        users += Turn(node, image) == node;
    }
    return users;
}

std::set<std::pair<uint32_t, bool>>
NetworkImages::GetImages(uint32_t link) const
{
    const uint32_t a = m_topology.links[link].a;
    const uint32_t b = m_topology.links[link].b;
    const auto list = [this](uint32_t one, uint32_t other) {
        const bool hasFewer = m_linksOf[one].size() < m_linksOf[other].size();
        const auto [from, to] = hasFewer ? std::pair(one, other) : std::pair(other, one);
        std::vector<uint32_t> between; // links between two nodes, in their order
        for (uint32_t each : m_linksOf[from])
        {
            if (TopologyGraph::GetPeer(m_topology.links[each], from) == to)
            {
                between.push_back(each);
            }
        }
        return between;
    };
    const auto own = list(a, b);
    const auto place = std::find(own.begin(), own.end(), link) - own.begin();
    std::set<std::pair<uint32_t, bool>> found;
    for (uint32_t turns = 1; turns < m_images.GetCount(); turns++)
    {
        const uint32_t image = list(Turn(a, turns), Turn(b, turns))[place];
        if (image != link)
        {
            found.emplace(image, m_topology.links[image].a != Turn(a, turns));
        }
    }
    return found;
}

void
RefuseImages(const std::string& reason)
{
    throw ConfigurationError("replicas", "derive", " as " + reason + " (allowed: simulate)");
}

} // namespace ns3::training
