/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RANDOM_NUMBER_H
#define DISTRIBUTED_TRAINING_RANDOM_NUMBER_H

#include <cmath>
#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 * @param bits random bits
 * @return uniform in (0, 1), an odd multiple of 2^-54
 */
inline double
GetUniform(uint64_t bits)
{
    return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

/**
 * @ingroup distributed-training-job
 * Box and Muller, A note on the generation of random normal deviates, 1958.
 * @param bits random bits
 * @param more independent random bits
 * @return normal with mean 0 and standard deviation 1
 */
inline double
DrawNormal(uint64_t bits, uint64_t more)
{
    constexpr double TURN = 6.283185307179586;
    return std::sqrt(-2 * std::log(GetUniform(bits))) * std::cos(TURN * GetUniform(more));
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANDOM_NUMBER_H
