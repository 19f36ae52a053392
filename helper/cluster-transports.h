/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_TRANSPORTS_H
#define DISTRIBUTED_TRAINING_CLUSTER_TRANSPORTS_H

#include "cluster-options.h"
#include "fabric-helper.h"
#include "rdma-helper.h"
#include "tcp-helper.h"
#include "uec-helper.h"

#include "ns3/fabric-port-pairs.h"
#include "ns3/multi-port-transport.h"
#include "ns3/packet-size.h"
#include "ns3/rdma-nic.h"
#include "ns3/shortest-paths.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-fabric.h"
#include "ns3/uec-nic.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The transports of a cluster's hosts: RDMA, Ultra Ethernet or TCP, as ClusterOptions tell. It
 * installs NICs or an internet stack, and numbers the connections, so that those of ranks, storage
 * and background never meet.
 */
class ClusterTransports
{
  public:
    /** What messages are for; each use has connections of its own. */
    enum class Use
    {
        RANKS,
        BACKGROUND,
        STORAGE
    };

    /**
     * @param options of the cluster, with the congestion control resolved; must outlive it
     * @param attributes of the cluster's objects; must outlive it
     */
    ClusterTransports(const ClusterOptions& options, const AttributeList& attributes);

    /** @return size of a full packet */
    PacketSize GetPacketSize() const;

    /** @return whether the congestion control reacts to ECN marks of switches set up by a step */
    bool UsesEcn() const;

    /**
     * @return queue length above which switches should ECN-mark every frame, and below which none,
     *         bytes per Gbit/s of the port; 0: no recommendation
     */
    double GetEcnStep() const;

    /**
     * Chooses the congestion control, and sets attributes of hosts and switches for it.
     * @param fabric creates hosts and switches
     * @param roundTrip of a full packet between the farthest hosts on the idle network
     */
    void SetUp(FabricHelper& fabric, Time roundTrip);

    /**
     * Pairs the ports of hosts. Comes before Install().
     * @param fabric the hosts; must outlive it
     * @param hasBackground whether there is traffic beside that of the ranks
     * @param hosts number of hosts that send or receive
     */
    void PairPorts(const Fabric& fabric, bool hasBackground, uint32_t hosts);

    /**
     * Installs NICs or an internet stack on the hosts given to PairPorts().
     * @param longest path between ranks, maximum of each property
     * @param roundTrip of a full packet between the farthest hosts on the idle network
     * @param gain data per byte on the line, with engines in NICs
     * @throw ConfigurationError if queue pairs do not have enough numbers
     */
    void Install(const ShortestPaths::Path& longest, Time roundTrip, double gain);

    /**
     * Makes the transport of a host. Calls come in the order of hosts.
     * @param host 0, 1, ...
     * @param use RANKS or STORAGE, of which it keeps the transports; or BACKGROUND
     * @return the transport
     */
    Ptr<MultiPortTransport> Make(uint32_t host, Use use);

    /**
     * @param host a host
     * @return its transport of messages between ranks
     */
    Ptr<MultiPortTransport> Get(uint32_t host) const;

    /** Lets all transports forget their messages, and use the next numbers of connections. */
    void Restart();

    /** @return how often Restart() may be called: numbers of connections do not repeat */
    uint64_t GetMostRestarts() const;

    /** @return the pairs of ports between ranks */
    FabricPortPairs& GetPortPairs() const;

    /**
     * @param host a host
     * @return with RDMA, the NIC on each of its ports
     */
    const std::vector<Ptr<RdmaNic>>& GetNics(uint32_t host) const;

    /**
     * @param host a host
     * @return with Ultra Ethernet, the NIC on each of its ports
     */
    const std::vector<Ptr<UecNic>>& GetUecNics(uint32_t host) const;

    /** @return with TCP, attributes of its sockets */
    const AttributeList& GetSocketAttributes() const;

  private:
    static constexpr std::size_t USES = 3;

    uint64_t GetConnections(uint64_t hosts) const;
    uint64_t GetFirstNumber() const;
    uint64_t GetEndOfNumbers() const;
    uint64_t GetNumbersOfRun() const;
    void CheckQueuePairNumbers() const;
    Ptr<MultiPortTransport> MakeConnections(uint32_t host, Use use) const;

    const ClusterOptions& m_options;
    const AttributeList& m_attributes;
    RdmaHelper m_rdma;
    TcpHelper m_tcp;
    UecHelper m_uec;
    const Fabric* m_fabric{nullptr};
    uint32_t m_hosts{0};
    AttributeList m_socketAttributes;                               // with TCP
    std::vector<std::vector<Ptr<RdmaNic>>> m_nics;                  // by host and rail
    std::vector<std::vector<Ptr<UecNic>>> m_uecNics;                // by host and rail
    std::array<std::shared_ptr<FabricPortPairs>, USES> m_portPairs; // null: not used
    std::array<std::vector<Ptr<MultiPortTransport>>, USES> m_transports;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_TRANSPORTS_H
