/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_H
#define DISTRIBUTED_TRAINING_RUN_H

#include "cluster-command-line.h"
#include "in-network-figures.h"
#include "run-cost.h"
#include "training-program.h"

#include "ns3/application-container.h"
#include "ns3/gradient-buckets.h"
#include "ns3/iteration-record.h"
#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-task.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Everything a TrainingRun needs to know. A plain struct: set what differs from the defaults.
 */
struct TrainingRunOptions
{
    /// Most iterations, and most warm-up iterations.
    static constexpr uint64_t MAX_ITERATIONS = 1000000;

    std::string workload{"resnet50"};      ///< NAME:key=value,... or a CSV file; MakeTrainingTask()
    uint64_t batch{32};                    ///< samples per rank and iteration
    double computeScale{1};                ///< factor of all compute times
    uint64_t bucket{DEFAULT_BUCKET_BYTES}; ///< gradients that are reduced together, bytes
    bool overlap{true};                    ///< buckets are reduced during the backward pass
    std::string payload{"virtual"};        ///< virtual, or real: carries and checks numbers
    std::string allToAll;                  ///< algorithm of all-to-alls; empty: the cluster's
    uint64_t iterations{3};                ///< iterations that are measured
    uint64_t warmup{1};                    ///< iterations before these, left out of means
    std::string results;                   ///< SQLite file that gets the run, or empty
    std::string json;                      ///< file for the results, "-" for stdout, or empty
    std::string trace;                     ///< file for a timeline, or empty
    ClusterOptions cluster;                ///< the cluster; its algorithm does the collectives

    /**
     * Adds everything as options of a program.
     * @param options of the program
     * @param clusterOptions command line of the member `cluster`
     */
    void AddTo(ProgramOptions& options, ClusterCommandLine& clusterOptions);

    /** @throw ConfigurationError if a value is out of range */
    void Check() const;
};

/**
 * @ingroup distributed-training-helper
 *
 * Results of a TrainingRun.
 */
struct TrainingRunResult
{
    IterationRecord mean;                    ///< mean of the iterations after the warm-up
    std::vector<IterationRecord> iterations; ///< all iterations, warm-up included
    double endS{0}; ///< simulated time at which all results are in place, s
    /// Algorithm auto: its choices and their reasons, by size of the collectives of all ranks in
    /// bytes; those of other operations than all-reduce by operation and size.
    std::vector<std::pair<std::string, std::string>> choices;
    std::optional<InNetworkFigures> inNetwork; ///< if the network makes the all-reduces
    std::string fallback;                      ///< why hosts took them over: one line, or empty
    std::string mismatch;                      ///< the first wrong sum, or empty
    RunCost cost;                              ///< cost of the simulation
    JsonValue configuration;                   ///< value of every option; "resolved" for "auto"

    /** @return the JSON document that `training-job --json` writes, see doc/results.rst */
    JsonValue ToJson() const;
};

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
 * A process can hold one at a time, as ns-3 has one simulation; its destructor ends the simulation
 * (Simulator::Destroy()), so that another may follow. Several processes can share a run, see
 * Processes; all construct it and call Run(), and the first one writes files.
 */
class TrainingRun
{
  public:
    /**
     * Builds the cluster. Everything that can be refused is refused here, before any file is
     * created.
     * @param options of the run
     * @throw ConfigurationError if the options are wrong or do not fit together
     */
    explicit TrainingRun(const TrainingRunOptions& options);
    ~TrainingRun();
    TrainingRun(const TrainingRun&) = delete;
    TrainingRun& operator=(const TrainingRun&) = delete;

    /**
     * Sets the configuration that the results record. By default it is that of the options given;
     * a command line adds its own options and attributes.
     * @param options of the program
     */
    void SetConfiguration(const ProgramOptions& options);

    /** @param callback called in the first process after every iteration, warm-up included */
    void OnIteration(std::function<void(const IterationRecord& record)> callback);

    /** @return the cluster */
    const Cluster& GetCluster() const;

    /** @return the steps of each rank */
    const TrainingTask& GetTask() const;

    /** @return the largest collective of all ranks; of 0 bytes if there is none */
    TaskCollective GetLargestCollective() const;

    /** @return the job and the cluster in one line, and a line for each choice of algorithm auto */
    std::string Describe() const;

    /** @return share of the iterations that are complete, 0 to 1 */
    double GetProgress() const;

    /**
     * Simulates the job; once. Ends early at the first wrong sum, which the result describes; then
     * no JSON is written.
     * @return the results
     * @throw SimulationStuck if the simulation cannot make progress
     * @throw ConfigurationError if a file can no longer be written
     */
    TrainingRunResult Run();

  private:
    class Execution;

    /** Ends the simulation when everything else is gone. */
    struct SimulationScope
    {
        ~SimulationScope();
    };

    void MakeTask();
    void CheckTask() const;
    void ExplainChoices();
    double GetLowerBound() const;
    double GetLowerBound(uint32_t communicator, const LowerBound& bound) const;

    SimulationScope m_scope;
    TrainingRunOptions m_options;
    std::shared_ptr<const TrainingTask> m_task;
    JsonOutput m_json;
    std::unique_ptr<Cluster> m_cluster;
    std::vector<std::pair<std::string, std::string>> m_choices; // as in the result
    JsonValue m_configuration;
    ApplicationContainer m_applications; // of this process
    std::function<void(const IterationRecord&)> m_onIteration;
    uint64_t m_complete{0}; // iterations
    bool m_hasRun{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_H
