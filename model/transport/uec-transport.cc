/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/uec-transport.h"

#include "ns3/log.h"

#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingUecTransport");
NS_OBJECT_ENSURE_REGISTERED(UecTransport);

namespace
{

/// Bit of the header data: another send of the part follows. The lower half is its PartNumber.
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
    : ConnectionTransport(0, UEC_MAX_MESSAGE)
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
UecTransport::Post(UecConnection& connection, Message request, bool isLast)
{
    *request.immediate |= isLast ? 0 : CONTINUES;
    connection.Send(std::move(request));
}

bool
UecTransport::IsLast(const Message& request) const
{
    return !(*request.immediate & CONTINUES);
}

} // namespace ns3::training
