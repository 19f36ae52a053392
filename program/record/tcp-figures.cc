/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "record/tcp-figures.h"

#include "core/record-sum.h"

#include "ns3/tcp-transport.h"
#include "ns3/training-quantity.h"

#include <cstdio>

namespace ns3::training
{

namespace
{

std::unique_ptr<Figures>
MakeTcpFigures(const FiguresRequest& request)
{
    const Cluster& cluster = request.cluster;
    const auto first = DynamicCast<TcpTransport>(cluster.GetTransport(0));
    if (!first)
    {
        return nullptr;
    }
    TcpFigures mine;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        const auto transport = DynamicCast<TcpTransport>(cluster.GetTransport(rank));
        mine.waited += transport->GetWaiting().socket;
        mine.bufferLimited += transport->GetWaiting().buffer;
    }
    auto figures =
        std::make_unique<TcpFigures>(SumOverProcesses(TcpFigures::GetFields(), {mine}).front());
    figures->sendBuffer = first->GetSendBuffer();
    return figures;
}

const Registry<FiguresEntry>::Entry g_tcp("tcp",
                                          {"what limited senders over TCP", &MakeTcpFigures});

} // namespace

std::vector<RecordField<TcpFigures>>
TcpFigures::GetFields()
{
    return {
        {"waited_s", "s", "messages waited for space in sockets", &TcpFigures::waited},
        {"buffer_limited_s", "s", "of this, while the buffer limited", &TcpFigures::bufferLimited}};
}

JsonValue
TcpFigures::ToJson() const
{
    auto json = JsonValue::Object();
    json.Set("send_buffer_bytes", sendBuffer);
    SetMembers(json, GetFields(), *this);
    return json;
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

} // namespace ns3::training
