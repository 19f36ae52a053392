/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-transport.h"

#include "ns3/log.h"
#include "ns3/roce-wire-format.h"

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
    : ConnectionTransport(FIRST_QUEUE_PAIR, MAX_REQUEST)
{
}

void
RdmaTransport::RenewPriorities()
{
    ForEachConnection([](RdmaQueuePair& queuePair) { queuePair.RenewPriorities(); });
}

Ptr<RdmaQueuePair>
RdmaTransport::CreateConnection(uint32_t,
                                uint32_t number,
                                const PortPair& way,
                                uint32_t remoteNumber)
{
    NS_LOG_LOGIC("rank " << m_rank << " makes queue pair " << number);
    return GetNic(way.rail).CreateQueuePair(number,
                                            way.remoteEndpoint,
                                            remoteNumber,
                                            way.rate,
                                            way.pathRate);
}

void
RdmaTransport::Post(RdmaQueuePair& queuePair, Message request, bool isLast)
{
    if (!isLast)
    {
        request.immediate.reset();
    }
    queuePair.Write(std::move(request));
}

bool
RdmaTransport::IsLast(const Message& request) const
{
    return request.immediate.has_value();
}

} // namespace ns3::training
