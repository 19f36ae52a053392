/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TASK_H
#define DISTRIBUTED_TRAINING_TASK_H

#include "ns3/collective-operation.h"
#include "ns3/nstime.h"
#include "ns3/task-graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * Disjoint groups of ranks that run collectives in parallel.
 */
struct TaskCommunicator
{
    /// The groups, without common ranks; empty: one group of all ranks.
    std::vector<std::vector<uint32_t>> groups;
    bool exchanges{false};  ///< its collectives are all-to-alls, which may use a separate algorithm
    bool byPriority{false}; ///< see TaskGroups
};

/**
 * @ingroup distributed-training-job
 *
 * A collective that every rank starts in every iteration.
 */
struct TaskCollective
{
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< its operation
    uint64_t bytes{0};                          ///< size of the whole vector at a rank
    uint32_t communicator{0};                   ///< index of its communicator
    int32_t priority{0};                        ///< see Tensor::priority
    Parallelism parallelism{Parallelism::DATA}; ///< why the ranks communicate
    Time update;                                ///< from its end until its result is applied
    std::string layers; ///< names of the model's layers that it belongs to; empty: unknown
};

/**
 * @ingroup distributed-training-job
 *
 * One action of a rank in an iteration.
 */
struct TaskStep
{
    /** Type of the step. */
    enum class Kind : uint8_t
    {
        COMPUTE, ///< computes
        START,   ///< starts a collective, which runs in the background
        WAIT,    ///< waits until the last result of a collective is applied
        APPLY    ///< waits for the last result of a collective and applies it; if there is one
    };

    Kind kind{Kind::COMPUTE}; ///< type of the step
    uint32_t collective{0};   ///< START, WAIT, APPLY: index of the collective
    Time length;              ///< COMPUTE, APPLY: its duration
    std::string phase;        ///< COMPUTE: name of the phase that ends with this step, or empty
};

/**
 * @ingroup distributed-training-job
 *
 * The training loop of a rank: a list of steps, repeated in every iteration. All ranks have the
 * same collectives; their compute times may differ.
 */
struct TrainingTask
{
    std::string name;        ///< of the workload
    std::string description; ///< one line
    std::string times;       ///< source of its compute times
    uint64_t parameters{0};  ///< trainable parameters; 0: unknown
    std::vector<TaskCommunicator> communicators{TaskCommunicator()}; ///< the first one: all ranks
    std::vector<TaskCollective> collectives;                         ///< in the order of START
    std::vector<TaskStep> steps;                                     ///< of an iteration

    /**
     * @param length compute time
     * @param phase name of the phase that ends with this step, or empty
     */
    void Compute(Time length, const std::string& phase = "");

    /** @param collective started by every rank at this point; Wait() adds the WAIT for it */
    void Start(const TaskCollective& collective);

    /** @param collective index of the collective to wait for */
    void Wait(uint32_t collective);

    /**
     * @param collective index of the collective whose last result is applied
     * @param length compute time of that
     */
    void Apply(uint32_t collective, Time length);

    /** Removes the phase "update": whoever sums the gradients makes the optimizer's step. */
    void RemoveUpdate();

    /** @return compute time of a rank per iteration */
    Time GetComputeTime() const;

    /**
     * @param communicator index of a communicator
     * @return indices of its collectives, in order of start
     */
    std::vector<uint32_t> GetCollectives(uint32_t communicator) const;

    /**
     * @param collective index of a collective
     * @return float32 numbers in the collectives before it
     */
    uint64_t GetFirstNumber(uint32_t collective) const;

    /**
     * @param communicator index of a communicator
     * @param ranks number of all ranks
     * @return number of ranks in each of its groups
     */
    uint32_t GetGroupSize(uint32_t communicator, uint32_t ranks) const;

    /**
     * @param ranks number of all ranks
     * @return bytes per iteration for the bus bandwidth: size of each collective times
     *         GetBusFactor()
     */
    double GetBusBytes(uint32_t ranks) const;

    /** @return whether every collective is waited for in the iteration that starts it */
    bool WaitsForAll() const;

    /** @return whether all collectives are all-reduces over all ranks: sums can be checked */
    bool IsAllReduceOnly() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_H
