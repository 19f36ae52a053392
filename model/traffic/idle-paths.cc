/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "idle-paths.h"

#include "ns3/fabric-frame.h"

#include <algorithm>
#include <numeric>

namespace ns3::training
{

IdlePaths::IdlePaths(const TopologyGraph& topology,
                     const PacketSize& packet,
                     Time pipelineDelay,
                     const FlowHeaders& headers)
    : m_topology(topology),
      m_packet(packet),
      m_headers(headers),
      m_pipelineDelay(pipelineDelay.GetSeconds()),
      m_paths(m_topology)
{
}

const ShortestPaths::Path&
IdlePaths::FindPath(uint32_t source, uint32_t destination)
{
    const auto [found, isNew] = m_found.try_emplace(destination);
    if (isNew)
    {
        m_paths.Search(destination);
        found->second = m_paths.GetPaths();
    }
    return found->second[source];
}

double
IdlePaths::GetAcknowledgedTime(uint32_t source,
                               uint32_t destination,
                               uint64_t bytes,
                               uint32_t ackBytes)
{
    const ShortestPaths::Path& path = FindPath(source, destination);
    FollowRoute(source, destination);
    const double full = 8.0 * (m_packet.payload + m_packet.headers);
    const double roundTrip = 2 * path.delay.GetSeconds() + 2 * (path.links - 1) * m_pipelineDelay +
                             (full + 8.0 * ackBytes) * path.secondsPerBit;
    const uint64_t packets = (bytes + m_packet.payload - 1) / m_packet.payload;
    const uint64_t onLine = bytes + packets * m_packet.headers + m_headers.first;
    return roundTrip +
           8.0 * static_cast<double>(onLine) * *std::max_element(m_links.begin(), m_links.end());
}

double
IdlePaths::GetTime(uint32_t source, uint32_t destination, uint64_t bytes)
{
    const ShortestPaths::Path& path = FindPath(source, destination);
    const uint64_t packets = (bytes + m_packet.payload - 1) / m_packet.payload;
    const uint64_t rest = bytes - (packets - 1) * m_packet.payload;
    const auto getPad = [this](uint64_t payload) {
        return (m_headers.multiple - payload % m_headers.multiple) % m_headers.multiple;
    };
    // The headers of a full packet include its padding.
    const double full = 8.0 * (m_packet.payload + m_packet.headers);
    const double last = 8.0 * static_cast<double>(rest + getPad(rest) + m_packet.headers -
                                                  getPad(m_packet.payload));
    const double more = 8.0 * m_headers.first;
    const double gap = 8.0 * Frame::GAP_BYTES; // a frame arrives before it
    const double delay =
        path.delay.GetSeconds() + (path.links - 1) * m_pipelineDelay - gap * path.secondsPerBit;
    if (packets == 1)
    {
        return delay + (last + more) * path.secondsPerBit;
    }
    FollowRoute(source, destination);
    return delay + GetTransmission({full + more, full, last, packets});
}

void
IdlePaths::FollowRoute(uint32_t source, uint32_t destination)
{
    const std::vector<ShortestPaths::Path>& paths = m_found.at(destination);
    m_links.clear();
    for (uint32_t node = source; node != destination;)
    {
        const auto& link = m_topology.links[paths[node].first];
        m_links.push_back(1 / static_cast<double>(link.rate.GetBitRate()));
        node = TopologyGraph::GetPeer(link, node);
    }
}

double
IdlePaths::GetTransmission(const Bits& bits) const
{
    double longest = 0;
    double before = 0; // first packet, up to link c
    for (std::size_t c = 0; c < m_links.size(); c++)
    {
        before += bits.first * m_links[c];
        double after = bits.last * std::accumulate(m_links.begin() + c, m_links.end(), 0.0);
        if (bits.packets == 2)
        {
            longest = std::max(longest, before + after);
            continue;
        }
        double between = 0;
        double slowest = 0;
        for (std::size_t k = c; k < m_links.size(); k++)
        {
            between += bits.full * m_links[k];
            slowest = std::max(slowest, m_links[k]);
            const double more = static_cast<double>(bits.packets - 3) * bits.full * slowest;
            longest = std::max(longest, before + between + more + after);
            after -= bits.last * m_links[k];
        }
    }
    return longest;
}

} // namespace ns3::training
