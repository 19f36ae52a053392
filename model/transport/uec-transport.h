/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_TRANSPORT_H
#define DISTRIBUTED_TRAINING_UEC_TRANSPORT_H

#include "multi-port-transport.h"

#include "ns3/uec-nic.h"

#include <map>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * Messages as tagged sends of Ultra Ethernet, one connection per port pair. A message longer than
 * UEC_MAX_MESSAGE takes several sends. The header data identifies the part of a striped message and
 * says whether another send of the part follows.
 *
 * Connections are numbered like the queue pairs of RdmaTransport: among N ranks the one for port
 * pair i to peer p has number p + i N at every rank.
 */
class UecTransport : public MultiPortTransport
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** @param nics of the rails of this rank's host; call SetPortPairs() or SetGroup() before */
    void SetNics(std::vector<Ptr<UecNic>> nics);

  private:
    /** A port pair in use, and the message being received on it. */
    struct Connection
    {
        Ptr<UecConnection> connection;
        Arriving arriving{}; ///< part being received
    };

    void DoDispose() override;
    void SendOn(uint32_t peer, uint32_t portPair, const Part& part) override;
    Connection& GetConnection(uint32_t peer, uint32_t portPair);
    UecConnection* Accept(uint32_t rail, uint32_t number);
    void Receive(uint32_t peer, uint32_t portPair, const UecMessage& message);

    std::vector<Ptr<UecNic>> m_nics;
    std::map<std::pair<uint32_t, uint32_t>, Connection> m_connections; // by peer and port pair
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_TRANSPORT_H
