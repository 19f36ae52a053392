/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_HELPER_H
#define DISTRIBUTED_TRAINING_RDMA_HELPER_H

#include "nic-installer.h"

#include "ns3/attribute.h"
#include "ns3/fabric-helper.h"
#include "ns3/nstime.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/rdma-nic.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Installs an RdmaNic on each port of a fabric's hosts.
 */
class RdmaHelper : public NicInstaller<RdmaNic, CongestionControlEntry>
{
  public:
    RdmaHelper();

    /**
     * @param name attribute of RdmaNic
     * @param value its value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /**
     * @param congestionControl NAME or NAME:key=value,... of a CongestionControlEntry
     * @throw ConfigurationError if the name is unknown or a key is wrong
     */
    void SetCongestionControl(const std::string& congestionControl);

    /**
     * Sets the base round trip of congestion controls, and minimum retransmission timeouts: with a
     * timeout below the round trip, or below the time between two acknowledgements of a flow that
     * shares its line with others, every packet would be sent twice.
     * @param roundTrip of a full packet between the farthest hosts on the idle network
     * @param ackWait longest time that its acknowledgement waits for packets that are being sent
     */
    void SetRoundTrip(Time roundTrip, Time ackWait);

    /**
     * Sets the ECN curve of switches that a key of the congestion control names, unless the user
     * has set their defaults or an attribute.
     * @param fabric creates the switches
     */
    void SetMarking(FabricHelper& fabric) const;

    /**
     * @return a line for each time of the congestion control that is below the round trip of the
     *         idle network, as its flows stand still; and one for an interval without effect
     */
    std::vector<std::string> FindDoubts() const;

    /** @return whether the congestion control reacts to ECN marks */
    bool UsesEcn() const;

    /**
     * @return queue length above which switches should ECN-mark every frame, and below which none,
     *         bytes per Gbit/s of the port; 0: no recommendation
     */
    double GetEcnStep() const;

    /**
     * @param fabric whose hosts have no NICs yet
     * @param hosts number of hosts with NICs: hosts 0 to hosts - 1
     * @return the NICs, by host and rail
     */
    std::vector<std::vector<Ptr<RdmaNic>>> Install(const Fabric& fabric, uint32_t hosts) const;

  private:
    void RaiseTimeouts(RdmaNic& nic, uint64_t rate) const;

    ObjectFactory m_nic;
    Time m_roundTrip;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_HELPER_H
