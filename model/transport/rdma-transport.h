/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_TRANSPORT_H
#define DISTRIBUTED_TRAINING_RDMA_TRANSPORT_H

#include "message-transport.h"

#include "ns3/rdma-nic.h"

#include <map>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * Messages as RDMA WRITEs with immediate data, one queue pair per peer. The tag travels as the
 * remote address, as NCCL's receiver tells its sender where to write. A message longer than one
 * work request takes several; only the last one carries immediate data.
 *
 * The queue pair for peer p has number 1 + p at every rank, so both sides know each other's number
 * without exchanging it, and a side makes its queue pair when it first sends or receives.
 */
class RdmaTransport : public MessageTransport
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** @param nic of this rank's host; SetGroup() comes first */
    void SetNic(Ptr<RdmaNic> nic);

    void Send(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload) override;

  private:
    /** A message that arrives in several work requests. */
    struct Peer
    {
        Ptr<RdmaQueuePair> queuePair;
        uint64_t received{0};    ///< bytes of the earlier work requests
        Ptr<ByteBuffer> payload; ///< their contents
    };

    void DoDispose() override;
    Peer& GetPeer(uint32_t peer);
    void Receive(uint32_t peer, const RdmaMessage& message);

    Ptr<RdmaNic> m_nic;
    std::map<uint32_t, Peer> m_peers;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_TRANSPORT_H
