/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-transport.h"

#include "ns3/log.h"

#include <optional>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingUecTransport");
NS_OBJECT_ENSURE_REGISTERED(UecTransport);

namespace
{

/// Bit of the header data: another send of the part follows. The lower half is its number.
constexpr uint64_t CONTINUES = uint64_t{1} << 32;

} // namespace

TypeId
UecTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::UecTransport")
                            .SetParent<MultiPortTransport>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<UecTransport>();
    return tid;
}

UecTransport::UecTransport()
    : ConnectionTransport(0)
{
}

Ptr<UecConnection>
UecTransport::CreateConnection(UecNic& nic,
                               uint32_t number,
                               const PortPair& way,
                               uint32_t remoteNumber)
{
    NS_LOG_LOGIC("rank " << m_rank << " makes connection " << number);
    return nic.CreateConnection(number, way.remoteEndpoint, remoteNumber);
}

void
UecTransport::SendOn(uint32_t peer, uint32_t connection, const Part& part)
{
    UecConnection& sender = GetConnection(peer, connection);
    ForEachRequest(part, UEC_MAX_MESSAGE, [&](uint64_t offset, uint64_t bytes, bool isLast) {
        UecMessage message;
        message.tag = part.tag;
        message.bytes = bytes;
        message.payload = part.payload;
        message.payloadOffset = part.offset + offset;
        message.typeOfService = part.typeOfService;
        message.data = GetNumber(part) | (isLast ? 0 : CONTINUES);
        if (isLast)
        {
            message.sent = part.sent;
        }
        sender.Send(std::move(message));
    });
}

void
UecTransport::Receive(uint32_t peer, uint32_t connection, const UecMessage& message)
{
    const bool continues = message.data & CONTINUES;
    ReceiveRequest(peer,
                   connection,
                   message.tag,
                   message.bytes,
                   message.payload,
                   continues ? std::nullopt : std::optional(static_cast<uint32_t>(message.data)));
}

} // namespace ns3::training
