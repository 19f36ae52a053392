/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "record/uec-figures.h"

#include "core/record-sum.h"

#include "ns3/uec-nic.h"

#include <cstdio>

namespace ns3::training
{

namespace
{

std::unique_ptr<Figures>
MakeUecFigures(const FiguresRequest& request)
{
    const Cluster& cluster = request.cluster;
    if (cluster.GetNics<UecNic>(0).empty())
    {
        return nullptr;
    }
    UecFigures mine;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        for (const auto& nic : cluster.GetNics<UecNic>(rank))
        {
            for (const auto& [number, connection] : nic->GetConnections())
            {
                const QueuePairCounters counters = connection->GetCounters();
                mine.sentPackets += counters.sentPackets;
                mine.repeatedPackets += counters.retransmittedPackets;
                mine.nacks += counters.receivedNaks;
                mine.timeouts += counters.timeouts;
                mine.duplicatePackets += counters.duplicatePackets;
            }
        }
    }
    const uint64_t images = cluster.GetOptions().images.GetCount();
    mine.sentPackets *= images;
    mine.repeatedPackets *= images;
    mine.nacks *= images;
    mine.timeouts *= images;
    mine.duplicatePackets *= images;
    auto figures =
        std::make_unique<UecFigures>(SumOverProcesses(UecFigures::GetFields(), {mine}).front());
    figures->trimmedPackets = cluster.GetFabric().GetTotal().trimmedFrames;
    return figures;
}

const Registry<FiguresEntry>::Entry g_uec("uec",
                                          {"repetitions of Ultra Ethernet", &MakeUecFigures});

} // namespace

std::vector<RecordField<UecFigures>>
UecFigures::GetFields()
{
    return {
        {"sent_packets", "", "data packets sent, repeated ones included", &UecFigures::sentPackets},
        {"repeated_packets", "", "of these, packets sent again", &UecFigures::repeatedPackets},
        {"trimmed_packets",
         "",
         "packets that switches cut to their header",
         &UecFigures::trimmedPackets},
        {"nacks", "", "NACKs that the senders received", &UecFigures::nacks},
        {"timeouts", "", "packets not acknowledged in time", &UecFigures::timeouts},
        {"duplicate_packets",
         "",
         "packets that had arrived before",
         &UecFigures::duplicatePackets}};
}

JsonValue
UecFigures::ToJson() const
{
    auto json = JsonValue::Object();
    SetMembers(json, GetFields(), *this);
    return json;
}

std::string
UecFigures::Format() const
{
    if (repeatedPackets == 0)
    {
        return "";
    }
    char line[200];
    std::snprintf(line,
                  sizeof(line),
                  "uec: %llu of %llu packets sent again (%.2f %%), %llu trimmed, %llu timeouts\n",
                  static_cast<unsigned long long>(repeatedPackets),
                  static_cast<unsigned long long>(sentPackets),
                  100 * static_cast<double>(repeatedPackets) / static_cast<double>(sentPackets),
                  static_cast<unsigned long long>(trimmedPackets),
                  static_cast<unsigned long long>(timeouts));
    return line;
}

} // namespace ns3::training
