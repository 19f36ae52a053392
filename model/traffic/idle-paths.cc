/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "idle-paths.h"

#include "ns3/fabric-frame.h"

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

double
IdlePaths::GetTime(uint32_t source, uint32_t destination, uint64_t bytes)
{
    const auto [found, isNew] = m_found.try_emplace(destination);
    if (isNew)
    {
        m_paths.Search(destination);
        found->second = m_paths.GetPaths();
        found->second.resize(m_topology.hosts);
    }
    const ShortestPaths::Path& path = found->second[source];
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
    return delay + (full + more) * path.secondsPerBit +
           (static_cast<double>(packets - 2) * full + last) / static_cast<double>(path.rate);
}

} // namespace ns3::training
