/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster-bounds.h"

#include <set>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return bytes of a vector per byte on the line; NICs may send a shorter number format */
double
GetGoodput(const PacketSize& packet, const NicCommunicators& inNics)
{
    const uint32_t bytes = inNics.ranks.empty()
                               ? sizeof(float)
                               : inNics.ranks.front()->GetFormattedBytes(sizeof(float));
    return packet.GetGoodput() / (static_cast<double>(bytes) / sizeof(float));
}

} // namespace

ClusterBounds::ClusterBounds(const TopologyGraph& topology,
                             const PacketSize& packet,
                             const NicHelper& engines,
                             const CodecHelper& codecs,
                             const ClusterCommunicators& communicators)
    : m_topology(topology),
      m_packet(packet),
      m_engines(engines),
      m_codecs(codecs),
      m_communicators(communicators),
      m_plain(topology, communicators.GetRanks(), GetGoodput(packet, communicators.GetInNics()))
{
    if (engines.IsInstalled())
    {
        m_coded.emplace(engines.LimitHosts(topology, packet),
                        communicators.GetRanks(),
                        engines.GetGoodput(packet));
    }
    if (communicators.GetInNetwork().empty())
    {
        return;
    }
    const InNetworkCommunicator& first = *communicators.GetInNetwork().front();
    std::set<CollectiveOperation> operations;
    for (const auto operation : {CollectiveOperation::ALL_REDUCE, CollectiveOperation::REDUCE})
    {
        if (first.IsOffloaded(operation))
        {
            operations.insert(operation);
        }
    }
    m_plain.SetSumsInNetwork(std::move(operations), 1 / first.GetLineShare());
}

double
ClusterBounds::Get(CollectiveOperation operation, uint64_t bytes, const ByteMatrix& matrix) const
{
    return m_codecs.GetLowerBound(m_engines.Codes(operation) ? *m_coded : m_plain,
                                  operation,
                                  bytes,
                                  matrix);
}

LowerBound
ClusterBounds::MakeForGroup(const std::vector<uint32_t>& group,
                            CollectiveOperation operation,
                            bool isJob) const
{
    if (m_engines.Codes(operation) && !(isJob && m_communicators.GetController()))
    {
        return {m_engines.LimitHosts(m_topology, m_packet), group, m_engines.GetGoodput(m_packet)};
    }
    LowerBound bound(m_topology, group, m_packet.GetGoodput());
    const auto& divided = m_communicators.GetInNetworkOf(group);
    if (!divided.empty() || (isJob && m_communicators.GetController()))
    {
        bound.SetSumsInNetwork({CollectiveOperation::ALL_REDUCE},
                               divided.empty() ? 1 : 1 / divided.front()->GetLineShare());
    }
    return bound;
}

} // namespace ns3::training
