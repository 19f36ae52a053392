/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_HELPER_H
#define DISTRIBUTED_TRAINING_UEC_HELPER_H

#include "nic-installer.h"

#include "ns3/fabric-helper.h"
#include "ns3/nstime.h"
#include "ns3/uec-congestion-control.h"
#include "ns3/uec-nic.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Installs a UecNic on each port of a fabric's hosts, and sets up switches for it.
 */
class UecHelper : public NicInstaller<UecNic, UecCongestionControlEntry>
{
  public:
    UecHelper();

    /**
     * @param congestionControl NAME or NAME:key=value,... of a UecCongestionControlEntry
     * @throw ConfigurationError if the name is unknown or a key is wrong
     */
    void SetCongestionControl(const std::string& congestionControl);

    /**
     * Chooses Multipath Reliable Connection as the protocol, in place of Ultra Ethernet. Call
     * before SetCongestionControl().
     * @param hasRoutes whether packets carry their route (SRv6)
     */
    void UseMrc(bool hasRoutes);

    /** One NIC of each host has the connections of all, which spray over its ports. */
    void SprayOverPorts();

    /**
     * @param mtu payload of a full packet, bytes
     * @param roundTrip longest round trip on the idle network
     */
    void SetNetwork(uint32_t mtu, Time roundTrip);

    /**
     * Sets up switches as in the reference simulator: queues of one bandwidth-delay product (of
     * the port and the longest round trip), above which packets of the data's class are trimmed,
     * and marks from 20 % to 80 % of it; with credits, no marks on links to hosts. Attributes that
     * the user has set stay.
     * @param fabric the fabric to be installed
     */
    void SetSwitches(FabricHelper& fabric) const;

    /**
     * @param fabric the fabric
     * @param hosts number of hosts, the first ones of the fabric
     * @return the NICs by host and rail
     * @throw ConfigurationError if attributes are inconsistent
     */
    std::vector<std::vector<Ptr<UecNic>>> Install(const Fabric& fabric, uint32_t hosts) const;

  private:
    bool IsTrimming() const;

    uint32_t m_mtu{0};
    bool m_isMrc{false};
    bool m_hasRoutes{false};
    bool m_sprays{false};
    Time m_roundTrip;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_HELPER_H
