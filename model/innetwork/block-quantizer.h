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
 * Sums that switches make: programs in switches, and the workers that talk to them.
 */

/**
 * @file
 * @ingroup distributed-training-innetwork
 * Block floating point, as SwitchML's client quantizes float32 for a switch that can only add
 * 32-bit integers: the workers agree on the exponent of a block, the largest of theirs, and scale
 * by INT32_MAX / (n * 2^exponent), so that the sum of n workers fits.
 */
namespace ns3::training
{

/// Workers whose rounded parts are sure to add up to no more than INT32_MAX: a block's largest
/// float is below its power of two by 2^-24 of it, which leaves 128 / n for rounding.
static constexpr uint32_t MAX_QUANTIZED_GROUP = 254;
/// Exponent of a block that is not there: lower than any.
static constexpr int8_t NO_EXPONENT = -128;

/**
 * @param values of a block
 * @param count how many
 * @return whether all are finite and below 2^127 in magnitude, so that their exponent fits 8 bits
 */
bool IsQuantizable(const float* values, uint64_t count);

/**
 * @param values of a tensor
 * @param count how many
 * @return whether all are whole and in the range of 32 bits
 */
bool AreIntegers(const float* values, uint64_t count);

/**
 * @param values of a block, quantizable
 * @param count how many
 * @return the least e of -126 and above for which all are below 2^e in magnitude
 */
int8_t GetBlockExponent(const float* values, uint64_t count);

/**
 * @param exponent of the block, the largest of all workers'
 * @param workers how many will be added
 * @return factor from numbers to integers
 */
double GetQuantizationScale(int8_t exponent, uint32_t workers);

/**
 * @param value a number of the block
 * @param scale of the block
 * @return the integer nearest to it
 */
int32_t Quantize(float value, double scale);

/**
 * @param sum of integers of one scale
 * @param scale theirs
 * @return the number it stands for
 */
float Dequantize(int32_t sum, double scale);

/**
 * The largest error a sum can have: half a step for each worker, and the rounding to float32.
 * @param exponent of the block
 * @param workers how many were added
 * @return n * n * 2^e / (2 * INT32_MAX) + n * 2^(e - 24)
 */
double GetQuantizationErrorBound(int8_t exponent, uint32_t workers);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BLOCK_QUANTIZER_H
