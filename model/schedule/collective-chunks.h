/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_CHUNKS_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_CHUNKS_H

#include "collective-operation.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The chunks of a collective: which rank has which at the start, and must have which at the end.
 *
 * The number of a chunk identifies its content at every rank; ChunkLayout maps it to bytes.
 * - All-reduce, reduce-scatter, all-gather, broadcast, reduce: the vector is divided into `chunks`
 *   parts of equal size (up to one element). In an all-gather or reduce-scatter, rank r owns chunks
 *   [r * chunks / ranks, (r + 1) * chunks / ranks), and chunks is a multiple of ranks.
 * - All-to-all, all-to-all-v: chunks = p * ranks^2, where the data of each pair of ranks has p
 *   parts. Part i of the data from rank s to rank (s + d) mod ranks is chunk (s * ranks + d) * p +
 *   i.
 * - Send-receive: chunk s is the whole vector of rank s, sent to rank (s + 1) mod ranks.
 * - Barrier: chunk 0 is the set of ranks known to have arrived; it has no bytes.
 */
class CollectiveChunks
{
  public:
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< collective operation
    uint32_t root{0};   ///< broadcast: source of the data; reduce: destination of the sum
    uint32_t chunks{1}; ///< see above

    /** @return number of ranks */
    uint32_t GetSize() const
    {
        return m_size;
    }

    /**
     * @param chunk number of a chunk
     * @return rank that owns the chunk in an all-gather or reduce-scatter
     */
    uint32_t GetOwner(uint32_t chunk) const
    {
        return static_cast<uint32_t>(uint64_t{chunk} * m_size / chunks);
    }

    /**
     * @param chunk chunk of an operation without reduction: all but all-reduce, reduce-scatter,
     *        reduce and barrier
     * @return the only rank that has the chunk at the start
     */
    uint32_t GetSource(uint32_t chunk) const;

    /** @return all-to-all, all-to-all-v: number of parts per pair of ranks */
    uint32_t GetPartsOfPair() const
    {
        return chunks / m_size / m_size;
    }

    /**
     * @param chunk chunk of an all-to-all or all-to-all-v
     * @return the destination rank
     */
    uint32_t GetTarget(uint32_t chunk) const
    {
        const uint32_t each = chunks / m_size; // chunks per source
        return static_cast<uint32_t>((uint64_t{chunk} / each + chunk % each / GetPartsOfPair()) %
                                     m_size);
    }

    /**
     * @param rank a rank
     * @param chunk number of the chunk
     * @return whether a rank has a chunk at the start
     */
    bool HasAtStart(uint32_t rank, uint32_t chunk) const;

    /** Guaranteed final content of a chunk at a rank. */
    enum class Promise : uint8_t
    {
        NOTHING, ///< undefined
        SUM,     ///< the sum over all ranks; barrier: the set of all ranks
        COPY     ///< the content at rank GetSource()
    };

    /**
     * @param rank a rank
     * @param chunk number of the chunk
     * @return the guaranteed final content of a chunk at a rank
     */
    Promise GetPromise(uint32_t rank, uint32_t chunk) const;

  protected:
    uint32_t m_size{0}; ///< number of ranks
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_CHUNKS_H
