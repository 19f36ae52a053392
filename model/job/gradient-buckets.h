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
 * Gradients that are summed over the ranks by one collective.
 */
struct GradientBucket
{
    uint64_t bytes{0};            ///< size of its gradients in float32
    std::vector<uint32_t> layers; ///< index in LayeredModel::layers of each, in backward order
    uint32_t readyLayer{0};       ///< the layer whose backward pass makes its last gradient
};

/** @ingroup distributed-training-job Cap of the first bucket (PyTorch: 1 MiB). */
constexpr uint64_t FIRST_BUCKET_BYTES = 1ULL << 20;

/** @ingroup distributed-training-job Default cap of a bucket (PyTorch: 25 MiB). */
constexpr uint64_t DEFAULT_BUCKET_BYTES = 25ULL << 20;

/**
 * @ingroup distributed-training-job
 *
 * Fuses gradients as PyTorch's DistributedDataParallel does (Li et al., PyTorch Distributed, VLDB
 * 2020; constants of its reducer.hpp): layers join in backward order, and a bucket closes when it
 * has reached its cap. The first one's cap is small so that communication starts early. The
 * gradients of a layer are never split, so that a bucket may be much larger than the cap.
 *
 * Every layer is in exactly one bucket, but a layer without parameters never delays one; without
 * any parameters there are no buckets.
 *
 * @param layers the layers in forward order
 * @param capBytes cap of a bucket but the first, bytes; 0 gives a bucket for each layer
 * @return the buckets in the order in which they become ready
 */
std::vector<GradientBucket> MakeGradientBuckets(const std::vector<Layer>& layers,
                                                uint64_t capBytes = DEFAULT_BUCKET_BYTES);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRADIENT_BUCKETS_H
