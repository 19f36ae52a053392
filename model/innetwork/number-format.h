/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NUMBER_FORMAT_H
#define DISTRIBUTED_TRAINING_NUMBER_FORMAT_H

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup distributed-training-innetwork
 * Numbers as switches with adders for several formats take them, most significant byte first.
 */
namespace ns3::training
{

/** How a number is written. */
enum class NumberFormat : uint8_t
{
    FLOAT32,  ///< IEEE 754 binary32
    INT32,    ///< two's complement
    FLOAT16,  ///< IEEE 754 binary16
    BFLOAT16, ///< the upper half of a binary32
    COUNT     ///< how many there are
};

/**
 * @param value a float32
 * @return its bits
 */
uint32_t ToBits(float value);

/**
 * @param bits of a float32
 * @return the number
 */
float ToFloat(uint32_t bits);

/**
 * @param name such as bfloat16
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
 * @return whether it can be written: int32 takes whole numbers only; a finite number must not
 *         become an infinite one
 */
bool IsWritable(NumberFormat format, float value);

/**
 * Writes numbers, rounded to the nearest one of the format, ties to even.
 * @param format of the numbers
 * @param values writable numbers
 * @param count how many
 * @param to where to
 */
void WriteNumbers(NumberFormat format, const float* values, uint64_t count, uint8_t* to);

/**
 * Reads numbers.
 * @param format of the numbers
 * @param from where from
 * @param count how many
 * @param values where to
 */
void ReadNumbers(NumberFormat format, const uint8_t* from, uint64_t count, float* values);

/**
 * Adds numbers in the order given: int32 as they are; floats in float32, rounded to their format at
 * the end.
 * @param format of all numbers
 * @param parts where the numbers of each addend are
 * @param count numbers of each
 * @param to where to write the sums; may be one of the parts
 * @return whether a sum has left the range of the format: a wrapped integer, or an infinite sum of
 *         finite numbers
 */
bool AddNumbers(NumberFormat format,
                const std::vector<const uint8_t*>& parts,
                uint64_t count,
                uint8_t* to);

/**
 * The largest error that a sum of numbers can have, if each is below a power of two in magnitude.
 * With u half a unit in the last place of 1 and v that of float32, and h the sums that are rounded
 * one after the other: the numbers' magnitudes times (1 + u)^(h + 1) (1 + v)^(n - 1) - 1, and
 * half the smallest number of the format for each rounding.
 * @param format of the numbers; int32: no error
 * @param exponent all are below 2^exponent
 * @param addends n, how many are added
 * @param sums switches that add, one after the other or not
 * @param height h, the most switches on the way of a number
 * @return the bound
 */
double GetSumErrorBound(NumberFormat format,
                        int8_t exponent,
                        uint32_t addends,
                        uint32_t sums,
                        uint32_t height);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NUMBER_FORMAT_H
