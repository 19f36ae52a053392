/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LAYER_TASKS_H
#define DISTRIBUTED_TRAINING_LAYER_TASKS_H

#include "parallel-plan.h"

#include "ns3/task-writer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 * How fast a rank computes.
 */
struct TransformerRates
{
    double operations{0}; ///< floating-point operations/s that matrix products reach
    double memory{0};     ///< bandwidth of memory, byte/s
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
    END_OF_ITERATION
};

/** @return names, by LayerTask */
const std::vector<std::string>& GetLayerTaskNames();

/**
 * @ingroup distributed-training-parallel
 *
 * Writes the tasks of a rank in the order in which it would issue them.
 */
class LayerTasks
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
     * @param rates of computations
     * @param rank this one
     */
    LayerTasks(const ParallelPlan& plan, const TransformerRates& rates, uint32_t rank);

    /** @return where they are written */
    TaskWriter& GetWriter()
    {
        return m_writer;
    }

    /**
     * Computes in the order of the calls.
     * @param name of the task
     * @param operations floating-point operations
     * @param bytes read and written in memory
     * @return the task
     */
    uint64_t Compute(LayerTask name, double operations, double bytes);

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

    /** Ends an iteration. */
    void Mark();

    /** The forward pass of a layer. @param layer its number */
    void Forward(uint32_t layer);

    /**
     * The gradients of the inputs of a layer, and of its weights if they are not computed apart.
     * @param layer its number
     * @param withWeights whether they are not
     */
    void Backward(uint32_t layer, bool withWeights);

    /** The gradients of the weights of a layer. @param layer its number */
    void WeightGradients(uint32_t layer);

    /** The forward pass of the embedding. */
    void ForwardEmbedding();

    /** Output layer and loss, forward. */
    void ForwardOutput();

    /** The gradients of inputs and weights of the output layer. */
    void BackwardOutput();

  private:
    /// A block of a layer: attention, or the feed-forward network.
    enum class Block : uint8_t
    {
        ATTENTION,
        FEED_FORWARD
    };

    /// A matrix product at a rank.
    struct Product
    {
        double operations; ///< floating-point operations
        double bytes;      ///< of operands in memory
    };

    uint64_t Gather(uint64_t bytes);
    uint64_t Reduce(uint64_t bytes);
    std::vector<uint64_t> GatherParts();
    uint64_t GetParts() const;
    uint64_t GetPartBytes(uint64_t part) const;
    std::vector<uint64_t> Multiply(LayerTask name,
                                   const Product& product,
                                   const std::vector<uint64_t>& inputs,
                                   bool reduces);
    void Await(const std::vector<uint64_t>& ids);
    void ForwardBlock(uint32_t layer, Block block);
    void WeightGradients(uint32_t layer, Block block, uint64_t inputs);
    std::vector<uint64_t> BackwardBlock(uint32_t layer, Block block, bool withWeights);
    void Attend(uint32_t layer, bool isForward);
    void AttendInRing(double operations, uint64_t bytes, LayerTask name);
    void ExchangeHeads(uint64_t first, uint64_t second, uint64_t third = 0);
    uint64_t Exchange(LayerTask name, bool toExperts);
    ByteMatrix MakeMatrix(uint64_t bytes, bool toExperts);
    Product GetProduct(uint32_t layer, Block block) const;
    Product GetProjection(uint32_t layer) const;
    Product GetSharedExperts(uint32_t layer) const;
    double GetLoad() const;
    double GetScoreOperations(uint32_t layer) const;

    const ParallelPlan& m_plan;
    TransformerRates m_rates;
    uint32_t m_rank;
    double m_tokens; // of a micro-batch at a rank of a tensor-parallel group
    TaskWriter m_writer;
    uint32_t m_expertPlace;                                     // in its group of EXPERT
    uint64_t m_collectives{0};                                  // of this iteration, so far
    std::map<std::pair<uint64_t, bool>, ByteMatrix> m_matrices; // by bytes and direction
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYER_TASKS_H
