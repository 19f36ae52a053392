/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_H
#define DISTRIBUTED_TRAINING_CLUSTER_H

#include "cluster-options.h"

#include "ns3/collective-planner.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-lanes.h"
#include "ns3/fabric-pcap.h"
#include "ns3/fault-plan.h"
#include "ns3/in-network-system.h"
#include "ns3/lower-bound.h"
#include "ns3/process-border.h"
#include "ns3/rdma-nic.h"
#include "ns3/scheduled-communicator.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * A simulated cluster: hosts on a fabric, a transport, and a communicator for each rank, as
 * ClusterOptions say. With TCP, ns3::TcpSocket and its kin are tuned as a data-center host is,
 * unless the user has set the attribute (see doc/).
 */
class Cluster
{
  public:
    /**
     * @param options what it is made of
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
     * @return what it does without help of the network: its communicator, or that one's fallback
     */
    Ptr<ScheduledCommunicator> GetHostCommunicator(uint32_t rank) const;

    /** @return the communicators whose all-reduce the network makes, by rank; or none */
    const std::vector<Ptr<InNetworkCommunicator>>& GetInNetworkCommunicators() const;

    /**
     * @param inputs tensor of each rank
     * @param result what a rank has, if the network's sum can depend on the order of arrival
     * @return the sums of an all-reduce, bit for bit: of each rank, or a single one, that of all
     */
    std::vector<std::vector<float>> GetSums(const std::vector<std::vector<float>>& inputs,
                                            const std::vector<float>& result = {}) const;

    /**
     * @param inputs tensor of each rank
     * @return the same of an all-reduce that the hosts make among themselves
     */
    std::vector<std::vector<float>> GetSumsOfHosts(
        const std::vector<std::vector<float>>& inputs) const;

    /** @return whether the network has failed, and the hosts make all-reduces among themselves */
    bool HasFallenBack() const;

    /**
     * Makes a communicator for each of some groups of ranks, beside that of all.
     * @param groups lists of ranks without common ones
     * @param number of the communicators, 1 to 255, not used for these ranks before
     * @param algorithm of their collectives; empty: that of all
     * @return by rank its communicator in its group; null if it is in none
     * @throw ConfigurationError if the algorithm has no plan for such groups
     */
    std::vector<Ptr<ScheduledCommunicator>> Split(const std::vector<std::vector<uint32_t>>& groups,
                                                  uint32_t number,
                                                  const std::string& algorithm = "") const;

    /**
     * @param rank 0 to GetRanks() - 1
     * @return what carries its messages; who sets another handler takes them from its communicator
     */
    Ptr<MessageTransport> GetTransport(uint32_t rank) const;

    /**
     * @param rank 0 to GetRanks() - 1
     * @return with RDMA, the NIC behind each port of its host
     */
    const std::vector<Ptr<RdmaNic>>& GetNics(uint32_t rank) const;

    /** @return the lanes between its ranks */
    LaneTable& GetLanes() const;

    /** @return the plans of its collectives */
    CollectivePlanner& GetPlanner() const;

    /** @return share of the line rate that is payload in a long message */
    double GetGoodput() const;

    /** @return least times of collectives on it */
    const LowerBound& GetLowerBound() const;

    /** @return time of a full packet and its acknowledgement between the farthest ranks, idle */
    Time GetRoundTrip() const;

    /** @return the algorithm of its collectives (may be auto), or what a file's schedule names */
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
    void AddPipelines();
    void AddFaults();
    void MakePlanner();
    void MeasurePaths();
    void InstallFabric();
    void PinPaths();
    std::shared_ptr<CollectivePlanner> MakePlanner(const std::vector<uint32_t>& hosts,
                                                   const std::string& algorithm) const;
    void SetHostModel(ScheduledCommunicator& communicator,
                      uint32_t rank,
                      const std::vector<uint32_t>& hosts) const;
    uint32_t GetHeaderBytes() const;
    std::string GetHostAlgorithm() const;
    void InstallTransport();
    Ptr<MessageTransport> MakeTransport(uint32_t rank) const;
    void MakeCommunicators();
    void InstallInNetwork();

    ClusterOptions m_options;
    TopologyGraph m_topology;
    uint32_t m_mtu;
    ShortestPaths::Path m_longest; // between ranks, the highest of each
    Time m_roundTrip;
    Fabric m_fabric;
    FaultPlan m_faults;
    std::unique_ptr<FabricPcap> m_pcap;
    std::unique_ptr<ProcessBorder> m_border;
    std::vector<std::vector<Ptr<RdmaNic>>> m_nics; // by rank and rail
    std::shared_ptr<FabricLanes> m_lanes;
    std::vector<Ptr<MessageTransport>> m_transports;
    std::vector<Ptr<ScheduledCommunicator>> m_communicators;
    std::vector<Ptr<InNetworkCommunicator>> m_inNetworkCommunicators;
    std::shared_ptr<CollectivePlanner> m_planner;
    std::unique_ptr<LowerBound> m_lowerBound;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_H
