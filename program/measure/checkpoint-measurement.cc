/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "checkpoint-measurement.h"

#include "engine/fabric-border.h"
#include "guard/progress-line.h"
#include "run/work-estimate.h"

#include "ns3/guarded-run.h"
#include "ns3/rank-progress.h"
#include "ns3/run-files.h"
#include "ns3/simulator.h"
#include "ns3/training-application.h"
#include "ns3/training-cluster.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-job-helper.h"
#include "ns3/training-job.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/** Ends the simulation after all that is part of it. */
struct SimulationScope
{
    ~SimulationScope()
    {
        Simulator::Destroy();
    }
};

/** The simulation of a job with a checkpoint. */
class CheckpointSimulation
{
  public:
    explicit CheckpointSimulation(const CheckpointRun& run);

    CheckpointSpans Run();

  private:
    static ClusterOptions AddHosts(const CheckpointRun& run);
    static std::shared_ptr<const CheckpointGraph> MakeGraph(const CheckpointRun& run);
    void OnArrival(uint32_t rank, const GraphTask& task, uint64_t number, Ptr<const Tensor> result);
    Time GetStorageTime() const;
    WorkEstimate EstimateWork() const;
    void RunAndRecord(GuardedRun& guard);

    static constexpr uint32_t EVERY = CheckpointRun::ITERATIONS + 2; // with the first, and its own
    static constexpr uint32_t ALL = EVERY + CheckpointRun::ITERATIONS;

    SimulationScope m_scope;
    const CheckpointRun& m_run;
    Cluster m_cluster;
    std::shared_ptr<const CheckpointGraph> m_graph;
    TrainingJob m_job;
    ApplicationContainer m_applications;
    Time m_lastAnswer;
};

CheckpointSimulation::CheckpointSimulation(const CheckpointRun& run)
    : m_run(run),
      m_cluster(AddHosts(run)),
      m_graph(MakeGraph(run)),
      m_job(static_cast<uint32_t>(run.cluster.ranks), ALL, 0, 0)
{
    TrainingJobHelper helper;
    helper.SetAttribute("Iterations", UintegerValue(ALL));
    m_applications = helper.Install(m_cluster, m_graph, run.job.operations);
    for (uint32_t rank = 0; rank < m_graph->GetJobRanks(); rank++)
    {
        const auto application = DynamicCast<TrainingApplication>(m_applications.Get(rank));
        m_job.Observe(application);
        application->TraceConnectWithoutContext(
            "Arrival",
            MakeCallback(&CheckpointSimulation::OnArrival, this));
    }
}

ClusterOptions
CheckpointSimulation::AddHosts(const CheckpointRun& run)
{
    ClusterOptions options = run.cluster;
    options.ranks += run.plan.storageHosts;
    return options;
}

std::shared_ptr<const CheckpointGraph>
CheckpointSimulation::MakeGraph(const CheckpointRun& run)
{
    CheckpointPlan plan = run.plan;
    plan.every = EVERY;
    plan.isRestart = true;
    const uint64_t ranks = run.cluster.ranks;
    const uint64_t rest = run.bytes % ranks;
    for (uint64_t rank = 0; rank < ranks; rank++)
    {
        plan.shares.push_back(run.bytes / ranks + (rank < rest ? 1 : 0));
    }
    return std::make_shared<CheckpointGraph>(run.job.graph, plan);
}

void
CheckpointSimulation::OnArrival(uint32_t, const GraphTask& task, uint64_t, Ptr<const Tensor>)
{
    if (m_graph->IsAnswer(task))
    {
        m_lastAnswer = Simulator::Now();
    }
}

Time
CheckpointSimulation::GetStorageTime() const
{
    const auto bytes = static_cast<double>(m_run.bytes);
    const auto getTime = [bytes](double rate) { return rate > 0 ? bytes / rate : 0; };
    return Seconds(2 * getTime(m_run.plan.storageRate) + getTime(m_run.plan.snapshotRate));
}

/** @return the work: in bytes, if those of an iteration are known, otherwise in iterations */
WorkEstimate
CheckpointSimulation::EstimateWork() const
{
    const WorkEstimate byIterations(ALL, {}, m_cluster.GetOptions(), "");
    if (!WorkEstimate::IsWanted())
    {
        return byIterations;
    }
    try
    {
        const JobCheck check = CheckJob(m_run.job, m_run.cluster);
        const uint32_t ranks = m_graph->GetJobRanks();
        std::vector<std::pair<uint32_t, uint32_t>> ends;
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            ends.emplace_back(rank, ranks + rank % m_run.plan.storageHosts);
        }
        const double saved = 2 * static_cast<double>(m_run.bytes); // and loaded
        const double bytes = ALL * check.payload + saved;
        const double hops = ALL * check.packetHops + EstimateMessages(m_cluster, ends, saved);
        return {bytes, {hops / bytes, 1}, m_cluster.GetOptions(), "a checkpoint and a restart"};
    }
    catch (const ConfigurationError&) // a file, or no network without the hosts of the storage
    {
        return byIterations;
    }
}

void
CheckpointSimulation::RunAndRecord(GuardedRun& guard)
{
    WorkEstimate estimate = EstimateWork();
    estimate.Show();
    const ProgressLine progress(m_cluster.GetFabric(), [&] {
        const double bytes = GetRankProgress(m_cluster).bytes;
        return estimate.IsKnown()
                   ? estimate.GetFraction(0, estimate.GetWork(), bytes)
                   : estimate.GetFraction(static_cast<double>(m_job.GetResults().size()), 1, bytes);
    });
    RunOutputs* const outputs = RunOutputs::GetCurrent();
    std::optional<RunFiles> files;
    if (outputs)
    {
        files.emplace(*outputs, m_cluster);
        for (uint32_t i = 0; i < m_applications.GetN(); i++)
        {
            files->GetRecorder().Observe(DynamicCast<TrainingApplication>(m_applications.Get(i)));
        }
        m_job.OnIterationComplete(
            [&files](const IterationRecord& record) { files->AddIteration(record); });
    }
    std::string failure;
    const auto close = [&] {
        GatherCounters(m_cluster.GetFabric());
        if (files)
        {
            files->Finish();
            files->Close(failure);
        }
    };
    try
    {
        guard.Run();
    }
    catch (const SimulationStuck& stuck)
    {
        failure = stuck.what();
        close();
        throw;
    }
    close();
}

CheckpointSpans
CheckpointSimulation::Run()
{
    // Storage and memory work without frames; all of it takes less than one host alone.
    const Time storage = GetStorageTime();
    GuardedRun guard(m_cluster);
    guard.SetComputing([this, storage] {
        for (uint32_t i = 0; i < m_applications.GetN(); i++)
        {
            if (DynamicCast<TrainingApplication>(m_applications.Get(i))->IsComputing())
            {
                return true;
            }
        }
        return Simulator::Now() < storage + ALL * m_run.job.compute;
    });
    m_job.OnRanksFinished([&guard] { guard.End(); });
    RunAndRecord(guard);
    const std::vector<IterationRecord>& iterations = m_job.GetResults();
    CheckpointSpans spans;
    for (uint32_t i = 1; i + 1 < EVERY; i++)
    {
        spans.iterationS += iterations[i].iterationTimeS / CheckpointRun::ITERATIONS;
    }
    for (uint32_t i = EVERY - 1; i < ALL; i++)
    {
        spans.checkpointS += iterations[i].iterationTimeS - spans.iterationS;
    }
    spans.loadS = iterations[0].iterationTimeS - spans.iterationS;
    const double end = iterations[EVERY - 1].endS;
    spans.drainS = std::max(0.0, m_lastAnswer.GetSeconds() - end);
    spans.isDrained = m_lastAnswer.GetSeconds() <= iterations[ALL - 1].endS;
    spans.cost = GetRunCost(m_cluster.GetFabric());
    spans.choices = m_cluster.GetPlan().GetChoices();
    return spans;
}

} // namespace

CheckpointSpans
MeasureCheckpoint(const CheckpointRun& run)
{
    return CheckpointSimulation(run).Run();
}

} // namespace ns3::training
