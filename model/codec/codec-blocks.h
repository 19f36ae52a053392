/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODEC_BLOCKS_H
#define DISTRIBUTED_TRAINING_CODEC_BLOCKS_H

#include "gradient-codec.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup distributed-training-codec
 * Common parts of codecs whose numbers share something within a block, such as a scale.
 */
namespace ns3::training
{

/**
 * @param help one line
 * @param initial numbers of a block; 0: the whole tensor
 * @param min minimum
 * @return the key `block`
 */
Key MakeBlockKey(const std::string& help, uint32_t initial, uint32_t min = 0);

/**
 * @param values the numbers
 * @param count of the numbers
 * @throw CodecError with the index of a number that is infinite or not a number
 */
void CheckFinite(const float* values, uint64_t count);

/**
 * @param values finite numbers
 * @param count of the numbers
 * @return the largest magnitude; 0 without numbers
 */
float GetLargestMagnitude(const float* values, uint64_t count);

/**
 * @param codec name of the codec, for the message
 * @param bytes of a code
 * @param expected size of the only code of so many numbers
 * @param count of the numbers
 * @throw CodecError unless the code has the expected size
 */
void CheckCodeSize(const char* codec, uint64_t bytes, uint64_t expected, uint64_t count);

/**
 * Bound of a sum's error when each coding errs by a share of the largest magnitude that is coded
 * with it, and sums round: n L ((1 + u)^codings (1 + 2^-24)^(n - 1) - 1).
 * @param largest L, magnitude of an addend
 * @param codings codings that enter the sum
 * @param addends n
 * @param share u of one coding
 * @return the bound
 */
double GetRelativeSumError(double largest, uint32_t codings, uint32_t addends, double share);

/** @param from first byte of the number @return a number read from the bytes of a code */
template <class T>
T
ReadNumber(const uint8_t* from)
{
    T value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

/** Appends a number to a code. @param code grows by its size @param value the number */
template <class T>
void
AppendNumber(std::vector<uint8_t>& code, T value)
{
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    code.insert(code.end(), bytes, bytes + sizeof(value));
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CODEC_BLOCKS_H
