/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tcp-figures.h"

#include "ns3/tcp-transport.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"

#include <cstdio>

namespace ns3::training
{

JsonValue
TcpFigures::ToJson() const
{
    return JsonValue::Object()
        .Set("send_buffer_bytes", sendBuffer)
        .Set("waited_s", waitedS)
        .Set("buffer_limited_s", bufferLimitedS);
}

std::string
TcpFigures::Format() const
{
    if (GetLimitedShare() < 0.01)
    {
        return "";
    }
    char percent[20];
    std::snprintf(percent, sizeof(percent), "%.0f", 100 * GetLimitedShare());
    return "the send buffers of TCP (" + FormatBytes(sendBuffer) + ") limited the rate, and not " +
           "congestion control, in " + percent + " % of the time that messages waited\n";
}

std::optional<TcpFigures>
GetTcpFigures(const Cluster& cluster)
{
    if (cluster.GetOptions().transport != "tcp")
    {
        return std::nullopt;
    }
    ByteWriter mine;
    Time waited;
    Time limited;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        const auto transport = DynamicCast<TcpTransport>(cluster.GetTransport(rank));
        waited += transport->GetWaiting().socket;
        limited += transport->GetWaiting().buffer;
    }
    mine(waited, limited);
    TcpFigures sum;
    sum.sendBuffer = cluster.GetSendBuffer();
    for (const std::string& bytes : Processes::Gather(mine.GetText()))
    {
        ByteReader reader(bytes.data(), bytes.size());
        sum.waitedS += reader.Next<Time>().GetSeconds();
        sum.bufferLimitedS += reader.Next<Time>().GetSeconds();
    }
    return sum;
}

} // namespace ns3::training
