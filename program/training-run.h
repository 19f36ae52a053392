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
#include "run-statistics.h"
#include "tcp-figures.h"
#include "training-program.h"
#include "uec-figures.h"

#include "ns3/application-container.h"
#include "ns3/gradient-buckets.h"
#include "ns3/iteration-record.h"
#include "ns3/training-cluster.h"
#include "ns3/training-gpu.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-task.h"

#include <cstdint>
#include <functional>
#include <map>
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
 * Options of a TrainingRun. A plain struct: set the fields that differ from the defaults.
 */
struct TrainingRunOptions
{
    /// Maximum iterations, and maximum warm-up iterations.
    static constexpr uint64_t MAX_ITERATIONS = 1000000;

    std::string workload{"resnet50"};      ///< NAME:key=value,... or a CSV file; MakeTrainingTask()
    uint64_t batch{32};                    ///< samples per rank and iteration
    std::string gpu{DEFAULT_GPU};          ///< GPU of each rank, a GpuEntry
    double computeScale{1};                ///< factor of all compute times
    uint64_t bucket{DEFAULT_BUCKET_BYTES}; ///< cap of a gradient bucket, bytes
    bool overlap{true};                    ///< reduce buckets during the backward pass
    std::string computeJitter{"none"};     ///< distribution of compute times, a JitterEntry
    std::vector<std::string> stragglers;   ///< slow ranks, each as RANK:FACTOR
    std::string payload{"virtual"};        ///< virtual, or real: with numbers that are checked
    std::string allToAll;                  ///< algorithm of all-to-alls; empty: that of the cluster
    uint64_t iterations{3};                ///< measured iterations
    uint64_t warmup{1};                    ///< initial iterations excluded from means
    std::string results;                   ///< SQLite results file; empty: none
    std::string json;                      ///< results file in JSON, "-" for stdout; empty: none
    std::string trace;                     ///< timeline file; empty: none
    ClusterOptions cluster;                ///< the cluster, with the algorithm of the collectives

    /**
     * Adds all fields as options of a program.
     * @param options of the program
     * @param clusterOptions command line of the member `cluster`
     */
    void AddTo(ProgramOptions& options, ClusterCommandLine& clusterOptions);

    /** @throw ConfigurationError if a value is out of range */
    void Check() const;

    /**
     * @return factors of the compute times of the slow ranks, by rank
     * @throw ConfigurationError if one is malformed, or given twice
     */
    std::map<uint32_t, double> GetSlowdowns() const;
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
    std::optional<InNetworkFigures> inNetwork; ///< if all-reduces are offloaded to the network
    std::string inputs;                        ///< what was given rather than simulated, one line
    std::string fallback;                      ///< reason of a fallback, one line, or empty
    std::vector<std::string> warnings;         ///< see GetWarnings()
    std::optional<TcpFigures> tcp;             ///< if messages travel over TCP
    std::optional<UecFigures> uec;             ///< if messages travel over Ultra Ethernet
    std::string mismatch;                      ///< the first wrong sum, or empty
    std::string failure;                       ///< why the run ended early, or empty
    RunCost cost;                              ///< cost of the simulation
    JsonValue configuration;                   ///< value of every option; "resolved" for "auto"

    /** @return the JSON document that `training-job --json` writes, see doc/results.rst */
    JsonValue ToJson() const;
};

/**
 * @ingroup distributed-training-helper
 *
 * Results of a TrainingRun repeated with other run numbers (RepeatedRuns).
 */
class TrainingRuns
{
  public:
    /**
     * @param run run number
     * @param result results of that run
     */
    void Add(uint64_t run, const TrainingRunResult& result);

    /** @return means over the runs of the quantities of TrainingRunResult::mean */
    IterationRecord GetMean() const;

    /** @return of each quantity, half the width of the 95 % confidence interval of its mean */
    IterationRecord GetHalfWidth() const;

    /** @return cost of all runs */
    const RunCost& GetCost() const;

    /** @return the JSON document of several runs, see doc/results.rst */
    JsonValue ToJson() const;

  private:
    IterationRecord Estimate(double MeanEstimate::*part) const;

    std::vector<std::pair<uint64_t, TrainingRunResult>> m_runs; // by run number
    RunCost m_cost;
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
     * @param options of the program
     */
    void SetConfiguration(const ProgramOptions& options);

    /** @param callback called in the first process after every iteration, warm-up included */
    void OnIteration(std::function<void(const IterationRecord& record)> callback);

    /** @return the cluster */
    const Cluster& GetCluster() const;

    /** @return the steps of each rank */
    const TrainingTask& GetTask() const;

    /** @return the largest collective of all ranks; 0 bytes if there is none */
    TaskCollective GetLargestCollective() const;

    /**
     * @return one line about job and cluster, one line per choice of algorithm auto, and the notes
     *         of the cluster
     */
    std::string Describe() const;

    /** @return what is given rather than simulated: compute times, jitter, hosts; one line */
    std::string DescribeInputs() const;

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
    ApplicationContainer m_applications; // of the local ranks
    std::function<void(const IterationRecord&)> m_onIteration;
    double m_lowerBound{0}; // of the communication time of an iteration, s
    uint64_t m_complete{0}; // complete iterations
    bool m_hasRun{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_H
