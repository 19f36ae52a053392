/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SPARSE_CODE_H
#define DISTRIBUTED_TRAINING_SPARSE_CODE_H

#include "gradient-codec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-codec
 *
 * The code of some numbers of a tensor, by index; the others are 0. First the numbers as float32,
 * then their indices in ascending order.
 */
class SparseCode
{
  public:
    /** How indices are written. */
    enum class Indices
    {
        WORDS,  ///< 32 bits each
        PACKED, ///< as many bits each as the largest possible index has
        BITMAP  ///< one bit for every number of the tensor
    };

    /// More numbers have no index of 32 bits.
    static constexpr uint64_t MAX_COUNT = uint64_t{1} << 32;

    /**
     * @param values of the tensor
     * @param count of the values
     * @param kept ascending indices
     * @param indices how they are written
     * @param code receives the code in place of what it held
     */
    static void Write(const float* values,
                      uint64_t count,
                      const std::vector<uint32_t>& kept,
                      Indices indices,
                      std::vector<uint8_t>& code);

    /**
     * @param name of the codec, for messages
     * @param code what Write() wrote
     * @param bytes of the code
     * @param indices how they are written
     * @param kept number of indices
     * @param values receives the tensor
     * @param count of the values
     * @throw CodecError if no numbers have this code
     */
    static void Read(const std::string& name,
                     const uint8_t* code,
                     uint64_t bytes,
                     Indices indices,
                     uint64_t kept,
                     float* values,
                     uint64_t count);

    /**
     * @param kept number of indices
     * @param count of the values of the tensor
     * @param indices how they are written
     * @return size of the code, bytes
     */
    static uint64_t GetBytes(uint64_t kept, uint64_t count, Indices indices);

    /**
     * @param share of the numbers to keep
     * @param count of the numbers
     * @return how many to keep: share * count, rounded down, but at least 1 of some
     */
    static uint64_t GetKept(double share, uint64_t count);

    /**
     * @param initial default
     * @return the key `keep`: share of the numbers that is sent
     */
    static Key MakeKeepKey(double initial);

    /** @param count of a tensor @throw CodecError if it exceeds MAX_COUNT */
    static void CheckCount(uint64_t count);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SPARSE_CODE_H
