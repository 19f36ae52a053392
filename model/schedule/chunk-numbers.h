/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHUNK_NUMBERS_H
#define DISTRIBUTED_TRAINING_CHUNK_NUMBERS_H

#include "collective-schedule.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 * @param numbers of chunks, in order
 * @param chunks number of chunks of the schedule; a run has chunks of one copy only
 * @return the same chunks, as runs
 */
ChunkList MakeChunkList(const std::vector<uint32_t>& numbers, uint32_t chunks);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHUNK_NUMBERS_H
