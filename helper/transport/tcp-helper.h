/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TCP_HELPER_H
#define DISTRIBUTED_TRAINING_TCP_HELPER_H

#include "ns3/nstime.h"
#include "ns3/port-pair-table.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-fabric.h"
#include "ns3/type-id.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Installs ns-3's internet stack on a fabric's hosts, and tunes the sockets of TcpTransport like
 * those of a data-center host, see doc/tcp.rst. Defaults set by the user are kept.
 */
class TcpHelper
{
  public:
    TcpHelper();

    /**
     * @param given as for SetCongestionControl()
     * @return the same; for a class of ns-3 of which this module has a corrected one, such as
     *         ns3::TcpBbr, that one: ns3::training::TcpBbr, unless ":original" follows the name
     */
    static std::string GetControl(const std::string& given);

    /**
     * @param given as for SetCongestionControl()
     * @return whether ":original" follows the name
     */
    static bool IsOriginal(const std::string& given);

    /**
     * @param congestionControl TypeId of a TcpCongestionOps, such as ns3::TcpDctcp, optionally with
     *        attributes: ns3::TcpBbr:HighGain=2.8; see also GetControl()
     * @throw ConfigurationError if the name is unknown or a value is wrong
     */
    void SetCongestionControl(const std::string& congestionControl);

    /**
     * @param attributes of TcpL4Protocol, sockets, and the objects in sockets; they override the
     *        tuned ones
     */
    void SetAttributes(const AttributeList& attributes);

    /**
     * Tunes sockets for a network.
     * @param mtu largest IP packet, bytes
     * @param roundTrip of a full packet between the farthest hosts on the idle network
     * @param rate of the fastest host, bit/s
     */
    void SetNetwork(uint32_t mtu, Time roundTrip, uint64_t rate);

    /** @return whether the congestion control, or an attribute of the user, makes sockets use ECN
     */
    bool UsesEcn() const;

    /**
     * @return queue length above which switches should ECN-mark every frame, and below which none,
     *         bytes per Gbit/s of the port: for TcpDctcp that of the DCTCP over RDMA; 0: no
     *         recommendation
     */
    double GetEcnStep() const;

    /**
     * @param fabric whose hosts have no internet stack yet
     * @param hosts number of hosts with a stack: hosts 0 to hosts - 1
     * @param portPairs between the hosts, which route by them if they have several ports
     * @return attributes for the sockets of these hosts, see TcpTransport::SetSocketAttributes()
     * @throw ConfigurationError if sockets with these attributes would not work
     */
    AttributeList Install(const Fabric& fabric,
                          uint32_t hosts,
                          const std::shared_ptr<PortPairTable>& portPairs) const;

  private:
    void Tune(const std::string& name, const AttributeValue& value);
    template <typename Value>
    Value GetOfSockets(const std::string& name) const;
    uint64_t ChooseSendBuffer(uint64_t automatic) const;
    AttributeList GetSocketAttributes(const Object& tcp) const;

    TypeId m_congestionControl;
    AttributeList m_keys;       // of the congestion control
    AttributeList m_tuned;      // of sockets
    AttributeList m_attributes; // given by the user
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TCP_HELPER_H
