/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "record/network-figures.h"

#include "core/record-sum.h"

#include <memory>

namespace ns3::training
{

namespace
{

const Registry<FiguresEntry>::Entry g_network(
    "network",
    {"frames and packets of the network",
     [](const FiguresRequest& request) -> std::unique_ptr<Figures> {
         return std::make_unique<NetworkFigures>(CountNetwork(request.cluster));
     }});

} // namespace

std::vector<RecordField<NetworkFigures>>
NetworkFigures::GetFields()
{
    using Row = NetworkFigures;
    return {{"sent_frames", "", "sent by all ports", &Row::sentFrames},
            {"lost_frames", "", "lost by links", &Row::lostFrames},
            {"dropped_frames", "", "dropped by switches and hosts", &Row::droppedFrames},
            {"marked_frames", "", "with an ECN mark", &Row::markedFrames},
            {"pause_frames", "", "PFC frames, resumes included", &Row::pauseFrames},
            {"sent_packets", "", "data packets, repeated ones included", &Row::sentPackets},
            {"repeated_packets", "", "of these, packets sent again", &Row::repeatedPackets},
            {"timeouts", "", "of timers of packets", &Row::timeouts}};
}

JsonValue
NetworkFigures::ToJson() const
{
    auto json = JsonValue::Object();
    SetMembers(json, GetFields(), *this);
    if (!countsPackets)
    {
        for (const char* name : {"sent_packets", "repeated_packets", "timeouts"})
        {
            json.Set(name, JsonValue());
        }
    }
    return json;
}

std::string
NetworkFigures::Format() const
{
    if (lostFrames + droppedFrames + repeatedPackets == 0)
    {
        return "";
    }
    return "frames: " + std::to_string(lostFrames) + " of " + std::to_string(sentFrames) +
           " lost by links, " + std::to_string(droppedFrames) + " dropped" +
           (countsPackets
                ? "; " + std::to_string(repeatedPackets) + " of " + std::to_string(sentPackets) +
                      " packets sent again, " + std::to_string(timeouts) + " timeouts"
                : std::string()) +
           "\n";
}

NetworkFigures
CountNetwork(const Cluster& cluster)
{
    NetworkFigures mine;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        for (const HostConnection& connection : cluster.GetTransports().ListConnections(rank))
        {
            const QueuePairCounters counters = connection.counters.value_or(QueuePairCounters());
            mine.sentPackets += counters.sentPackets;
            mine.repeatedPackets += counters.retransmittedPackets;
            mine.timeouts += counters.timeouts;
        }
    }
    for (const auto& worker : cluster.GetInNetworkCommunicators())
    {
        mine.sentPackets += worker->GetCounters().sent + worker->GetCounters().resent;
        mine.repeatedPackets += worker->GetCounters().resent;
    }
    const uint64_t images = cluster.GetOptions().images.GetCount();
    mine.sentPackets *= images;
    mine.repeatedPackets *= images;
    mine.timeouts *= images;
    NetworkFigures sum = SumOverProcesses(NetworkFigures::GetFields(), {mine}).front();
    sum.countsPackets = cluster.GetOptions().GetTransport().countsPackets ||
                        !cluster.GetInNetworkCommunicators().empty();
    const PortCounters total = cluster.GetFabric().GetTotal();
    sum.sentFrames = total.transmittedFrames;
    sum.lostFrames = total.lostFrames;
    sum.droppedFrames = total.droppedFrames;
    sum.markedFrames = total.markedFrames;
    sum.pauseFrames = total.pausesSent;
    return sum;
}

} // namespace ns3::training
