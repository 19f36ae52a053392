/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_H
#define DISTRIBUTED_TRAINING_RUN_H

#include "failure-plan.h"
#include "job-plan.h"
#include "job-training.h"
#include "training-run-options.h"
#include "training-run-result.h"

#include "ns3/application-container.h"
#include "ns3/checkpoint-graph.h"
#include "ns3/iteration-record.h"
#include "ns3/json-output.h"
#include "ns3/training-cluster.h"
#include "ns3/training-job-helper.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

class JobRepetition;

/**
 * @ingroup distributed-training-helper
 *
 * A training job on a simulated cluster, as a library call: the program training-job is a command
 * line around it.
 *
 * @code
 *   TrainingRunOptions options;
 *   options.workload = "resnet50";
 *   options.cluster.ranks = 16;
 *   options.cluster.topology = "fat-tree:k=4";
 *   const TrainingRunResult result = TrainingRun(options).Run();
 *   std::cout << result.mean.iterationTimeS << "\n";
 * @endcode
 *
 * A process can have only one at a time, because ns-3 has one simulation. Its destructor ends the
 * simulation (Simulator::Destroy()), after which another may follow. Several processes can share a
 * run, see Processes: all construct it and call Run(), and the first one writes files.
 */
class TrainingRun
{
  public:
    /**
     * Builds the cluster. All configuration errors are thrown here, before any file is created.
     * @param options of the run
     * @throw ConfigurationError if the options are wrong or inconsistent
     */
    explicit TrainingRun(const TrainingRunOptions& options);
    ~TrainingRun();
    TrainingRun(const TrainingRun&) = delete;
    TrainingRun& operator=(const TrainingRun&) = delete;

    /**
     * Sets the configuration that the results record. By default it is that of the constructor's
     * options; a command line adds its own options and attributes.
     * @param options of the program, by name
     */
    void SetConfiguration(const JsonValue& options);

    /** @return the same, with the values chosen for "auto" */
    const JsonValue& GetConfiguration() const;

    /** @param callback called in the first process after every iteration, warm-up included */
    void OnIteration(std::function<void(const IterationRecord& record)> callback);

    /** @return the cluster */
    const Cluster& GetCluster() const;

    /** @return what the ranks do */
    const JobPlan& GetPlan() const;

    /**
     * @return one line about job and cluster, one line per choice of algorithm auto, and the notes
     *         of the cluster
     */
    std::string Describe() const;

    /** @return what is given rather than simulated: compute times, jitter, hosts; one line */
    std::string DescribeInputs() const;

    /** @return the training inside the job, or null; during Run() */
    const JobTraining* GetTraining() const;

    /** @return whether the job contains a training */
    bool IsTraining() const;

    /** @return completed fraction of the iterations, 0 to 1 */
    double GetProgress() const;

    /**
     * Simulates the job; may be called once. Ends early at the first wrong sum, which the result
     * describes; then no JSON is written.
     * @return the results
     * @throw SimulationStuck if the simulation cannot make progress or is interrupted; the files
     *        contain the results so far
     * @throw std::runtime_error if a file can no longer be written
     */
    TrainingRunResult Run();

  private:
    class Execution;

    /** Ends the simulation after all other members are destroyed. */
    struct SimulationScope
    {
        ~SimulationScope();
    };

    void CheckGradients() const;
    void CheckPlan() const;
    void CheckTraining() const;
    void CheckCodecs() const;
    void PlanLife();
    uint64_t GetCheckpointBytes() const;
    const TaskGraph& GetGraph() const;
    void ExplainChoices();
    RepetitionFigures GetRepetitionFigures(const JobRepetition& repetition,
                                           std::size_t iterations) const;

    SimulationScope m_scope;
    TrainingRunOptions m_options;
    JobPlan m_plan;
    std::unique_ptr<JobTraining> m_training;       // null: gradients do not learn
    CheckpointPlan m_checkpoints;                  // of the first start
    std::shared_ptr<const CheckpointGraph> m_life; // the job with checkpoints and restarts, or null
    std::optional<FailurePlan> m_failures;         // or none
    uint64_t m_checkpointBytes{0};
    std::optional<CodingErrors> m_codingErrors; // with real payload and a codec
    JsonOutput m_json;
    std::unique_ptr<Cluster> m_cluster;
    std::vector<std::pair<std::string, std::string>> m_choices; // as in the result
    JsonValue m_configuration;
    ApplicationContainer m_applications;                      // of the local ranks
    std::vector<std::shared_ptr<CollectiveReplay>> m_replays; // of groups that may repeat
    std::string m_obstacle; // why no iteration is derived, or empty
    std::function<void(const IterationRecord&)> m_onIteration;
    double m_lowerBound{0}; // of the communication time of an iteration, s
    uint64_t m_complete{0}; // complete iterations
    bool m_hasRun{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_H
