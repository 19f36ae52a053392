/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PREFETCH_H
#define DISTRIBUTED_TRAINING_PREFETCH_H

#include <cstddef>
#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Loads cache lines that will be written soon. In a large network, the state of a device has left
 * the caches when its turn comes again.
 * @param from first byte
 * @param bytes number of bytes
 */
inline void
PrefetchBytes(const void* from, std::size_t bytes)
{
    constexpr std::uintptr_t LINE = 64;
    const auto begin = reinterpret_cast<std::uintptr_t>(from);
    for (std::uintptr_t line = begin & ~(LINE - 1); line < begin + bytes; line += LINE)
    {
        __builtin_prefetch(reinterpret_cast<const void*>(line), 1);
    }
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PREFETCH_H
