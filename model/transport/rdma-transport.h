/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_TRANSPORT_H
#define DISTRIBUTED_TRAINING_RDMA_TRANSPORT_H

#include "multi-port-transport.h"

#include "ns3/rdma-nic.h"

#include <map>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * Messages as RDMA WRITEs with immediate data, one queue pair per connection. The tag travels as
 * the remote address, since NCCL's receiver tells its sender where to write. A message longer than
 * one work request takes several. Only the last one carries immediate data, which identifies the
 * part of a message in parts.
 *
 * Among N ranks the queue pair of connection i to peer p has number 2 + p + i N at every rank. So
 * both sides know each other's number without an exchange, and each side creates its queue pair on
 * the first send or receive.
 */
class RdmaTransport : public MultiPortTransport
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** @param nic of this rank's host, which has one rail; call SetGroup() before */
    void SetNic(Ptr<RdmaNic> nic);

    /** @param nics of the rails of this rank's host; call SetPortPairs() before */
    void SetNics(std::vector<Ptr<RdmaNic>> nics);

  private:
    /** A queue pair in use, and the message being received on it. */
    struct Connection
    {
        Ptr<RdmaQueuePair> queuePair;
        Arriving arriving{}; ///< part being received
    };

    void DoDispose() override;
    void SendOn(uint32_t peer, uint32_t connection, const Part& part) override;
    Connection& GetConnection(uint32_t peer, uint32_t connection);
    RdmaQueuePair* Accept(uint32_t rail, uint32_t number);
    void Receive(uint32_t peer, uint32_t connection, const RdmaMessage& message);

    std::vector<Ptr<RdmaNic>> m_nics;
    std::map<std::pair<uint32_t, uint32_t>, Connection> m_connections; // by peer and number
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_TRANSPORT_H
