/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHUNK_DEPENDENCIES_H
#define DISTRIBUTED_TRAINING_CHUNK_DEPENDENCIES_H

#include "chunk-list.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The cells of a line of chunks: it is cut wherever a range begins or ends. The memory is
 * proportional to the number of ranges, the time too, up to a logarithm.
 */
class ChunkCells
{
  public:
    /** @param ranges non-empty ranges of chunk numbers, in any order */
    void Cut(const std::vector<ChunkRun>& ranges);

    /**
     * @param chunk a chunk number, not below the first border
     * @return number of the cell that contains the chunk
     */
    uint32_t Find(uint32_t chunk) const;

    /** @return number of borders, one more than the number of cells; 0 without ranges */
    uint32_t GetBorders() const
    {
        return m_count;
    }

  private:
    uint32_t m_count{0};
    std::vector<uint32_t> m_borders; // sorted; empty if the bits are in use
    std::vector<uint64_t> m_bits;    // a bit per chunk: whether it is a border
    std::vector<uint32_t> m_before;  // per word of bits, number of borders before it
};

/**
 * @ingroup distributed-training-collective
 *
 * An order of the chunks in which each of some lists is a single range, if any two of the lists are
 * disjoint or one contains the other; otherwise a few ranges. The parts that the ranks of a
 * butterfly exchange are such lists. The time and memory are proportional to the length of the
 * lists.
 */
class ChunkOrder
{
  public:
    /**
     * @param lists the lists; if there are none, the chunks keep their order
     * @param chunks number of chunks, without copies
     * @param copies number of copies
     */
    ChunkOrder(const std::vector<std::vector<ChunkRun>>& lists, uint32_t chunks, uint32_t copies);

    /**
     * Appends the ranges of places that a list takes.
     * @param list number of the list
     * @param places receives the ranges
     */
    void AppendList(uint32_t list, std::vector<ChunkRun>& places) const;

    /**
     * Appends the ranges of places that other chunks take.
     * @param run the chunks
     * @param places receives the ranges
     */
    void AppendRun(ChunkRun run, std::vector<ChunkRun>& places) const;

  private:
    void Refine(const std::vector<uint32_t>& cells);

    /** A set of cells with adjacent positions. */
    struct Class
    {
        uint32_t begin;  // first position
        uint32_t end;    // end (exclusive)
        uint32_t marked; // number of cells, from the begin, that belong to the present list
    };

    uint32_t m_chunks;
    ChunkCells m_cells;
    std::vector<uint32_t> m_length;   // per cell, number of chunks
    std::vector<uint32_t> m_first;    // per cell, first chunk
    std::vector<uint32_t> m_place;    // per cell, place of its first chunk
    std::vector<uint32_t> m_position; // per cell
    std::vector<uint32_t> m_at;       // per position, the cell
    std::vector<uint32_t> m_classOf;  // per cell
    std::vector<Class> m_classes;
    std::vector<ChunkRun> m_ranges;  // of all lists
    std::vector<uint32_t> m_rangeOf; // per list, index of its first range; and the end
};

/**
 * @ingroup distributed-training-collective
 *
 * Derives the dependencies between the actions of a rank: an action depends on the latest earlier
 * write of each of its chunks; if it writes, also on the reads since then. Chunks that all actions
 * of the rank use alike are looked at once, together.
 */
class ChunkDependencies
{
  public:
    /**
     * @param order order of the chunks
     * @param chunks number of chunks, without copies
     */
    ChunkDependencies(const ChunkOrder& order, uint32_t chunks);

    /** Removes all accesses, for the next rank. */
    void Clear();

    /**
     * Records that the next action of the rank, or the same action again, uses a list of the order.
     * @param action number of the action
     * @param list number of the list
     * @param write whether it changes the chunks
     */
    void UseList(uint32_t action, uint32_t list, bool write);

    /**
     * Records that the next action of the rank, or the same action again, uses chunks.
     * @param action number of the action
     * @param run the chunks, modulo the number of chunks
     * @param write whether it changes the chunks
     */
    void UseRun(uint32_t action, ChunkRun run, bool write);

    /** Ends the recording. */
    void Prepare();

    /**
     * Appends the actions on which an action depends, some of them more than once.
     * @param action number of the action; the numbers must ascend from call to call
     * @param after receives the numbers of the actions
     */
    void Append(uint32_t action, std::vector<uint32_t>& after);

  private:
    /** The use of a few ranges by an action. */
    struct Access
    {
        uint32_t action;
        uint32_t end; // index of the end of its ranges
        bool write;
    };

    /** The latest accesses to a cell. */
    struct Users
    {
        uint32_t writer;
        uint32_t readers; // reads since the last write: head of a list in m_pool
    };

    const ChunkOrder& m_order;
    uint32_t m_chunks;
    ChunkCells m_cells;
    std::vector<Access> m_accesses;
    std::vector<ChunkRun> m_ranges;
    std::vector<Users> m_users;
    std::vector<std::pair<uint32_t, uint32_t>> m_pool; // action, next in the list
    std::size_t m_next{0};                             // next access to look at
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHUNK_DEPENDENCIES_H
