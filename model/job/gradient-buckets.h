/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRADIENT_BUCKETS_H
#define DISTRIBUTED_TRAINING_GRADIENT_BUCKETS_H

#include "layered-model.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * Gradients that one collective reduces over the ranks.
 */
struct GradientBucket
{
    uint64_t bytes{0};            ///< size of its gradients
    std::vector<uint32_t> layers; ///< indices in LayeredModel::layers, in backward order
    uint32_t readyLayer{0};       ///< layer whose backward pass computes its last gradient
};

/** Cap of the first bucket (PyTorch: 1 MiB). @ingroup distributed-training-job */
constexpr uint64_t FIRST_BUCKET_BYTES = 1ULL << 20;

/** Default cap of a bucket (PyTorch: 25 MiB). @ingroup distributed-training-job */
constexpr uint64_t DEFAULT_BUCKET_BYTES = 25ULL << 20;

/** Default size of a gradient, float32, bytes. @ingroup distributed-training-job */
constexpr uint32_t DEFAULT_GRADIENT_BYTES = 4;

/**
 * @ingroup distributed-training-job
 *
 * Fuses gradients like PyTorch's DistributedDataParallel (Li et al., PyTorch Distributed, VLDB
 * 2020; constants of its reducer.hpp): layers join in backward order, and a bucket closes when it
 * reaches its cap. The first bucket has a small cap so that communication starts early. The
 * gradients of a layer are never split, so a bucket may be much larger than its cap.
 *
 * Every layer is in exactly one bucket, but a layer without parameters never delays one. A model
 * without parameters has no buckets.
 *
 * @param layers the layers in forward order
 * @param capBytes cap of every bucket but the first, bytes; 0: one bucket per layer
 * @param gradientBytes size of a gradient, bytes
 * @return the buckets in the order in which they become ready
 */
std::vector<GradientBucket> MakeGradientBuckets(const std::vector<Layer>& layers,
                                                uint64_t capBytes = DEFAULT_BUCKET_BYTES,
                                                uint32_t gradientBytes = DEFAULT_GRADIENT_BYTES);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRADIENT_BUCKETS_H
