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

#include "collective/algorithms/multitree-collective.h"

#include "collective/rank-placement.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_set>
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
        uint32_t way;                 // next switch that it leads to
        uint32_t step{0};             // latest step with sends
        std::vector<uint32_t> sends;  // sends of the latest step
        std::vector<uint32_t> before; // sends of the previous step with sends
        std::size_t awaited{0};       // number of receives that earlier sends wait for
        std::size_t awaitedBefore{0}; // the same before the latest step
    };

    /** What a rank has done so far. */
    struct Rank
    {
        bool isAlone{false};                                   // no other rank is at its switch
        std::vector<Interface> interfaces;                     // few
        std::vector<std::pair<uint32_t, uint32_t>> receives;   // step and action, with a window
        uint32_t step{0};                                      // of the next member
        std::vector<std::pair<uint32_t, uint32_t>> messages{}; // by destination, number in the step
    };

    void Add(uint32_t root, uint32_t from, uint32_t to, uint32_t way, Kind kind);
    Interface& GetInterface(Rank& rank, uint32_t way) const;
    uint32_t CountMessage(Rank& rank, uint32_t to) const;
    void FindAwaited(const Rank& rank, Interface& interface);

    CollectiveSchedule& m_schedule;
    uint32_t m_window;
    SpanningTrees m_trees;
    std::vector<Rank> m_ranks;
    uint32_t m_step{0};            // current step of the whole schedule
    std::vector<uint32_t> m_after; // what the next send waits for
};

TreeScheduler::TreeScheduler(const CollectiveRequest& request, CollectiveSchedule& schedule)
    : m_schedule(schedule),
      m_window(static_cast<uint32_t>(request.keys.GetCount("window"))),
      m_trees(PlanSpanningTrees(request)),
      m_ranks(request.ranks)
{
    const auto getSwitch = [this](uint32_t root) { // a rank's tree starts at its switch
        return *m_trees.GetPath(m_trees.trees[root].front()).begin();
    };
    std::map<uint32_t, uint32_t> ranksOn; // by switch
    for (uint32_t root = 0; root < request.ranks; root++)
    {
        ranksOn[getSwitch(root)]++;
    }
    for (uint32_t root = 0; root < request.ranks; root++)
    {
        m_ranks[root].isAlone = ranksOn[getSwitch(root)] == 1;
    }
}

void
TreeScheduler::AddReduceScatter()
{
    std::vector<std::size_t> ends; // by root, of the edges that are left
    for (const auto& tree : m_trees.trees)
    {
        ends.push_back(tree.size());
    }
    for (uint32_t step = m_trees.steps; step-- > 0; m_step++)
    {
        for (uint32_t root = 0; root < m_ranks.size(); root++)
        {
            const auto& tree = m_trees.trees[root];
            const std::size_t end = ends[root];
            while (ends[root] > 0 && tree[ends[root] - 1].step == step)
            {
                ends[root]--;
            }
            for (std::size_t i = ends[root]; i < end; i++)
            {
                const TreePath path = m_trees.GetPath(tree[i]);
                const uint32_t way = path.size() > 1 ? *(path.end() - 2) : 0;
                Add(root, tree[i].child, tree[i].parent, way, Kind::RECEIVE_REDUCE);
            }
        }
    }
}

void
TreeScheduler::AddAllGather()
{
    std::vector<std::size_t> next(m_ranks.size()); // by root, of its edges
    for (uint32_t step = 0; step < m_trees.steps; step++, m_step++)
    {
        for (uint32_t root = 0; root < m_ranks.size(); root++)
        {
            const auto& tree = m_trees.trees[root];
            for (std::size_t& i = next[root]; i < tree.size() && tree[i].step == step; i++)
            {
                const TreePath path = m_trees.GetPath(tree[i]);
                const uint32_t way = path.size() > 1 ? *(path.begin() + 1) : 0;
                Add(root, tree[i].parent, tree[i].child, way, Kind::RECEIVE);
            }
        }
    }
}

void
TreeScheduler::Add(uint32_t root, uint32_t from, uint32_t to, uint32_t way, Kind kind)
{
    Rank& sender = m_ranks[from];
    const uint32_t message = CountMessage(sender, to);
    Interface& interface = GetInterface(sender, sender.isAlone ? way : 0);
    FindAwaited(sender, interface);
    const ChunkRun chunk{root, 1};
    interface.sends.push_back(
        m_schedule.Add(from, Kind::SEND, to, chunk, m_step, m_after, message));
    const uint32_t receive = m_schedule.Add(to, kind, from, chunk, m_step, {}, message);
    if (m_window > 0)
    {
        m_ranks[to].receives.emplace_back(m_step, receive);
    }
}

/** @return the interface that leads to a switch */
TreeScheduler::Interface&
TreeScheduler::GetInterface(Rank& rank, uint32_t way) const
{
    for (Interface& interface : rank.interfaces)
    {
        if (interface.way == way)
        {
            return interface;
        }
    }
    rank.interfaces.push_back({way, 0, {}, {}, 0, 0});
    return rank.interfaces.back();
}

/** @return number of the next message to a rank among those of the step */
uint32_t
TreeScheduler::CountMessage(Rank& rank, uint32_t to) const
{
    if (rank.step != m_step)
    {
        rank.step = m_step;
        rank.messages.clear();
    }
    for (auto& [destination, count] : rank.messages)
    {
        if (destination == to)
        {
            return count++;
        }
    }
    rank.messages.emplace_back(to, 1);
    return 0;
}

void
TreeScheduler::FindAwaited(const Rank& rank, Interface& interface)
{
    if (interface.step != m_step)
    {
        interface.before.swap(interface.sends);
        interface.sends.clear();
        interface.step = m_step;
        interface.awaitedBefore = interface.awaited;
    }
    m_after = interface.before;
    interface.awaited = interface.awaitedBefore;
    while (m_window > 0 && interface.awaited < rank.receives.size() &&
           rank.receives[interface.awaited].first + m_window <= m_step)
    {
        m_after.push_back(rank.receives[interface.awaited++].second);
    }
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
    std::unordered_set<uint64_t> known; // pairs
    std::vector<RankPath> paths;
    const auto add = [&](uint32_t from, uint32_t to, std::vector<uint32_t> way) {
        if (known.insert(uint64_t{from} << 32 | to).second)
        {
            for (uint32_t& node : way)
            {
                node += topology.hosts;
            }
            paths.push_back({from, to, std::move(way)});
        }
    };
    const SpanningTrees trees = PlanSpanningTrees(request);
    for (const auto& tree : trees.trees)
    {
        for (const TreeEdge& edge : tree)
        {
            const auto [first, last] = trees.GetPath(edge);
            // Hosts with their own switch have several ports; the transport chooses among them.
            if (*first < topology.switches && *(last - 1) < topology.switches)
            {
                add(edge.parent, edge.child, {first, last});
                add(edge.child,
                    edge.parent,
                    {std::make_reverse_iterator(last), std::make_reverse_iterator(first)});
            }
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
