/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MIX_BITS_H
#define DISTRIBUTED_TRAINING_MIX_BITS_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The output function of the SplitMix64 generator (Steele, Lea, Flood: Fast splittable pseudorandom
 * number generators, OOPSLA 2014): a bijection in which every input bit affects every output bit.
 *
 * @param value number to mix
 * @return the mixed number, which looks random
 */
constexpr uint64_t
MixBits(uint64_t value)
{
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MIX_BITS_H
