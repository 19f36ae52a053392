/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/gather-synthesizer.h"

#include "collective/source-search.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <utility>

namespace ns3::training
{

namespace
{

constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();
constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

/// A rank with at most so many sources knows them; otherwise any rank may be one.
constexpr std::size_t MAX_KNOWN_SOURCES = 64;
/// With more sources, chunks tried before the sources are asked one by one.
constexpr uint32_t FIRST_TRIES = 2;

/** @return the number of a bit that is set, after some others */
uint32_t
FindBit(uint64_t bits, uint32_t skip)
{
    for (; skip > 0; skip--)
    {
        bits &= bits - 1;
    }
    return static_cast<uint32_t>(__builtin_ctzll(bits));
}

/** One randomized synthesis attempt. */
class Synthesis
{
  public:
    Synthesis(const SynthesisRequest& request, uint32_t seed);

    /** Creates the transfers. */
    void Run();

    /** @return number of links looked at */
    uint64_t GetVisits() const
    {
        return m_search.GetVisits();
    }

    std::vector<ChunkTransfer> transfers; ///< sorted by start
    std::vector<TransferPath> paths;      ///< of the transfers, if wanted
    SynthesisWork work;                   ///< work so far

  private:
    /** A transfer that has begun. */
    struct Transit
    {
        uint32_t chunk;
        uint32_t source;
        uint32_t target;
        uint64_t rate; // that it occupies, bit/s
        TransferPath links;
    };

    /// @return the found rank from which a chunk arrives first, or NONE
    uint32_t ChooseSource(uint32_t chunk);
    /// Finds the chunks that a rank misses and can receive. @return their number
    uint64_t FindChunks(uint32_t target);
    /// @return a random chunk that a rank has, or any for NONE, and the target misses; or NONE
    uint32_t DrawChunk(uint32_t source, uint32_t target);
    /// @return a random one of the chunks found by FindChunks()
    uint32_t DrawOffered(uint64_t count);
    bool Send(uint32_t chunk, uint32_t target);
    /// Sends a random missing chunk to a rank. @return whether it may receive another one
    bool ServeFromKnown(uint32_t target);
    bool ServeFromAny(uint32_t target);
    /// Lets a rank that cannot receive sleep.
    void SetAsleep(std::size_t place);
    uint64_t GetLargestWeight() const;
    void Begin(uint32_t chunk, uint32_t source, uint32_t target);
    void MatchAll();
    void EndNext();
    void Awake(uint32_t target);
    void SetFreeSource(uint32_t rank, bool isFree);

    uint32_t Draw(std::size_t count)
    {
        return count > 1 ? static_cast<uint32_t>(m_random() % count) : 0;
    }

    const SynthesisRequest& m_request;
    std::mt19937 m_random;
    uint32_t m_ranks;
    ChunkSets m_has;    // chunks that each rank has
    ChunkSets m_wanted; // chunks missing per rank, not in transit
    SourceSearch m_search;
    std::vector<uint32_t> m_missing;              // per rank, number of wanted chunks
    uint64_t m_allMissing{0};                     // their sum
    std::vector<std::vector<uint32_t>> m_sources; // per rank, its sources if known
    std::vector<std::vector<uint32_t>> m_targets; // per rank, the ranks that know it as a source
    std::vector<uint32_t> m_stuck;                // ranks with a free link but, of all, no source
    std::vector<uint32_t> m_freeSources;          // ranks with a free link
    std::vector<uint32_t> m_placeOf;              // per rank, its place there, or NONE
    std::vector<uint64_t> m_weight;               // per rank, chunks that it can receive, at most
    std::vector<uint32_t> m_awake;                // ranks that may be able to receive
    std::vector<bool> m_isAwake;                  // per rank

    std::vector<Transit> m_transits;
    std::vector<uint32_t> m_unused;                       // entries of m_transits
    std::map<uint64_t, std::vector<uint32_t>> m_arrivals; // entries of m_transits, by time
    uint64_t m_now{0};
    std::vector<uint32_t> m_nearest; // ranks that can send a chunk first
    std::vector<uint64_t> m_offered; // chunks that a rank can receive, as bits
};

Synthesis::Synthesis(const SynthesisRequest& request, uint32_t seed)
    : m_request(request),
      m_random(seed),
      m_ranks(static_cast<uint32_t>(request.hosts.size())),
      m_has(m_ranks, m_ranks * request.chunksPerRank),
      m_wanted(m_ranks, m_ranks * request.chunksPerRank),
      m_search(request.topology, request.hosts, request.chunkBytes, m_has),
      m_missing(m_ranks, (m_ranks - 1) * request.chunksPerRank),
      m_allMissing(uint64_t{m_ranks} * (m_ranks - 1) * request.chunksPerRank),
      m_sources(m_search.FindFewSources(MAX_KNOWN_SOURCES)),
      m_targets(m_ranks),
      m_placeOf(m_ranks, NONE),
      m_weight(m_ranks, 0),
      m_isAwake(m_ranks, false)
{
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        for (uint32_t chunk = 0; chunk < m_has.GetChunks(); chunk++)
        {
            const bool isOwn = chunk / request.chunksPerRank == rank;
            (isOwn ? m_has : m_wanted).Flip(rank, chunk);
        }
        SetFreeSource(rank, m_search.HasFree(rank, true));
        for (uint32_t source : m_sources[rank])
        {
            m_targets[source].push_back(rank);
        }
    }
}

uint32_t
Synthesis::ChooseSource(uint32_t chunk)
{
    uint64_t best = NEVER;
    m_nearest.clear();
    for (uint32_t rank : m_search.GetFound())
    {
        const uint64_t cost = m_search.GetCost(rank);
        if (cost > best || !m_has.Has(rank, chunk))
        {
            continue;
        }
        if (cost < best)
        {
            m_nearest.clear();
        }
        best = cost;
        m_nearest.push_back(rank);
    }
    return m_nearest.empty() ? NONE : m_nearest[Draw(m_nearest.size())];
}

uint64_t
Synthesis::FindChunks(uint32_t target)
{
    m_search.Find(NONE, target);
    m_offered.assign(m_has.GetWords(), 0);
    for (uint32_t rank : m_search.GetFound())
    {
        m_has.AddTo(rank, m_offered);
    }
    uint64_t count = 0;
    for (uint32_t word = 0; word < m_offered.size(); word++)
    {
        m_offered[word] &= m_wanted.GetWord(target, word);
        count += static_cast<uint64_t>(__builtin_popcountll(m_offered[word]));
    }
    work.words += m_offered.size() * (m_search.GetFound().size() + 1);
    return count;
}

uint32_t
Synthesis::DrawOffered(uint64_t count)
{
    uint64_t skip = Draw(count);
    for (uint32_t word = 0; word < m_offered.size(); word++)
    {
        const auto here = static_cast<uint64_t>(__builtin_popcountll(m_offered[word]));
        if (skip < here)
        {
            return word * 64 + FindBit(m_offered[word], static_cast<uint32_t>(skip));
        }
        skip -= here;
    }
    return NONE;
}

uint32_t
Synthesis::DrawChunk(uint32_t source, uint32_t target)
{
    const uint32_t words = m_wanted.GetWords();
    const uint32_t begin = Draw(words);
    for (uint32_t i = 0; i < words; i++)
    {
        const uint32_t word = begin + i < words ? begin + i : begin + i - words;
        uint64_t bits = m_wanted.GetWord(target, word);
        if (source != NONE)
        {
            bits &= m_has.GetWord(source, word);
        }
        if (bits != 0)
        {
            work.words += i + 1;
            return word * 64 + FindBit(bits, Draw(__builtin_popcountll(bits)));
        }
    }
    work.words += words;
    return NONE;
}

void
Synthesis::SetFreeSource(uint32_t rank, bool isFree)
{
    uint32_t& place = m_placeOf[rank];
    if (isFree == (place != NONE))
    {
        return;
    }
    if (isFree)
    {
        place = static_cast<uint32_t>(m_freeSources.size());
        m_freeSources.push_back(rank);
        return;
    }
    m_freeSources[place] = m_freeSources.back();
    m_placeOf[m_freeSources.back()] = place;
    m_freeSources.pop_back();
    place = NONE;
}

void
Synthesis::Begin(uint32_t chunk, uint32_t source, uint32_t target)
{
    if (m_unused.empty())
    {
        m_unused.push_back(static_cast<uint32_t>(m_transits.size()));
        m_transits.emplace_back();
    }
    const uint32_t number = m_unused.back();
    m_unused.pop_back();
    Transit& transit = m_transits[number];
    const uint64_t end = m_now + m_search.GetCost(source);
    transit.chunk = chunk;
    transit.source = source;
    transit.target = target;
    transit.rate = m_search.Occupy(source, target, transit.links);
    m_arrivals[end].push_back(number);
    transfers.push_back({chunk, source, target, m_now, end});
    if (m_request.paths)
    {
        paths.push_back(transit.links);
    }
    m_wanted.Flip(target, chunk);
    m_missing[target]--;
    m_allMissing--;
    SetFreeSource(source, m_search.HasFree(source, true));
}

bool
Synthesis::Send(uint32_t chunk, uint32_t target)
{
    m_search.Find(chunk, target);
    const uint32_t source = ChooseSource(chunk);
    if (source == NONE)
    {
        return false;
    }
    Begin(chunk, source, target);
    return true;
}

bool
Synthesis::ServeFromKnown(uint32_t target)
{
    const uint64_t count = m_search.HasFree(target, false) ? FindChunks(target) : 0;
    if (count == 0)
    {
        return false;
    }
    // With fewer chunks than before, the rank's turn comes less often.
    const bool isTurn = Draw(std::exchange(m_weight[target], count)) < count;
    if (isTurn)
    {
        const uint32_t chunk = DrawOffered(count);
        Begin(chunk, ChooseSource(chunk), target);
    }
    return true;
}

bool
Synthesis::ServeFromAny(uint32_t target)
{
    if (m_missing[target] == 0 || !m_search.HasFree(target, false))
    {
        return false;
    }
    for (uint32_t i = 0; i < FIRST_TRIES; i++)
    {
        if (Send(DrawChunk(NONE, target), target))
        {
            return true;
        }
    }
    // All sources in random order. If a chunk of a source cannot be sent, none of its chunks can.
    for (std::size_t i = 0; i < m_freeSources.size(); i++)
    {
        const std::size_t other = i + Draw(m_freeSources.size() - i);
        std::swap(m_freeSources[i], m_freeSources[other]);
        m_placeOf[m_freeSources[i]] = static_cast<uint32_t>(i);
        m_placeOf[m_freeSources[other]] = static_cast<uint32_t>(other);
        const uint32_t chunk = DrawChunk(m_freeSources[i], target);
        if (chunk != NONE && Send(chunk, target))
        {
            return true;
        }
    }
    return false;
}

void
Synthesis::Awake(uint32_t target)
{
    if (!m_isAwake[target] && m_missing[target] > 0)
    {
        m_isAwake[target] = true;
        m_awake.push_back(target);
    }
}

void
Synthesis::SetAsleep(std::size_t place)
{
    const uint32_t target = m_awake[place];
    if (m_sources[target].empty() && m_missing[target] > 0 && m_search.HasFree(target, false))
    {
        m_stuck.push_back(target);
    }
    m_isAwake[target] = false;
    m_awake[place] = m_awake.back();
    m_awake.pop_back();
}

uint64_t
Synthesis::GetLargestWeight() const
{
    uint64_t largest = 0;
    for (uint32_t target : m_awake)
    {
        largest = std::max(largest, m_weight[target]);
    }
    return largest;
}

void
Synthesis::MatchAll()
{
    for (std::size_t i = m_awake.size(); i-- > 0;)
    {
        const uint32_t target = m_awake[i];
        const bool hasKnown = !m_sources[target].empty();
        work.attempts++;
        m_weight[target] = !m_search.HasFree(target, false) ? 0
                           : hasKnown                       ? FindChunks(target)
                                                            : m_missing[target];
        if (m_weight[target] == 0)
        {
            SetAsleep(i);
        }
    }
    // Each rank in turn with a probability proportional to the chunks that it can receive.
    uint64_t largest = GetLargestWeight();
    std::size_t passed = 0;
    while (!m_awake.empty())
    {
        const uint32_t place = Draw(m_awake.size());
        const uint32_t target = m_awake[place];
        if (Draw(largest) >= m_weight[target])
        {
            if (++passed > 4 * m_awake.size())
            {
                largest = GetLargestWeight();
                passed = 0;
            }
            continue;
        }
        work.attempts++;
        if (!(m_sources[target].empty() ? ServeFromAny(target) : ServeFromKnown(target)))
        {
            SetAsleep(place);
        }
    }
}

void
Synthesis::EndNext()
{
    const auto next = m_arrivals.begin();
    m_now = next->first;
    for (uint32_t number : next->second)
    {
        const Transit& transit = m_transits[number];
        m_has.Flip(transit.target, transit.chunk);
        m_search.Release(transit.links, transit.rate);
        SetFreeSource(transit.source, true);
        // The ranks that may use the free links, and those that may want the chunk.
        Awake(transit.target);
        for (uint32_t rank : {transit.source, transit.target})
        {
            for (uint32_t target : m_targets[rank])
            {
                Awake(target);
            }
        }
        m_unused.push_back(number);
    }
    for (uint32_t target : m_stuck)
    {
        Awake(target);
    }
    m_stuck.clear();
    m_arrivals.erase(next);
}

void
Synthesis::Run()
{
    transfers.reserve(m_allMissing);
    bool isStuck = true;
    while (m_allMissing > 0)
    {
        const uint64_t before = m_allMissing;
        for (uint32_t target = 0; isStuck && target < m_ranks; target++)
        {
            Awake(target);
        }
        MatchAll();
        if (!m_arrivals.empty())
        {
            EndNext();
            isStuck = false;
        }
        else if (isStuck && m_allMissing == before)
        {
            throw ConfigurationError(
                "tacos: not all ranks can be reached (allowed: topologies that join all ranks)");
        }
        else
        {
            isStuck = true; // look at all ranks before giving up
        }
    }
}

} // namespace

std::vector<ChunkTransfer>
SynthesizeAllGather(const SynthesisRequest& request)
{
    const auto getEnd = [](const std::vector<ChunkTransfer>& transfers) {
        uint64_t end = 0;
        for (const auto& transfer : transfers)
        {
            end = std::max(end, transfer.end);
        }
        return end;
    };
    std::vector<ChunkTransfer> best;
    for (uint32_t run = 0; run < request.runs; run++)
    {
        Synthesis synthesis(request, request.seed + run);
        synthesis.Run();
        if (request.work)
        {
            request.work->visits += synthesis.GetVisits();
            request.work->words += synthesis.work.words;
            request.work->attempts += synthesis.work.attempts;
        }
        if (run == 0 || getEnd(synthesis.transfers) < getEnd(best))
        {
            best = std::move(synthesis.transfers);
            if (request.paths)
            {
                *request.paths = std::move(synthesis.paths);
            }
        }
    }
    return best;
}

} // namespace ns3::training
