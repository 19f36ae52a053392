/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-figures.h"

#include "ns3/training-byte-archive.h"
#include "ns3/training-processes.h"
#include "ns3/uec-nic.h"

#include <cstdio>

namespace ns3::training
{

JsonValue
UecFigures::ToJson() const
{
    return JsonValue::Object()
        .Set("sent_packets", sentPackets)
        .Set("repeated_packets", repeatedPackets)
        .Set("trimmed_packets", trimmedPackets)
        .Set("nacks", nacks)
        .Set("timeouts", timeouts)
        .Set("duplicate_packets", duplicatePackets);
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

std::optional<UecFigures>
GetUecFigures(const Cluster& cluster)
{
    if (!cluster.GetOptions().IsUec())
    {
        return std::nullopt;
    }
    UecFigures mine;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        for (const auto& nic : cluster.GetUecNics(rank))
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
    ByteWriter writer;
    writer(mine.sentPackets, mine.repeatedPackets, mine.nacks);
    writer(mine.timeouts, mine.duplicatePackets);
    UecFigures sum;
    sum.trimmedPackets = cluster.GetFabric().GetTotal().trimmedFrames;
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        ByteReader reader(bytes.data(), bytes.size());
        sum.sentPackets += reader.Next<uint64_t>();
        sum.repeatedPackets += reader.Next<uint64_t>();
        sum.nacks += reader.Next<uint64_t>();
        sum.timeouts += reader.Next<uint64_t>();
        sum.duplicatePackets += reader.Next<uint64_t>();
    }
    return sum;
}

} // namespace ns3::training
