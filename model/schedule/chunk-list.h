/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHUNK_LIST_H
#define DISTRIBUTED_TRAINING_CHUNK_LIST_H

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/** A run of chunks with consecutive numbers, modulo the number of chunks. */
struct ChunkRun
{
    uint32_t first; ///< number of the first chunk
    uint32_t count; ///< number of chunks
};

/** The chunks of one message, in order: a single chunk, one run, or several runs. */
struct ChunkList
{
    /** @param chunk number of a single chunk */
    ChunkList(uint32_t chunk);
    /** @param run a run of chunks */
    ChunkList(ChunkRun run);
    /** @param runs several runs of chunks, in order */
    ChunkList(std::vector<ChunkRun> runs);

    std::vector<ChunkRun> runs; ///< in order
};

/** The chunks of many messages, which a SharedChunkLists keeps once. */
struct SharedChunks
{
    ChunkRun run; ///< the chunks; several runs: number of the shared list, 0
};

/**
 * @ingroup distributed-training-collective
 *
 * Lists of chunks that many actions use, each of which is kept once.
 */
class SharedChunkLists
{
  public:
    /** @param list the chunks @return the list; equal lists are kept once */
    SharedChunks Share(const ChunkList& list);

    /** @param number of a shared list @return its runs */
    const std::vector<ChunkRun>& Get(uint32_t number) const
    {
        return m_lists[number];
    }

    /** @return all lists, by numbers */
    const std::vector<std::vector<ChunkRun>>& GetAll() const
    {
        return m_lists;
    }

    /** Releases what Share() needs: no list is added any more. */
    void Close()
    {
        m_numbers = {};
        m_lists.shrink_to_fit();
    }

    /** @return memory of the lists, bytes */
    uint64_t GetMemory() const;

  private:
    std::vector<std::vector<ChunkRun>> m_lists;
    std::unordered_multimap<uint64_t, uint32_t> m_numbers; // by hash of the list; until Close()
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHUNK_LIST_H
