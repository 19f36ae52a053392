/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAINING_JOB_HELPER_H
#define DISTRIBUTED_TRAINING_TRAINING_JOB_HELPER_H

#include "training-cluster.h"

#include "ns3/application-container.h"
#include "ns3/collective-replay.h"
#include "ns3/object-factory.h"
#include "ns3/task-graph.h"
#include "ns3/training-application.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

class QuietGroups;

/**
 * @ingroup distributed-training-helper
 * Installs a TrainingApplication for every rank of a cluster.
 */
class TrainingJobHelper
{
  public:
    TrainingJobHelper();

    /**
     * @param name attribute of TrainingApplication
     * @param value its value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /** @param slowdowns value of the attribute Slowdown by rank, of ranks that differ from the
     * others */
    void SetSlowdowns(std::map<uint32_t, double> slowdowns);

    /**
     * @param derives whether collectives that repeat themselves are derived, see CollectiveReplay:
     *        those of groups that share no link with other traffic of the job, on a network without
     *        faults and with virtual payload
     * @param derivesWhole whether also those of a job whose only traffic are collectives of all its
     *        ranks
     */
    void SetDerives(bool derives, bool derivesWhole = true);

    /**
     * @param derives whether collectives of groups in a server are derived that share links with
     *        other traffic of the job, while it is quiet, see QuietGroups
     * @param isLoaded whether computations of a rank make its collectives slower, as the attribute
     *        OverlapCopies tells
     */
    void SetDerivesQuiet(bool derives, bool isLoaded);

    /**
     * Makes the communicators of all ranks of a job at places from those for collectives on hosts,
     * both by rank of the job; or returns none.
     */
    using Offload = std::function<std::vector<Ptr<InNetworkCommunicator>>(
        const std::vector<Ptr<ScheduledCommunicator>>&)>;

    /** @param offload of the next jobs at places; null: their collectives run on hosts */
    void SetOffload(Offload offload);

    /**
     * Makes the communicators of groups of ranks that sum from those on hosts, by group and rank in
     * it; none for groups that use hosts.
     */
    using Division = std::function<std::vector<std::vector<Ptr<InNetworkCommunicator>>>(
        const std::vector<SummingGroup>&)>;

    /** @param division of jobs of all ranks; null: groups of ranks use hosts */
    void SetDivision(Division division);

    /** @return the repetitions of the groups that the last Install() found */
    const std::vector<std::shared_ptr<CollectiveReplay>>& GetReplays() const;

    /**
     * Creates the communicators of the graph's groups and an application for each rank.
     * @param cluster whose ranks train
     * @param graph tasks of each rank
     * @param operations of the collectives, by groups of the graph
     * @param exchangeAlgorithm algorithm of groups that exchange only; empty: that of the cluster
     * @param places ranks of the cluster, by rank of the job; empty: all of them, and its storage
     *        hosts as last ranks of the graph. Jobs at disjoint places may run at the same time
     * @return the applications of the ranks of this process, by rank of the graph
     * @throw ConfigurationError if the cluster has no plan for a collective of the graph
     */
    ApplicationContainer Install(const Cluster& cluster,
                                 const std::shared_ptr<const TaskGraph>& graph,
                                 const std::vector<std::set<CollectiveOperation>>& operations,
                                 const std::string& exchangeAlgorithm = "",
                                 const std::vector<uint32_t>& places = {}) const;

  private:
    using Handles = std::vector<Ptr<Communicator>>; // by rank of the job

    static void SetOrder(const TaskGroups& groups, const Handles& handles);
    Handles GetAll(const Cluster& cluster, const std::vector<uint32_t>& places) const;
    static Handles Split(const Cluster& cluster,
                         const TaskGroups& groups,
                         uint32_t number,
                         const std::string& algorithm,
                         const std::set<CollectiveOperation>& operations,
                         const std::vector<uint32_t>& places);
    void Divide(const TaskGraph& graph,
                const std::vector<std::set<CollectiveOperation>>& operations,
                const std::vector<uint32_t>& numbers,
                std::vector<Handles>& byGroups) const;
    std::shared_ptr<QuietGroups> SetReplays(const Cluster& cluster,
                                            const std::shared_ptr<const TaskGraph>& graph,
                                            const std::vector<Handles>& byGroups,
                                            const std::vector<uint32_t>& places) const;
    Ptr<TrainingApplication> Make(const Cluster& cluster, uint32_t place, uint32_t rank) const;
    ApplicationContainer InstallStorage(const Cluster& cluster,
                                        const std::shared_ptr<const TaskGraph>& graph,
                                        uint32_t hosts,
                                        const std::shared_ptr<TaskMeetings>& meetings) const;

    ObjectFactory m_application;
    std::map<uint32_t, double> m_slowdowns; // by rank
    bool m_derives{false};
    bool m_derivesWhole{true};
    bool m_derivesQuiet{false};
    bool m_isLoaded{false};
    Offload m_offload;   // or null
    Division m_division; // or null
    mutable std::vector<std::shared_ptr<CollectiveReplay>> m_replays;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAINING_JOB_HELPER_H
