/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_TRANSPORT_H
#define DISTRIBUTED_TRAINING_RDMA_TRANSPORT_H

#include "connection-transport.h"

#include "ns3/rdma-nic.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * Messages as RDMA WRITEs with immediate data over queue pairs. The tag travels as the remote
 * address, since NCCL's receiver tells its sender where to write. A message longer than one work
 * request takes several. Only the last one carries immediate data, which identifies the part of a
 * message in parts.
 */
class RdmaTransport : public ConnectionTransport<RdmaNic, RdmaQueuePair>
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    RdmaTransport();

    /** Its queue pairs take the present traffic classes, see RdmaQueuePair::RenewPriorities(). */
    void RenewPriorities();

  private:
    Ptr<RdmaQueuePair> CreateConnection(uint32_t peer,
                                        uint32_t number,
                                        const PortPair& way,
                                        uint32_t remoteNumber) override;
    void Post(RdmaQueuePair& queuePair, Message request, bool isLast) override;
    bool IsLast(const Message& request) const override;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_TRANSPORT_H
