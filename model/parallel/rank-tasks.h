/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RANK_TASKS_H
#define DISTRIBUTED_TRAINING_RANK_TASKS_H

#include "parallel-plan.h"

#include "ns3/task-writer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

class OperatorTimes;

/**
 * @ingroup distributed-training-parallel
 * How fast a rank computes.
 */
struct TransformerRates
{
    double operations{0}; ///< floating-point operations/s that matrix products reach
    double memory{0};     ///< bandwidth of memory, byte/s
    /// Times of operators; null: each part of a layer takes its operations or its bytes at the
    /// rates above, whichever is longer.
    std::shared_ptr<const OperatorTimes> operators{};
};

/**
 * @ingroup distributed-training-parallel
 * Names of the tasks of a TransformerGraph.
 */
enum class LayerTask : uint32_t
{
    EMBEDDING,
    ATTENTION,
    SCORES,
    PROJECTION,
    FEED_FORWARD,
    EXPERTS,
    SHARED_EXPERTS,
    PREDICTION,
    OUTPUT,
    INPUT_GRADIENT,
    WEIGHT_GRADIENT,
    UPDATE,
    ACTIVATIONS,
    GRADIENTS,
    KEYS_AND_VALUES,
    HEADS,
    DISPATCH,
    COMBINE,
    PARAMETERS,
    EMBEDDING_GRADIENT,
    QUANTIZATION,
    DEQUANTIZATION,
    BARRIER,
    END_OF_ITERATION
};

/** @return names, by LayerTask */
const std::vector<std::string>& GetLayerTaskNames();

/**
 * @ingroup distributed-training-parallel
 *
 * Writes the tasks of a rank in the order in which it would issue them.
 */
class RankTasks
{
  public:
    /// Streams of a rank, beside COMPUTE_STREAM.
    enum Stream : uint16_t
    {
        TENSOR_STREAM = 1,
        DATA_STREAM,
        EXPERT_STREAM,
        CONTEXT_STREAM,
        REPLICA_STREAM,
        FREE_STREAM = NO_STREAM ///< of collectives whose communicator orders them
    };

    /**
     * @param plan who has which part
     * @param memory its bandwidth, byte/s
     */
    RankTasks(const ParallelPlan& plan, double memory);

    /** @return where they are written */
    TaskWriter& GetWriter()
    {
        return m_writer;
    }

    /**
     * Computes in the order of the calls.
     * @param name of the task
     * @param length of the computation
     * @return the task
     */
    uint64_t Compute(LayerTask name, Time length);

    /**
     * Likewise reads and writes memory.
     * @param name of the task
     * @param bytes read and written
     * @return the task
     */
    uint64_t Move(LayerTask name, double bytes);

    /**
     * A kernel behind communication, beside the computations.
     * @param name of the task
     * @param bytes read and written in memory
     * @param after the task whose end starts it; 0: there is no kernel either
     * @return the task, or 0
     */
    uint64_t Process(LayerTask name, double bytes, uint64_t after);

    /**
     * Starts a collective when all computations so far have ended.
     * @param name of the task
     * @param groups whose ranks take part
     * @param stream of the collective
     * @param operation of the collective
     * @param bytes of the whole vector
     * @param after another task that it waits for; 0: none
     * @param matrix of an all-to-all-v
     * @param priority see Tensor::priority
     * @param code see GraphTask
     * @return the task; none, that is 0, if the group has one rank or there are no bytes
     */
    uint64_t Communicate(LayerTask name,
                         PlanGroups groups,
                         Stream stream,
                         CollectiveOperation operation,
                         uint64_t bytes,
                         uint64_t after = 0,
                         const ByteMatrix& matrix = nullptr,
                         int32_t priority = 0,
                         std::shared_ptr<const TaskCode> code = nullptr);

    /**
     * Starts a message when all computations so far have ended.
     * @param name of the task
     * @param parallelism why
     * @param peer receiver
     * @param tag of the message
     * @param bytes of the message
     * @param untilSent see GraphTask
     * @return the task
     */
    uint64_t Send(LayerTask name,
                  Parallelism parallelism,
                  uint32_t peer,
                  uint64_t tag,
                  uint64_t bytes,
                  bool untilSent = false);

    /**
     * Likewise from a sender.
     * @param name of the task
     * @param parallelism why the message is sent
     * @param peer the other rank
     * @param tag of the message
     * @param bytes size of the message
     * @return the task
     */
    uint64_t Receive(LayerTask name,
                     Parallelism parallelism,
                     uint32_t peer,
                     uint64_t tag,
                     uint64_t bytes);

    /**
     * Counts the collectives that follow from a number on, as other ranks had more or fewer so far.
     * @param number of the next collective in this iteration
     */
    void CountFrom(uint64_t number)
    {
        m_collectives = number;
    }

    /** Ends an iteration. */
    void Mark();

  private:
    const ParallelPlan& m_plan;
    double m_memory; // its bandwidth, byte/s
    TaskWriter m_writer;
    uint64_t m_collectives{0}; // of this iteration, so far
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANK_TASKS_H
