/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_H
#define DISTRIBUTED_TRAINING_CLUSTER_H

#include "background-helper.h"
#include "cluster-options.h"
#include "cluster-plan.h"
#include "codec-helper.h"
#include "in-network-system.h"
#include "nic-algorithm.h"
#include "nic-helper.h"

#include "ns3/cluster-transports.h"
#include "ns3/fabric-pcap.h"
#include "ns3/fault-plan.h"
#include "ns3/link-outage.h"
#include "ns3/lower-bound.h"
#include "ns3/process-border.h"
#include "ns3/rdma-nic.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/steady-state.h"
#include "ns3/training-fabric.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * A simulated cluster, configured by ClusterOptions: hosts on a fabric, a transport, and a
 * communicator for each rank. It creates the objects of the simulation and owns them. Defaults of
 * attributes are unchanged.
 */
class Cluster
{
  public:
    /**
     * @param options configuration
     * @param largestJob jobs that share the cluster: most ranks of one; 0: all ranks are one job
     * @throw ConfigurationError if options are out of range or inconsistent
     */
    explicit Cluster(const ClusterOptions& options, uint32_t largestJob = 0);
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;
    ~Cluster();

    /** @return its options, with the congestion control resolved */
    const ClusterOptions& GetOptions() const
    {
        return m_options;
    }

    /** @return number of ranks */
    uint32_t GetRanks() const;

    /** @return whether frames may be lost, delayed or duplicated at random, or links fail */
    bool HasFaults() const;

    /** @return hosts, switches and links before they are made */
    const TopologyGraph& GetTopology() const;

    /** @return the hosts, switches and links */
    const Fabric& GetFabric() const;

    /**
     * @param rank 0 to GetRanks() - 1
     * @return its communicator
     */
    Ptr<Communicator> GetCommunicator(uint32_t rank) const;

    /**
     * @param rank 0 to GetRanks() - 1
     * @return the communicator of its collectives on hosts: its communicator, or the fallback of an
     *         in-network communicator
     */
    Ptr<ScheduledCommunicator> GetHostCommunicator(uint32_t rank) const;

    /** @return the communicators that offload all-reduce to the network, by rank; or none */
    const std::vector<Ptr<InNetworkCommunicator>>& GetInNetworkCommunicators() const;

    /** @return the controller of switches that jobs share; null: no switch sums for a job */
    InNetworkController* GetController() const;

    /**
     * Creates a communicator for each group of ranks, besides that of all ranks.
     * @param groups disjoint lists of ranks
     * @param number of the communicators, 1 to 255, unused by these ranks
     * @param algorithm of their collectives; empty: that of the cluster
     * @param operations that will be used
     * @return by rank its communicator in its group; null if it is in none
     * @throw ConfigurationError if the algorithm does not support such groups
     */
    std::vector<Ptr<ScheduledCommunicator>> Split(
        const std::vector<std::vector<uint32_t>>& groups,
        uint32_t number,
        const std::string& algorithm = "",
        const std::set<CollectiveOperation>& operations = {}) const;

    /** @return number of hosts behind those of the ranks that store their state */
    uint32_t GetStorageHosts() const;

    /**
     * @param number a rank, or GetRanks() and the number of a storage host
     * @return its handle on all ranks and storage hosts, for messages; with connections of its own
     */
    Ptr<ScheduledCommunicator> GetStorageCommunicator(uint32_t number) const;

    /**
     * Abandons all collectives and messages of the ranks and storage hosts; what is still on its
     * way does not arrive. Later ones use new connections. Needs a single process, and collectives
     * on hosts. Call at most GetMostRestarts() times.
     */
    void Restart();

    /** @return how often Restart() may be called: numbers of connections do not repeat */
    uint64_t GetMostRestarts() const;

    /**
     * @param links indices of links of the topology, which go down now
     * @return brings them up again; must not outlive the cluster
     */
    std::unique_ptr<LinkOutage> TakeDown(const std::vector<uint32_t>& links);

    /**
     * @param rank 0 to GetRanks() - 1
     * @return transport of its messages; a new handler replaces that of its communicator
     */
    Ptr<MessageTransport> GetTransport(uint32_t rank) const;

    /**
     * @tparam NIC a type of NICs
     * @param rank 0 to GetRanks() - 1
     * @return the NIC of this type on each port of its host; none: the transport has no such NICs
     */
    template <class NIC = RdmaNic>
    std::vector<Ptr<NIC>> GetNics(uint32_t rank) const
    {
        std::vector<Ptr<NIC>> nics;
        for (const auto& device : m_fabric.rails.at(rank))
        {
            if (const auto nic = device->GetObject<NIC>())
            {
                nics.push_back(nic);
            }
        }
        return nics;
    }

    /** @return its messages and connections */
    const ClusterTransports& GetTransports() const
    {
        return m_transports;
    }

    /** @return its messages and connections */
    ClusterTransports& GetTransports()
    {
        return m_transports;
    }

    /** @return the port pairs between its ranks */
    PortPairTable& GetPortPairs() const;

    /**
     * @param operation a collective
     * @param bytes of a tensor
     * @return schedule that gives the ranks' results, with GetCoding(); by packets if they are
     * coded in blocks
     */
    std::shared_ptr<const CollectiveSchedule> GetReferenceSchedule(CollectiveOperation operation,
                                                                   uint64_t bytes) const;

    /**
     * @param operation a collective
     * @return what becomes of its messages on their way
     */
    MessageCoding GetCoding(CollectiveOperation operation) const;

    /** @return the planner of its collectives */
    CollectivePlanner& GetPlanner() const;

    /** @return parameters of the network, by which algorithms are chosen */
    const NetworkCost& GetNetworkCost() const;

    /**
     * @return the choices of algorithms for `auto` so far, each once: by number of ranks, operation
     *         and size
     */
    std::vector<PlannedChoice> GetChoices() const;

    /**
     * @param operation a collective of all ranks
     * @param bytes size of the whole vector
     * @param matrix all-to-all-v: bytes from each rank to each
     * @return lower bound of its time, s, with what codecs leave of it
     */
    double GetLowerBound(CollectiveOperation operation,
                         uint64_t bytes,
                         const ByteMatrix& matrix = nullptr) const;

    /**
     * @param group some of its ranks
     * @param operation a collective
     * @param isJob whether they are all ranks of a job, for which switches may sum
     * @return lower bounds of its time among these ranks
     */
    LowerBound MakeLowerBound(const std::vector<uint32_t>& group,
                              CollectiveOperation operation,
                              bool isJob = false) const;

    /** @return round trip of a full packet and its ACK between the farthest ranks, idle network */
    Time GetRoundTrip() const;

    /** @return the algorithm of its collectives (may be auto), or the name in the schedule file */
    const std::string& GetAlgorithm() const;

    /** @return the engines in its NICs */
    const NicHelper& GetNicEngines() const;

    /** @return the codec of its hosts */
    const CodecHelper& GetCodecs() const;

    /** @return the congestion control in use, with "auto" resolved */
    const std::string& GetCongestionControl() const;

    /** @return the MTU in use, with 0 resolved, bytes */
    uint32_t GetMtu() const;

    /**
     * @return what a reader of the results must know, one line each: the ECN marking that hosts
     *         react to, and notes of the in-network system
     */
    const std::vector<std::string>& GetNotes() const;

    /**
     * @param rank 0 to GetRanks() - 1
     * @return whether its host is simulated by this process
     */
    bool IsLocal(uint32_t rank) const;

    /** @return the traffic beside that of the ranks; null: none */
    const BackgroundTraffic* GetBackground() const;

    /** @return the border to the other processes, or null for a single process */
    ProcessBorder* GetBorder() const;

  private:
    void CheckAttributes() const;
    void AddPipelines();
    void MeasurePaths();
    void InstallFabric();
    void PinPaths();
    std::shared_ptr<const HostModel> MakeHostModel(const std::vector<uint32_t>& hosts) const;
    uint32_t GetHosts() const;
    void InstallBackground();
    void InstallStorage();
    ScheduledCommunicator::Planner MakePlanner() const;
    void MakeCommunicators();
    void InstallInNetwork(uint32_t largestJob);
    void InstallNicEngines();
    void InstallCodecs();

    ClusterOptions m_options;
    AttributeList m_attributes; // of its objects, from the options
    BackgroundHelper m_backgroundHelper;
    NicHelper m_nicHelper;
    CodecHelper m_codecHelper;
    std::shared_ptr<const TopologyGraph> m_topology;
    uint32_t m_mtu;
    ShortestPaths::Path m_longest; // longest path between ranks, maximum of each property
    Time m_roundTrip;
    Fabric m_fabric;
    FaultPlan m_faults;
    std::unique_ptr<FabricPcap> m_pcap;
    std::unique_ptr<ProcessBorder> m_border;
    std::unique_ptr<SteadyState> m_steadyState; // null: everything is simulated
    ClusterTransports m_transports;
    // Of ranks and storage hosts; or none.
    std::vector<Ptr<ScheduledCommunicator>> m_storageCommunicators;
    std::vector<Ptr<ScheduledCommunicator>> m_communicators;
    std::vector<Ptr<InNetworkCommunicator>> m_inNetworkCommunicators;
    std::unique_ptr<InNetworkController> m_controller; // null: none, or a single job
    NicCommunicators m_nicCommunicators;
    std::vector<Ptr<CodedCommunicator>> m_codedCommunicators; // of coded buckets; or none
    std::unique_ptr<ClusterPlan> m_plan;
    ScheduledCommunicator::Planner m_planner; // of the collectives of all ranks
    std::unique_ptr<LowerBound> m_lowerBound;
    std::unique_ptr<LowerBound> m_codedBound;        // of collectives that engines in NICs code
    std::unique_ptr<BackgroundTraffic> m_background; // null: none
    std::vector<std::string> m_notes;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_H
