/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_PLAN_H
#define DISTRIBUTED_TRAINING_JOB_PLAN_H

#include "training-run-options.h"

#include "ns3/bucket-graph.h"
#include "ns3/collective-operation.h"
#include "ns3/gradient-training.h"
#include "ns3/graph-summary.h"
#include "ns3/nstime.h"
#include "ns3/task-graph.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What the ranks of a job do, whatever it was made from: a workload, a transformer that is divided
 * among ranks, or a file.
 */
struct JobPlan
{
    std::string name;                       ///< of the workload, model or file
    std::string description;                ///< one line
    std::string times;                      ///< source of its compute times
    std::string format;                     ///< of its file: csv, or a WorkloadFormatEntry
    std::shared_ptr<const TaskGraph> graph; ///< tasks of each rank
    /// The graph, if it is data parallel with buckets of gradients; or null.
    std::shared_ptr<const BucketGraph> buckets;
    /// The training inside the job; or null.
    std::shared_ptr<const GradientTraining> training;
    std::vector<std::string> notes; ///< what its reader should know, one line each
    GraphSummary summary;           ///< an iteration of rank 0
    Time compute;                   ///< compute time of rank 0 in an iteration
    uint64_t parameters{0};         ///< trainable; 0: not known
    double expectedParameters{0};   ///< how many there should be; 0: not known
    uint64_t memoryBytes{0};        ///< of a model, at the rank that needs most; 0: not known
    uint64_t gradientBytes{4};      ///< size of a gradient of a workload on the network, bytes
    /// Collectives of any rank, by groups of the graph.
    std::vector<std::set<CollectiveOperation>> operations;
    std::vector<std::set<uint64_t>> sums; ///< sizes of all-reduces, by groups of the graph, bytes
    bool hasMessages{false};              ///< whether ranks send messages
    bool isUniform{false};                ///< see FormatResult
    bool gathersParts{false};             ///< see FormatResult

    /** Fills in what follows from the graph: the summary and the members after it. */
    void Summarize();

    /**
     * Removes the optimizer's step: whoever sums makes it.
     * @throw ConfigurationError if the job is a model or a trace, whose steps have no name
     */
    void RemoveUpdate();

    /**
     * @return function that names the layers of the model that a collective of a rank belongs to,
     *         by its number in the iteration; empty if it belongs to none in particular
     */
    std::function<std::string(uint32_t rank, uint32_t bucket)> MakeLayerNames() const;

    /**
     * @param ofAll whether the groups asked for are those of all ranks
     * @return whether such groups sum
     */
    bool Sums(bool ofAll) const;

    /** @return whether all collectives are all-reduces over all ranks, and there are no messages */
    bool IsAllReduceOnly() const;

    /** @return bytes of an iteration of rank 0 for the bus bandwidth, see GetBusFactor() */
    double GetBusBytes() const;

    /** @return bytes of all collectives and messages of an iteration of rank 0 */
    uint64_t GetBytes() const;

    /** @return the largest collective of all ranks, and its size; 0 bytes if there is none */
    std::pair<CollectiveOperation, uint64_t> GetLargestCollective() const;
};

/**
 * @ingroup distributed-training-helper
 * @param options of the run; the number of ranks is set to that of a job which has its own. 0 ranks
 *        are allowed for such a job
 * @return its job
 * @throw ConfigurationError if the job is not valid
 */
JobPlan MakeJobPlan(TrainingRunOptions& options);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_PLAN_H
