/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/disjoint-rings.h"

#include "collective/rank-orders.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace ns3::training
{

namespace
{

using Ring = std::vector<uint32_t>;

/** A torus whose edges are partitioned into cycle covers, one per dimension. */
class TorusCovers
{
  public:
    explicit TorusCovers(const std::vector<uint32_t>& sides)
        : m_sides(sides)
    {
        for (uint32_t side : sides)
        {
            m_nodes *= side;
        }
        const auto dimensions = static_cast<uint32_t>(sides.size());
        m_cover.resize(m_nodes * dimensions);
        for (uint32_t i = 0; i < m_cover.size(); i++)
        {
            m_cover[i] = i % dimensions;
        }
        for (uint32_t cover = 0; cover < dimensions; cover++)
        {
            m_cycles.push_back(CountCycles(cover));
        }
    }

    /** Searches for covers that consist of a single cycle each. @return whether they were found */
    bool Search();

    /** @return the cycle of a cover that contains node 0 */
    Ring GetCycle(uint32_t cover) const;

  private:
    /** @return the next node along a dimension, up or down */
    uint32_t GetNeighbor(uint32_t node, uint32_t dimension, bool up) const
    {
        uint32_t stride = 1;
        for (std::size_t i = m_sides.size(); i-- > dimension + 1;)
        {
            stride *= m_sides[i];
        }
        const uint32_t side = m_sides[dimension];
        const uint32_t place = node / stride % side;
        return node + ((place + (up ? 1 : side - 1)) % side) * stride - place * stride;
    }

    /** @return the cover of a node's upward edge along a dimension */
    uint32_t& Edge(uint32_t node, uint32_t dimension)
    {
        return m_cover[node * m_sides.size() + dimension];
    }

    /** @return the two neighbors of a node in a cover */
    std::array<uint32_t, 2> GetNeighbors(uint32_t node, uint32_t cover) const;
    uint32_t CountCycles(uint32_t cover) const;

    std::vector<uint32_t> m_sides;
    uint32_t m_nodes{1};
    std::vector<uint32_t> m_cover;  // per node and dimension, cover of the upward edge
    std::vector<uint32_t> m_cycles; // number of cycles per cover
};

std::array<uint32_t, 2>
TorusCovers::GetNeighbors(uint32_t node, uint32_t cover) const
{
    std::array<uint32_t, 2> found{};
    uint32_t count = 0;
    const auto dimensions = static_cast<uint32_t>(m_sides.size());
    for (uint32_t dimension = 0; dimension < dimensions; dimension++)
    {
        const uint32_t down = GetNeighbor(node, dimension, false);
        if (m_cover[node * dimensions + dimension] == cover)
        {
            found[count++] = GetNeighbor(node, dimension, true);
        }
        if (m_cover[down * dimensions + dimension] == cover)
        {
            found[count++] = down;
        }
    }
    return found;
}

Ring
TorusCovers::GetCycle(uint32_t cover) const
{
    Ring ring{0};
    uint32_t before = 0;
    uint32_t node = GetNeighbors(0, cover)[0];
    while (node != 0)
    {
        ring.push_back(node);
        const auto next = GetNeighbors(node, cover);
        const uint32_t other = next[0] == before ? next[1] : next[0];
        before = node;
        node = other;
    }
    return ring;
}

uint32_t
TorusCovers::CountCycles(uint32_t cover) const
{
    std::vector<bool> seen(m_nodes, false);
    uint32_t cycles = 0;
    for (uint32_t start = 0; start < m_nodes; start++)
    {
        cycles += seen[start] ? 0 : 1;
        for (uint32_t node = start; !seen[node];)
        {
            seen[node] = true;
            const auto next = GetNeighbors(node, cover);
            node = seen[next[0]] ? next[1] : next[0];
        }
    }
    return cycles;
}

bool
TorusCovers::Search()
{
    // Keep an exchange unless it increases the total number of cycles.
    std::mt19937 random(1);
    const auto dimensions = static_cast<uint32_t>(m_sides.size());
    const uint64_t patience = uint64_t{m_nodes} * 1000;
    uint64_t total = std::accumulate(m_cycles.begin(), m_cycles.end(), uint64_t{0});
    for (uint64_t i = 0; i < patience && total > dimensions; i++)
    {
        const uint32_t node = random() % m_nodes;
        const uint32_t p = random() % dimensions;
        const uint32_t q = (p + 1 + random() % (dimensions - 1)) % dimensions;
        const std::array<uint32_t*, 2> along{&Edge(node, p), &Edge(GetNeighbor(node, q, true), p)};
        const std::array<uint32_t*, 2> across{&Edge(node, q), &Edge(GetNeighbor(node, p, true), q)};
        const uint32_t a = *along[0];
        const uint32_t b = *across[0];
        if (a == b || *along[1] != a || *across[1] != b)
        {
            continue;
        }
        const auto paint = [&](uint32_t first, uint32_t second) {
            *along[0] = *along[1] = first;
            *across[0] = *across[1] = second;
        };
        paint(b, a);
        const uint32_t cyclesA = CountCycles(a);
        const uint32_t cyclesB = CountCycles(b);
        if (cyclesA + cyclesB > m_cycles[a] + m_cycles[b])
        {
            paint(a, b);
            continue;
        }
        total -= m_cycles[a] + m_cycles[b] - cyclesA - cyclesB;
        m_cycles[a] = cyclesA;
        m_cycles[b] = cyclesB;
    }
    return total == dimensions;
}

/**
 * Walecki's cycles of a full mesh (Alspach, "The wonderful Walecki construction", 2008): a zigzag
 * through an even number of nodes, closed through one more node, and rotated. If one node remains,
 * it is inserted into the diameter edge of each cycle.
 */
std::vector<Ring>
GetFullMeshCycles(uint32_t nodes)
{
    const uint32_t half = (nodes - 1) / 2;
    const uint32_t hub = 2 * half;
    std::vector<Ring> cycles;
    for (uint32_t turn = 0; turn < half; turn++)
    {
        Ring ring{hub};
        for (uint32_t i = 0; i < hub; i++)
        {
            const uint32_t zigzag = i % 2 == 1 ? (i + 1) / 2 : hub - i / 2;
            const uint32_t node = (zigzag + turn) % hub;
            if (nodes % 2 == 0 && i > 0 && (ring.back() + half) % hub == node)
            {
                ring.push_back(nodes - 1);
            }
            ring.push_back(node);
        }
        cycles.push_back(ring);
    }
    return cycles;
}

/**
 * Ring g enters a server by NIC g and leaves it by NIC g + 1, reversed in every second server. If
 * the number of servers is odd, it enters the last server by NIC g + 2 where possible.
 */
std::vector<Ring>
GetServerRings(uint32_t gpus, uint32_t servers)
{
    std::vector<Ring> rings(gpus);
    for (uint32_t g = 0; g < gpus; g++)
    {
        const auto getEntry = [&](uint32_t server) {
            const bool isOddOne = server + 1 == servers && servers % 2 == 1 && gpus > 2;
            return (g + (isOddOne ? 2 : server % 2)) % gpus;
        };
        for (uint32_t server = 0; server < servers; server++)
        {
            const uint32_t entry = getEntry(server);
            const uint32_t exit = getEntry((server + 1) % servers);
            rings[g].push_back(server * gpus + entry);
            for (uint32_t i = 1; i < gpus; i++)
            {
                if ((entry + i) % gpus != exit)
                {
                    rings[g].push_back(server * gpus + (entry + i) % gpus);
                }
            }
            if (exit != entry)
            {
                rings[g].push_back(server * gpus + exit);
            }
        }
    }
    return rings;
}

/** Adds the reverse of each ring. */
std::vector<Ring>
AddReversedRings(std::vector<Ring> rings)
{
    const std::size_t count = rings.size();
    for (std::size_t i = 0; i < count; i++)
    {
        rings.emplace_back(rings[i].rbegin(), rings[i].rend());
    }
    return rings;
}

/** @return whether every two of these hosts share a link */
bool
AreJoined(const TopologyGraph& topology, const std::vector<uint32_t>& hosts)
{
    const std::set<uint32_t> members(hosts.begin(), hosts.end());
    std::set<std::pair<uint32_t, uint32_t>> pairs;
    for (const auto& link : topology.links)
    {
        if (members.count(link.a) > 0 && members.count(link.b) > 0)
        {
            pairs.insert(std::minmax(link.a, link.b));
        }
    }
    return pairs.size() == members.size() * (members.size() - 1) / 2;
}

} // namespace

std::vector<Ring>
FindTorusCycles(const std::vector<uint32_t>& sides)
{
    TorusCovers covers(sides);
    std::vector<Ring> cycles;
    if (covers.Search())
    {
        for (uint32_t i = 0; i < sides.size(); i++)
        {
            cycles.push_back(covers.GetCycle(i));
        }
    }
    return cycles;
}

std::vector<Ring>
GetDisjointRings(const TopologyGraph& topology)
{
    const TopologyShape& shape = topology.shape;
    std::vector<Ring> rings;
    if (topology.hosts > 2 && !shape.sides.empty())
    {
        std::vector<uint32_t> sides;
        std::copy_if(shape.sides.begin(),
                     shape.sides.end(),
                     std::back_inserter(sides),
                     [](uint32_t side) { return side > 1; });
        if (shape.wraps && *std::min_element(sides.begin(), sides.end()) > 2)
        {
            rings = AddReversedRings(FindTorusCycles(sides));
        }
        const GridWalk walk = WalkGrid(sides, shape.wraps);
        if (rings.empty() && walk.closed)
        {
            rings = AddReversedRings({walk.nodes});
        }
    }
    else if (topology.hosts > 2 && shape.fullMesh)
    {
        rings = AddReversedRings(GetFullMeshCycles(topology.hosts));
    }
    else if (shape.rails)
    {
        rings = GetServerRings(shape.groupSize, topology.hosts / shape.groupSize);
    }
    if (rings.empty() && (!shape.sides.empty() || shape.bipartite))
    {
        rings.push_back(GetRingOrder(topology));
    }
    else if (rings.empty())
    {
        rings.emplace_back(topology.hosts);
        std::iota(rings[0].begin(), rings[0].end(), 0);
    }
    return rings;
}

std::vector<Ring>
GetBalancedRings(const TopologyGraph& topology)
{
    const TopologyShape& shape = topology.shape;
    return shape.hostsPerNic > 1 ? GetServerRings(shape.groupSize, topology.hosts / shape.groupSize)
                                 : GetDisjointRings(topology);
}

std::vector<Ring>
GetLocalRings(const TopologyGraph& topology, const std::vector<uint32_t>& hosts, bool balanced)
{
    constexpr uint32_t UNFILLED = 4;
    const TopologyShape& shape = topology.shape;
    const uint32_t perServer = shape.GetHostsPerServer();
    const auto size = static_cast<uint32_t>(hosts.size());
    if (size < 3)
    {
        return {}; // any ring is the same
    }
    const bool isServer =
        shape.serverGroups && std::all_of(hosts.begin(), hosts.end(), [&](uint32_t host) {
            return host / perServer == hosts.front() / perServer;
        });
    const bool isMesh = shape.fullMesh || (isServer && topology.scaleUpSwitches.empty() &&
                                           AreJoined(topology, hosts));
    std::vector<Ring> rings;
    if (isMesh)
    {
        rings = AddReversedRings(balanced && size == UNFILLED
                                     ? std::vector<Ring>{{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}}
                                     : GetFullMeshCycles(size));
    }
    else if (isServer && (shape.rails || shape.hostsPerNic > 1))
    {
        const auto local = GetServerRings(size, 1);
        for (uint32_t rail = 0; rail < perServer; rail++)
        {
            rings.push_back(local[rail % size]);
        }
    }
    for (Ring& ring : rings)
    {
        for (uint32_t& place : ring)
        {
            place = hosts[place];
        }
    }
    return rings;
}

} // namespace ns3::training
