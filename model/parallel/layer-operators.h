/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LAYER_OPERATORS_H
#define DISTRIBUTED_TRAINING_LAYER_OPERATORS_H

#include "parallel-plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 * What a rank computes without communication in between.
 */
enum class LayerPart : uint8_t
{
    EMBEDDING,      ///< look-up of tokens
    INPUTS,         ///< of attention: its norm, and queries, keys and values
    SCORES,         ///< attention itself
    PROJECTION,     ///< its last matrix
    NETWORK,        ///< dense feed-forward network, or routed experts
    SHARED_EXPERTS, ///< those of every token
    OUTPUT,         ///< output layer and loss
    PREDICTION      ///< matrix that joins the input of a prediction with the next token
};

/// A pass through a part of a layer. @ingroup distributed-training-parallel
enum class LayerPass : uint8_t
{
    FORWARD,
    REPEATED, ///< what the backward pass computes again of it, see Recomputation
    INPUT_GRADIENT,
    WEIGHT_GRADIENT
};

/**
 * @ingroup distributed-training-parallel
 *
 * A kernel of a GPU, and what it works on. Sizes by kind of kernel:
 *
 * - gemm: rows, columns and inner size of a matrix product; grouped-gemm: before them how many
 *   products there are;
 * - attention, attention-backward: samples, heads, queries, keys that a query may see, numbers of a
 *   head's key;
 * - others, which move memory: rows and columns; their names end with -backward in that pass.
 */
struct LayerOperator
{
    std::string name;            ///< what it is for
    std::string kernel;          ///< its kind
    std::vector<uint64_t> sizes; ///< see above
    double operations;           ///< floating-point operations that a model's count has
    double executed;             ///< those that are done: causal attention leaves out half
    double operands;             ///< numbers read, in the format of the products
    double bytes;                ///< others that are read and written
    double depth;                ///< terms of a sum: inner size, or keys that a query sees
    bool isNarrow;               ///< whether the format of --precision counts, otherwise bf16

    /** @return sizes with crosses between them, such as 8192x6144x4096 */
    std::string GetShape() const;
};

/**
 * @ingroup distributed-training-parallel
 *
 * The operators of a part of a layer at a rank, for a micro-batch. Their operations sum up to
 * those of TransformerModel, at a load of 1, but for those of LayerPass::REPEATED. Biases and the
 * weights of norms count as operations of the first operator.
 * @param plan who has which part of the model
 * @param part of the layer
 * @param pass through it
 * @param layer its number; any one for embedding and output
 * @param load of a rank's experts, 1 on average
 * @param pieces in which the part is computed; the operators are those of one
 * @return the operators in order
 */
std::vector<LayerOperator> MakeOperators(const ParallelPlan& plan,
                                         LayerPart part,
                                         LayerPass pass,
                                         uint32_t layer,
                                         double load = 1,
                                         uint64_t pieces = 1);

/**
 * @ingroup distributed-training-parallel
 * @param plan who has which part
 * @return pieces of a product whose gather or reduction runs during others
 */
uint64_t GetProductPieces(const ParallelPlan& plan);

/**
 * @ingroup distributed-training-parallel
 * @param plan who has which part
 * @return pieces in which scores of attention are computed: one for each rank of a ring
 */
uint64_t GetScorePieces(const ParallelPlan& plan);

/**
 * @ingroup distributed-training-parallel
 * An operator of a micro-batch.
 */
struct ListedOperator
{
    LayerPass pass;     ///< whose it is
    LayerOperator each; ///< what it does
    uint64_t count{0};  ///< how often, in all layers and stages
};

/**
 * @ingroup distributed-training-parallel
 * @param plan who has which part of a model
 * @param places ranks that share experts, from the first, whose loads count
 * @return all different operators of a micro-batch, in the order of their first occurrence, without
 *         those that are part of another kernel
 */
std::vector<ListedOperator> ListOperators(const ParallelPlan& plan, uint32_t places = 1);

/**
 * @ingroup distributed-training-parallel
 * @param model a model
 * @return inner size of the shared experts of a layer together; 0: there are none
 */
uint64_t GetSharedSize(const TransformerModel& model);

/** @param pass a pass @return its name */
std::string GetName(LayerPass pass);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYER_OPERATORS_H
