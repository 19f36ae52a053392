/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODING_ERRORS_H
#define DISTRIBUTED_TRAINING_CODING_ERRORS_H

#include "ns3/gradient-codec.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What coding did to sums of real numbers: their error, and whether the ranks' copies of them have
 * drifted apart.
 */
struct CodingErrors
{
    uint64_t elements{0};        ///< of all sums
    uint64_t driftedElements{0}; ///< of these, with different values at two ranks
    double largestDrift{0};      ///< largest difference of two ranks
    double largestError{0};      ///< largest difference from the exact sum, over all ranks
    double bound{0};             ///< largest error that the codec can make; infinite: no bound
    double namedBound{0};        ///< the same with the error that the codec is named by

    /** @param other errors of other sums */
    void Add(const CodingErrors& other);

    /**
     * @param inputs vector of each rank
     * @param sums of each rank, or a single one for all
     * @param codec of the numbers; null: it has no bound
     */
    void Add(const std::vector<std::vector<float>>& inputs,
             const std::vector<std::vector<float>>& sums,
             const GradientCodec* codec);

    /** @param json receives the members */
    void AddTo(JsonValue& json) const;

    /**
     * @param who coded, such as "nic"
     * @param remedy against drift, or empty
     * @return lines for the end of a program's output
     */
    std::string Format(const std::string& who, const std::string& remedy) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CODING_ERRORS_H
