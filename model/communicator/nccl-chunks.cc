/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator/nccl-chunks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3::training
{

namespace
{

using Protocol = NcclTuning::Protocol;

/// Slots of a connection (NCCL_STEPS), and the data in one, bytes, by protocol: an eighth of the
/// buffers of 512 KiB (half of it flags) and 4.7 MiB (120 of 128 bytes); see System for Simple.
constexpr uint64_t SLOTS = 8;
constexpr uint64_t SLOT[] = {32 << 10, 576000};

/// Channels of sums in the switch at most.
constexpr uint32_t MAX_SWITCH_CHANNELS = 16;

/// Chunks of sums in the switch, and the number of loops from which on they are not smaller.
constexpr uint64_t SWITCH_CHUNKS[][2] = {{64, 64 << 10}, {8, 32 << 10}, {2, 16 << 10}};

/// Chunks between servers: by number of servers, and by the number of loops from which on they are
/// not smaller.
constexpr uint32_t MANY_SERVERS = 4;
constexpr uint64_t MAX_TREE_CHUNK = 128 << 10;
constexpr uint64_t MAX_TREE_CHUNK_OF_MANY = 64 << 10;
constexpr uint64_t TREE_CHUNKS[][2] = {{32, 256 << 10},
                                       {16, 128 << 10},
                                       {4, 64 << 10},
                                       {1, 32 << 10}};

} // namespace

NcclChunks::NcclChunks(const NcclTuning::System& system)
    : m_system(system),
      m_perServer(system.ranks / system.servers)
{
}

uint64_t
NcclChunks::GetSwitchLoop(uint64_t bytes) const
{
    const uint64_t chunks =
        uint64_t{std::min(m_system.channels, MAX_SWITCH_CHANNELS)} * m_system.ranks;
    uint64_t chunk = m_system.switchChunk;
    for (const auto& [loops, smaller] : SWITCH_CHUNKS)
    {
        chunk = bytes < loops * chunks * chunk ? std::min(chunk, smaller) : chunk;
    }
    return std::min(bytes, chunks * chunk);
}

uint64_t
NcclChunks::GetSwitchTreeChunks() const
{
    return uint64_t{std::min(m_system.channels, MAX_SWITCH_CHANNELS)} * m_perServer;
}

uint64_t
NcclChunks::GetSwitchTreeChunk(uint64_t bytes) const
{
    uint64_t chunk = m_system.switchTreeChunk > 0       ? m_system.switchTreeChunk
                     : m_system.servers >= MANY_SERVERS ? MAX_TREE_CHUNK_OF_MANY
                                                        : MAX_TREE_CHUNK;
    for (const auto& [loops, smaller] : TREE_CHUNKS)
    {
        chunk = bytes < loops * GetSwitchTreeChunks() * chunk ? std::min(chunk, smaller) : chunk;
    }
    return chunk;
}

uint64_t
NcclChunks::GetSwitchTreeLoop(uint64_t bytes) const
{
    return std::min(bytes, GetSwitchTreeChunks() * GetSwitchTreeChunk(bytes));
}

uint64_t
NcclChunks::GetSwitchTreeSlots() const
{
    return SLOTS * std::min(m_system.channels, MAX_SWITCH_CHANNELS);
}

uint64_t
NcclChunks::GetWindow(Protocol protocol, bool isExchange) const
{
    return protocol != Protocol::SIMPLE ? SLOTS * SLOT[static_cast<uint32_t>(protocol)]
           : isExchange                 ? SLOTS * m_system.exchangeChunk
                                        : m_system.buffer;
}

uint64_t
NcclChunks::GetTreeWindow(Protocol protocol, uint64_t bytes) const
{
    if (protocol != Protocol::LL128)
    {
        return GetWindow(protocol, false);
    }
    uint64_t chunk = SLOT[static_cast<uint32_t>(protocol)];
    const double steps = 1 + std::floor(std::log2(m_system.servers)) + 0.1 * m_perServer;
    for (const auto& [chunks, least] : {std::pair(64, 128 << 10), std::pair(16, 32 << 10)})
    {
        while (bytes / (m_system.channels * chunk) <
                   static_cast<uint64_t>(steps * chunks / m_perServer) &&
               chunk > static_cast<uint64_t>(least))
        {
            chunk /= 2;
        }
    }
    return SLOTS * chunk;
}

} // namespace ns3::training
