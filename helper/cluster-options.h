/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_OPTIONS_H
#define DISTRIBUTED_TRAINING_CLUSTER_OPTIONS_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/rank-images.h"
#include "ns3/topology-builder.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

class FaultPlan;
struct TransportEntry;

/**
 * @ingroup distributed-training-helper
 *
 * Configuration of a Cluster. The defaults equal those of the programs. Errors name fields in
 * words, such as "congestion control".
 */
struct ClusterOptions
{
    /// Minimum MTU, bytes.
    static constexpr uint64_t MIN_MTU = 256;
    /// Maximum MTU, bytes.
    static constexpr uint64_t MAX_MTU = 9000;
    /// Minimum packet memory of a switch, bytes.
    static constexpr uint64_t MIN_BUFFER = 4 * MAX_MTU;

    std::string machine;      ///< its name and what it set, for descriptions; empty: none
    uint64_t ranks{16};       ///< number of ranks, on hosts 0 to ranks - 1
    bool hasRanks{false};     ///< whether the user gave it: a file has as many, or is refused
    uint64_t storageHosts{0}; ///< hosts behind those of the ranks that store their state
    std::string topology{"single-switch"}; ///< see BuildTopology()
    DataRate rate{100000000000};           ///< of each link, bit/s
    Time delay{NanoSeconds(500)};          ///< propagation delay of each link
    uint64_t mtu{0};                       ///< payload or IP packet, bytes; 0: TransportEntry::mtu
    uint64_t buffer{0};                    ///< packet memory of each switch, bytes; 0: automatic
    double loss{0};                        ///< drop probability of each frame on each link
    std::vector<std::string> faults;       ///< see FaultPlan
    Time rerouteDelay{MilliSeconds(1)};    ///< from a link failure to new routes
    std::string path{"ecmp"};              ///< path choice of switches; see SwitchDevice
    RankImages images;                     ///< ranks that are not simulated; no option
    bool sumsInGroups{false};              ///< whether groups of ranks of the job sum; no option
    bool sumsOfAll{true};                  ///< whether all ranks of the job sum; no option
    std::string steadyState{"skip"};       ///< skip, verify or simulate; see SteadyState
    std::string pcap;                      ///< prefix of capture files; empty: no capture
    std::string portPairs{"auto"};         ///< turns, stripe or spray; auto: see GetPortPairs()
    std::string transport{"rdma"};         ///< a TransportEntry
    uint64_t queuePairs{1};                ///< RDMA: queue pairs per port pair, 1 to 64
    bool split{false};                     ///< messages: split among queue pairs, or in turns
    std::string congestionControl{"auto"}; ///< auto: that of the TransportEntry
    std::string nic{"none"};               ///< engine in NICs: a codec with keys; see NicHelper
    std::string codec{"none"};             ///< of the hosts, with keys; see CodecHelper
    std::string recovery{"auto"};          ///< RDMA: loss recovery; auto: see GetRecovery()
    std::string background{"none"};        ///< traffic beside the ranks'; see BackgroundHelper
    std::string algorithm{"ring"};         ///< a collective algorithm or an InNetworkSystem
    std::string hostModel{"none"};         ///< a host model, with keys
    Time hostLatency{0};                   ///< time in which a host posts a message
    std::string hostJitter{"none"};        ///< distribution of a factor of it, a JitterEntry
    uint64_t segments{0};                  ///< segments per chunk; 0: default of the algorithm
    std::string schedule;                  ///< schedule file; empty: schedule of the algorithm
    bool verify{false};                    ///< proves schedules for any number of ranks
    /**
     * Values of attributes by full name, such as ns3::training::SwitchDevice::EcnPmax, for the
     * objects of this cluster: switches, host devices, NICs, congestion controls, transports,
     * communicators, programs, TCP sockets and the objects in them. They override defaults that the
     * user has set (Config::SetDefault()), values that the cluster would choose, and keys. A value
     * that no object of the cluster takes is refused.
     */
    std::map<std::string, std::string> attributes;

    /**
     * Validates the fields.
     * @throw ConfigurationError if a field is out of range
     */
    void Check() const;

    /**
     * @return attributes that every cluster sets itself, by full name, and the field that
     *         determines each; empty: several fields
     */
    static std::map<std::string, std::string> GetOwnAttributes();

    /**
     * @return what makes equal collectives take other times, or counts more than times: one line;
     *         empty: nothing. Faults, transports and paths are not considered
     */
    std::string FindVariation() const;

    /** @return what is assumed of hosts: their model, latency and jitter; part of a line */
    std::string DescribeHosts() const;

    /**
     * @return the transport
     * @throw ConfigurationError if there is none of that name
     */
    const TransportEntry& GetTransport() const;

    /** @return the congestion control, with "auto" resolved */
    std::string GetCongestionControl() const;

    /** @return the congestion control of the queue pairs; none: the transport is another one */
    std::optional<std::string> FindRdmaControl() const;

    /**
     * @return the loss recovery of RDMA; auto is go-back-n, or out-of-order if switches spray the
     *         frames of a flow over several paths
     */
    std::string GetRecovery() const;

    /**
     * @return how messages use several port pairs, with "auto" resolved: spray with transports that
     *         are made for it, otherwise turns
     */
    std::string GetPortPairs() const;

    /** @return from a link failure to new routes; Time::Max(): never, with paths that are static */
    Time GetRerouteDelay() const;

    /** @return the MTU, with 0 resolved, bytes */
    uint32_t GetMtu() const;

    /**
     * The topology is built once for these options and copies made afterwards, see BuiltTopology.
     * @param hosts number of hosts in use
     * @return the topology
     * @throw ConfigurationError as BuildTopology()
     */
    std::shared_ptr<const TopologyGraph> GetTopology(uint32_t hosts) const;

    /**
     * @return the topology of the ranks and storage hosts
     * @throw ConfigurationError as BuildTopology(), or if it has no place for the storage hosts
     */
    std::shared_ptr<const TopologyGraph> GetTopology() const;

    /**
     * @param network the topology
     * @return the faults and losses of both
     * @throw ConfigurationError if a fault is malformed
     */
    FaultPlan MakeFaults(const TopologyGraph& network) const;

    /**
     * @return number of hosts of the topology, if its text fixes it; otherwise none
     * @throw ConfigurationError as BuildTopology()
     */
    std::optional<uint32_t> FindHosts() const;

  private:
    void CheckStorage() const;

    mutable BuiltTopology m_topology;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_OPTIONS_H
