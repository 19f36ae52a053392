/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_OPTIONS_H
#define DISTRIBUTED_TRAINING_RUN_OPTIONS_H

#include "overlap-cost.h"

#include "ns3/cluster-command-line.h"
#include "ns3/cluster-options.h"
#include "ns3/energy-figures.h"
#include "ns3/gradient-buckets.h"
#include "ns3/life-options.h"
#include "ns3/parallel-command-line.h"
#include "ns3/program-options.h"
#include "ns3/run-files.h"
#include "ns3/training-gpu.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param workload value of the option
 * @return whether it is a file that only the room formats reads, with a number of ranks of its own
 */
bool IsTraceFile(const std::string& workload);

/**
 * @ingroup distributed-training-helper
 *
 * Options of a TrainingRun. A plain struct: set the fields that differ from the defaults.
 */
struct TrainingRunOptions : RunFilesOptions
{
    /// Maximum iterations, and maximum warm-up iterations.
    static constexpr uint64_t MAX_ITERATIONS = 1000000;

    /// Value of options that depend on others.
    static constexpr const char* AUTOMATIC = "auto";

    /// NAME:key=value,... or a CSV file, see MakeWorkload(); auto: the model of a source of
    /// gradients that learns one, otherwise resnet50.
    std::string workload{AUTOMATIC};
    bool lenient{false};                   ///< repairs damaged traces, and lists the repairs
    uint64_t batch{32};                    ///< samples per rank and iteration
    std::string gpu{DEFAULT_GPU};          ///< GPU of each rank, a GpuEntry
    double computeScale{1};                ///< factor of all compute times
    uint64_t bucket{DEFAULT_BUCKET_BYTES}; ///< cap of a gradient bucket, bytes
    bool overlap{true};                    ///< reduce buckets during the backward pass
    std::string gradientPriority{"none"};  ///< layer: see BucketOptions; or none
    std::string computeJitter{"none"};     ///< distribution of compute times, a JitterEntry
    std::string overlapCost{AUTOMATIC};    ///< see OverlapCost::Read()
    std::vector<std::string> stragglers;   ///< slow ranks, each as RANK:FACTOR
    /// virtual, or real: with numbers that are checked; auto: real if the source of gradients is
    /// not hash.
    std::string payload{AUTOMATIC};
    std::string gradients{"hash"}; ///< numbers of a real payload, a GradientSourceEntry
    std::string allToAll;          ///< algorithm of all-to-alls; empty: see GetAllToAll()
    uint64_t iterations{3};        ///< measured iterations
    uint64_t warmup{1};            ///< initial iterations excluded from means
    std::string json;              ///< results file in JSON, "-" for stdout; empty: none
    /// Time in which optical circuits change between iterations: that of a 3D MEMS switch.
    Time reconfiguration{MilliSeconds(10)};
    EnergyOptions energy;     ///< power model and prices
    LifeOptions life;         ///< checkpoints and failures
    ParallelJobOptions model; ///< a transformer in place of the workload; its bucket is above
    ClusterOptions cluster;   ///< the cluster, with the algorithm of the collectives
    /// simulate, or derive: iterations and collectives that repeat themselves are not simulated
    /// again, see JobRepetition and CollectiveReplay.
    std::string repeat{"simulate"};
    /// simulate, or derive: also collectives that share links at times, see QuietGroups.
    std::string collectives{"simulate"};
    /// simulate, or derive: replicas that are images of others are not simulated, see FindImages().
    std::string replicas{"simulate"};
    /// simulate, or derive: micro-batches that repeat themselves, see MicroBatchRepetition.
    std::string microBatches{"simulate"};
    std::vector<std::string> notes; ///< what the reader of results should know; one line each

    /**
     * @return algorithm of the workload's all-to-alls: direct in place of a ring, which no library
     *         of experts has; empty: that of the cluster
     */
    std::string GetAllToAll() const;

    /**
     * Adds the fields that say what is trained, as options of a program or keys of a job.
     * @param options of the program
     */
    void AddWorkloadTo(ProgramOptions& options);

    /**
     * Adds all fields as options of a program.
     * @param options of the program
     * @param clusterOptions command line of the member `cluster`
     */
    void AddTo(ProgramOptions& options, ClusterCommandLine& clusterOptions);

    /**
     * @return the fields as options of a program, by name, with the arguments of ns-3 that the
     *         environment gives
     * @throw ConfigurationError if the environment is wrong or an output cannot be written
     */
    JsonValue ToJson() const;

    /** @throw ConfigurationError if a value is out of range */
    void Check() const;

    /** @throw ConfigurationError if other values allow no checkpoints or failures that are set */
    void CheckLife() const;

    /** @return the transformer, with the options of buckets that all jobs share */
    ParallelJobOptions GetModel() const;

    /** @return whether messages carry numbers */
    bool IsReal() const;

    /**
     * @return whether collectives may take the time of earlier ones, which is about theirs: with
     *         jitter all is simulated. See CollectiveReplay
     */
    bool DerivesCollectives() const;

    /**
     * @return what computations and collectives cost each other
     * @throw ConfigurationError if the text is wrong
     */
    OverlapCost GetOverlapCost() const;

    /**
     * @return factors of the compute times of the slow ranks, by rank
     * @throw ConfigurationError if one is malformed, or given twice
     */
    std::map<uint32_t, double> GetSlowdowns() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_OPTIONS_H
