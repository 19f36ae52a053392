/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_H
#define DISTRIBUTED_TRAINING_CLUSTER_H

#include "fabric-helper.h"
#include "fabric-lanes.h"
#include "fabric-pcap.h"
#include "fault-plan.h"
#include "program-options.h"

#include "ns3/collective-planner.h"
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

/** What a cluster is made of, with the defaults of the example programs. */
struct ClusterOptions
{
    uint64_t ranks{16};                    ///< ranks, on hosts 0 to ranks - 1
    std::string topology{"single-switch"}; ///< see BuildTopology()
    DataRate rate{100000000000};           ///< of each link, bit/s
    Time delay{NanoSeconds(500)};          ///< propagation on each link
    std::string mtu{"auto"};               ///< bytes: RDMA payload or IP packet; auto: 4096 or 9000
    std::string buffer{"auto"};            ///< of each switch, a size; auto: as it needs
    double loss{0};                        ///< probability of each frame on each link
    std::vector<std::string> faults;       ///< see FaultPlan
    bool printTopology{false};             ///< whether to describe the topology and end
    std::string exportTopology;            ///< file to write the topology to, or empty: none
    Time rerouteDelay{MilliSeconds(1)};    ///< from a link's death to new routes
    std::string path{"ecmp"};              ///< how switches choose among ports; see SwitchDevice
    std::string pcap;                      ///< prefix of capture files, or empty: none
    std::string lanes{"turns"};            ///< turns or stripe
    std::string transport{"rdma"};         ///< rdma or tcp
    std::string congestionControl{"auto"}; ///< auto: dcqcn or ns3::TcpCubic
    std::string recovery{"go-back-n"};     ///< RDMA: what is sent again after a loss
    std::string algorithm{"ring"};         ///< of the collectives
    uint64_t servers{1};                   ///< parameter server: shards
    std::string hostModel{"none"};         ///< none or nccl
    uint64_t segments{0};                  ///< parts of each chunk; 0: as the algorithm likes
    std::string schedule;                  ///< file with a schedule, or empty: by the algorithm
    std::string exportSchedule;            ///< file to write the schedule to, or empty: none
    bool printSchedule{false};             ///< whether to list the schedule and end
    bool verify{false};                    ///< schedules are proven whatever the number of ranks
    InNetworkOptions inNetwork;            ///< if the algorithm is an InNetworkSystem

    /**
     * Adds ranks and network as options of a program.
     * @param options the program's
     */
    void AddNetworkTo(ProgramOptions& options);

    /**
     * Adds everything as options of a program.
     * @param options the program's
     * @param algorithmOption name of the option for the algorithm
     */
    void AddTo(ProgramOptions& options, const std::string& algorithmOption);
};

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
     * @return the sums of an all-reduce, bit for bit: of each rank, or a single one, that of all
     */
    std::vector<std::vector<float>> GetSums(const std::vector<std::vector<float>>& inputs) const;

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
    void MakePlanner();
    void PinPaths();
    std::shared_ptr<CollectivePlanner> MakePlanner(const std::vector<uint32_t>& hosts,
                                                   const std::string& algorithm) const;
    void SetHostModel(ScheduledCommunicator& communicator,
                      uint32_t rank,
                      const std::vector<uint32_t>& hosts) const;
    uint32_t GetHeaderBytes() const;
    std::string GetHostAlgorithm() const;
    void InstallInNetwork();
    void SetMarking(FabricHelper& helper) const;
    void InstallRdma();
    void InstallTcp();
    Ptr<MessageTransport> MakeTransport(uint32_t rank) const;

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
