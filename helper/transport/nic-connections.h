/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_CONNECTIONS_H
#define DISTRIBUTED_TRAINING_NIC_CONNECTIONS_H

#include "host-transport.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @tparam TRANSPORT a ConnectionTransport
 * @param attributes of the transport
 * @param end its host and use
 * @param nics of the host
 * @return the transport
 */
template <class TRANSPORT, class NIC>
Ptr<MultiPortTransport>
MakeOnNics(const AttributeList& attributes,
           const TransportEnd& end,
           const std::vector<Ptr<NIC>>& nics)
{
    const auto transport = attributes.Create<TRANSPORT>();
    transport->SetPortPairs(end.host, end.portPairs);
    transport->SetFirst(end.first);
    transport->SetNics(nics);
    return transport;
}

/**
 * @ingroup distributed-training-helper
 * @param nics of a host
 * @param getConnections of a NIC, by number
 * @return the connections of the host
 */
template <class NIC, class F>
std::vector<HostConnection>
ListOnNics(const std::vector<Ptr<NIC>>& nics, const F& getConnections)
{
    constexpr uint64_t MAX_WINDOW = std::numeric_limits<int64_t>::max(); // more: no limit
    std::vector<HostConnection> all;
    for (uint32_t rail = 0; rail < nics.size(); rail++)
    {
        const std::size_t first = all.size();
        for (const auto& [number, connection] : getConnections(*nics[rail]))
        {
            const uint64_t window = connection->GetCongestionControl()->GetWindow();
            all.push_back({rail,
                           number,
                           connection->GetCounters(),
                           window > MAX_WINDOW ? std::nullopt : std::make_optional(window),
                           connection->GetRemote().endpoint});
        }
        std::sort(all.begin() + first, all.end(), [](const auto& one, const auto& other) {
            return one.number < other.number;
        });
    }
    return all;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_CONNECTIONS_H
