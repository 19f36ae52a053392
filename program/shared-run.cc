/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared-run.h"

#include "guarded-run.h"
#include "job-lower-bound.h"
#include "job-plan.h"
#include "path-figures.h"
#include "shared-results.h"

#include "ns3/host-allocator.h"
#include "ns3/nic-algorithm.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-job-helper.h"
#include "ns3/training-job.h"
#include "ns3/training-processes.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <typeinfo>
#include <utility>

namespace ns3::training
{

namespace
{

/// Random stream of random placements; those of background traffic are below.
constexpr int64_t PLACEMENT_STREAM = 1LL << 35;

/** Ends the simulation after all else is destroyed. */
struct SimulationScope
{
    ~SimulationScope()
    {
        Simulator::Destroy();
    }
};

/** Refuses what works for all ranks of a cluster only. */
void
CheckShared(const SharedRunOptions& options)
{
    const ClusterOptions& cluster = options.cluster;
    const auto refuse =
        [](const std::string& field, const std::string& value, const std::string& allowed) {
            throw ConfigurationError(field,
                                     value,
                                     " with jobs that share a cluster (allowed: " + allowed + ")");
        };
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("--mpi=" + std::to_string(Processes::GetCount()) +
                                 " with jobs that share a cluster (allowed: 1)");
    }
    if (IsInNetwork(cluster.algorithm) || IsInNic(cluster.algorithm))
    {
        refuse("collective", cluster.algorithm, "algorithms that run on hosts");
    }
    if (cluster.codec != ClusterOptions().codec)
    {
        refuse("codec", cluster.codec, ClusterOptions().codec);
    }
    if (cluster.nic != ClusterOptions().nic)
    {
        refuse("nic", cluster.nic, ClusterOptions().nic);
    }
    if (!cluster.schedule.empty())
    {
        refuse("schedule", cluster.schedule, "an algorithm");
    }
    for (const SharedJob& job : options.jobs)
    {
        const std::string name = "job " + job.name + ": ";
        if (job.training.cluster.ranks == 0 && !IsTraceFile(job.training.workload))
        {
            throw ConfigurationError(name + "0 ranks (allowed: 1 and more)");
        }
        for (uint32_t host : job.hosts)
        {
            if (host >= cluster.ranks)
            {
                throw ConfigurationError(name + "host " + std::to_string(host) +
                                         " (allowed: 0 to " + std::to_string(cluster.ranks - 1) +
                                         ")");
            }
        }
        if (job.priority && !cluster.IsRdma())
        {
            throw ConfigurationError(name + "priority with transport " + cluster.transport +
                                     " (allowed: with rdma)");
        }
    }
}

/** A simulation of jobs. */
class SharedSimulation
{
  public:
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
        std::unique_ptr<TrainingJob> measured;              // null: it has not started
        std::vector<Ptr<TrainingApplication>> applications; // of its ranks
        SharedJobResult result;
    };

    void MakePlan(const SharedJob& options, Job& job) const;
    void Arrive(std::size_t index);
    void StartWaiting();
    void Start(std::size_t index);
    void End(std::size_t index);
    void CleanUp(std::size_t index);
    void SetPriority(uint32_t host, std::optional<uint32_t> priority) const;
    bool IsComputing() const;
    std::string DescribeWaiting() const;
    std::vector<SharedJobResult> EndResults();

    SimulationScope m_scope;
    const SharedRunOptions& m_options;
    Cluster m_cluster;
    HostAllocator m_allocator;
    GuardedRun m_guard;
    std::vector<Job> m_jobs;
    uint64_t m_usualPriority{0};
    std::deque<std::size_t> m_waiting; // jobs that have arrived and have no hosts
    std::size_t m_toCome;              // jobs that have not arrived
    std::size_t m_left;                // jobs that have not ended
};

SharedSimulation::SharedSimulation(const SharedRunOptions& options)
    : m_options(options),
      m_cluster(options.cluster),
      m_allocator(m_cluster.GetFabric().topology, m_cluster.GetRanks(), PLACEMENT_STREAM),
      m_guard(m_cluster),
      m_jobs(options.jobs.size()),
      m_toCome(options.jobs.size()),
      m_left(options.jobs.size())
{
    for (std::size_t i = 0; i < m_jobs.size(); i++)
    {
        MakePlan(options.jobs[i], m_jobs[i]);
        Simulator::Schedule(options.jobs[i].arrival, &SharedSimulation::Arrive, this, i);
    }
    if (m_cluster.IsRdma())
    {
        UintegerValue priority;
        m_cluster.GetNics(0)[0]->GetAttribute("DataPriority", priority);
        m_usualPriority = priority.Get();
    }
    m_guard.SetComputing([this] { return IsComputing(); });
    if (options.results)
    {
        options.results->Begin(m_cluster, m_jobs.size());
    }
}

void
SharedSimulation::MakePlan(const SharedJob& options, Job& job) const
{
    TrainingRunOptions training = options.training;
    training.cluster = m_options.cluster;
    training.cluster.ranks = options.training.cluster.ranks;
    const uint64_t ranks = options.hosts.empty() ? training.cluster.ranks : options.hosts.size();
    try
    {
        job.plan = MakeJobPlan(training);
        training.Check();
        if (ranks > 0 && training.cluster.ranks != ranks)
        {
            throw ConfigurationError("ranks",
                                     std::to_string(ranks),
                                     " with workload " + training.workload + " (allowed: " +
                                         std::to_string(training.cluster.ranks) + ")");
        }
        if (training.cluster.ranks > m_options.cluster.ranks)
        {
            throw ConfigurationError("ranks",
                                     std::to_string(training.cluster.ranks),
                                     " on " + std::to_string(m_options.cluster.ranks) +
                                         " hosts (allowed: at most one on each host)");
        }
        job.slowdowns = training.GetSlowdowns();
    }
    catch (const ConfigurationError& error)
    {
        throw ConfigurationError("job " + options.name + ": " + NameKey(error));
    }
    job.result.workload = job.plan.name;
}

void
SharedSimulation::Arrive(std::size_t index)
{
    m_toCome--;
    m_waiting.push_back(index);
    StartWaiting();
}

void
SharedSimulation::StartWaiting()
{
    for (auto next = m_waiting.begin(); next != m_waiting.end();)
    {
        const SharedJob& job = m_options.jobs[*next];
        auto hosts =
            m_allocator.Take(job.placement, m_jobs[*next].plan.graph->GetRanks(), job.hosts);
        if (!hosts.empty())
        {
            m_jobs[*next].result.hosts = std::move(hosts);
            Start(*next);
            next = m_waiting.erase(next);
        }
        else if (m_options.backfill)
        {
            ++next;
        }
        else
        {
            return;
        }
    }
}

void
SharedSimulation::Start(std::size_t index)
{
    const SharedJob& options = m_options.jobs[index];
    Job& job = m_jobs[index];
    job.result.startS = Simulator::Now().GetSeconds();
    const auto iterations = static_cast<uint32_t>(options.training.iterations);
    for (uint32_t host : job.result.hosts)
    {
        SetPriority(host, options.priority);
    }
    TrainingJobHelper helper;
    helper.SetAttribute("Iterations", UintegerValue(iterations));
    helper.SetAttribute("ComputeJitter", StringValue(options.training.computeJitter));
    helper.SetSlowdowns(job.slowdowns);
    const auto applications =
        helper.Install(m_cluster, job.plan.graph, job.plan.operations, "", job.result.hosts);
    job.measured = std::make_unique<TrainingJob>(job.plan.graph->GetRanks(),
                                                 iterations,
                                                 0,
                                                 job.plan.GetBusBytes());
    for (uint32_t rank = 0; rank < applications.GetN(); rank++)
    {
        job.applications.push_back(DynamicCast<TrainingApplication>(applications.Get(rank)));
        job.measured->Observe(job.applications.back());
    }
    job.measured->SetLowerBound(GetLowerBound(job.plan, m_cluster, job.result.hosts));
    if (SharedResults* results = m_options.results)
    {
        results->Start(index, options, m_cluster, job.applications, job.result.hosts);
        job.measured->OnIterationComplete([results, index](const IterationRecord& record) {
            results->AddIteration(index, record);
        });
    }
    job.measured->OnRanksFinished([this, index] { End(index); });
}

void
SharedSimulation::End(std::size_t index)
{
    m_jobs[index].result.endS = Simulator::Now().GetSeconds();
    Simulator::ScheduleNow(&SharedSimulation::CleanUp, this, index);
}

void
SharedSimulation::CleanUp(std::size_t index)
{
    Job& job = m_jobs[index];
    if (m_options.results)
    {
        auto path = GetPathRows(job.measured->GetCriticalPath(), *job.plan.graph);
        for (CriticalPathRow& row : path)
        {
            row.rank = job.result.hosts.at(row.rank);
        }
        m_options.results->End(index, path);
    }
    for (const auto& application : job.applications)
    {
        // The next job on these hosts uses the same numbers of communicators.
        std::set<Ptr<Communicator>> communicators(application->GetCommunicators().begin(),
                                                  application->GetCommunicators().end());
        communicators.insert(application->GetMessages());
        for (const auto& communicator : communicators)
        {
            if (communicator)
            {
                communicator->Dispose();
            }
        }
    }
    m_allocator.GiveBack(job.result.hosts);
    if (--m_left == 0)
    {
        m_guard.End();
    }
    StartWaiting();
}

void
SharedSimulation::SetPriority(uint32_t host, std::optional<uint32_t> priority) const
{
    if (m_cluster.IsRdma())
    {
        for (const auto& nic : m_cluster.GetNics(host))
        {
            nic->SetAttribute("DataPriority", UintegerValue(priority.value_or(m_usualPriority)));
        }
    }
}

bool
SharedSimulation::IsComputing() const
{
    return m_toCome > 0 || std::any_of(m_jobs.begin(), m_jobs.end(), [](const Job& job) {
               return std::any_of(
                   job.applications.begin(),
                   job.applications.end(),
                   [](const auto& application) { return application->IsComputing(); });
           });
}

std::vector<SharedJobResult>
SharedSimulation::EndResults()
{
    if (m_options.results)
    {
        m_options.results->EndCluster(m_cluster);
    }
    std::vector<SharedJobResult> results;
    for (Job& job : m_jobs)
    {
        if (job.measured)
        {
            job.result.iterations = job.measured->GetResults();
        }
        results.push_back(std::move(job.result));
    }
    return results;
}

std::string
SharedSimulation::DescribeWaiting() const
{
    std::string names;
    for (std::size_t i = 0; i < m_jobs.size(); i++)
    {
        const auto& applications = m_jobs[i].applications;
        if (std::any_of(applications.begin(), applications.end(), [](const auto& application) {
                return !application->IsFinished();
            }))
        {
            names += (names.empty() ? "" : ", ") + m_options.jobs[i].name;
        }
    }
    return names.empty() ? "" : "; jobs that have not ended: " + names;
}

SharedRunResult
SharedSimulation::Run()
{
    SharedRunResult result;
    try
    {
        m_guard.Run();
        result.jobs = EndResults();
    }
    catch (const SimulationStuck& stuck)
    {
        const std::string text = stuck.what() + DescribeWaiting();
        const auto results = EndResults();
        if (m_options.results)
        {
            m_options.results->Fail(m_options.jobs, results, text);
        }
        if (typeid(stuck) != typeid(SimulationStuck))
        {
            throw; // a signal, or an error of a codec
        }
        throw SimulationStuck(text);
    }
    result.background = GetBackgroundFigures(m_cluster);
    result.notes = m_cluster.GetNotes();
    for (std::size_t i = 0; i < m_jobs.size(); i++)
    {
        for (const std::string& note : m_jobs[i].plan.notes)
        {
            result.notes.push_back("job " + m_options.jobs[i].name + ": " + note);
        }
    }
    result.cost = GetRunCost(m_cluster.GetFabric());
    return result;
}

} // namespace

SharedRunResult
RunShared(const SharedRunOptions& options)
{
    CheckShared(options);
    return SharedSimulation(options).Run();
}

SharedRunResult
RunAlone(const SharedRunOptions& options, std::size_t job, const std::vector<uint32_t>& hosts)
{
    SharedRunOptions alone{options.cluster, {options.jobs.at(job)}};
    alone.cluster.background = ClusterOptions().background;
    alone.jobs[0].arrival = Time(0);
    alone.jobs[0].placement = "list";
    alone.jobs[0].hosts = hosts;
    return RunShared(alone);
}

} // namespace ns3::training
