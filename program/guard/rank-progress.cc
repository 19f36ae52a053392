/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rank-progress.h"

#include "ns3/background-helper.h"
#include "ns3/tcp-transport.h"

namespace ns3::training
{

namespace
{

/**
 * Adds the connections of ranks.
 * @param connections of a NIC by number; those of the traffic beside the ranks have high numbers
 * @param mtu payload of a packet, bytes
 * @param progress receives them
 */
template <class Connections>
void
AddConnections(const Connections& connections, uint32_t mtu, RankProgress& progress)
{
    for (const auto& [number, connection] : connections)
    {
        if (number < BackgroundHelper::FIRST_CONNECTION)
        {
            const QueuePairCounters counters = connection->GetCounters();
            progress.count += counters.postedMessages + counters.completedMessages +
                              counters.receivedPackets + counters.receivedAcks;
            progress.hasMessages |= counters.postedMessages > counters.completedMessages;
            progress.bytes += static_cast<double>(counters.receivedPackets) * mtu;
        }
    }
}

} // namespace

RankProgress
GetRankProgress(const Cluster& cluster)
{
    RankProgress progress;
    uint64_t sent = 0;
    uint64_t received = 0;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        if (cluster.IsRdma())
        {
            for (const auto& nic : cluster.GetNics(rank))
            {
                AddConnections(nic->GetQueuePairs(), cluster.GetMtu(), progress);
            }
        }
        else if (cluster.GetOptions().IsUec())
        {
            for (const auto& nic : cluster.GetUecNics(rank))
            {
                AddConnections(nic->GetConnections(), cluster.GetMtu(), progress);
            }
        }
        else if (const auto tcp = DynamicCast<TcpTransport>(cluster.GetTransport(rank)))
        {
            sent += tcp->GetSentBytes();
            received += tcp->GetReceivedBytes();
        }
    }
    progress.count += sent + received;
    progress.hasMessages |= sent > received;
    progress.bytes += static_cast<double>(received);
    const InNetworkController* controller = cluster.GetController();
    for (const auto& worker :
         controller ? controller->GetWorkers() : cluster.GetInNetworkCommunicators())
    {
        const InNetworkCounters& counters = worker->GetCounters();
        progress.count += counters.sent + counters.resent + counters.received + counters.duplicates;
        progress.bytes += static_cast<double>(counters.sent) * worker->GetPacketBytes();
    }
    return progress;
}

} // namespace ns3::training
