/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared/shared-simulation.h"

#include "core/random-streams.h"
#include "guard/progress-line.h"
#include "guard/run-warnings.h"
#include "record/binding-figures.h"
#include "record/path-figures.h"
#include "run/algorithm-advice.h"
#include "run/job-advice.h"
#include "run/job-lower-bound.h"
#include "shared/shared-job-sums.h"
#include "shared/shared-results.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-job-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <exception>
#include <set>
#include <typeinfo>
#include <utility>

namespace ns3::training
{

std::vector<uint32_t>
SharedSimulation::GetRanks(const std::vector<Job>& jobs)
{
    std::vector<uint32_t> ranks;
    for (const Job& job : jobs)
    {
        ranks.push_back(job.plan.graph->GetRanks());
    }
    return ranks;
}

SharedSimulation::SharedSimulation(const SharedRunOptions& options)
    : m_options(options),
      m_jobs(MakePlans()),
      m_ranks(GetRanks(m_jobs)),
      m_cluster(options.cluster, *std::max_element(m_ranks.begin(), m_ranks.end())),
      m_switches(m_cluster, options, m_ranks),
      m_allocator(m_cluster.GetFabric().topology,
                  m_cluster.GetRanks(),
                  GetRandomStream(RandomUse::PLACEMENTS)),
      m_guard(m_cluster),
      m_toCome(options.jobs.size()),
      m_left(options.jobs.size())
{
    for (std::size_t i = 0; i < m_jobs.size(); i++)
    {
        Simulator::Schedule(options.jobs[i].arrival, &SharedSimulation::Arrive, this, i);
    }
    m_guard.SetComputing([this] { return IsComputing(); });
    m_guard.SetWaiting([this](uint32_t host) { return GetWaitingFor(host); });
    if (options.results)
    {
        options.results->Begin(m_cluster, m_jobs.size());
    }
}

std::vector<SharedSimulation::Job>
SharedSimulation::MakePlans() const
{
    std::vector<Job> jobs(m_options.jobs.size());
    for (std::size_t i = 0; i < jobs.size(); i++)
    {
        MakePlan(m_options.jobs[i], jobs[i]);
    }
    return jobs;
}

void
SharedSimulation::MakePlan(const SharedJob& options, Job& job) const
{
    TrainingRunOptions training = options.training;
    training.cluster = m_options.cluster;
    training.cluster.ranks = options.training.cluster.ranks;
    training.cluster.hasRanks = options.training.cluster.hasRanks;
    training.payload = m_options.isReal ? "real" : "virtual";
    training.gradients = m_options.gradients;
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
        job.overlap = training.GetOverlapCost();
        if (m_options.isReal)
        {
            CheckComparable(job.plan, training, IsInNetwork(m_options.cluster.algorithm));
        }
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
        auto& hosts = m_jobs[*next].result.hosts;
        hosts = m_allocator.Take(job.placement, m_jobs[*next].plan.graph->GetRanks(), job.hosts);
        if (!hosts.empty() && !m_switches.HasRoom(*next, hosts))
        {
            m_allocator.GiveBack(hosts);
            hosts.clear();
        }
        if (!hosts.empty())
        {
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
    job.portSeconds = GetPortSeconds(m_cluster.GetFabric());
    const auto iterations = static_cast<uint32_t>(options.training.iterations);
    for (uint32_t host : job.result.hosts)
    {
        m_cluster.GetTransports().SetPriority(host, options.priority);
    }
    TrainingJobHelper helper;
    helper.SetAttribute("Iterations", UintegerValue(iterations));
    helper.SetAttribute("ComputeJitter", StringValue(options.training.computeJitter));
    helper.SetAttribute("OverlapCompute", DoubleValue(job.overlap.compute));
    helper.SetAttribute("OverlapCopies", DoubleValue(job.overlap.copies));
    helper.SetSlowdowns(job.slowdowns);
    helper.SetAttribute("RealPayload", BooleanValue(m_options.isReal));
    helper.SetAttribute("Gradients", StringValue(m_options.gradients));
    helper.SetAttribute("Seed", UintegerValue(RngSeedManager::GetRun()));
    helper.SetOffload([this, index](const std::vector<Ptr<ScheduledCommunicator>>& hosts) {
        Job& job = m_jobs[index];
        job.hosts = hosts;
        job.workers = m_switches.Join(index, job.result.hosts, hosts, job.notes);
        for (const auto& worker : job.workers)
        {
            worker->SetErrorHandler([this, index](uint32_t rank, const std::string& reason) {
                m_guard.Fail(m_jobs[index].result.hosts.at(rank), reason);
            });
        }
        return job.workers;
    });
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
    if (m_options.isReal)
    {
        CompareResults({job.plan, job.applications, job.hosts, job.workers, m_options.gradients},
                       *job.measured);
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

BindingRow
SharedSimulation::FindLimit(const Job& job) const
{
    const Fabric& fabric = m_cluster.GetFabric();
    const std::set<uint32_t> hosts(job.result.hosts.begin(), job.result.hosts.end());
    const auto isForeign = [&](uint32_t node) {
        return node < fabric.topology.hosts && hosts.count(node) == 0;
    };
    FiguresRequest request{m_cluster, m_options.isReal};
    request.iterations = job.measured->GetResults();
    request.portSeconds = GetPortSeconds(fabric);
    for (std::size_t port = 0; port < request.portSeconds.size(); port++)
    {
        const auto& link = fabric.topology.links[port / 2];
        double& seconds = request.portSeconds[port];
        seconds = isForeign(link.a) || isForeign(link.b) ? 0 : seconds - job.portSeconds[port];
    }
    return FindBinding(request);
}

void
SharedSimulation::CleanUp(std::size_t index)
{
    Job& job = m_jobs[index];
    job.result.binding = FindLimit(job);
    if (m_options.results)
    {
        auto path = GetPathRows(job.measured->GetCriticalPath(), *job.plan.graph);
        for (CriticalPathRow& row : path)
        {
            row.rank = job.result.hosts.at(row.rank);
        }
        m_options.results->End(index, path, job.result.binding);
    }
    job.result.inNetwork = m_switches.GetFigures(index, job.workers);
    m_switches.Leave(index);
    for (const auto& application : job.applications)
    {
        // The next job on these hosts uses the same numbers of communicators.
        std::set<Ptr<Communicator>> communicators(application->GetCommunicators().begin(),
                                                  application->GetCommunicators().end());
        communicators.insert(application->GetMessages());
        communicators.insert(job.hosts.at(application->GetRank()));
        for (const auto& communicator : communicators)
        {
            if (communicator)
            {
                communicator->Dispose();
            }
        }
    }
    job.hosts.clear();
    job.workers.clear();
    m_allocator.GiveBack(job.result.hosts);
    if (!GetMismatch().empty())
    {
        m_guard.Stop();
        return;
    }
    if (--m_left == 0)
    {
        m_guard.End();
    }
    StartWaiting();
}

std::string
SharedSimulation::GetMismatch() const
{
    for (std::size_t i = 0; i < m_jobs.size(); i++)
    {
        const std::string text = m_jobs[i].measured ? m_jobs[i].measured->GetMismatch() : "";
        if (!text.empty())
        {
            return "job " + m_options.jobs[i].name + ": " + text;
        }
    }
    return "";
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
    for (std::size_t i = 0; i < m_jobs.size(); i++)
    {
        Job& job = m_jobs[i];
        if (!job.workers.empty()) // it has not ended
        {
            job.result.inNetwork = m_switches.GetFigures(i, job.workers);
        }
        if (job.measured)
        {
            job.result.iterations = job.measured->GetResults();
        }
        results.push_back(std::move(job.result));
    }
    return results;
}

std::string
SharedSimulation::GetWaitingFor(uint32_t host) const
{
    for (std::size_t i = 0; i < m_jobs.size(); i++)
    {
        const Job& job = m_jobs[i];
        const auto& hosts = job.result.hosts;
        const auto rank =
            static_cast<std::size_t>(std::find(hosts.begin(), hosts.end(), host) - hosts.begin());
        if (job.hosts.empty() || rank == hosts.size())
        {
            continue; // it does not run, or on other hosts
        }
        std::string text = job.workers.empty() ? "" : job.workers[rank]->GetWaitingFor();
        text = text.empty() ? m_cluster.GetHostCommunicator(host)->GetWaitingFor() : text;
        return text.empty() ? "" : "job " + m_options.jobs[i].name + ": " + text;
    }
    return "";
}

std::string
SharedSimulation::DescribeUnfinished() const
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

double
SharedSimulation::GetWork() const
{
    double work = 0;
    for (std::size_t i = 0; i < m_jobs.size(); i++)
    {
        work += m_jobs[i].work * static_cast<double>(m_options.jobs[i].training.iterations);
    }
    return work;
}

double
SharedSimulation::GetCompleteWork() const
{
    double work = 0;
    for (const Job& job : m_jobs)
    {
        work +=
            job.measured ? job.work * static_cast<double>(job.measured->GetResults().size()) : 0;
    }
    return work;
}

WorkEstimate
SharedSimulation::EstimateWork()
{
    bool isKnown = WorkEstimate::IsWanted() && !m_switches.AreUsed();
    WorkVolume volume;
    for (std::size_t i = 0; i < m_jobs.size() && isKnown; i++)
    {
        TrainingRunOptions job = m_options.jobs[i].training;
        const uint64_t ranks = m_jobs[i].plan.graph->GetRanks();
        job.cluster = m_options.cluster;
        job.cluster.ranks = ranks;
        try
        {
            const JobCheck check = CheckJob(job);
            const auto iterations = static_cast<double>(job.iterations);
            m_jobs[i].work = check.payload;
            volume.packetHops += iterations * check.packetHops;
            volume.tasks += check.tasks;
            volume.bytes += iterations * check.payload;
        }
        catch (const ConfigurationError&) // a trace, or no network for so few ranks
        {
            isKnown = false;
        }
        isKnown = isKnown && m_jobs[i].work > 0;
    }
    for (Job& job : m_jobs)
    {
        job.work = isKnown ? job.work : 1;
    }
    const double work = GetWork();
    return WorkEstimate(work,
                        isKnown ? volume.Divide(work) : WorkVolume(),
                        m_options.cluster,
                        m_jobs.size() == 1 ? "job " + m_options.jobs[0].name
                                           : std::to_string(m_jobs.size()) + " jobs");
}

SharedRunResult
SharedSimulation::Run()
{
    SharedRunResult result;
    try
    {
        WorkEstimate estimate = EstimateWork();
        estimate.Show();
        const ProgressLine progress(m_cluster.GetFabric(), [&] {
            const double complete = GetCompleteWork();
            return estimate.GetFraction(complete,
                                        GetWork() - complete,
                                        GetRankProgress(m_cluster).bytes);
        });
        m_guard.Run();
        result.mismatch = GetMismatch();
    }
    catch (const SimulationStuck& stuck)
    {
        result.failure = stuck.what() + DescribeUnfinished();
        // A signal, or an error of a codec, stays what it is.
        result.stuck = typeid(stuck) == typeid(SimulationStuck)
                           ? std::make_exception_ptr(SimulationStuck(result.failure))
                           : std::current_exception();
    }
    catch (const ConfigurationError& error) // switches cannot serve a job on its hosts
    {
        const auto jobs = EndResults();
        if (m_options.results)
        {
            m_options.results->Fail(m_options.jobs, jobs, {}, error.what());
        }
        throw;
    }
    result.jobs = EndResults();
    const std::string failure =
        result.mismatch.empty() ? result.failure : "wrong result: " + result.mismatch;
    if (m_options.results && !failure.empty())
    {
        m_options.results->Fail(m_options.jobs, result.jobs, {}, failure);
    }
    result.figures.AddAll({m_cluster});
    result.notes = m_cluster.GetNotes();
    result.warnings = GetWarnings(m_cluster);
    for (std::size_t i = 0; i < m_jobs.size(); i++)
    {
        const std::string name = "job " + m_options.jobs[i].name + ": ";
        const auto add = [&name](std::vector<std::string>& to,
                                 const std::vector<std::string>& texts) {
            for (const std::string& text : texts)
            {
                to.push_back(name + text);
            }
        };
        const JobPlan& plan = m_jobs[i].plan;
        add(result.notes, plan.notes);
        add(result.notes, m_jobs[i].notes);
        const SharedJobResult& job = result.jobs[i];
        if (job.HasStarted())
        {
            const ClusterOptions& cluster = m_cluster.GetOptions();
            const std::string& gpu = m_options.jobs[i].training.gpu;
            const auto advice =
                AdviseAlgorithm(m_cluster, plan, GetMean(job.iterations), job.hosts);
            add(result.warnings, std::vector<std::string>(advice.empty() ? 0 : 1, advice));
            add(result.warnings,
                AdviseJob(plan, gpu, m_cluster.GetTopology(), cluster.rate, job.hosts));
        }
    }
    result.choices = m_cluster.GetPlan().GetChoices();
    result.cost = GetRunCost(m_cluster.GetFabric());
    return result;
}

} // namespace ns3::training
