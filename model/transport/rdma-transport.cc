/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-transport.h"

#include "ns3/log.h"
#include "ns3/roce-wire-format.h"

#include <optional>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaTransport");
NS_OBJECT_ENSURE_REGISTERED(RdmaTransport);

TypeId
RdmaTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::RdmaTransport")
                            .SetParent<MultiPortTransport>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<RdmaTransport>();
    return tid;
}

RdmaTransport::RdmaTransport()
    : ConnectionTransport(FIRST_QUEUE_PAIR)
{
}

void
RdmaTransport::RenewPriorities()
{
    ForEachConnection([](RdmaQueuePair& queuePair) { queuePair.RenewPriorities(); });
}

Ptr<RdmaQueuePair>
RdmaTransport::CreateConnection(RdmaNic& nic,
                                uint32_t number,
                                const PortPair& way,
                                uint32_t remoteNumber)
{
    NS_LOG_LOGIC("rank " << m_rank << " makes queue pair " << number);
    return nic.CreateQueuePair(number, way.remoteEndpoint, remoteNumber, way.rate, way.pathRate);
}

void
RdmaTransport::SendOn(uint32_t peer, uint32_t connection, const Part& part)
{
    RdmaQueuePair& queuePair = GetConnection(peer, connection);
    ForEachRequest(part, MAX_REQUEST, [&](uint64_t offset, uint64_t bytes, bool isLast) {
        WorkRequest request;
        request.address = part.tag;
        request.bytes = bytes;
        request.payload = part.payload;
        request.payloadOffset = part.offset + offset;
        request.typeOfService = part.typeOfService;
        if (isLast)
        {
            request.immediate = GetNumber(part);
            request.sent = part.sent;
        }
        queuePair.Write(std::move(request));
    });
}

void
RdmaTransport::Receive(uint32_t peer, uint32_t connection, const RdmaMessage& message)
{
    ReceiveRequest(peer,
                   connection,
                   message.address,
                   message.bytes,
                   message.payload,
                   message.hasImmediate ? std::optional(message.immediate) : std::nullopt);
}

} // namespace ns3::training
