/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_H
#define DISTRIBUTED_TRAINING_CLUSTER_H

#include "background-helper.h"
#include "cluster-bounds.h"
#include "cluster-communicators.h"
#include "cluster-options.h"
#include "cluster-plan.h"
#include "codec-helper.h"
#include "nic-helper.h"

#include "ns3/cluster-transports.h"
#include "ns3/fabric-pcap.h"
#include "ns3/fault-plan.h"
#include "ns3/link-outage.h"
#include "ns3/process-border.h"
#include "ns3/rdma-nic.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/steady-state.h"
#include "ns3/training-fabric.h"
#include "ns3/training-processes.h"

#include <memory>
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
    uint32_t GetRanks() const
    {
        return static_cast<uint32_t>(m_options.ranks);
    }

    /** @return number of hosts behind those of the ranks that store their state */
    uint32_t GetStorageHosts() const
    {
        return static_cast<uint32_t>(m_options.storageHosts);
    }

    /**
     * @return whether frames may be lost, delayed or duplicated at random, links fail, or circuits
     *         change
     */
    bool HasFaults() const
    {
        return !m_faults.IsEmpty() || m_topology->GetCircuits() > 1;
    }

    /**
     * Changes optical circuits. A cluster begins with configuration 0.
     * @param circuit the configuration whose links are there from now on
     */
    void SetCircuit(uint32_t circuit);

    /** @return hosts, switches and links before they are made */
    const TopologyGraph& GetTopology() const
    {
        return *m_topology;
    }

    /** @return the hosts, switches and links */
    const Fabric& GetFabric() const
    {
        return m_fabric;
    }

    /** @return the communicators of its ranks and storage hosts */
    const ClusterCommunicators& GetCommunicators() const
    {
        return *m_communicators;
    }

    /** @return the communicators of its ranks and storage hosts */
    ClusterCommunicators& GetCommunicators()
    {
        return *m_communicators;
    }

    /**
     * @param rank 0 to GetRanks() - 1
     * @return its communicator
     */
    Ptr<Communicator> GetCommunicator(uint32_t rank) const
    {
        return m_communicators->Get(rank);
    }

    /**
     * @param rank 0 to GetRanks() - 1
     * @return see ClusterCommunicators::GetOfHost()
     */
    Ptr<ScheduledCommunicator> GetHostCommunicator(uint32_t rank) const
    {
        return m_communicators->GetOfHost(rank);
    }

    /** @return the communicators that offload all-reduce to the network, by rank; or none */
    const std::vector<Ptr<InNetworkCommunicator>>& GetInNetworkCommunicators() const
    {
        return m_communicators->GetInNetwork();
    }

    /**
     * @param links indices of links of the topology, which go down now
     * @return brings them up again; must not outlive the cluster
     */
    std::unique_ptr<LinkOutage> TakeDown(const std::vector<uint32_t>& links)
    {
        return std::make_unique<LinkOutage>(m_fabric, links, m_options.GetRerouteDelay());
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

    /**
     * @param rank 0 to GetRanks() - 1
     * @return transport of its messages; a new handler replaces that of its communicator
     */
    Ptr<MessageTransport> GetTransport(uint32_t rank) const
    {
        return m_transports.Get(rank);
    }

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

    /** @return the schedules of its collectives */
    const ClusterPlan& GetPlan() const
    {
        return *m_plan;
    }

    /** @return the planner of the collectives of all ranks */
    CollectivePlanner& GetPlanner() const
    {
        return *m_plan->Get();
    }

    /**
     * @param operation operation of all ranks
     * @param bytes size of the whole vector
     * @return why its algorithm was chosen; empty if the user gave it
     */
    std::string ExplainChoice(CollectiveOperation operation, uint64_t bytes) const
    {
        const std::string system = m_communicators->FindChosenSystem(operation, bytes);
        return system.empty() ? GetPlanner().Explain(operation, bytes, 0)
                              : system + ", sums in switches, which NCCL expects to be fastest";
    }

    /** @return lower bounds of the times of its collectives */
    const ClusterBounds& GetBounds() const
    {
        return *m_bounds;
    }

    /** @return round trip of a full packet and its ACK between the farthest ranks, idle network */
    Time GetRoundTrip() const
    {
        return m_roundTrip;
    }

    /** @return the engines in its NICs */
    const NicHelper& GetNicEngines() const
    {
        return m_nicHelper;
    }

    /** @return the codec of its hosts */
    const CodecHelper& GetCodecs() const
    {
        return m_codecHelper;
    }

    /** @param warning of what watches the run, one line */
    void Warn(const std::string& warning) const
    {
        m_warnings.push_back(warning);
    }

    /** @return what Warn() was called with */
    const std::vector<std::string>& GetWarnings() const
    {
        return m_warnings;
    }

    /**
     * @return what a reader of the results must know, one line each: the ECN marking that hosts
     *         react to, and notes of the in-network system
     */
    const std::vector<std::string>& GetNotes() const
    {
        return m_notes;
    }

    /**
     * @param rank 0 to GetRanks() - 1
     * @return whether its host is simulated by this process
     */
    bool IsLocal(uint32_t rank) const
    {
        return m_fabric.hosts.Get(rank)->GetSystemId() == Processes::GetId();
    }

    /** @return the traffic beside that of the ranks; null: none */
    const BackgroundTraffic* GetBackground() const
    {
        return m_background.get();
    }

    /** @return the border to the other processes, or null for a single process */
    ProcessBorder* GetBorder() const
    {
        return m_border.get();
    }

  private:
    void CheckAttributes() const;
    void AddPipelines();
    void MeasurePaths();
    void InstallFabric();
    void PinPaths();
    uint32_t GetHosts() const;
    void InstallBackground();

    ClusterOptions m_options;
    AttributeList m_attributes; // of its objects, from the options
    BackgroundHelper m_backgroundHelper;
    NicHelper m_nicHelper;
    CodecHelper m_codecHelper;
    std::shared_ptr<const TopologyGraph> m_topology;
    ShortestPaths::Path m_longest; // longest path between ranks, maximum of each property
    Time m_roundTrip;
    Fabric m_fabric;
    FaultPlan m_faults;
    std::unique_ptr<LinkOutage> m_dark; // links of other configurations; null: none
    std::unique_ptr<FabricPcap> m_pcap;
    std::unique_ptr<ProcessBorder> m_border;
    std::unique_ptr<SteadyState> m_steadyState; // null: everything is simulated
    ClusterTransports m_transports;
    std::unique_ptr<ClusterPlan> m_plan;
    std::unique_ptr<ClusterCommunicators> m_communicators;
    std::unique_ptr<ClusterBounds> m_bounds;
    std::unique_ptr<BackgroundTraffic> m_background; // null: none
    std::vector<std::string> m_notes;
    mutable std::vector<std::string> m_warnings; // of those who watch it
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_H
