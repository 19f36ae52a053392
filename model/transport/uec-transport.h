/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_TRANSPORT_H
#define DISTRIBUTED_TRAINING_UEC_TRANSPORT_H

#include "connection-transport.h"

#include "ns3/uec-nic.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * Messages as tagged sends of Ultra Ethernet. A message longer than UEC_MAX_MESSAGE takes several
 * sends. The header data identifies the part of a striped message and says whether another send of
 * the part follows.
 */
class UecTransport : public ConnectionTransport<UecNic, UecConnection>
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    UecTransport();

  private:
    Ptr<UecConnection> CreateConnection(uint32_t peer,
                                        uint32_t number,
                                        const PortPair& way,
                                        uint32_t remoteNumber) override;
    void Post(UecConnection& connection, Message request, bool isLast) override;
    bool IsLast(const Message& request) const override;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_TRANSPORT_H
