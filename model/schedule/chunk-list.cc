/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chunk-list.h"

#include "ns3/training-mix-bits.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

ChunkList::ChunkList(uint32_t chunk)
    : runs{{chunk, 1}}
{
}

ChunkList::ChunkList(ChunkRun run)
    : runs{run}
{
}

ChunkList::ChunkList(std::vector<ChunkRun> runs)
    : runs(std::move(runs))
{
}

SharedChunks
SharedChunkLists::Share(const ChunkList& list)
{
    if (list.runs.size() == 1 && list.runs.front().count > 0)
    {
        return {list.runs.front()};
    }
    uint64_t hash = list.runs.size();
    for (const ChunkRun& run : list.runs)
    {
        hash = MixBits(hash ^ (uint64_t{run.first} << 32 | run.count));
    }
    const auto isEqual = [](const ChunkRun& a, const ChunkRun& b) {
        return a.first == b.first && a.count == b.count;
    };
    const auto [first, last] = m_numbers.equal_range(hash);
    for (auto known = first; known != last; known++)
    {
        const auto& other = m_lists[known->second];
        if (std::equal(other.begin(), other.end(), list.runs.begin(), list.runs.end(), isEqual))
        {
            return {{known->second, 0}};
        }
    }
    const auto number = static_cast<uint32_t>(m_lists.size());
    m_lists.emplace_back(list.runs.begin(), list.runs.end());
    m_numbers.emplace(hash, number);
    return {{number, 0}};
}

uint64_t
SharedChunkLists::GetMemory() const
{
    uint64_t bytes = 0;
    for (const auto& list : m_lists)
    {
        bytes += sizeof(list) + list.capacity() * sizeof(ChunkRun);
    }
    return bytes;
}

} // namespace ns3::training
