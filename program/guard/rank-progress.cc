/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rank-progress.h"

namespace ns3::training
{

RankProgress
GetRankProgress(const Cluster& cluster)
{
    RankProgress progress;
    int64_t open = 0;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        const HostTraffic traffic = cluster.GetTransports().GetTraffic(rank);
        progress.count += traffic.count;
        progress.bytes += traffic.bytes;
        open += traffic.open;
    }
    progress.hasMessages = open > 0;
    const InNetworkController* controller = cluster.GetCommunicators().GetController();
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
