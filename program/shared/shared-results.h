/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_RESULTS_H
#define DISTRIBUTED_TRAINING_SHARED_RESULTS_H

#include "shared-job-result.h"

#include "ns3/result-store.h"
#include "ns3/run-files.h"
#include "ns3/training-application.h"
#include "ns3/training-cluster.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The files of jobs that share a cluster. In the results file a run for the cluster, with a row for
 * each job and the counters and samples of the links, and a run for each job that has started, with
 * its iterations, collectives and messages. In the timeline a process for each host.
 */
class SharedResults
{
  public:
    /**
     * @param files that are written
     * @param options of the program, parsed; must outlive this object
     * @throw ConfigurationError if a file cannot be written
     */
    SharedResults(const RunFilesOptions& files, const ProgramOptions& options);
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
     * @param hosts of its ranks
     */
    void Start(std::size_t index,
               const SharedJob& job,
               const Cluster& cluster,
               const std::vector<Ptr<TrainingApplication>>& applications,
               const std::vector<uint32_t>& hosts);

    /**
     * @param index of the job
     * @param record an iteration
     */
    void AddIteration(std::size_t index, const IterationRecord& record);

    /**
     * @param index of a job that is complete
     * @param path critical path of its last iteration
     * @param binding what limited it
     */
    void End(std::size_t index,
             const std::vector<CriticalPathRow>& path,
             const BindingRow& binding);

    /**
     * Ends the samples, and adds the counters of the links. Call before the cluster is destroyed.
     * @param cluster of the jobs
     */
    void EndCluster(const Cluster& cluster);

    /**
     * Completes all runs, if a simulation has ended early.
     * @param jobs options of all jobs
     * @param results of all jobs so far; without hosts if one has not started
     * @param alone mean time of an iteration of the first jobs alone, s; 0: not simulated
     * @param failure the reason, one line
     */
    void Fail(const std::vector<SharedJob>& jobs,
              const std::vector<SharedJobResult>& results,
              const std::vector<double>& alone,
              const std::string& failure);

    /**
     * Completes the run of the cluster.
     * @param jobs options of all jobs
     * @param results of all jobs
     * @param alone mean time of an iteration of each job alone, s; empty: not simulated
     */
    void Finish(const std::vector<SharedJob>& jobs,
                const std::vector<SharedJobResult>& results,
                const std::vector<double>& alone);

  private:
    /** What is recorded while a job runs. */
    struct Job
    {
        uint64_t runId{0};
        std::unique_ptr<ResultStore> store;
        std::unique_ptr<RunRecorder> recorder;
    };

    void AddRow(std::size_t index,
                const SharedJob& job,
                const SharedJobResult& result,
                double aloneS);

    RunOutputs m_outputs;
    const ProgramOptions& m_options;
    std::unique_ptr<ResultStore> m_store;  // of the cluster; null: a timeline alone
    std::unique_ptr<RunSampler> m_sampler; // null: no samples
    std::vector<Job> m_jobs;
};

/**
 * @ingroup distributed-training-helper
 * @param hosts numbers of hosts
 * @return a list with ranges, such as 0-3,8
 */
std::string FormatHosts(const std::vector<uint32_t>& hosts);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_RESULTS_H
