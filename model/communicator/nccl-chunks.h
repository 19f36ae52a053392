/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NCCL_CHUNKS_H
#define DISTRIBUTED_TRAINING_NCCL_CHUNKS_H

#include "communicator/nccl-tuning.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * How NCCL cuts vectors into chunks, and how many of them are in flight (NCCL, src/enqueue.cc).
 */
class NcclChunks
{
  public:
    /** @param system the ranks */
    explicit NcclChunks(const NcclTuning::System& system);

    /**
     * The threads of a GPU copy a chunk into the buffers that the switch reads, let the switch add
     * it, and copy the sum out again. These stages work at the same time, each on one loop: a chunk
     * for every channel and rank (src/enqueue.cc). The first loop's copy and the last one's remain.
     * @param bytes size of an all-reduce by NcclTuning::Algorithm::SWITCH
     * @return data in a loop, at most `bytes`
     */
    uint64_t GetSwitchLoop(uint64_t bytes) const;

    /**
     * @param bytes size of an all-reduce by NcclTuning::Algorithm::SWITCH_TREE
     * @return data of a channel's message between servers, bytes (src/enqueue.cc; Hopper's largest
     *         chunks in src/transport)
     */
    uint64_t GetSwitchTreeChunk(uint64_t bytes) const;

    /**
     * @param bytes size of an all-reduce by NcclTuning::Algorithm::SWITCH_TREE
     * @return data in a loop, a chunk for every channel and rank of a server; at most `bytes`
     */
    uint64_t GetSwitchTreeLoop(uint64_t bytes) const;

    /** @return chunks that a rank has in flight to another server at most, over all channels */
    uint64_t GetSwitchTreeSlots() const;

    /**
     * @param protocol protocol
     * @param isExchange whether for sends and receives, which have smaller chunks
     * @return data that a connection of one channel has in flight at most, bytes: NCCL_STEPS slots
     */
    uint64_t GetWindow(NcclTuning::Protocol protocol, bool isExchange) const;

    /**
     * @param protocol protocol
     * @param bytes size of an all-reduce by NcclTuning::Algorithm::TREE
     * @return data that a connection of one channel has in flight at most, bytes (src/enqueue.cc)
     */
    uint64_t GetTreeWindow(NcclTuning::Protocol protocol, uint64_t bytes) const;

  private:
    uint64_t GetSwitchTreeChunks() const;

    NcclTuning::System m_system;
    uint32_t m_perServer; // ranks per server
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NCCL_CHUNKS_H
