/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NUMBER_FORMAT_H
#define DISTRIBUTED_TRAINING_NUMBER_FORMAT_H

#include "ns3/training-float-bits.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup distributed-training-innetwork
 * Number formats of switches with adders for several formats, most significant byte first.
 */
namespace ns3::training
{

/** Encoding of a number. */
enum class NumberFormat : uint8_t
{
    FLOAT32,  ///< IEEE 754 binary32
    INT32,    ///< two's complement
    FLOAT16,  ///< IEEE 754 binary16
    BFLOAT16, ///< the upper half of a binary32
    COUNT     ///< number of formats
};

/**
 * @param name for example bfloat16
 * @return its format, or COUNT
 */
NumberFormat FindNumberFormat(const std::string& name);

/**
 * @param format of a number
 * @return its name
 */
std::string GetName(NumberFormat format);

/**
 * @param format of a number
 * @return its size, bytes
 */
uint32_t GetBytes(NumberFormat format);

/**
 * @param format of numbers
 * @param value a number
 * @return whether it is representable: int32 requires whole numbers; a finite number must not
 *         become infinite
 */
bool IsWritable(NumberFormat format, float value);

/**
 * Encodes numbers, rounded to nearest, ties to even.
 * @param format of the numbers
 * @param values representable numbers
 * @param count number of values
 * @param to output buffer
 */
void WriteNumbers(NumberFormat format, const float* values, uint64_t count, uint8_t* to);

/**
 * Decodes numbers.
 * @param format of the numbers
 * @param from input buffer
 * @param count number of values
 * @param values output
 */
void ReadNumbers(NumberFormat format, const uint8_t* from, uint64_t count, float* values);

/**
 * Adds numbers in the given order: int32 with wrap-around; floats in float32, rounded to their
 * format at the end.
 * @param format of all numbers
 * @param parts buffer of each addend
 * @param count numbers per addend
 * @param to output buffer; may be one of the parts
 * @return whether a sum overflows its format: a wrapped integer, or an infinite sum of finite
 *         numbers
 */
bool AddNumbers(NumberFormat format,
                const std::vector<const uint8_t*>& parts,
                uint64_t count,
                uint8_t* to);

/**
 * Error bound of a sum of numbers below a power of two in magnitude. Let u be half a unit in the
 * last place of 1 in the format, v the same in float32, and h the number of sums that are rounded
 * one after the other. The bound is the sum of the magnitudes times
 * (1 + u)^(h + 1) (1 + v)^(n - 1) - 1, plus half the smallest number of the format per rounding.
 * @param format of the numbers; int32: no error
 * @param exponent all numbers are below 2^exponent
 * @param addends n, number of addends
 * @param sums number of aggregating switches
 * @param height h, maximum number of switches on the path of a number
 * @return the bound
 */
double GetSumErrorBound(NumberFormat format,
                        int8_t exponent,
                        uint32_t addends,
                        uint32_t sums,
                        uint32_t height);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NUMBER_FORMAT_H
