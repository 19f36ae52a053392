/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_COMMUNICATORS_H
#define DISTRIBUTED_TRAINING_CLUSTER_COMMUNICATORS_H

#include "cluster-options.h"
#include "cluster-plan.h"
#include "codec-helper.h"
#include "in-network-system.h"
#include "nic-algorithm.h"
#include "nic-helper.h"

#include "ns3/cluster-transports.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/training-fabric.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/** A group of ranks of a job that may sum in switches. */
struct SummingGroup
{
    uint32_t groups{0};                            ///< index of its groups in the job
    uint32_t number{0};                            ///< of its communicators, for records
    std::vector<uint32_t> ranks;                   ///< of the cluster
    std::vector<Ptr<ScheduledCommunicator>> hosts; ///< by rank in the group
    std::set<uint64_t> sums;                       ///< sizes of its all-reduces, bytes
};

/**
 * @ingroup distributed-training-helper
 *
 * The communicators of a cluster. Each rank has one whose collectives run on hosts; a system in the
 * network, engines in NICs or a codec of buckets stand before it. Storage hosts have communicators
 * for messages alone.
 */
class ClusterCommunicators
{
  public:
    /** What the communicators work with; outlives them. */
    struct Parts
    {
        const ClusterOptions& options;   ///< of the cluster
        const AttributeList& attributes; ///< of its objects
        const TopologyGraph& topology;   ///< of its network
        Fabric& fabric;                  ///< its network
        ClusterTransports& transports;   ///< its messages
        const ClusterPlan& plan;         ///< schedules of its collectives
        const NicHelper& engines;        ///< in its NICs
        CodecHelper& codecs;             ///< of its hosts
        uint64_t link;                   ///< rate of the slowest link between ranks, bit/s
    };

    /**
     * @param parts see there
     * @param largestJob jobs that share the cluster: most ranks of one; 0: all ranks are one job
     * @param notes receives what a reader of the results must know, by line
     * @throw ConfigurationError if options do not go together
     */
    ClusterCommunicators(const Parts& parts, uint32_t largestJob, std::vector<std::string>& notes);

    /** @return number of ranks */
    uint32_t GetRanks() const
    {
        return static_cast<uint32_t>(m_parts.options.ranks);
    }

    /**
     * @param rank 0 to GetRanks() - 1
     * @return its communicator
     */
    Ptr<Communicator> Get(uint32_t rank) const;

    /**
     * @param rank 0 to GetRanks() - 1
     * @return the communicator of its collectives on hosts: its communicator, or the fallback of an
     *         in-network communicator
     */
    const Ptr<ScheduledCommunicator>& GetOfHost(uint32_t rank) const
    {
        return m_hosts.at(rank);
    }

    /**
     * @return the communicators that offload all-reduce to the network, by rank; after Divide()
     *         those of its groups, one after the other; or none
     */
    const std::vector<Ptr<InNetworkCommunicator>>& GetInNetwork() const
    {
        return m_inNetwork;
    }

    /** @return whether groups of Divide() use switches, not all ranks */
    bool IsDivided() const
    {
        return !m_dividedSystem.empty();
    }

    /**
     * Lets switches sum for groups of ranks, if ClusterOptions::sumsInGroups asks for it. A group
     * that no switch serves, or that the hosts' library leaves to hosts, gets no communicators.
     * Call it once, before the simulation.
     * @param groups all that sum
     * @param notes receives what a reader of the results must know, by line
     * @return by group and rank in it the communicator in place of that on hosts
     * @throw ConfigurationError if the switches lack resources
     */
    std::vector<std::vector<Ptr<InNetworkCommunicator>>> Divide(
        const std::vector<SummingGroup>& groups,
        std::vector<std::string>& notes);

    /**
     * @param ranks of a group
     * @return its communicators of Divide(), by rank in it; or none
     */
    const std::vector<Ptr<InNetworkCommunicator>>& GetInNetworkOf(
        const std::vector<uint32_t>& ranks) const;

    /**
     * @param operation operation of all ranks
     * @param bytes size of the whole vector
     * @return the system whose switches add, if the hosts' library chose it; otherwise empty
     */
    std::string FindChosenSystem(CollectiveOperation operation, uint64_t bytes) const;

    /** @return the communicators whose collectives run in NICs; or none */
    const NicCommunicators& GetInNics() const
    {
        return m_inNics;
    }

    /** @return the controller of switches that jobs share; null: no switch sums for a job */
    InNetworkController* GetController() const
    {
        return m_controller.get();
    }

    /**
     * @param number a rank, or the number of ranks and that of a storage host
     * @return its handle on all ranks and storage hosts, for messages; with connections of its own
     */
    const Ptr<ScheduledCommunicator>& GetOfStorage(uint32_t number) const
    {
        return m_storage.at(number);
    }

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

    /**
     * Abandons all collectives and messages of the ranks and storage hosts; what is still on its
     * way does not arrive. Later ones use new connections. Needs a single process, and collectives
     * on hosts. Call at most ClusterTransports::GetMostRestarts() times.
     */
    void Restart();

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

  private:
    ScheduledCommunicator::Planner MakePlanner() const;
    void InstallOnHosts(const ScheduledCommunicator::Planner& planner);
    void InstallInNetwork(uint32_t largestJob, std::vector<std::string>& notes);
    std::string FindDividedSystem() const;
    void CheckHostLatency() const;
    InNetworkRequest MakeRequest(const Choice<InNetworkSystem>& system,
                                 std::vector<std::string>& notes) const;
    void InstallInNics(const ScheduledCommunicator::Planner& planner,
                       std::vector<std::string>& notes);
    void InstallCodecs(std::vector<std::string>& notes);
    void InstallStorage();

    const Parts m_parts;
    std::vector<Ptr<ScheduledCommunicator>> m_storage; // of ranks and storage hosts; or none
    std::vector<Ptr<ScheduledCommunicator>> m_hosts;
    std::vector<Ptr<InNetworkCommunicator>> m_inNetwork;
    std::map<std::vector<uint32_t>, std::vector<Ptr<InNetworkCommunicator>>> m_divided; // by ranks
    std::string m_dividedSystem;                       // that groups of ranks divide; or none
    std::string m_chosenSystem;                        // that the hosts' library may take; or none
    std::unique_ptr<InNetworkController> m_controller; // null: none, or a single job
    NicCommunicators m_inNics;
    std::vector<Ptr<CodedCommunicator>> m_coded; // of coded buckets; or none
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_COMMUNICATORS_H
