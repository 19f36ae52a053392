/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_SIMULATION_H
#define DISTRIBUTED_TRAINING_SHARED_SIMULATION_H

#include "run/work-estimate.h"
#include "shared-run-options.h"
#include "shared/shared-switches.h"

#include "ns3/guarded-run.h"
#include "ns3/host-allocator.h"
#include "ns3/job-plan.h"
#include "ns3/simulator.h"
#include "ns3/training-application.h"
#include "ns3/training-job.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * A simulation of jobs that share a cluster, see RunShared().
 */
class SharedSimulation
{
  public:
    /**
     * @param options checked; must outlive this object
     * @throw ConfigurationError if a job or the cluster is not valid
     */
    explicit SharedSimulation(const SharedRunOptions& options);
    SharedSimulation(const SharedSimulation&) = delete;
    SharedSimulation& operator=(const SharedSimulation&) = delete;

    /** @return its results */
    SharedRunResult Run();

  private:
    /** A job in the cluster. */
    struct Job
    {
        JobPlan plan;
        std::map<uint32_t, double> slowdowns;               // of stragglers, by rank
        OverlapCost overlap;                                // of its GPUs
        std::unique_ptr<TrainingJob> measured;              // null: it has not started
        std::vector<Ptr<TrainingApplication>> applications; // of its ranks
        std::vector<Ptr<ScheduledCommunicator>> hosts;      // of its ranks, while it runs
        std::vector<Ptr<InNetworkCommunicator>> workers;    // likewise; empty: hosts sum
        std::vector<std::string> notes;                     // of its switches
        std::vector<double> portSeconds;                    // of all ports before it started
        SharedJobResult result;
        double work{1}; // of an iteration: its payload in bytes, if that of all jobs is known
    };

    std::vector<Job> MakePlans() const;
    void MakePlan(const SharedJob& options, Job& job) const;
    static std::vector<uint32_t> GetRanks(const std::vector<Job>& jobs);
    void Arrive(std::size_t index);
    void StartWaiting();
    void Start(std::size_t index);
    void End(std::size_t index);
    void CleanUp(std::size_t index);
    BindingRow FindLimit(const Job& job) const;
    bool IsComputing() const;
    std::string GetWaitingFor(uint32_t host) const;
    std::string DescribeUnfinished() const;
    std::vector<SharedJobResult> EndResults();
    std::string GetMismatch() const;
    WorkEstimate EstimateWork();
    double GetWork() const;
    double GetCompleteWork() const;

    // Ends the simulation after all else is destroyed.
    const std::shared_ptr<void> m_scope{nullptr, [](void*) { Simulator::Destroy(); }};
    const SharedRunOptions& m_options;
    std::vector<Job> m_jobs;
    std::vector<uint32_t> m_ranks; // of each job
    Cluster m_cluster;
    SharedSwitches m_switches;
    HostAllocator m_allocator;
    GuardedRun m_guard;
    std::deque<std::size_t> m_waiting; // jobs that have arrived and have no hosts
    std::size_t m_toCome;              // jobs that have not arrived
    std::size_t m_left;                // jobs that have not ended
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_SIMULATION_H
