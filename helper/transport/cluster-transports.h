/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_TRANSPORTS_H
#define DISTRIBUTED_TRAINING_CLUSTER_TRANSPORTS_H

#include "host-transport.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The messages of a cluster's hosts over the transport that ClusterOptions name. It numbers the
 * connections, so that those of ranks, storage and background never meet.
 */
class ClusterTransports
{
  public:
    /**
     * @param options of the cluster, with the congestion control resolved; must outlive it
     * @param attributes of the cluster's objects; must outlive it
     */
    ClusterTransports(const ClusterOptions& options, const AttributeList& attributes);

    /** @return the transport */
    HostTransport& GetTransport()
    {
        return *m_transport;
    }

    /** @return the transport */
    const HostTransport& GetTransport() const
    {
        return *m_transport;
    }

    /**
     * Pairs the ports of hosts. Comes before Install().
     * @param fabric the hosts; must outlive it
     * @param hasBackground whether there is traffic beside that of the ranks
     * @param hosts number of hosts that send or receive
     */
    void PairPorts(const Fabric& fabric, bool hasBackground, uint32_t hosts);

    /**
     * Installs the transport on the hosts given to PairPorts().
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
    Ptr<MultiPortTransport> Make(uint32_t host, MessageUse use);

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
     * @param priority traffic class of its messages between ranks; none: as without this call
     */
    void SetPriority(uint32_t host, std::optional<uint32_t> priority);

    /** Lets ListConnections() know all connections that ranks open from now on. */
    void WatchConnections() const;

    /**
     * @param host a host
     * @return its connections of all uses, of a rail by number
     */
    std::vector<HostConnection> ListConnections(uint32_t host) const;

    /**
     * @param host a host
     * @return what its connections are sending now
     */
    std::vector<OpenFlow> ListOpenFlows(uint32_t host) const;

    /**
     * @param host a host
     * @param rail its port
     * @param number of a connection
     * @return what keeps its rate down, see HostTransport::DescribeLimit()
     */
    std::string DescribeLimit(uint32_t host, uint32_t rail, uint32_t number) const;

    /**
     * @param host a host
     * @return the traffic of its messages between ranks
     */
    HostTraffic GetTraffic(uint32_t host) const;

  private:
    static constexpr std::size_t USES = 3;

    uint64_t GetConnections(uint64_t hosts) const;
    uint64_t GetEndOfNumbers() const;
    uint64_t GetNumbersOfRun() const;
    void CheckQueuePairNumbers() const;
    uint32_t GetFirst(MessageUse use) const;
    const std::shared_ptr<FabricPortPairs>& GetPortPairs(MessageUse use) const;

    const ClusterOptions& m_options;
    std::unique_ptr<HostTransport> m_transport;
    const Fabric* m_fabric{nullptr};
    uint32_t m_hosts{0};
    std::size_t m_ports{1};                                         // of the host with most
    std::array<std::shared_ptr<FabricPortPairs>, USES> m_portPairs; // null: not used
    std::array<std::vector<Ptr<MultiPortTransport>>, USES> m_transports;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_TRANSPORTS_H
