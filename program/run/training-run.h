/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_H
#define DISTRIBUTED_TRAINING_RUN_H

#include "job-execution.h"
#include "prepared-job.h"
#include "training-run-options.h"
#include "training-run-result.h"

#include "ns3/json-output.h"
#include "ns3/session.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace ns3::training
{

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
    const JsonValue& GetConfiguration() const
    {
        return m_configuration;
    }

    /** @param callback called in the first process after every iteration, warm-up included */
    void OnIteration(JobExecution::Callback callback)
    {
        m_onIteration = std::move(callback);
    }

    /** @return the cluster */
    const Cluster& GetCluster() const
    {
        return *m_job.cluster;
    }

    /** @return what the ranks do */
    const JobPlan& GetPlan() const
    {
        return m_job.plan;
    }

    /**
     * @return one line about job and cluster, one line per choice of algorithm auto, and the notes
     *         of the cluster
     */
    std::string Describe() const
    {
        return m_job.Describe();
    }

    /** @return what is given rather than simulated: compute times, jitter, hosts; one line */
    std::string DescribeInputs() const
    {
        return m_job.DescribeInputs();
    }

    /** @return the training inside the job, or null; during Run() */
    const JobTraining* GetTraining() const
    {
        return m_execution ? m_execution->GetTraining() : nullptr;
    }

    /** @return whether the job contains a training */
    bool IsTraining() const
    {
        return m_job.plan.training != nullptr;
    }

    /** @return completed fraction of the iterations, 0 to 1 */
    double GetProgress() const;

    /** @return packets so far that were derived, of all ranks; 0 if it does not run */
    uint64_t GetDerivedPackets() const;

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
    /** Ends the simulation after all other members are destroyed. */
    struct SimulationScope
    {
        SimulationScope();
        ~SimulationScope();
    };

    SimulationScope m_scope;
    JsonOutput m_json;
    PreparedJob m_job;
    JsonValue m_configuration;
    JobExecution::Callback m_onIteration;
    std::unique_ptr<JobExecution> m_execution; // during Run(), or null
    uint64_t m_complete{0};                    // iterations, after Run()
    bool m_hasRun{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_H
