/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_HOST_TRANSPORT_H
#define DISTRIBUTED_TRAINING_UEC_HOST_TRANSPORT_H

#include "host-transport.h"
#include "uec-helper.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Ultra Ethernet, and what runs on its NICs.
 */
class UecHostTransport : public HostTransport
{
  public:
    using HostTransport::HostTransport;

    PacketSize GetPacketSize() const override;
    // Also sets the marks that it needs.
    void SetUp(FabricHelper& fabric, Time roundTrip) override;
    void Install(const TransportHosts& hosts) override;
    Ptr<MultiPortTransport> Make(const TransportEnd& end) override;
    std::vector<HostConnection> ListConnections(uint32_t host,
                                                const MultiPortTransport& messages) const override;

    /** @return an entry without help, for a subclass */
    static TransportEntry Describe();

  protected:
    UecHelper m_helper; ///< installs the NICs

  private:
    std::vector<std::vector<Ptr<UecNic>>> m_nics; // by host and rail
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_HOST_TRANSPORT_H
