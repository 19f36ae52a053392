/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BLOCK_QUANTIZER_H
#define DISTRIBUTED_TRAINING_BLOCK_QUANTIZER_H

#include <cstdint>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-innetwork In-network aggregation
 *
 * Sums computed in switches: switch programs, and the workers that use them.
 */

/**
 * @file
 * @ingroup distributed-training-innetwork
 * Block floating point: SwitchML's client quantizes float32 for switches that add only 32-bit
 * integers. The workers agree on the maximum exponent of a block and scale by
 * INT32_MAX / (n * 2^exponent), so that the sum of n workers fits.
 */
namespace ns3::training
{

/// Maximum number of workers whose rounded contributions cannot exceed INT32_MAX: a block's largest
/// float is below its power of two by 2^-24 of it, which leaves 128 / n for rounding.
static constexpr uint32_t MAX_QUANTIZED_GROUP = 254;
/// Exponent of a missing block: lower than any other.
static constexpr int8_t NO_EXPONENT = -128;

/**
 * @param values of a block
 * @param count number of values
 * @return whether all are finite and below 2^127 in magnitude, so that their exponent fits 8 bits
 */
bool IsQuantizable(const float* values, uint64_t count);

/**
 * @param values of a tensor
 * @param count number of values
 * @return whether all are whole numbers in the range of 32 bits
 */
bool AreIntegers(const float* values, uint64_t count);

/**
 * @param values of a block, quantizable
 * @param count number of values
 * @return the least e >= -126 with all values below 2^e in magnitude
 */
int8_t GetBlockExponent(const float* values, uint64_t count);

/**
 * @param exponent of the block, the maximum over all workers
 * @param workers number of contributions to the sum
 * @return factor from numbers to integers
 */
double GetQuantizationScale(int8_t exponent, uint32_t workers);

/**
 * @param value a number of the block
 * @param scale of the block
 * @return the nearest integer after scaling
 */
int32_t Quantize(float value, double scale);

/**
 * @param sum of integers with the same scale
 * @param scale of the integers
 * @return the sum as a number
 */
float Dequantize(int32_t sum, double scale);

/**
 * Error bound of a sum: half a step per worker, and the rounding to float32.
 * @param exponent of the block
 * @param workers number of contributions
 * @return n * n * 2^e / (2 * INT32_MAX) + n * 2^(e - 24)
 */
double GetQuantizationErrorBound(int8_t exponent, uint32_t workers);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BLOCK_QUANTIZER_H
