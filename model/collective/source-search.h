/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SOURCE_SEARCH_H
#define DISTRIBUTED_TRAINING_SOURCE_SEARCH_H

#include "ns3/topology-graph.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 * Sets of chunks, one per rank, as bits.
 */
class ChunkSets
{
  public:
    /**
     * @param ranks number of sets, which are empty
     * @param chunks number of chunks
     */
    ChunkSets(uint32_t ranks, uint32_t chunks)
        : m_chunks(chunks),
          m_words((chunks + 63) / 64),
          m_bits(uint64_t{ranks} * m_words)
    {
    }

    /** @return number of words of a set */
    uint32_t GetWords() const
    {
        return m_words;
    }

    /** @return number of chunks */
    uint32_t GetChunks() const
    {
        return m_chunks;
    }

    /**
     * @param rank a rank
     * @param word its index
     * @return a word of the set of a rank
     */
    uint64_t GetWord(uint32_t rank, uint32_t word) const
    {
        return m_bits[uint64_t{rank} * m_words + word];
    }

    /**
     * @param rank a rank
     * @param chunk number of the chunk
     * @return whether a chunk is in the set of a rank
     */
    bool Has(uint32_t rank, uint32_t chunk) const
    {
        return (GetWord(rank, chunk / 64) >> chunk % 64 & 1) != 0;
    }

    /**
     * Adds the set of a rank to another set.
     * @param rank a rank
     * @param words the other set, of as many words
     */
    void AddTo(uint32_t rank, std::vector<uint64_t>& words) const
    {
        const uint64_t* mine = m_bits.data() + uint64_t{rank} * m_words;
        for (uint32_t word = 0; word < m_words; word++)
        {
            words[word] |= mine[word];
        }
    }

    /**
     * Adds a chunk to the set of a rank, or removes it.
     * @param rank a rank
     * @param chunk number of the chunk
     */
    void Flip(uint32_t rank, uint32_t chunk)
    {
        m_bits[uint64_t{rank} * m_words + chunk / 64] ^= uint64_t{1} << chunk % 64;
    }

  private:
    uint32_t m_chunks;
    uint32_t m_words;
    std::vector<uint64_t> m_bits;
};

/**
 * @ingroup distributed-training-collective
 *
 * Searches the network, in which transfers occupy links, for the ranks that can send to a rank: see
 * SynthesizeAllGather(). The results of a search hold until the next one.
 */
class SourceSearch
{
  public:
    static constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max(); ///< no rank, any chunk

    /**
     * @param topology the network
     * @param hosts host of each rank; distinct
     * @param chunkBytes size of a chunk, bytes
     * @param has chunks that each rank has
     */
    SourceSearch(const TopologyGraph& topology,
                 const std::vector<uint32_t>& hosts,
                 uint64_t chunkBytes,
                 const ChunkSets& has);

    /**
     * @param most maximum number
     * @return for each rank, the ranks with a path to it that may be occupied; none if there are
     *         more
     */
    std::vector<std::vector<uint32_t>> FindFewSources(std::size_t most);

    /**
     * @param rank a rank
     * @param out whether away from it
     * @return whether the host of a rank has a free link, from it (out) or to it
     */
    bool HasFree(uint32_t rank, bool out) const;

    /**
     * Finds the nearest ranks with a free path to a rank that have a chunk.
     * @param chunk number of the chunk; NONE: finds all ranks with a free path
     * @param target the rank
     */
    void Find(uint32_t chunk, uint32_t target);

    /** @return the ranks found */
    const std::vector<uint32_t>& GetFound() const
    {
        return m_found;
    }

    /** @param rank a rank @return time of a transfer from a rank that was found, ps */
    uint64_t GetCost(uint32_t rank) const
    {
        return m_labels[m_hosts[rank]].cost;
    }

    /**
     * Occupies the path from a rank that was found.
     * @param source the rank
     * @param target the rank of the search
     * @param path receives the path: per link, 2 * link index, + 1 if from b to a
     * @return the rate that is occupied on each link, bit/s
     */
    uint64_t Occupy(uint32_t source, uint32_t target, std::vector<uint32_t>& path);

    /**
     * Frees a path.
     * @param path the path
     * @param rate the rate that it occupies, bit/s
     */
    void Release(const std::vector<uint32_t>& path, uint64_t rate);

    /** @return number of links looked at in all searches */
    uint64_t GetVisits() const
    {
        return m_visits;
    }

  private:
    static constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

    /** A link as seen from its end, against the direction of the transfer. */
    struct Hop
    {
        uint32_t node;     // at the begin of the link
        uint32_t directed; // number of the directed link
        uint64_t rate;     // bit/s
        uint64_t delay;    // ps
    };

    /** The path from a node to the target of a transfer. */
    struct Label
    {
        uint64_t cost{NEVER}; // time to arrival, ps
        uint64_t latency{0};  // latency, ps
        uint64_t rate{NEVER}; // rate of the slowest link, bit/s
        uint64_t free{NEVER}; // least free rate of a link, bit/s
        uint32_t link{NONE};  // directed link towards the target
        uint32_t next{NONE};  // node at its end
    };

    void FindFew(uint32_t target, std::size_t most, std::vector<uint32_t>& sources);
    void MarkBeside(uint32_t target, bool isBeside);
    /// @return whether paths to the present target end at a node, which has other ranks
    bool IsLast(uint32_t node) const;
    uint64_t GetTime(uint64_t rate);
    void Expand(uint32_t node, uint32_t chunk);

    const std::vector<uint32_t>& m_hosts;
    uint64_t m_chunkBytes;
    const ChunkSets& m_has;
    std::vector<std::vector<Hop>> m_hops; // per node, its links, against the direction
    std::vector<uint32_t> m_rankOf;       // per host
    std::vector<bool> m_hasRanks;         // per node, whether it is a switch with ranks
    std::vector<uint64_t> m_free;         // free rate per directed link, bit/s
    uint64_t m_visits{0};

    // State of a search.
    std::vector<bool> m_isBeside; // per node, whether it is a switch of the target
    std::vector<bool> m_isSeen;   // per node; FindFew()
    std::vector<Label> m_labels;  // per node
    std::vector<uint32_t> m_touched;
    using Entry = std::pair<uint64_t, uint32_t>; // cost, node
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> m_queue;
    std::vector<uint32_t> m_found;
    uint64_t m_best{NEVER}; // least cost of them
    uint64_t m_lastRate{0};
    uint64_t m_lastTime{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SOURCE_SEARCH_H
