/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule-action.h"

namespace ns3::training
{

uint32_t
ScheduleAction::GetFirstChunk() const
{
    if (first == last)
    {
        return 0;
    }
    const uint32_t copy = first->first / chunks * chunks;
    return copy +
           Flip(static_cast<uint32_t>((uint64_t{first->first} - copy + chunkShift) % chunks));
}

std::string
ScheduleAction::DescribeChunks() const
{
    uint64_t count = 0;
    for (const ChunkRun* run = first; run != last; run++)
    {
        count += run->count;
    }
    std::string text = "chunk " + std::to_string(GetFirstChunk() % chunks);
    if (GetFirstChunk() >= chunks)
    {
        text += " (copy " + std::to_string(GetFirstChunk() / chunks) + ")";
    }
    return text + (count > 1 ? " and " + std::to_string(count - 1) + " more" : "");
}

} // namespace ns3::training
