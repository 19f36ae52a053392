/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_TRANSPORT_H
#define DISTRIBUTED_TRAINING_HOST_TRANSPORT_H

#include "ns3/fabric-helper.h"
#include "ns3/lane-table.h"
#include "ns3/nstime.h"
#include "ns3/rdma-nic.h"
#include "ns3/shortest-paths.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What is installed below the transport of each rank's host: NICs, or an internet stack.
 */
struct HostTransport
{
    /// IPv4 and TCP headers with the timestamp option.
    static constexpr uint32_t TCP_IP_BYTES = 20 + 20 + 12;

    const Fabric& fabric;
    uint32_t ranks;                ///< on hosts 0 to ranks - 1
    std::string congestionControl; ///< a CongestionControlEntry, or a TypeId of TCP's
    uint32_t mtu;                  ///< bytes: RDMA payload or IP packet
    Time roundTrip;                ///< of a full packet between the farthest ranks, idle
    ShortestPaths::Path longest;   ///< between ranks, the highest of each
};

/**
 * Sets the thresholds for ECN that a congestion control of RDMA asks for, unless the user has.
 * @param helper of the switches
 * @param congestionControl its name
 * @throw ConfigurationError if there is none of that name
 */
void SetMarking(FabricHelper& helper, const std::string& congestionControl);

/**
 * Installs a NIC behind each port of each rank's host.
 * @param transport where, and of what kind
 * @param recovery what is sent again after a loss: a LossRecoveryEntry
 * @return the NICs, by rank and rail
 */
std::vector<std::vector<Ptr<RdmaNic>>> InstallRdma(const HostTransport& transport,
                                                   const std::string& recovery);

/**
 * Installs an internet stack on each rank's host. ns3::TcpSocket and its kin are tuned as a
 * data-center host is, unless the user has set the attribute (see doc/).
 * @param transport where, and of what kind
 * @param lanes between the ranks, which hosts with several ports route by
 * @throw ConfigurationError if the congestion control is none of TCP's
 */
void InstallTcp(const HostTransport& transport, std::shared_ptr<LaneTable> lanes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_TRANSPORT_H
