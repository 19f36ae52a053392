/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_TRANSPORT_H
#define DISTRIBUTED_TRAINING_HOST_TRANSPORT_H

#include "transport-entry.h"

#include "ns3/cluster-options.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-port-pairs.h"
#include "ns3/idle-paths.h"
#include "ns3/multi-port-transport.h"
#include "ns3/packet-size.h"
#include "ns3/rdma-queue-pair-counters.h"
#include "ns3/shortest-paths.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-fabric.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/** What messages are for; each use has connections of its own. @ingroup distributed-training-helper
 */
enum class MessageUse
{
    RANKS,
    BACKGROUND,
    STORAGE
};

/**
 * @ingroup distributed-training-helper
 * The hosts that a transport is installed on.
 */
struct TransportHosts
{
    const Fabric& fabric;                       ///< outlives the transport
    uint32_t count;                             ///< hosts 0 to count - 1 send and receive
    std::shared_ptr<FabricPortPairs> portPairs; ///< between the hosts of the largest use
    ShortestPaths::Path longest;                ///< path between ranks, maximum of each property
    Time roundTrip; ///< of a full packet between the farthest hosts on the idle network
    double gain;    ///< data per byte on the line, with engines in NICs
};

/**
 * @ingroup distributed-training-helper
 * A host with messages of one use.
 */
struct TransportEnd
{
    uint32_t host;                              ///< 0, 1, ...
    MessageUse use;                             ///< of the messages
    std::shared_ptr<FabricPortPairs> portPairs; ///< between the hosts of the use
    uint32_t first;                             ///< number of its first connection
};

/**
 * @ingroup distributed-training-helper
 * The numbers of a transport's connections.
 */
struct ConnectionNumbers
{
    uint64_t first{0};        ///< lowest number
    uint64_t end{1ULL << 24}; ///< behind the highest number
    uint64_t ofRun{0};        ///< taken by a run, one for each use; 0: one for each connection
};

/**
 * @ingroup distributed-training-helper
 * What a host's end of a connection has done.
 */
struct HostConnection
{
    uint32_t rail;                             ///< port of the host
    uint32_t number;                           ///< of the connection
    std::optional<QueuePairCounters> counters; ///< of its packets; none: not counted
    std::optional<uint64_t> window;            ///< of its congestion control, bytes; none: no limit
    uint32_t remote;                           ///< endpoint of the other side
};

/**
 * @ingroup distributed-training-helper
 * A connection with a message on its way.
 */
struct OpenFlow
{
    uint32_t rail;                  ///< port of the host
    uint32_t number;                ///< of the connection
    uint32_t remote;                ///< endpoint of the other side
    uint64_t completed;             ///< messages before this one; 0 if they are not counted
    uint64_t bytes;                 ///< payload sent or acknowledged so far, about
    std::optional<uint64_t> window; ///< of its congestion control, bytes; none: no limit
};

/**
 * @ingroup distributed-training-helper
 * The traffic of a host's messages between ranks.
 */
struct HostTraffic
{
    uint64_t count{0}; ///< grows with each message and packet
    int64_t open{0};   ///< over all hosts: above 0 while a message is on its way
    double bytes{0};   ///< payload received; packets count as full ones
};

/**
 * @ingroup distributed-training-helper
 *
 * The transport of a cluster's hosts, as ClusterOptions tell. A cluster calls SetUp() before the
 * switches are made, then Install() once, then Make() for each host and use.
 */
class HostTransport
{
  public:
    /**
     * @param options of the cluster, with the congestion control resolved; outlive it
     * @param attributes of the cluster's objects; outlive it
     */
    HostTransport(const ClusterOptions& options, const AttributeList& attributes);
    virtual ~HostTransport();

    /** @return size of a full packet */
    virtual PacketSize GetPacketSize() const = 0;

    /** @return what a flow adds to the headers of its packets */
    virtual FlowHeaders GetFlowHeaders() const;

    /** @return whether the congestion control reacts to ECN marks of switches set up by a step */
    virtual bool UsesEcn() const;

    /**
     * @return queue length above which switches should ECN-mark every frame, and below which none,
     *         bytes per Gbit/s of the port; 0: no recommendation
     */
    virtual double GetEcnStep() const;

    /** @return bytes of a segment of its sockets, which engines in NICs see whole; 0: no sockets */
    virtual uint64_t GetSegmentBytes() const;

    /** @return the numbers of its connections */
    virtual ConnectionNumbers GetNumbers() const;

    /**
     * Chooses the congestion control, and sets attributes of hosts and switches for it.
     * @param fabric creates hosts and switches
     * @param roundTrip of a full packet between the farthest hosts on the idle network
     * @throw ConfigurationError if the congestion control is unknown or has wrong keys
     */
    virtual void SetUp(FabricHelper& fabric, Time roundTrip);

    /** @param hosts that receive NICs or an internet stack */
    virtual void Install(const TransportHosts& hosts) = 0;

    /**
     * @param end a host and a use
     * @return the transport of its messages
     */
    virtual Ptr<MultiPortTransport> Make(const TransportEnd& end) = 0;

    /**
     * Sets the traffic class of messages from now on.
     * @param host a host
     * @param priority its class; none: as without this call
     * @param messages of the host between ranks
     */
    virtual void SetPriority(uint32_t host,
                             std::optional<uint32_t> priority,
                             MultiPortTransport& messages);

    /** @param messages of a host between ranks, whose connections will be listed for samples */
    virtual void WatchConnections(MultiPortTransport& messages) const;

    /**
     * @param host a host
     * @param messages of the host between ranks
     * @return its connections of all uses, of a rail by number
     */
    virtual std::vector<HostConnection> ListConnections(uint32_t host,
                                                        const MultiPortTransport& messages) const;

    /**
     * @param host a host
     * @param messages of the host between ranks
     * @return the traffic of these messages; otherwise by the counters of its connections
     */
    virtual HostTraffic GetTraffic(uint32_t host, const MultiPortTransport& messages) const;

    /**
     * @param host a host
     * @param messages of the host between ranks
     * @return what its connections are sending now
     */
    virtual std::vector<OpenFlow> ListOpenFlows(uint32_t host,
                                                const MultiPortTransport& messages) const;

    /**
     * @param host a host
     * @param rail its port
     * @param number of a connection
     * @return for warnings: the rule of the congestion control that keeps its rate down, and the
     *         option against it; empty: unknown
     */
    virtual std::string DescribeLimit(uint32_t host, uint32_t rail, uint32_t number) const;

    /** @return what does not fit together in the options, one line each */
    virtual std::vector<std::string> GetWarnings() const;

  protected:
    const ClusterOptions& m_options;   ///< of the cluster
    const AttributeList& m_attributes; ///< of its objects
};

/**
 * @ingroup distributed-training-helper
 * @tparam T a HostTransport
 * @param options of the cluster
 * @param attributes of its objects
 * @return its transport, for TransportEntry::make
 */
template <class T>
std::unique_ptr<HostTransport>
MakeHostTransport(const ClusterOptions& options, const AttributeList& attributes)
{
    return std::make_unique<T>(options, attributes);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_TRANSPORT_H
