/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RANDOM_STREAMS_H
#define DISTRIBUTED_TRAINING_RANDOM_STREAMS_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 * Who draws random numbers. Each has streams of ns3::RandomVariableStream of its own, so that a
 * user more or less does not change what others draw.
 */
enum class RandomUse : uint8_t
{
    FLOWS,      ///< patterns, sizes and arrivals of flow-benchmark and fabric-benchmark
    SWITCHES,   ///< path choice and ECN marks, one stream a switch
    LOSSES,     ///< lost frames of programs that repeat papers
    FAULTS,     ///< impairments, two streams a link and fault
    UEC_NICS,   ///< entropy values of Ultra Ethernet, one stream a NIC
    JOBS,       ///< jitter of computation, one stream a rank
    TRANSPORTS, ///< jitter of posting, one stream a host
    REQUESTS,   ///< arrivals and tokens of serving
    BACKGROUND, ///< background traffic
    PLACEMENTS, ///< placement of jobs on hosts
    FAILURES,   ///< times and causes of failures
    STORAGE,    ///< jitter of posting to storage, one stream a host
    END         ///< behind the last use
};

/// First stream of each use. A range ends where the next one begins.
inline constexpr std::array<int64_t, static_cast<std::size_t>(RandomUse::END) + 1> FIRST_STREAMS{
    1,
    1000,
    7000,
    1LL << 24,
    1LL << 25,
    1LL << 32,
    1LL << 33,
    3LL << 32,
    1LL << 34,
    1LL << 35,
    1LL << 36,
    1LL << 37,
    1LL << 38};

/**
 * @ingroup distributed-training
 * @param use who draws
 * @param index number of the stream among those of the use, from 0
 * @return number of the stream, which no other use has
 */
constexpr int64_t
GetRandomStream(RandomUse use, uint64_t index = 0)
{
    const auto place = static_cast<std::size_t>(use);
    const int64_t first = FIRST_STREAMS[place];
    const auto size = static_cast<uint64_t>(FIRST_STREAMS[place + 1] - first);
    // What does not fit into the range has a second one, behind all of them.
    constexpr int64_t SECOND_BITS = 48;
    return static_cast<int64_t>(index) +
           (index < size ? first : (static_cast<int64_t>(place) + 1) << SECOND_BITS);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANDOM_STREAMS_H
