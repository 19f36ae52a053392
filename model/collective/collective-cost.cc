/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-cost.h"

#include "ns3/shortest-paths.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace ns3::training
{

namespace
{

/**
 * The messages of a step from one rank to another: (sender, receiver, chunks per message, total
 * chunks).
 */
using Flow = std::tuple<uint32_t, uint32_t, uint64_t, uint64_t>;

/** @return the stored messages of each step of a segment, sorted */
std::vector<std::vector<Flow>>
GetFlows(const CollectiveSchedule& schedule)
{
    std::map<uint32_t, std::map<std::pair<uint32_t, uint32_t>, std::pair<uint64_t, uint64_t>>>
        steps;
    for (uint32_t rank = 0; rank < schedule.GetStoredRanks(); rank++)
    {
        for (uint32_t i = 0; i < schedule.GetStoredActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            if (action.kind == ScheduleAction::Kind::SEND)
            {
                uint64_t chunks = 0;
                for (const ChunkRun* run = action.first; run != action.last; run++)
                {
                    chunks += run->count;
                }
                auto& [largest, all] = steps[action.step][{rank, action.peer}];
                largest = std::max(largest, chunks);
                all += chunks;
            }
        }
    }
    std::vector<std::vector<Flow>> flows;
    for (const auto& [step, messages] : steps)
    {
        flows.emplace_back();
        for (const auto& [pair, chunks] : messages)
        {
            flows.back().emplace_back(pair.first, pair.second, chunks.first, chunks.second);
        }
    }
    return flows;
}

} // namespace

/**
 * Computes the link loads of each step by distributing its messages over their routes. Steps with
 * equal messages are evaluated only once.
 */
class CollectiveCost::Routes
{
  public:
    Routes(const TopologyGraph& topology,
           const std::vector<uint32_t>& hosts,
           const NetworkCost& network,
           const CollectiveSchedule& schedule)
        : m_topology(topology),
          m_hosts(hosts),
          m_network(network),
          m_schedule(schedule),
          m_share(GetShare(schedule)),
          m_paths(topology)
    {
        for (auto& flows : GetFlows(schedule))
        {
            const auto [found, isNew] = m_patterns.emplace(std::move(flows), m_patterns.size());
            m_order.push_back(found->second);
        }
    }

    /** @return number of messages in distinct steps */
    uint64_t CountMessages() const
    {
        const uint64_t times =
            m_schedule.GetStoredRanks() < m_schedule.GetSize() ? m_schedule.GetSize() : 1;
        uint64_t messages = 0;
        for (const auto& [flows, number] : m_patterns)
        {
            messages += times * flows.size();
        }
        return messages;
    }

    void Run(CollectiveCost& cost)
    {
        const std::size_t directions = 2 * m_topology.links.size();
        m_steps.resize(m_patterns.size());
        m_loads.assign(m_patterns.size(), std::vector<Load>(directions));
        for (uint32_t rank = 0; rank < m_schedule.GetSize(); rank++)
        {
            AddReceiver(rank);
        }
        std::vector<double> all(directions);
        for (std::size_t i = 0; i < m_steps.size(); i++)
        {
            const auto times = static_cast<double>(std::count(m_order.begin(), m_order.end(), i));
            const auto uncertain = std::count_if(m_loads[i].begin(), m_loads[i].end(), [](auto& l) {
                return l.variance > 0;
            });
            // Expected excess of the maximum of this many normal variables over the mean, in
            // standard deviations.
            const double deviations = uncertain > 1 ? std::sqrt(2 * std::log(uncertain)) : 0;
            for (std::size_t link = 0; link < directions; link++)
            {
                const Load& load = m_loads[i][link];
                const double seconds =
                    std::min(load.most, load.mean + deviations * std::sqrt(load.variance)) * 8 /
                    static_cast<double>(m_topology.links[link / 2].rate.GetBitRate());
                m_steps[i].load = std::max(m_steps[i].load, seconds);
                all[link] += times * seconds;
            }
        }
        for (std::size_t i : m_order)
        {
            cost.m_steps.push_back(m_steps[i]);
        }
        cost.m_pace = all.empty() ? 0 : *std::max_element(all.begin(), all.end());
    }

  private:
    /** Load of a link in a step, as a fraction of the vector. */
    struct Load
    {
        double mean{0};
        double variance{0}; // variance due to the random choice of routes
        double most{0};     // load if all possible messages cross it
    };

    uint32_t GetHost(uint32_t rank) const
    {
        return m_hosts.empty() ? rank : m_hosts[rank];
    }

    void AddReceiver(uint32_t rank)
    {
        const uint32_t n = m_schedule.GetSize();
        const bool rotated = m_schedule.GetStoredRanks() < n; // or another symmetry
        bool searched = false;
        for (const auto& [flows, number] : m_patterns)
        {
            for (const auto& [from, to, largest, all] : flows)
            {
                if (!rotated && to != rank)
                {
                    continue;
                }
                if (!searched)
                {
                    m_paths.Search(GetHost(rank));
                    m_best = m_paths.GetPaths();
                    searched = true;
                }
                const uint32_t sender = rotated ? m_schedule.GetRelative(rank, to) : from;
                AddMessage(m_steps[number], GetHost(sender), largest);
                DistributeOverRoutes(m_loads[number],
                                     GetHost(sender),
                                     GetHost(rank),
                                     m_share * static_cast<double>(all));
            }
        }
    }

    void AddMessage(Step& step, uint32_t host, uint64_t chunks) const
    {
        const ShortestPaths::Path& path = m_best[host];
        const double perByte = 8 * path.secondsPerBit;
        step.latency = std::max(step.latency,
                                path.delay.GetSeconds() + m_network.headerBytes * perByte +
                                    m_network.messageSeconds);
        step.share = std::max(step.share, m_share * static_cast<double>(chunks));
        step.extra = std::max(step.extra, perByte - 8.0 / static_cast<double>(path.rate));
    }

    /** Distributes the messages of a host over all their possible routes. */
    void DistributeOverRoutes(std::vector<Load>& loads,
                              uint32_t source,
                              uint32_t destination,
                              double amount)
    {
        m_open[{m_paths.GetCost(source), source}] = 1;
        while (!m_open.empty())
        {
            const auto last = std::prev(m_open.end()); // the farthest node: its value is final
            const uint32_t node = last->first.second;
            const double chance = last->second;
            m_open.erase(last);
            if (node == destination)
            {
                continue;
            }
            m_paths.GetNextLinks(node, m_next);
            const double part = chance / static_cast<double>(m_next.size());
            for (uint32_t index : m_next)
            {
                const auto& link = m_topology.links[index];
                Load& load = loads[2 * index + (link.a == node ? 0 : 1)];
                load.mean += part * amount;
                load.most += amount;
                if (!m_network.sprays)
                {
                    load.variance += part * (1 - part) * amount * amount;
                }
                const uint32_t peer = TopologyGraph::GetPeer(link, node);
                m_open[{m_paths.GetCost(peer), peer}] += part;
            }
        }
    }

    const TopologyGraph& m_topology;
    const std::vector<uint32_t>& m_hosts;
    const NetworkCost& m_network;
    const CollectiveSchedule& m_schedule;
    double m_share;
    ShortestPaths m_paths;
    std::vector<ShortestPaths::Path> m_best;                // best paths to the current receiver
    std::map<std::vector<Flow>, std::size_t> m_patterns;    // distinct steps
    std::vector<std::size_t> m_order;                       // pattern index by step
    std::vector<Step> m_steps;                              // by pattern
    std::vector<std::vector<Load>> m_loads;                 // by pattern, direction of a link
    std::map<std::pair<uint32_t, uint32_t>, double> m_open; // probability by cost and node
    std::vector<uint32_t> m_next;
};

double
CollectiveCost::GetShare(const CollectiveSchedule& schedule)
{
    switch (schedule.operation)
    {
    case CollectiveOperation::BARRIER:
        return 0;
    case CollectiveOperation::SEND_RECEIVE:
        return 1;
    case CollectiveOperation::ALL_TO_ALL:
    case CollectiveOperation::ALL_TO_ALL_V: // assume equal parts
        return 1.0 * schedule.GetSize() / schedule.chunks;
    default:
        return 1.0 / schedule.chunks;
    }
}

std::optional<CollectiveCost>
CollectiveCost::Measure(const TopologyGraph& topology,
                        const std::vector<uint32_t>& hosts,
                        const NetworkCost& network,
                        const CollectiveSchedule& schedule)
{
    Routes routes(topology, hosts, network, schedule);
    if (routes.CountMessages() > MAX_MESSAGES)
    {
        return std::nullopt;
    }
    CollectiveCost cost;
    cost.m_network = network;
    cost.m_segments = schedule.segments;
    routes.Run(cost);
    return cost;
}

double
CollectiveCost::GetLatency(uint64_t bytes) const
{
    const double segment = static_cast<double>(bytes) / m_segments;
    double seconds = 0;
    for (const Step& step : m_steps)
    {
        seconds += step.latency +
                   step.extra * std::min<double>(step.share * segment, m_network.packetBytes);
    }
    return seconds;
}

double
CollectiveCost::GetTransfer(uint64_t bytes) const
{
    const double segment = static_cast<double>(bytes) / m_segments;
    double seconds = (m_segments - 1) * m_pace * segment;
    for (const Step& step : m_steps)
    {
        seconds += step.load * segment;
    }
    return seconds / m_network.goodput;
}

} // namespace ns3::training
