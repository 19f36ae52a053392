/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_H
#define DISTRIBUTED_TRAINING_CLUSTER_H

#include "cluster-options.h"
#include "cluster-plan.h"
#include "fabric-helper.h"
#include "in-network-system.h"
#include "rdma-helper.h"
#include "tcp-helper.h"

#include "ns3/fabric-pcap.h"
#include "ns3/fabric-port-pairs.h"
#include "ns3/fault-plan.h"
#include "ns3/lower-bound.h"
#include "ns3/process-border.h"
#include "ns3/rdma-nic.h"
#include "ns3/scheduled-communicator.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * A simulated cluster: hosts on a fabric, a transport, and a communicator for each rank, as
 * ClusterOptions say. It sets up the objects of the simulation and owns them; the defaults of
 * attributes stay as they are.
 */
class Cluster
{
  public:
    /**
     * @param options configuration
     * @throw ConfigurationError if options are out of range or do not fit together
     */
    explicit Cluster(const ClusterOptions& options);
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /** @return number of ranks */
    uint32_t GetRanks() const;

    /** @return whether messages travel over RDMA, not TCP */
    bool IsRdma() const;

    /** @return the hosts, switches and links */
    const Fabric& GetFabric() const;

    /**
     * @param rank 0 to GetRanks() - 1
     * @return its communicator
     */
    Ptr<Communicator> GetCommunicator(uint32_t rank) const;

    /**
     * @param rank 0 to GetRanks() - 1
     * @return the communicator of its collectives among hosts: its communicator, or the fallback of
     *         that one
     */
    Ptr<ScheduledCommunicator> GetHostCommunicator(uint32_t rank) const;

    /** @return the communicators that offload all-reduce to the network, by rank; or none */
    const std::vector<Ptr<InNetworkCommunicator>>& GetInNetworkCommunicators() const;

    /**
     * Makes a communicator for each of some groups of ranks, beside that of all.
     * @param groups lists of ranks without common ones
     * @param number of the communicators, 1 to 255, not used for these ranks before
     * @param algorithm of their collectives; empty: that of all
     * @param operations that they will be asked for
     * @return by rank its communicator in its group; null if it is in none
     * @throw ConfigurationError if the algorithm has no plan for such groups
     */
    std::vector<Ptr<ScheduledCommunicator>> Split(
        const std::vector<std::vector<uint32_t>>& groups,
        uint32_t number,
        const std::string& algorithm = "",
        const std::set<CollectiveOperation>& operations = {}) const;

    /**
     * @param rank 0 to GetRanks() - 1
     * @return transport of its messages; another handler takes them away from its communicator
     */
    Ptr<MessageTransport> GetTransport(uint32_t rank) const;

    /**
     * @param rank 0 to GetRanks() - 1
     * @return with RDMA, the NIC behind each port of its host
     */
    const std::vector<Ptr<RdmaNic>>& GetNics(uint32_t rank) const;

    /** @return the port pairs between its ranks */
    PortPairTable& GetPortPairs() const;

    /** @return the plans of its collectives */
    CollectivePlanner& GetPlanner() const;

    /** @return least times of collectives on it */
    const LowerBound& GetLowerBound() const;

    /**
     * @param group some of its ranks
     * @return least times of collectives of these ranks
     */
    LowerBound MakeLowerBound(const std::vector<uint32_t>& group) const;

    /** @return time of a full packet and its acknowledgement between the farthest ranks, idle */
    Time GetRoundTrip() const;

    /** @return the algorithm of its collectives (may be auto), or the name in a file's schedule */
    const std::string& GetAlgorithm() const;

    /** @return the congestion control in use, "auto" resolved */
    const std::string& GetCongestionControl() const;

    /** @return the MTU in use, "auto" resolved, bytes */
    uint32_t GetMtu() const;

    /**
     * @param rank 0 to GetRanks() - 1
     * @return whether its host is simulated by this process
     */
    bool IsLocal(uint32_t rank) const;

    /** @return the border to the other processes, or null if there are none */
    ProcessBorder* GetBorder() const;

  private:
    PacketSize GetPacketSize() const;
    void CheckAttributes() const;
    void AddPipelines();
    void AddFaults();
    void MeasurePaths();
    void InstallFabric();
    void PinPaths();
    std::shared_ptr<const HostModel> MakeHostModel(const std::vector<uint32_t>& hosts) const;
    void InstallTransport();
    Ptr<MessageTransport> MakeTransport(uint32_t rank) const;
    void MakeCommunicators();
    void InstallInNetwork();

    ClusterOptions m_options;
    AttributeList m_attributes; // of its objects, as the options say
    RdmaHelper m_rdma;
    AttributeList m_socketAttributes; // with TCP
    TopologyGraph m_topology;
    uint32_t m_mtu;
    ShortestPaths::Path m_longest; // between ranks, the highest of each
    Time m_roundTrip;
    Fabric m_fabric;
    FaultPlan m_faults;
    std::unique_ptr<FabricPcap> m_pcap;
    std::unique_ptr<ProcessBorder> m_border;
    std::vector<std::vector<Ptr<RdmaNic>>> m_nics; // by rank and rail
    std::shared_ptr<FabricPortPairs> m_portPairs;
    std::vector<Ptr<MessageTransport>> m_transports;
    std::vector<Ptr<ScheduledCommunicator>> m_communicators;
    std::vector<Ptr<InNetworkCommunicator>> m_inNetworkCommunicators;
    std::unique_ptr<ClusterPlan> m_plan;
    std::unique_ptr<LowerBound> m_lowerBound;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_H
