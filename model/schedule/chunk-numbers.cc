/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule/chunk-numbers.h"

namespace ns3::training
{

ChunkList
MakeChunkList(const std::vector<uint32_t>& numbers, uint32_t chunks)
{
    std::vector<ChunkRun> runs;
    for (uint32_t number : numbers)
    {
        if (!runs.empty() && runs.back().first + runs.back().count == number &&
            number % chunks != 0)
        {
            runs.back().count++;
        }
        else
        {
            runs.push_back({number, 1});
        }
    }
    return runs;
}

} // namespace ns3::training
