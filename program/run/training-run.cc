/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-run.h"

#include "algorithm-advice.h"
#include "job-lower-bound.h"
#include "job-repetition.h"
#include "living-job.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/fabric-border.h"
#include "ns3/gradient-source.h"
#include "ns3/guarded-run.h"
#include "ns3/json-output.h"
#include "ns3/log.h"
#include "ns3/path-figures.h"
#include "ns3/reference-sums.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/run-files.h"
#include "ns3/run-warnings.h"
#include "ns3/session.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/topology-builder.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-jitter.h"
#include "ns3/training-job-helper.h"
#include "ns3/training-job.h"
#include "ns3/training-memory.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/training-workload.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRun");

namespace
{

/// Program name in results files.
constexpr const char* PROGRAM = "training-job";

} // namespace

/** The simulation of a job: applications, observers and output files. */
class TrainingRun::Execution
{
  public:
    explicit Execution(TrainingRun& run);

    /**
     * Simulates until all ranks have finished or a sum is wrong.
     * @throw SimulationStuck if the simulation cannot make progress; the files contain the reason
     */
    void Simulate();

    /** @return the first wrong sum or replica, or empty */
    std::string GetMismatch() const;

    /** @return energy and cost, after Simulate(); null if not asked for */
    const std::shared_ptr<EnergyFigures>& GetEnergy() const
    {
        return m_energy;
    }

    /** @return where the time has gone, after Simulate(); null: without checkpoints and failures */
    const std::shared_ptr<LifeFigures>& GetLife() const
    {
        return m_lifeFigures;
    }

    /** @return the job with its measurements */
    const TrainingJob& GetJob() const
    {
        return m_job;
    }

    /** @return the iterations that were derived; null: all are simulated */
    const JobRepetition* GetRepetition() const
    {
        return m_repetition.get();
    }

  private:
    void Observe();
    void Live();
    void CheckResults();
    GraphChecker::Reference GetSums();
    GraphChecker::Reference GetOwnSchedules() const;
    void Learn(const IterationRecord& record);
    void OnIteration(const IterationRecord& record);
    bool IsComputing() const;
    void ExchangeReports();
    void FinishFiles();

    TrainingRun& m_run;
    const Cluster& m_cluster;
    TrainingJob m_job;
    ReferenceSums m_reference;
    RunFiles m_files;
    std::shared_ptr<EnergyFigures> m_energy;    // null: not asked for
    std::shared_ptr<LifeFigures> m_lifeFigures; // see GetLife()
    GuardedRun m_guard;
    std::vector<Ptr<TrainingApplication>> m_applications; // of the local ranks, and storage hosts
    std::unique_ptr<LivingJob> m_life;                    // null: no checkpoints and failures
    std::unique_ptr<JobRepetition> m_repetition;          // null: all is simulated
};

TrainingRun::Execution::Execution(TrainingRun& run)
    : m_run(run),
      m_cluster(*run.m_cluster),
      m_job(m_cluster.GetRanks(),
            static_cast<uint32_t>(run.m_options.warmup + run.m_options.iterations),
            static_cast<uint32_t>(run.m_options.warmup),
            run.m_plan.GetBusBytes()),
      m_reference(m_cluster),
      m_files(RunFiles::Open(run.m_options, m_cluster, PROGRAM, run.m_configuration.Write())),
      m_guard(m_cluster)
{
    Observe();
    if (run.m_options.IsReal())
    {
        CheckResults();
    }
    m_job.OnIterationComplete([this](const IterationRecord& record) { OnIteration(record); });
    m_job.OnRanksFinished([this] {
        if (m_life)
        {
            m_life->Finish();
        }
        m_guard.End();
    });
    m_guard.SetComputing([this] { return IsComputing(); });
    if (run.m_life)
    {
        Live();
    }
    if (run.m_options.repeat == "derive")
    {
        m_repetition = std::make_unique<JobRepetition>(
            JobRepetition::Parts{
                m_cluster,
                m_job,
                m_files,
                m_applications,
                run.m_replays,
                static_cast<uint32_t>(run.m_options.warmup + run.m_options.iterations)},
            run.m_obstacle);
    }
    if (Processes::GetCount() > 1)
    {
        m_guard.SetReport([this] { ExchangeReports(); });
    }
}

void
TrainingRun::Execution::Observe()
{
    RunRecorder& recorder = m_files.GetRecorder();
    for (uint32_t i = 0; i < m_run.m_applications.GetN(); i++)
    {
        m_applications.push_back(DynamicCast<TrainingApplication>(m_run.m_applications.Get(i)));
        if (m_applications.back()->GetRank() < m_cluster.GetRanks())
        {
            m_job.Observe(m_applications.back());
        }
        recorder.Observe(m_applications.back());
    }
    recorder.SetLayers(m_run.m_plan.MakeLayerNames());
    m_job.SetLowerBound(m_run.m_lowerBound);
}

void
TrainingRun::Execution::Live()
{
    const TrainingRunOptions& options = m_run.m_options;
    m_life = std::make_unique<LivingJob>(
        LivingJob::Parts{*m_run.m_cluster,
                         m_run.m_plan.graph,
                         m_run.m_checkpoints,
                         static_cast<uint32_t>(options.warmup + options.iterations),
                         m_applications,
                         m_job,
                         m_guard},
        options.life,
        std::move(*m_run.m_failures));
    m_life->OnRewind([this](uint32_t first) {
        m_run.m_complete = first;
        m_files.DropIterations(first);
    });
    m_guard.SetDown([this] { return m_life->IsDown(); });
}

void
TrainingRun::Execution::CheckResults()
{
    const JobPlan& plan = m_run.m_plan;
    auto numbers = GraphChecker::Numbers();
    if (plan.training)
    {
        auto ranks = m_applications; // without storage hosts, which come last
        ranks.resize(std::min<std::size_t>(ranks.size(), m_cluster.GetRanks()));
        m_run.m_training = std::make_unique<JobTraining>(*plan.training, std::move(ranks));
        numbers = [training = m_run.m_training.get()](const GradientPlace& place,
                                                      std::size_t count) {
            return training->Make(place, count);
        };
    }
    else
    {
        numbers = GraphChecker::From(MakeGradientSource(m_run.m_options.gradients));
    }
    const bool isSumOnly = plan.IsAllReduceOnly();
    auto checker = std::make_unique<GraphChecker>(plan.graph,
                                                  numbers,
                                                  RngSeedManager::GetRun(),
                                                  isSumOnly ? GetSums() : GetOwnSchedules());
    if (isSumOnly) // valid after a fallback from the network
    {
        checker->SetAlternative([this](const GraphChecker::Collective& collective) {
            return GraphChecker::Results{m_reference.GetAfterFallback(collective.inputs)};
        });
    }
    if (m_run.m_training)
    {
        checker->OnExpected([this](const GradientPlace& place, const auto& sums) {
            m_run.m_training->Apply(place, sums);
        });
    }
    m_job.SetChecker(std::move(checker),
                     plan.buckets ? std::optional(plan.buckets->GetBuckets().size())
                                  : std::nullopt);
}

GraphChecker::Reference
TrainingRun::Execution::GetSums()
{
    return [this](const GraphChecker::Collective& collective) {
        auto sums = m_reference.Get(collective.iteration,
                                    static_cast<uint32_t>(collective.task.tag),
                                    collective.inputs,
                                    collective.result);
        m_reference.AddErrors(collective.inputs, sums, m_run.m_codingErrors);
        return GraphChecker::Results{std::move(sums)};
    };
}

GraphChecker::Reference
TrainingRun::Execution::GetOwnSchedules() const
{
    std::map<uint32_t, TrainingApplication*> applications;
    for (const auto& application : m_applications)
    {
        applications[application->GetRank()] = PeekPointer(application);
    }
    return GraphChecker::Execute([this, applications](uint32_t rank, const GraphTask& task) {
        const auto communicator = DynamicCast<ScheduledCommunicator>(
            applications.at(rank)->GetCommunicators()[task.groups]);
        return (communicator ? communicator : m_cluster.GetHostCommunicator(rank))
            ->GetSchedule(task.operation, task.bytes, task.peer);
    });
}

void
TrainingRun::Execution::Learn(const IterationRecord& record)
{
    const LearningRow row = m_run.m_training->Measure(record.iteration, record.endS);
    if (m_run.m_training->HasDiverged())
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
TrainingRun::Execution::OnIteration(const IterationRecord& record)
{
    NS_LOG_INFO("iteration " << record.iteration << " ends at " << record.endS << " s");
    m_run.m_complete++;
    if (m_run.m_training)
    {
        Learn(record);
    }
    m_files.AddIteration(record);
    if (m_run.m_onIteration)
    {
        m_run.m_onIteration(record);
    }
    if (!GetMismatch().empty())
    {
        m_guard.Stop();
    }
    if (m_repetition && !record.derived)
    {
        m_repetition->OnIteration();
    }
}

std::string
TrainingRun::Execution::GetMismatch() const
{
    const JobTraining* training = m_run.m_training.get();
    if (training && training->HasDiverged())
    {
        return ""; // NaN differ in their bits
    }
    const std::string sum = m_job.GetMismatch();
    return !sum.empty() || !training ? sum : training->GetMismatch();
}

bool
TrainingRun::Execution::IsComputing() const
{
    return (m_life && m_life->IsDown()) ||
           std::any_of(m_applications.begin(), m_applications.end(), [](const auto& application) {
               return application->IsComputing();
           });
}

void
TrainingRun::Execution::ExchangeReports()
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
TrainingRun::Execution::FinishFiles()
{
    ExchangeReports();
    m_job.FindSharedPath();
    GatherCounters(m_cluster.GetFabric());
    SimulationRow derived;
    if (m_repetition)
    {
        const RepetitionFigures figures =
            m_run.GetRepetitionFigures(*m_repetition, m_job.GetResults().size());
        derived.skippedHops = m_repetition->GetPacketHops();
        derived.derivedIterations = figures.derivedIterations;
        derived.simulatedCollectives = figures.simulatedCollectives;
        derived.derivedCollectives = figures.derivedCollectives;
    }
    m_files.Finish(derived);
    if (m_files.GetStore())
    {
        for (const CriticalPathRow& row :
             GetPathRows(m_job.GetCriticalPath(), m_run.GetGraph(), m_job.GetPathDelay()))
        {
            m_files.GetStore()->Add(row);
        }
    }
    if (m_life)
    {
        m_lifeFigures = std::make_shared<LifeFigures>(m_life->GetFigures());
        m_files.AddLife(*m_lifeFigures);
    }
    m_energy = GetEnergyFigures(m_run.m_options.energy,
                                m_cluster,
                                m_job.GetResults(),
                                static_cast<double>(m_run.m_plan.GetBytes()));
    if (m_energy && m_files.GetStore())
    {
        m_files.GetStore()->Add(m_energy->GetRow());
    }
}

void
TrainingRun::Execution::Simulate()
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
    FinishFiles();
    const std::string mismatch = GetMismatch();
    m_files.Close(mismatch.empty() ? "" : "wrong sum: " + mismatch);
}

TrainingRun::SimulationScope::~SimulationScope()
{
    Simulator::Destroy();
}

TrainingRun::TrainingRun(const TrainingRunOptions& options)
    : m_options(options),
      m_json(options.json)
{
    NS_LOG_FUNCTION(this << options.workload);
    Session::Begin(PROGRAM);
    const JsonValue configuration = m_options.ToJson();
    m_options.model.TakeSchedule(m_options.cluster.schedule);
    m_options.Check();
    m_plan = MakeJobPlan(m_options);
    m_options.RunFilesOptions::Check(m_options.cluster.ranks);
    m_options.cluster.storageHosts = m_options.life.GetStorageHosts();
    CheckPlan();
    CheckGradients();
    if (!m_options.results.empty())
    {
        ResultStore::Check(m_options.results);
    }
    m_cluster = std::make_unique<Cluster>(m_options.cluster);
    CheckCodecs();
    const auto& workers = m_cluster->GetInNetworkCommunicators();
    if (!workers.empty() && !workers[0]->ReturnsSum())
    {
        if (m_plan.training)
        {
            throw ConfigurationError("gradients",
                                     m_options.gradients,
                                     " with collective " + m_options.cluster.algorithm +
                                         " (allowed: collectives that return sums, as the ranks "
                                         "make the optimizer's step)");
        }
        m_plan.RemoveUpdate();
    }
    PlanLife();
    SetConfiguration(configuration);
    TrainingJobHelper helper;
    m_obstacle = JobRepetition::FindObstacle(*m_cluster, m_options.computeJitter);
    helper.SetDerives(m_options.DerivesCollectives(), !m_obstacle.empty());
    helper.SetAttribute("Iterations", UintegerValue(m_options.warmup + m_options.iterations));
    helper.SetAttribute("RealPayload", BooleanValue(m_options.IsReal()));
    if (!m_plan.training)
    {
        helper.SetAttribute("Gradients", StringValue(m_options.gradients));
    }
    helper.SetAttribute("ComputeJitter", StringValue(m_options.computeJitter));
    helper.SetSlowdowns(m_options.GetSlowdowns());
    helper.SetAttribute("Seed", UintegerValue(RngSeedManager::GetRun()));
    m_applications = helper.Install(*m_cluster,
                                    m_life ? m_life : m_plan.graph,
                                    m_plan.operations,
                                    m_options.allToAll);
    m_replays = helper.GetReplays();
    uint64_t sums = 0;
    for (const auto& [collective, count] : m_plan.summary.collectives)
    {
        const auto& [groups, operation, bytes] = collective;
        const bool isSum = operation == CollectiveOperation::ALL_REDUCE;
        sums +=
            isSum && m_plan.graph->GetGroups()[groups].AreAll(m_cluster->GetRanks()) ? count : 0;
    }
    for (const auto& worker : workers)
    {
        worker->SetTensorsOfStep(static_cast<uint32_t>(sums));
    }
    ExplainChoices();
    m_lowerBound = GetLowerBound(m_plan, *m_cluster);
    const double iterations = static_cast<double>(m_options.warmup + m_options.iterations);
    GuardedRun::CheckDuration(iterations * std::max(m_lowerBound, m_plan.compute.GetSeconds()),
                              "--iterations=" + std::to_string(m_options.iterations));
    CheckMemory(m_cluster->GetRanks() *
                    GuardedRun::EstimateMemory(m_plan.GetBytes(), m_options.IsReal() ? 1 : 0),
                "--workload=" + m_plan.name +
                    " with --payload=" + (m_options.IsReal() ? "real" : "virtual"));
}

void
TrainingRun::PlanLife()
{
    const LifeOptions& life = m_options.life;
    if (!life.HasCheckpoints() && !life.HasFailures())
    {
        return;
    }
    if (life.HasFailures() && m_plan.training)
    {
        throw ConfigurationError("gradients",
                                 m_options.gradients,
                                 " with failures (allowed: gradients that learn nothing, as a "
                                 "checkpoint holds no weights)");
    }
    m_failures.emplace(life, m_cluster->GetTopology(), m_cluster->GetRanks());
    m_checkpointBytes = life.HasCheckpoints() ? GetCheckpointBytes() : 0;
    m_checkpoints = LivingJob::MakePlan(life, m_cluster->GetRanks(), m_checkpointBytes);
    m_life = std::make_shared<CheckpointGraph>(m_plan.graph, m_checkpoints);
    const uint64_t storages =
        m_checkpoints.storageHosts > 0 ? m_checkpoints.storageHosts : m_cluster->GetRanks();
    const uint64_t number = (m_options.warmup + m_options.iterations) / m_checkpoints.every;
    GuardedRun::CheckDuration(
        static_cast<double>(number) * static_cast<double>(m_checkpointBytes) /
            (static_cast<double>(storages) * std::max(m_checkpoints.storageRate, 1.0)),
        "--checkpoint-bytes=" + std::to_string(m_checkpointBytes));
}

uint64_t
TrainingRun::GetCheckpointBytes() const
{
    if (m_options.life.bytes > 0)
    {
        return m_options.life.bytes;
    }
    if (m_plan.parameters == 0)
    {
        throw ConfigurationError("checkpoint-bytes",
                                 "auto",
                                 " with workload " + m_plan.name +
                                     " (allowed: a size, as its parameters are not known)");
    }
    return static_cast<uint64_t>(CHECKPOINT_PARAMETER_BYTES) * m_plan.parameters;
}

/** @return what ranks execute */
const TaskGraph&
TrainingRun::GetGraph() const
{
    return m_life ? *m_life : *m_plan.graph;
}

TrainingRun::~TrainingRun()
{
    NS_LOG_FUNCTION(this);
}

void
TrainingRun::CheckGradients() const
{
    if (!m_options.IsReal())
    {
        if (m_options.gradients != TrainingRunOptions().gradients)
        {
            throw ConfigurationError("gradients",
                                     m_options.gradients,
                                     " with payload=virtual (allowed: with payload=real)");
        }
        return;
    }
    const auto iterations = static_cast<uint32_t>(m_options.warmup + m_options.iterations);
    const auto buckets = m_plan.buckets ? m_plan.buckets->GetSizes() : std::vector<uint64_t>();
    if (m_plan.training)
    {
        CheckTraining();
        m_plan.training->Check(iterations,
                               std::accumulate(buckets.begin(), buckets.end(), uint64_t{0}));
        return;
    }
    if (!m_plan.IsAllReduceOnly() && m_options.gradients != TrainingRunOptions().gradients)
    {
        throw ConfigurationError("gradients",
                                 m_options.gradients,
                                 " with workload " + m_plan.name +
                                     " (allowed: hash, as not all of its collectives are sums of "
                                     "gradients of all ranks)");
    }
    MakeGradientSource(m_options.gradients)
        ->Check(static_cast<uint32_t>(m_options.cluster.ranks), iterations, buckets);
}

void
TrainingRun::CheckTraining() const
{
    const auto refuse = [this](const std::string& reason) {
        throw ConfigurationError("gradients", m_options.gradients, reason);
    };
    if (Processes::GetCount() > 1)
    {
        refuse(" with " + std::to_string(Processes::GetCount()) +
               " processes (allowed: 1, as the replicas of all ranks are compared)");
    }
    if (!m_plan.buckets || !m_plan.buckets->WaitsForAll())
    {
        refuse(" with workload " + m_options.workload +
               " (allowed: workloads that wait for all sums before the next iteration)");
    }
}

void
TrainingRun::CheckPlan() const
{
    const auto& groups = m_plan.graph->GetGroups();
    if (m_options.IsReal() && !m_plan.IsAllReduceOnly())
    {
        for (const auto& [collective, count] : m_plan.summary.collectives)
        {
            if (std::get<2>(collective) % sizeof(float) != 0)
            {
                throw ConfigurationError("payload",
                                         "real",
                                         " with workload " + m_plan.name + " and tensors of " +
                                             std::to_string(std::get<2>(collective)) +
                                             " bytes (allowed: multiples of 4)");
            }
        }
        if (Processes::GetCount() > 1)
        {
            throw ConfigurationError("payload",
                                     "real",
                                     " with workload " + m_plan.name + " and " +
                                         std::to_string(Processes::GetCount()) +
                                         " processes (allowed: 1, as all ranks are compared)");
        }
    }
    if (!m_options.allToAll.empty() &&
        std::none_of(groups.begin(), groups.end(), [](const TaskGroups& each) {
            return each.exchanges;
        }))
    {
        throw ConfigurationError("all-to-all",
                                 m_options.allToAll,
                                 " with workload " + m_options.workload +
                                     " (allowed: workloads that have all-to-alls)");
    }
}

void
TrainingRun::CheckCodecs() const
{
    const bool isReal = m_options.IsReal();
    std::vector<CollectiveOperation> operations;
    for (const auto& ofGroups : m_plan.operations)
    {
        operations.insert(operations.end(), ofGroups.begin(), ofGroups.end());
    }
    if (isReal && !m_plan.IsAllReduceOnly() &&
        (m_cluster->GetNicEngines().IsInstalled() ||
         !m_cluster->GetInNetworkCommunicators().empty()))
    {
        throw ConfigurationError("payload",
                                 "real",
                                 " with workload " + m_plan.name +
                                     " and engines in NICs or sums in switches (allowed: virtual, "
                                     "as only all-reduces of all ranks are compared there)");
    }
    m_cluster->GetNicEngines().Check(isReal);
    m_cluster->GetCodecs().Check(isReal, operations);
    if (m_cluster->GetCodecs().IsInstalled() && !m_plan.IsAllReduceOnly())
    {
        throw ConfigurationError("codec",
                                 m_options.cluster.codec,
                                 " with workload " + m_options.workload +
                                     " (allowed: workloads whose collectives all sum gradients of "
                                     "all ranks)");
    }
}

void
TrainingRun::ExplainChoices()
{
    if (m_options.cluster.algorithm != AlgorithmChooser::NAME)
    {
        return;
    }
    std::set<std::pair<CollectiveOperation, uint64_t>> kinds;
    for (const auto& [collective, count] : m_plan.summary.collectives)
    {
        const auto& [groups, operation, bytes] = collective;
        const TaskGroups& taskGroups = m_plan.graph->GetGroups()[groups];
        if (!taskGroups.exchanges && taskGroups.AreAll(m_cluster->GetRanks()))
        {
            kinds.emplace(operation, bytes);
        }
    }
    for (const auto& [operation, bytes] : kinds)
    {
        const std::string size = std::to_string(bytes);
        m_choices.emplace_back(operation == CollectiveOperation::ALL_REDUCE
                                   ? size
                                   : training::GetName(operation) + " " + size,
                               m_cluster->GetPlanner().Explain(operation, bytes, 0));
    }
}

void
TrainingRun::SetConfiguration(const JsonValue& options)
{
    const bool isAutomatic = m_options.workload == TrainingRunOptions::AUTOMATIC;
    m_configuration =
        training::GetConfiguration(options,
                                   *m_cluster,
                                   {{"workload", isAutomatic ? m_plan.name : m_options.workload},
                                    {"payload", m_options.IsReal() ? "real" : "virtual"}});
}

void
TrainingRun::OnIteration(std::function<void(const IterationRecord&)> callback)
{
    m_onIteration = std::move(callback);
}

const JsonValue&
TrainingRun::GetConfiguration() const
{
    return m_configuration;
}

const Cluster&
TrainingRun::GetCluster() const
{
    return *m_cluster;
}

const JobPlan&
TrainingRun::GetPlan() const
{
    return m_plan;
}

std::string
TrainingRun::Describe() const
{
    const ClusterOptions& cluster = m_options.cluster;
    std::string text = m_plan.description + ", " + std::to_string(m_cluster->GetRanks()) +
                       " ranks, " + cluster.topology + ", " + FormatRate(cluster.rate) + ", " +
                       cluster.transport + " (" + m_cluster->GetOptions().congestionControl +
                       "), " + m_cluster->GetPlan().GetAlgorithm();
    for (const auto& [collective, choice] : m_choices)
    {
        text += "\n# auto: " + choice;
    }
    if (m_life)
    {
        text += "\n# life: " + m_options.life.Describe(m_checkpointBytes);
    }
    for (const auto& notes : {m_plan.notes, m_cluster->GetNotes()})
    {
        for (const std::string& note : notes)
        {
            text += "\n# " + note;
        }
    }
    return text;
}

std::string
TrainingRun::DescribeInputs() const
{
    std::string text = "compute times of " + m_plan.times;
    if (m_options.computeScale != 1)
    {
        text += ", times " + FormatDouble(m_options.computeScale);
    }
    text += "; compute jitter " + m_options.computeJitter;
    for (const std::string& straggler : m_options.stragglers)
    {
        text += "; straggler " + straggler;
    }
    return text + "; " + m_options.cluster.DescribeHosts();
}

const JobTraining*
TrainingRun::GetTraining() const
{
    return m_training.get();
}

bool
TrainingRun::IsTraining() const
{
    return m_plan.training != nullptr;
}

double
TrainingRun::GetProgress() const
{
    return static_cast<double>(m_complete) /
           static_cast<double>(m_options.warmup + m_options.iterations);
}

RepetitionFigures
TrainingRun::GetRepetitionFigures(const JobRepetition& repetition, std::size_t iterations) const
{
    RepetitionFigures figures;
    figures.simulatedIterations = iterations - repetition.GetDerived();
    figures.derivedIterations = repetition.GetDerived();
    figures.reason = repetition.GetReason();
    for (const auto& replay : m_replays)
    {
        figures.simulatedCollectives += replay->GetSimulated();
        figures.derivedCollectives += replay->GetDerived();
    }
    figures.derivedCollectives += repetition.GetCollectives();
    return figures;
}

TrainingRunResult
TrainingRun::Run()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(m_hasRun, "a TrainingRun can be run once");
    m_hasRun = true;
    TrainingRunResult result;
    std::exception_ptr stuck;
    {
        Execution execution(*this);
        try
        {
            execution.Simulate();
        }
        catch (const SimulationStuck& error)
        {
            result.failure = error.what();
            stuck = std::current_exception();
        }
        result.mismatch = execution.GetMismatch();
        result.iterations = execution.GetJob().GetResults();
        result.endS = execution.GetJob().GetEnd().GetSeconds();
        result.figures.Add(execution.GetLife());
        std::shared_ptr<PathFigures> path;
        if (!execution.GetJob().GetCriticalPath().empty())
        {
            const Time end = Simulator::Now() + execution.GetJob().GetRepeatedTime();
            path =
                std::make_shared<PathFigures>(GetPathFigures(execution.GetJob().GetCriticalPath(),
                                                             GetGraph(),
                                                             m_cluster->GetFabric(),
                                                             end.GetSeconds()));
        }
        result.figures.Add(path);
        result.figures.Add(execution.GetEnergy());
        result.figures.AddAll({*m_cluster, m_options.IsReal(), m_codingErrors});
        result.cost = GetRunCost(m_cluster->GetFabric());
        if (const JobRepetition* repetition = execution.GetRepetition())
        {
            result.repetition = GetRepetitionFigures(*repetition, result.iterations.size());
            result.cost.skippedHops += repetition->GetPacketHops();
            if (auto* sums = result.figures.Find<InNetworkFigures>())
            {
                repetition->AddTo(*sums);
            }
        }
    }
    result.mean = GetMean(result.iterations);
    if (m_training && !m_training->GetRows().empty())
    {
        result.learning = m_training->GetRows();
        result.training = m_training->Format();
    }
    result.choices = m_choices;
    result.planned = m_cluster->GetPlan().GetChoices();
    result.inputs = DescribeInputs();
    result.fallback = FormatFallback(*m_cluster);
    result.warnings = GetWarnings(*m_cluster);
    const std::string advice = AdviseAlgorithm(*m_cluster, m_plan, result.mean);
    if (!advice.empty())
    {
        result.warnings.push_back(advice);
    }
    result.configuration = m_configuration;
    if (result.mismatch.empty())
    {
        m_json.Write(result.ToJson());
    }
    if (stuck)
    {
        std::rethrow_exception(stuck);
    }
    return result;
}

} // namespace ns3::training
