/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_CHECK_H
#define DISTRIBUTED_TRAINING_JOB_CHECK_H

#include "job-plan.h"
#include "run/checked-operators.h"
#include "run/simulated-work.h"

#include "ns3/cluster-options.h"
#include "ns3/collective-operation.h"
#include "ns3/parallel-plan.h"
#include "ns3/rank-tasks.h"
#include "ns3/task-graph.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Collectives or messages of one size.
 */
struct CheckedCollective
{
    std::string operation; ///< name of a CollectiveOperation, or "send"
    std::string purpose;   ///< what is carried
    uint64_t bytes{0};     ///< of one, the whole vector
    uint64_t count{0};     ///< of rank 0 in an iteration
};

/**
 * @ingroup distributed-training-helper
 * Ranks that communicate, and what they do.
 */
struct CheckedGroup
{
    Parallelism kind{Parallelism::NONE};        ///< why
    std::string members;                        ///< who they are
    uint32_t size{1};                           ///< number of ranks
    std::vector<CheckedCollective> collectives; ///< of rank 0, in the order of their first start
};

/**
 * @ingroup distributed-training-helper
 * What is known of a job before it runs.
 */
struct JobCheck
{
    uint32_t worldSize{0};            ///< number of ranks
    uint64_t parameters{0};           ///< of the model
    double expectedParameters{0};     ///< how many there should be; 0: not known
    std::vector<CheckedGroup> groups; ///< of more than one rank
    uint64_t memory{0};               ///< of the rank that needs most, bytes
    /// Time that no network of the same line rates undercuts: the critical path of a pipeline whose
    /// collectives take their lower bounds and do not meet others, s.
    double lowerBound{0};
    std::string schedule; ///< of the pipeline; empty: there is none
    /// Time of the schedule without communication, in forward passes of a rank. A backward pass
    /// takes two.
    double makespan{0};
    double work{0}; ///< likewise, of the micro-batches of the rank that has most
    /// Frames of an iteration over all links that are not images, without acknowledgements.
    double packetHops{0};
    double derivedHops{0};   ///< those of collectives that take the time of earlier ones
    double simulatedHops{0}; ///< of packetHops, those that neither steady states nor others skip
    double tasks{0};         ///< of all ranks in an iteration
    double payload{0};       ///< that ranks get in an iteration, bytes
    double cpuSeconds{0};    ///< of the simulation of an iteration
    double memoryOfRun{0};   ///< of the simulation, MiB
    std::vector<CheckedOperator> operators; ///< of a transformer
    std::string measured;                   ///< which of them a file has; empty: there is none

    /**
     * @return world_size, parameters, groups, memory_per_gpu_bytes, lower_bound_s, schedule if
     * there is a pipeline, operators of a transformer, kernels if there is a file, and estimate
     */
    JsonValue ToJson() const;

    /** @return the same as text, several lines */
    std::string ToText() const;
};

/**
 * @ingroup distributed-training-helper
 * @param operation a collective
 * @param size number of ranks
 * @return part of the whole vector that each rank sends, on average and at least
 */
double GetSentPart(CollectiveOperation operation, uint32_t size);

/**
 * @ingroup distributed-training-helper
 * @param plan who has which part of a model
 * @param rates of computations
 * @param cluster its network; its number of ranks does not count
 * @param shortcuts what its simulation may leave out
 * @return what is known of the job without a simulation
 * @throw ConfigurationError if the topology is invalid
 */
JobCheck CheckJob(const std::shared_ptr<const ParallelPlan>& plan,
                  const TransformerRates& rates,
                  const ClusterOptions& cluster,
                  const WorkShortcuts& shortcuts = {});

/**
 * @ingroup distributed-training-helper
 * @param plan of a job whose ranks all do the same steps
 * @param cluster its network
 * @param shortcuts what its simulation may leave out
 * @return likewise; memory: weights of 4 bytes, and gradients
 * @throw ConfigurationError if the ranks do different steps
 */
JobCheck CheckJob(const JobPlan& plan,
                  const ClusterOptions& cluster,
                  const WorkShortcuts& shortcuts = {});

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_CHECK_H
