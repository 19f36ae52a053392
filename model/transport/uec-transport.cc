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
UecTransport::CreateConnection(uint32_t peer,
                               uint32_t number,
                               const PortPair& way,
                               uint32_t remoteNumber)
{
    NS_LOG_LOGIC("rank " << m_rank << " makes connection " << number);
    std::vector<UecPortPair> ports;
    for (const PortPair& pair : GetSprayed(peer))
    {
        ports.push_back({&GetNic(pair.rail), pair.remoteEndpoint});
    }
    return GetNic(way.rail).CreateConnection(number, way.remoteEndpoint, remoteNumber, ports);
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
