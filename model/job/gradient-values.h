/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRADIENT_VALUES_H
#define DISTRIBUTED_TRAINING_GRADIENT_VALUES_H

#include "ns3/training-mix-bits.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * Key shared by all gradients of one bucket at one rank. Gradients are a function of their
 * position, not a random stream, so that a checker can recompute those of any rank.
 *
 * @param seed the job's seed
 * @param rank rank that computes the gradient
 * @param iteration the iteration, from 0
 * @param bucket the bucket, from 0
 * @return a key for GradientOfKey()
 */
constexpr uint64_t
GradientKey(uint64_t seed, uint32_t rank, uint32_t iteration, uint32_t bucket)
{
    return MixBits(MixBits(MixBits(MixBits(seed) ^ rank) ^ iteration) ^ bucket);
}

/**
 * @ingroup distributed-training-job
 * @param key from GradientKey()
 * @param index of the element in the bucket, from 0
 * @return the gradient, one of 2^24 evenly spaced numbers in [-1, 1), each exact in float32
 */
constexpr float
GradientOfKey(uint64_t key, uint64_t index)
{
    constexpr float STEP = 1.0F / (1U << 23);
    return static_cast<float>(MixBits(key ^ MixBits(index)) >> 40) * STEP - 1.0F;
}

/**
 * @ingroup distributed-training-job
 * @param seed the job's seed
 * @param rank rank that computes the gradient
 * @param iteration the iteration, from 0
 * @param bucket the bucket, from 0
 * @param index of the element in the bucket, from 0
 * @return the gradient, in [-1, 1)
 */
constexpr float
GradientValue(uint64_t seed, uint32_t rank, uint32_t iteration, uint32_t bucket, uint64_t index)
{
    return GradientOfKey(GradientKey(seed, rank, iteration, bucket), index);
}

/**
 * @ingroup distributed-training-job
 * @param seed the job's seed
 * @param rank rank that computes the gradients
 * @param iteration the iteration, from 0
 * @param bucket the bucket, from 0
 * @param count the number of gradients in the bucket
 * @return all gradients of the bucket
 */
inline std::vector<float>
MakeGradients(uint64_t seed, uint32_t rank, uint32_t iteration, uint32_t bucket, std::size_t count)
{
    const uint64_t key = GradientKey(seed, rank, iteration, bucket);
    std::vector<float> values(count);
    for (std::size_t index = 0; index < count; ++index)
    {
        values[index] = GradientOfKey(key, index);
    }
    return values;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRADIENT_VALUES_H
