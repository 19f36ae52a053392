/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job-execution.h"

#include "engine/fabric-border.h"
#include "record/binding-figures.h"
#include "record/network-figures.h"
#include "record/path-figures.h"
#include "record/uec-figures.h"
#include "run/expected-results.h"

#include "ns3/gradient-source.h"
#include "ns3/log.h"
#include "ns3/run-cost.h"
#include "ns3/simulator.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingJobExecution");

JobExecution::JobExecution(PreparedJob& job, const JsonValue& configuration, Callback onIteration)
    : m_prepared(job),
      m_cluster(*job.cluster),
      m_onIteration(std::move(onIteration)),
      m_job(m_cluster.GetRanks(),
            job.GetIterations(),
            static_cast<uint32_t>(job.options.warmup),
            job.plan.GetBusBytes()),
      m_reference(m_cluster),
      m_files(RunFiles::Open(job.options, m_cluster, PROGRAM, configuration.Write())),
      m_guard(m_cluster)
{
    Observe();
    if (job.options.IsReal())
    {
        CheckResults();
    }
    m_job.SetImages(m_cluster.GetOptions().images.GetCount());
    m_job.OnIterationComplete([this](const IterationRecord& record) { OnIteration(record); });
    m_job.OnRanksFinished([this] {
        if (m_life)
        {
            m_life->Finish();
        }
        m_guard.End();
    });
    m_guard.SetComputing([this] { return IsComputing(); });
    if (job.life)
    {
        Live();
    }
    if (job.circuits)
    {
        m_circuits.emplace(*job.cluster, job.circuits, m_applications);
    }
    if (job.options.repeat == "derive")
    {
        m_repetition = std::make_unique<JobRepetition>(JobRepetition::Parts{m_cluster,
                                                                            m_job,
                                                                            m_files,
                                                                            m_applications,
                                                                            job.replays,
                                                                            job.GetIterations()},
                                                       job.obstacle);
    }
    if (job.options.microBatches == "derive")
    {
        m_microBatches = std::make_unique<MicroBatchRepetition>(job, m_job, m_applications);
    }
    if (Processes::GetCount() > 1)
    {
        m_guard.SetReport([this] { ExchangeReports(); });
    }
    else if (m_cluster.GetOptions().images.GetCount() > 1)
    {
        m_imageCounters.emplace(m_cluster);
        m_guard.SetReport([this] { m_imageCounters->Check(); }); // soon, rather than at the end
    }
}

void
JobExecution::Observe()
{
    RunRecorder& recorder = m_files.GetRecorder();
    for (uint32_t i = 0; i < m_prepared.applications.GetN(); i++)
    {
        m_applications.push_back(DynamicCast<TrainingApplication>(m_prepared.applications.Get(i)));
        if (m_applications.back()->GetRank() < m_cluster.GetRanks())
        {
            m_job.Observe(m_applications.back());
        }
        recorder.Observe(m_applications.back());
    }
    recorder.SetLayers(m_prepared.plan.MakeLayerNames());
    m_job.SetLowerBound(m_prepared.lowerBound);
}

void
JobExecution::Live()
{
    LifePlan& life = *m_prepared.life;
    m_life = std::make_unique<LivingJob>(LivingJob::Parts{*m_prepared.cluster,
                                                          m_prepared.plan.graph,
                                                          life.checkpoints,
                                                          m_prepared.GetIterations(),
                                                          m_applications,
                                                          m_job,
                                                          m_guard},
                                         m_prepared.options.life,
                                         std::move(life.failures));
    m_life->OnRewind([this](uint32_t first) {
        m_complete = first;
        m_files.DropIterations(first);
    });
    m_guard.SetDown([this] { return m_life->IsDown(); });
}

void
JobExecution::CheckResults()
{
    const JobPlan& plan = m_prepared.plan;
    ExpectedResults expected;
    if (plan.training)
    {
        auto ranks = m_applications; // without storage hosts, which come last
        ranks.resize(std::min<std::size_t>(ranks.size(), m_cluster.GetRanks()));
        m_training = std::make_unique<JobTraining>(*plan.training, std::move(ranks));
        expected.numbers = [this](const GradientPlace& place, std::size_t count) {
            return m_training->Make(place, count);
        };
        expected.onExpected = [this](const GradientPlace& place, const auto& sums) {
            m_training->Apply(place, sums);
        };
    }
    else
    {
        expected.numbers = GraphChecker::From(MakeGradientSource(m_prepared.options.gradients));
    }
    expected.sums = [this](const GraphChecker::Collective& collective) {
        return GraphChecker::Results{GetSums(collective)};
    };
    expected.afterFallback = [this](const GraphChecker::Collective& collective) {
        return GraphChecker::Results{m_reference.GetAfterFallback(collective.inputs)};
    };
    expected.hosts = [this](uint32_t rank) { return m_cluster.GetHostCommunicator(rank); };
    expected.CompareIn(plan, m_applications, m_job);
}

GraphChecker::Vectors
JobExecution::GetSums(const GraphChecker::Collective& collective)
{
    auto sums = m_reference.Get(collective.iteration,
                                static_cast<uint32_t>(collective.task.tag),
                                collective.inputs,
                                collective.result);
    m_reference.AddErrors(collective.inputs, sums, m_codingErrors);
    return sums;
}

void
JobExecution::Learn(const IterationRecord& record)
{
    const LearningRow row = m_training->Measure(record.iteration, record.endS);
    if (m_training->HasDiverged())
    {
        m_guard.Fail(0,
                     "the training diverges: a weight or loss of iteration " +
                         std::to_string(record.iteration) + " is not finite");
    }
    else if (m_files.GetStore())
    {
        m_files.GetStore()->Add(row);
    }
}

void
JobExecution::OnIteration(const IterationRecord& record)
{
    NS_LOG_INFO("iteration " << record.iteration << " ends at " << record.endS << " s");
    m_complete++;
    if (m_training)
    {
        Learn(record);
    }
    m_files.AddIteration(record);
    // Other processes learn later that an iteration has ended.
    if (Processes::GetCount() == 1 && (!record.derived || m_complete == m_prepared.GetIterations()))
    {
        DeriveCounters();
        (record.warmup ? m_portsBefore : m_portsAfter) = GetPortSeconds(m_cluster.GetFabric());
        m_portsBefore.resize(2 * m_cluster.GetFabric().channels.size());
    }
    if (m_onIteration)
    {
        m_onIteration(record);
    }
    if (!GetMismatch().empty())
    {
        m_guard.Stop();
    }
    if (m_repetition && !record.derived)
    {
        m_repetition->OnIteration();
    }
    if (m_microBatches)
    {
        m_microBatches->OnIteration();
    }
}

/** @return the first wrong sum or replica, or empty */
std::string
JobExecution::GetMismatch() const
{
    if (m_training && m_training->HasDiverged())
    {
        return ""; // NaN differ in their bits
    }
    const std::string sum = m_job.GetMismatch();
    return !sum.empty() || !m_training ? sum : m_training->GetMismatch();
}

bool
JobExecution::IsComputing() const
{
    return (m_life && m_life->IsDown()) ||
           std::any_of(m_applications.begin(), m_applications.end(), [](const auto& application) {
               return application->IsComputing();
           });
}

/** @return packet-hops of derived iterations, collectives and ranks */
uint64_t
JobExecution::GetSkippedHops() const
{
    // Derived iterations have those of all ranks.
    const uint32_t images = m_cluster.GetOptions().images.GetCount();
    uint64_t hops = m_imageHops + (m_repetition ? m_repetition->GetPacketHops() / images : 0);
    hops += m_microBatches ? m_microBatches->GetPacketHops() : 0;
    return hops + CollectiveReplay::Add(m_prepared.replays).packetHops;
}

uint64_t
JobExecution::GetDerivedPackets() const
{
    uint64_t packets = m_repetition ? m_repetition->GetPackets() : 0;
    packets += m_microBatches ? m_microBatches->GetPackets() : 0;
    return packets + m_cluster.GetOptions().images.GetCount() *
                         CollectiveReplay::Add(m_prepared.replays).packets;
}

/** @return what was derived; none: all was to be simulated */
std::optional<RepetitionFigures>
JobExecution::GetRepetition() const
{
    const uint32_t images = m_cluster.GetOptions().images.GetCount();
    const bool derivesCollectives = m_prepared.options.collectives == "derive";
    if (!m_repetition && !m_microBatches && !derivesCollectives && images == 1)
    {
        return std::nullopt;
    }
    RepetitionFigures figures;
    figures.simulatedIterations = m_job.GetResults().size();
    if (m_repetition)
    {
        figures.simulatedIterations -= m_repetition->GetDerived();
        figures.derivedIterations = m_repetition->GetDerived();
        figures.reason = m_repetition->GetReason();
        figures.derivedCollectives = m_repetition->GetCollectives();
    }
    figures.simulatedRanks = m_cluster.GetRanks() / images;
    figures.derivedRanks = m_cluster.GetRanks() - figures.simulatedRanks;
    figures.imageReason = m_prepared.imageReason;
    if (const auto inexact = m_imageCounters ? m_imageCounters->FindInexact() : std::string();
        !inexact.empty())
    {
        figures.imageReason += (figures.imageReason.empty() ? "" : "; ") + inexact;
    }
    if (m_microBatches)
    {
        m_microBatches->AddTo(figures);
    }
    if (derivesCollectives && m_prepared.replays.empty())
    {
        figures.collectiveReason = m_cluster.GetInNetworkCommunicators().empty()
                                       ? "no group in a server has links whose use is known"
                                       : "switches or NICs compute some of them";
    }
    const auto sums = CollectiveReplay::Add(m_prepared.replays);
    figures.simulatedCollectives += sums.simulated;
    figures.derivedCollectives += sums.derived;
    return figures;
}

void
JobExecution::ExchangeReports()
{
    // Before the iterations, because each of them commits the file.
    m_files.GetRecorder().WriteKept();
    m_job.ExchangeStarts();
    const auto reports = Processes::Gather(m_job.Pack());
    for (uint32_t process = 0; process < reports.size(); process++)
    {
        if (process != Processes::GetId())
        {
            m_job.Merge(reports[process]);
        }
    }
}

void
JobExecution::FinishFiles()
{
    ExchangeReports();
    m_job.FindSharedPath();
    GatherCounters(m_cluster.GetFabric());
    m_imageHops = DeriveCounters();
    SimulationRow derived;
    if (const auto figures = GetRepetition())
    {
        derived.skippedHops = GetSkippedHops();
        derived.derivedIterations = figures->derivedIterations;
        derived.simulatedCollectives = figures->simulatedCollectives;
        derived.derivedCollectives = figures->derivedCollectives;
    }
    FiguresRequest request{m_cluster, m_prepared.options.IsReal(), m_codingErrors};
    request.iterations = m_job.GetResults();
    for (std::size_t port = 0; port < m_portsAfter.size(); port++)
    {
        request.portSeconds.push_back(m_portsAfter[port] - m_portsBefore[port]);
    }
    m_figures.AddAll(request);
    const uint64_t packets = GetDerivedPackets();
    m_figures.Find<NetworkFigures>()->sentPackets += packets;
    if (auto* uec = m_figures.Find<UecFigures>())
    {
        uec->sentPackets += packets;
    }
    m_files.Finish(derived, &m_figures);
    if (m_files.GetStore())
    {
        for (const CriticalPathRow& row :
             GetPathRows(m_job.GetCriticalPath(), m_prepared.GetGraph(), m_job.GetPathDelay()))
        {
            m_files.GetStore()->Add(row);
        }
    }
    if (m_life)
    {
        m_lifeFigures = std::make_shared<LifeFigures>(m_life->GetFigures());
        m_files.AddLife(*m_lifeFigures);
    }
    m_energy = GetEnergyFigures(m_prepared.options.energy,
                                m_cluster,
                                m_job.GetResults(),
                                static_cast<double>(m_prepared.plan.GetBytes()));
    if (m_energy && m_files.GetStore())
    {
        m_files.GetStore()->Add(m_energy->GetRow());
    }
}

void
JobExecution::Simulate()
{
    try
    {
        m_guard.Run();
    }
    catch (const SimulationStuck& stuck)
    {
        NS_LOG_WARN("stuck: " << stuck.what());
        FinishFiles();
        m_files.Close(stuck.what());
        throw;
    }
    if (m_imageCounters)
    {
        m_imageCounters->Check();
    }
    FinishFiles();
    const std::string mismatch = GetMismatch();
    m_files.Close(mismatch.empty() ? "" : "wrong sum: " + mismatch);
}

void
JobExecution::AddTo(TrainingRunResult& result) const
{
    result.mismatch = GetMismatch();
    result.iterations = m_job.GetResults();
    result.mean = GetMean(result.iterations);
    result.endS = m_job.GetEnd().GetSeconds();
    result.figures.Add(m_lifeFigures);
    std::shared_ptr<PathFigures> path;
    if (!m_job.GetCriticalPath().empty())
    {
        const Time end = Simulator::Now() + m_job.GetRepeatedTime();
        path = std::make_shared<PathFigures>(GetPathFigures(m_job.GetCriticalPath(),
                                                            m_prepared.GetGraph(),
                                                            m_cluster.GetFabric(),
                                                            end.GetSeconds()));
    }
    result.figures.Add(path);
    result.figures.Add(m_energy);
    result.figures.Add(m_figures);
    result.cost = GetRunCost(m_cluster.GetFabric());
    result.repetition = GetRepetition();
    if (result.repetition)
    {
        result.cost.skippedHops += GetSkippedHops();
    }
    if (m_repetition)
    {
        if (auto* sums = result.figures.Find<InNetworkFigures>())
        {
            m_repetition->AddTo(*sums);
        }
    }
    if (m_training && !m_training->GetRows().empty())
    {
        result.learning = m_training->GetRows();
        result.training = m_training->Format();
    }
}

} // namespace ns3::training
