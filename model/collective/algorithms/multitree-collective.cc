/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * MULTITREE (Huang et al., ISCA 2021): the chunk of each rank is broadcast along its own tree, see
 * BuildSpanningTrees(). The reduce-scatter uses the same trees with time and direction reversed. A
 * network interface sends the messages of its table in the order of steps. With a window of w, the
 * messages of a step wait for the messages that the rank receives w steps earlier; this replaces
 * the paper's lockstep by estimated times.
 */

#include "multitree-collective.h"

#include "ns3/rank-placement.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

/** Converts trees to actions, in the order of steps. */
class TreeScheduler
{
  public:
    TreeScheduler(const CollectiveRequest& request, CollectiveSchedule& schedule);

    /** Children send sums to parents. */
    void AddReduceScatter();

    /** Parents send sums to children. */
    void AddAllGather();

  private:
    /** The sends scheduled so far at a network interface. */
    struct Interface
    {
        uint32_t step{0};             // latest step with sends
        std::vector<uint32_t> sends;  // sends of the latest step
        std::vector<uint32_t> before; // sends of the previous step with sends
        std::size_t awaited{0};       // number of receives that earlier sends wait for
        std::size_t awaitedBefore{0}; // the same before the latest step
    };

    void Add(uint32_t root, uint32_t from, uint32_t to, uint32_t way, Kind kind);
    std::vector<uint32_t> GetAwaited(uint32_t rank, Interface& interface) const;

    CollectiveSchedule& m_schedule;
    uint32_t m_window;
    std::vector<std::vector<std::pair<uint32_t, TreeEdge>>> m_edges; // by step, with their roots
    std::vector<bool> m_isAlone; // per rank, whether its switch has no other rank
    uint32_t m_step{0};          // current step of the whole schedule
    std::vector<std::map<uint32_t, Interface>>
        m_interfaces; // per rank, by the next switch that they lead to
    std::vector<std::vector<std::pair<uint32_t, uint32_t>>> m_receives; // per rank, step and action
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_messages;       // of the step, by ends
};

TreeScheduler::TreeScheduler(const CollectiveRequest& request, CollectiveSchedule& schedule)
    : m_schedule(schedule),
      m_window(static_cast<uint32_t>(request.keys.GetCount("window"))),
      m_interfaces(request.ranks),
      m_receives(request.ranks)
{
    const SpanningTrees trees = PlanSpanningTrees(request);
    std::map<uint32_t, uint32_t> ranksOn; // by switch; a rank's tree starts at its switch
    for (const auto& tree : trees.trees)
    {
        ranksOn[tree.front().path.front()]++;
    }
    for (const auto& tree : trees.trees)
    {
        m_isAlone.push_back(ranksOn[tree.front().path.front()] == 1);
    }
    m_edges.resize(trees.steps);
    for (uint32_t root = 0; root < request.ranks; root++)
    {
        for (const TreeEdge& edge : trees.trees[root])
        {
            m_edges[edge.step].emplace_back(root, edge);
        }
    }
}

void
TreeScheduler::AddReduceScatter()
{
    for (auto edges = m_edges.rbegin(); edges != m_edges.rend(); ++edges)
    {
        for (const auto& [root, edge] : *edges)
        {
            const std::size_t hops = edge.path.size();
            const uint32_t way = hops > 1 ? edge.path[hops - 2] : 0;
            Add(root, edge.child, edge.parent, way, Kind::RECEIVE_REDUCE);
        }
        m_step++;
        m_messages.clear();
    }
}

void
TreeScheduler::AddAllGather()
{
    for (const auto& edges : m_edges)
    {
        for (const auto& [root, edge] : edges)
        {
            const uint32_t way = edge.path.size() > 1 ? edge.path[1] : 0;
            Add(root, edge.parent, edge.child, way, Kind::RECEIVE);
        }
        m_step++;
        m_messages.clear();
    }
}

void
TreeScheduler::Add(uint32_t root, uint32_t from, uint32_t to, uint32_t way, Kind kind)
{
    const uint32_t message = m_messages[{from, to}]++;
    Interface& interface = m_interfaces[from][m_isAlone[from] ? way : 0];
    const auto after = GetAwaited(from, interface);
    interface.sends.push_back(m_schedule.Add(from, Kind::SEND, to, root, m_step, after, message));
    m_receives[to].emplace_back(m_step, m_schedule.Add(to, kind, from, root, m_step, {}, message));
}

std::vector<uint32_t>
TreeScheduler::GetAwaited(uint32_t rank, Interface& interface) const
{
    if (interface.step != m_step)
    {
        interface.before = std::move(interface.sends);
        interface.sends.clear();
        interface.step = m_step;
        interface.awaitedBefore = interface.awaited;
    }
    std::vector<uint32_t> after = interface.before;
    const auto& receives = m_receives[rank];
    interface.awaited = interface.awaitedBefore;
    while (m_window > 0 && interface.awaited < receives.size() &&
           receives[interface.awaited].first + m_window <= m_step)
    {
        after.push_back(receives[interface.awaited++].second);
    }
    return after;
}

void
BuildMultitree(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    TreeScheduler scheduler(request, schedule);
    if (request.operation != Operation::ALL_GATHER)
    {
        scheduler.AddReduceScatter();
    }
    if (request.operation != Operation::REDUCE_SCATTER)
    {
        scheduler.AddAllGather();
    }
}

/**
 * @return per pair of ranks on switches, the path of the first tree edge; reversed for reduction
 */
std::vector<RankPath>
GetPaths(const CollectiveRequest& request)
{
    if (!request.topology)
    {
        return {};
    }
    const TopologyGraph& topology = *request.topology;
    std::set<std::pair<uint32_t, uint32_t>> known;
    std::vector<RankPath> paths;
    const auto add = [&](uint32_t from, uint32_t to, std::vector<uint32_t> way) {
        // Hosts with their own switch have several ports; the transport chooses among them.
        const bool isPlain = way.front() < topology.switches && way.back() < topology.switches;
        if (isPlain && known.insert({from, to}).second)
        {
            for (uint32_t& node : way)
            {
                node += topology.hosts;
            }
            paths.push_back({from, to, std::move(way)});
        }
    };
    for (const auto& tree : PlanSpanningTrees(request).trees)
    {
        for (const TreeEdge& edge : tree)
        {
            add(edge.parent, edge.child, edge.path);
            add(edge.child, edge.parent, {edge.path.rbegin(), edge.path.rend()});
        }
    }
    return paths;
}

const Registry<CollectiveAlgorithm>::Entry g_multitree(
    "multitree",
    {"a spanning tree for each rank, built on the topology so that no link has two messages in a "
     "step (MULTITREE)",
     {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER},
     &BuildMultitree,
     {Key::Word("order",
                "id",
                {"id", "sorted"},
                "order of the roots: by number, or by priority after the first round"),
      Key::Word("stop",
                "any",
                {"last", "any"},
                "end of a step: when the last root, or when any root, adds nothing"),
      Key::Count("window", 0, 0, 1000000, "maximum steps in flight per rank; 0: unlimited"),
      Key::Count("ports",
                 0,
                 0,
                 1000000,
                 "messages that a rank sends and receives in a step; 0: as many as it has links")},
     {},
     nullptr,
     false,
     true,
     &GetPaths});

} // namespace

SpanningTrees
PlanSpanningTrees(const CollectiveRequest& request)
{
    const RankPlacement placement(request);
    TreeNetwork network = MakeTreeNetwork(placement.GetTopology(), placement.GetHosts());
    if (const uint64_t limit = request.keys.GetCount("ports"); limit > 0)
    {
        for (uint32_t& ports : network.ports)
        {
            ports = static_cast<uint32_t>(std::min<uint64_t>(ports, limit));
        }
    }
    return BuildSpanningTrees(
        network,
        request.keys.GetText("order") == "id" ? RootOrder::ID : RootOrder::SORTED,
        request.keys.GetText("stop") == "last" ? StopRule::LAST : StopRule::ANY);
}

} // namespace ns3::training
