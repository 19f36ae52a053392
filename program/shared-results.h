/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_RESULTS_H
#define DISTRIBUTED_TRAINING_SHARED_RESULTS_H

#include "job-file.h"
#include "run-recorder.h"

#include "ns3/result-store.h"
#include "ns3/training-application.h"
#include "ns3/training-cluster.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The results file of jobs that share a cluster: a run for the cluster, with a row for each job and
 * the counters of the links, and a run for each job that has started, with its iterations,
 * collectives and messages.
 */
class SharedResults
{
  public:
    /**
     * @param path results file
     * @param program that runs
     * @param options of the program, parsed; must outlive this object
     * @throw ConfigurationError as ResultStore::Check()
     */
    SharedResults(std::string path, std::string program, const ProgramOptions& options);
    ~SharedResults();
    SharedResults(const SharedResults&) = delete;
    SharedResults& operator=(const SharedResults&) = delete;

    /**
     * Opens the run of the cluster.
     * @param cluster of the jobs
     * @param jobs number of jobs
     */
    void Begin(const Cluster& cluster, std::size_t jobs);

    /**
     * Opens the run of a job.
     * @param index of the job
     * @param job its options
     * @param cluster of the jobs
     * @param applications of its ranks
     */
    void Start(std::size_t index,
               const SharedJob& job,
               const Cluster& cluster,
               const std::vector<Ptr<TrainingApplication>>& applications);

    /**
     * @param index of the job
     * @param record an iteration
     */
    void AddIteration(std::size_t index, const IterationRecord& record);

    /** @param index of a job that is complete */
    void End(std::size_t index);

    /**
     * Adds the counters of the links. Call before the cluster is destroyed.
     * @param cluster of the jobs
     * @param failure why the simulation has ended early, one line; empty: it is complete
     */
    void EndCluster(const Cluster& cluster, const std::string& failure);

    /**
     * Completes the run of the cluster.
     * @param rows of all jobs, in their order; the numbers of their runs are filled in
     */
    void Finish(std::vector<JobRow> rows);

  private:
    /** What is written while a job runs. */
    struct Job
    {
        uint64_t runId{0};
        std::unique_ptr<ResultStore> store;
        std::unique_ptr<RunRecorder> recorder;
    };

    std::unique_ptr<ResultStore> Open(const JsonValue& configuration) const;

    std::string m_path;
    std::string m_program;
    const ProgramOptions& m_options;
    std::unique_ptr<ResultStore> m_store; // of the cluster
    std::vector<Job> m_jobs;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_RESULTS_H
