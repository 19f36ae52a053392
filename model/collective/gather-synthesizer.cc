/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gather-synthesizer.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <tuple>

namespace ns3::training
{

namespace
{

constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

/** One randomized synthesis attempt. */
class Synthesis
{
  public:
    Synthesis(const SynthesisRequest& request, uint32_t seed);

    /** @return the transfers, sorted by start */
    std::vector<ChunkTransfer> Run();

  private:
    /** The path from a node to the target of a transfer. */
    struct Label
    {
        uint64_t cost{std::numeric_limits<uint64_t>::max()}; // time to arrival, ps
        uint64_t latency{0};                                 // latency, ps
        uint64_t rate{std::numeric_limits<uint64_t>::max()}; // rate of the slowest link, bit/s
        uint64_t free{std::numeric_limits<uint64_t>::max()}; // least free rate of a link, bit/s
        uint32_t link{NONE};                                 // directed link towards the target
        uint32_t depth{0};                                   // number of links
    };

    /// Finds the ranks with a free path to a rank.
    const std::vector<uint32_t>& FindSources(uint32_t target);
    void Expand(uint32_t node);
    bool Send(uint32_t chunk, uint32_t target);
    void Occupy(ChunkTransfer& transfer);
    void MatchAll();

    uint32_t Draw(std::size_t count)
    {
        return static_cast<uint32_t>(m_random() % count);
    }

    using ChunkSet = boost::dynamic_bitset<>;

    const SynthesisRequest& m_request;
    const TopologyGraph& m_topology;
    std::mt19937 m_random;
    uint32_t m_ranks;
    uint32_t m_chunks;
    std::vector<std::vector<uint32_t>> m_linksOf; // per node
    std::vector<uint32_t> m_rankOf;               // per host
    std::vector<bool> m_hasRanks;                 // per node, whether it is a switch with ranks
    std::vector<uint64_t> m_free;                 // free rate per directed link, bit/s
    std::vector<ChunkSet> m_has;                  // chunks that each rank has
    std::vector<ChunkSet> m_wanted;               // chunks missing per rank, not in transit
    uint64_t m_missing{0};                        // total number of missing chunks

    std::vector<ChunkTransfer> m_transfers;
    using Event = std::pair<uint64_t, uint32_t>; // end, index of the transfer
    std::priority_queue<Event, std::vector<Event>, std::greater<>> m_ends;
    uint64_t m_now{0};

    // State of a search for sources.
    std::vector<bool> m_isBeside; // per node, whether it is a switch of the target
    std::vector<Label> m_labels;  // per node
    std::vector<uint32_t> m_touched;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> m_queue; // cost, node
    std::vector<uint32_t> m_sources;
};

Synthesis::Synthesis(const SynthesisRequest& request, uint32_t seed)
    : m_request(request),
      m_topology(request.topology),
      m_random(seed),
      m_ranks(static_cast<uint32_t>(request.hosts.size())),
      m_chunks(m_ranks * request.chunksPerRank),
      m_linksOf(request.topology.GetLinksOfNodes()),
      m_rankOf(request.topology.hosts, NONE),
      m_hasRanks(request.topology.GetNodes(), false),
      m_has(m_ranks, ChunkSet(m_chunks)),
      m_missing(uint64_t{m_ranks} * (m_chunks - request.chunksPerRank)),
      m_isBeside(request.topology.GetNodes(), false),
      m_labels(request.topology.GetNodes())
{
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        const uint32_t host = request.hosts[rank];
        m_rankOf[host] = rank;
        for (uint32_t link : m_linksOf[host])
        {
            m_hasRanks[TopologyGraph::GetPeer(m_topology.links[link], host)] = true;
        }
        m_has[rank].set(rank * request.chunksPerRank, request.chunksPerRank, true);
        m_wanted.push_back(~m_has[rank]);
    }
    for (const auto& link : m_topology.links)
    {
        m_free.insert(m_free.end(), 2, link.rate.GetBitRate());
    }
}

void
Synthesis::Expand(uint32_t node)
{
    const Label from = m_labels[node];
    // Paths must not pass a switch with ranks, because ranks on it are closer; the switches of the
    // target are exempt.
    const bool isLast = m_hasRanks[node] && !m_isBeside[node];
    for (uint32_t index : m_linksOf[node])
    {
        const auto& link = m_topology.links[index];
        const uint32_t next = TopologyGraph::GetPeer(link, node);
        const uint32_t directed = 2 * index + (next == link.a ? 0 : 1);
        const bool isHost = next < m_topology.hosts;
        if (m_free[directed] == 0 || (isHost ? m_rankOf[next] == NONE : isLast))
        {
            continue;
        }
        Label label;
        label.latency = from.latency + static_cast<uint64_t>(link.delay.GetPicoSeconds());
        label.rate = std::min(from.rate, link.rate.GetBitRate());
        label.free = std::min(from.free, m_free[directed]);
        label.link = directed;
        label.depth = from.depth + 1;
        label.cost = label.latency +
                     static_cast<uint64_t>(std::ceil(static_cast<double>(m_request.chunkBytes) *
                                                     8e12 / static_cast<double>(label.rate)));
        const bool isFull = isHost && label.free < label.rate;
        if (isFull || label.cost >= m_labels[next].cost)
        {
            continue;
        }
        if (!isHost)
        {
            m_queue.emplace(label.cost, next);
        }
        else if (m_labels[next].depth == 0)
        {
            m_sources.push_back(m_rankOf[next]);
        }
        m_labels[next] = label;
        m_touched.push_back(next);
    }
}

const std::vector<uint32_t>&
Synthesis::FindSources(uint32_t target)
{
    for (uint32_t node : m_touched)
    {
        m_labels[node] = Label();
    }
    m_touched.clear();
    m_sources.clear();
    const uint32_t start = m_request.hosts[target];
    const auto setBeside = [&](bool isBeside) {
        for (uint32_t link : m_linksOf[start])
        {
            m_isBeside[TopologyGraph::GetPeer(m_topology.links[link], start)] = isBeside;
        }
    };
    setBeside(true);
    m_labels[start].cost = 0;
    m_touched.push_back(start);
    Expand(start);
    while (!m_queue.empty())
    {
        const auto [cost, node] = m_queue.top();
        m_queue.pop();
        if (cost == m_labels[node].cost)
        {
            Expand(node);
        }
    }
    setBeside(false);
    return m_sources;
}

void
Synthesis::Occupy(ChunkTransfer& transfer)
{
    const Label& label = m_labels[m_request.hosts[transfer.source]];
    transfer.start = m_now;
    transfer.end = m_now + label.cost;
    for (uint32_t node = m_request.hosts[transfer.source];
         node != m_request.hosts[transfer.target];)
    {
        const uint32_t directed = m_labels[node].link;
        const auto& link = m_topology.links[directed / 2];
        m_free[directed] -= label.rate;
        transfer.links.push_back(directed);
        node = directed % 2 == 0 ? link.b : link.a;
    }
}

bool
Synthesis::Send(uint32_t chunk, uint32_t target)
{
    const auto& sources = FindSources(target);
    uint32_t source = NONE;
    uint32_t ties = 0;
    uint64_t best = std::numeric_limits<uint64_t>::max();
    for (uint32_t rank : sources)
    {
        const uint64_t cost = m_labels[m_request.hosts[rank]].cost;
        if (cost > best || !m_has[rank].test(chunk))
        {
            continue;
        }
        ties = cost < best ? 1 : ties + 1;
        best = cost;
        source = Draw(ties) == 0 ? rank : source;
    }
    if (source != NONE)
    {
        ChunkTransfer transfer{chunk, source, target, 0, 0, {}};
        Occupy(transfer);
        m_ends.emplace(transfer.end, static_cast<uint32_t>(m_transfers.size()));
        m_transfers.push_back(std::move(transfer));
        m_wanted[target].reset(chunk);
        m_missing--;
    }
    return !sources.empty();
}

void
Synthesis::MatchAll()
{
    std::vector<std::pair<uint32_t, uint32_t>> pairs; // chunk, target
    for (uint32_t target = 0; target < m_ranks; target++)
    {
        if (m_wanted[target].none())
        {
            continue;
        }
        ChunkSet found(m_chunks);
        for (uint32_t source : FindSources(target))
        {
            found |= m_has[source];
        }
        found &= m_wanted[target];
        for (auto chunk = found.find_first(); chunk != ChunkSet::npos;
             chunk = found.find_next(chunk))
        {
            pairs.emplace_back(static_cast<uint32_t>(chunk), target);
        }
    }
    for (std::size_t i = pairs.size(); i > 1; i--)
    {
        std::swap(pairs[i - 1], pairs[Draw(i)]);
    }
    std::vector<bool> isClosed(m_ranks, false); // targets without a free path
    for (const auto& [chunk, target] : pairs)
    {
        isClosed[target] = isClosed[target] || !Send(chunk, target);
    }
}

std::vector<ChunkTransfer>
Synthesis::Run()
{
    while (m_missing > 0)
    {
        MatchAll();
        if (m_ends.empty())
        {
            throw ConfigurationError(
                "tacos: not all ranks can be reached (allowed: topologies that join all ranks)");
        }
        m_now = m_ends.top().first;
        while (!m_ends.empty() && m_ends.top().first == m_now)
        {
            const ChunkTransfer& transfer = m_transfers[m_ends.top().second];
            m_ends.pop();
            m_has[transfer.target].set(transfer.chunk);
            uint64_t rate = std::numeric_limits<uint64_t>::max();
            for (uint32_t directed : transfer.links)
            {
                rate = std::min(rate, m_topology.links[directed / 2].rate.GetBitRate());
            }
            for (uint32_t directed : transfer.links)
            {
                m_free[directed] += rate;
            }
        }
    }
    return std::move(m_transfers);
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
        auto transfers = Synthesis(request, request.seed + run).Run();
        if (run == 0 || getEnd(transfers) < getEnd(best))
        {
            best = std::move(transfers);
        }
    }
    return best;
}

} // namespace ns3::training
