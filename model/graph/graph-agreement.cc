/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph/graph-agreement.h"

#include "ns3/training-configuration-error.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ns3::training
{

namespace
{

/** Compares the ranks of a job, one after the other. */
class Agreement
{
  public:
    explicit Agreement(const TaskGraph& graph);

    void AddRank(uint32_t rank);

    /** Refuses what only one side knows. */
    void Finish() const;

  private:
    /** Collectives of a group, as its first rank calls them. */
    struct Calls
    {
        uint32_t rank{0};
        std::vector<GraphTask> tasks;
    };

    /** Messages of a sender, a receiver and a tag that only one side has named so far. */
    struct Messages
    {
        std::vector<std::pair<uint64_t, uint64_t>> waiting; // bytes, and the number of the task
        std::size_t next{0};
    };

    using Channel = std::tuple<uint32_t, uint32_t, uint64_t>; // sender, receiver, tag
    using Place = std::pair<uint32_t, uint32_t>;              // groups, and group in them

    [[noreturn]] void Refuse(uint32_t rank,
                             const GraphTask& task,
                             const std::string& what,
                             uint32_t otherRank,
                             const GraphTask& other,
                             const std::string& otherWhat,
                             const std::string& allowed) const;
    void AddCollective(uint32_t rank, const GraphTask& task, std::map<Place, std::size_t>& count);
    void AddMessage(uint32_t rank, const GraphTask& task);
    GraphTask FindTask(uint32_t rank, uint64_t id) const;
    static std::string DescribeCall(const GraphTask& task);

    const TaskGraph& m_graph;
    std::vector<std::vector<uint32_t>> m_groupOfRank; // by groups and rank
    std::map<Place, Calls> m_calls;
    std::map<Channel, Messages> m_sent;
    std::map<Channel, Messages> m_expected;
};

Agreement::Agreement(const TaskGraph& graph)
    : m_graph(graph)
{
    for (const TaskGroups& groups : graph.GetGroups())
    {
        std::set<uint32_t> ranks;
        for (const auto& group : groups.groups)
        {
            const std::string what = graph.Describe(group.empty() ? 0 : group[0], {});
            if (group.empty())
            {
                throw ConfigurationError(what + ": an empty group (allowed: 1 rank or more)");
            }
            for (uint32_t rank : group)
            {
                if (rank >= graph.GetRanks() || !ranks.insert(rank).second)
                {
                    throw ConfigurationError(what + ": its group has rank " + std::to_string(rank) +
                                             (rank >= graph.GetRanks() ? "" : " twice") +
                                             " (allowed: each rank below " +
                                             std::to_string(graph.GetRanks()) + " once)");
                }
            }
        }
        m_groupOfRank.push_back(groups.GetIndices(graph.GetRanks()));
    }
}

std::string
Agreement::DescribeCall(const GraphTask& task)
{
    return "calls " + GetName(task.operation) + " of " + std::to_string(task.bytes) + " bytes" +
           (HasRoot(task.operation) ? ", root " + std::to_string(task.peer) : "");
}

void
Agreement::Refuse(uint32_t rank,
                  const GraphTask& task,
                  const std::string& what,
                  uint32_t otherRank,
                  const GraphTask& other,
                  const std::string& otherWhat,
                  const std::string& allowed) const
{
    throw ConfigurationError(m_graph.Describe(rank, task) + " " + what + ", but " +
                             m_graph.Describe(otherRank, other) + " " + otherWhat +
                             " (allowed: " + allowed + ")");
}

/** @return a task that is named in a message; only its number is kept */
GraphTask
Agreement::FindTask(uint32_t rank, uint64_t id) const
{
    const auto source = m_graph.MakeSource(rank, 1);
    GraphTask task;
    while (source->Next(task) && task.id != id)
    {
        task = {};
    }
    return task;
}

void
Agreement::AddCollective(uint32_t rank, const GraphTask& task, std::map<Place, std::size_t>& count)
{
    const uint32_t group = m_groupOfRank[task.groups][rank];
    if (group == TaskGroups::NO_GROUP)
    {
        throw ConfigurationError(m_graph.Describe(rank, task) +
                                 " is a collective of a group without this rank (allowed: groups "
                                 "of the rank)");
    }
    const auto [found, isFirst] = m_calls.try_emplace({task.groups, group}, Calls{rank, {}});
    Calls& calls = found->second;
    const std::size_t number = count[found->first]++;
    if (calls.rank == rank)
    {
        calls.tasks.push_back(task);
        return;
    }
    if (number == calls.tasks.size())
    {
        Refuse(rank,
               task,
               DescribeCall(task),
               calls.rank,
               {},
               "has only " + std::to_string(number) + " collectives of the group",
               "ranks of a group that call the same");
    }
    const GraphTask& first = calls.tasks[number];
    const bool isEqual =
        task.operation == first.operation &&
        (task.bytes == first.bytes || task.isUneven || first.isUneven || task.matrix) &&
        (task.peer == first.peer || !HasRoot(task.operation)) &&
        bool(task.matrix) == bool(first.matrix) &&
        (task.matrix == first.matrix || *task.matrix == *first.matrix);
    if (!isEqual)
    {
        Refuse(calls.rank,
               first,
               DescribeCall(first),
               rank,
               task,
               DescribeCall(task),
               "ranks of a group that call the same collectives in the same order");
    }
}

void
Agreement::AddMessage(uint32_t rank, const GraphTask& task)
{
    const bool isSend = task.kind == TaskKind::SEND;
    const Channel channel(isSend ? rank : task.peer, isSend ? task.peer : rank, task.tag);
    auto& others = isSend ? m_expected : m_sent;
    const auto other = others.find(channel);
    if (other == others.end())
    {
        (isSend ? m_sent : m_expected)[channel].waiting.emplace_back(task.bytes, task.id);
        return;
    }
    Messages& messages = other->second;
    const auto [bytes, id] = messages.waiting[messages.next++];
    if (bytes != task.bytes)
    {
        const auto describe = [](bool sends, uint64_t size) {
            return (sends ? "sends " : "receives ") + std::to_string(size) + " bytes";
        };
        Refuse(task.peer,
               FindTask(task.peer, id),
               describe(!isSend, bytes),
               rank,
               task,
               describe(isSend, task.bytes),
               "the same size on both sides");
    }
    if (messages.next == messages.waiting.size())
    {
        others.erase(other);
    }
}

void
Agreement::AddRank(uint32_t rank)
{
    std::map<Place, std::size_t> count;
    const auto source = m_graph.MakeSource(rank, 1);
    GraphTask task;
    while (source->Next(task))
    {
        if (task.kind == TaskKind::COLLECTIVE)
        {
            AddCollective(rank, task, count);
        }
        else if (task.kind == TaskKind::SEND || task.kind == TaskKind::RECEIVE)
        {
            AddMessage(rank, task);
        }
        task = {};
    }
    for (uint32_t groups = 0; groups < m_groupOfRank.size(); groups++)
    {
        const Place place(groups, m_groupOfRank[groups][rank]);
        const auto found = m_calls.find(place);
        if (found == m_calls.end())
        {
            // Its first rank calls nothing, so no other may.
            m_calls.emplace(place, Calls{rank, {}});
        }
        else if (count[place] < found->second.tasks.size())
        {
            const GraphTask& missing = found->second.tasks[count[place]];
            Refuse(found->second.rank,
                   missing,
                   DescribeCall(missing),
                   rank,
                   {},
                   "has only " + std::to_string(count[place]) + " collectives of the group",
                   "ranks of a group that call the same");
        }
    }
}

void
Agreement::Finish() const
{
    for (const auto* open : {&m_expected, &m_sent})
    {
        if (open->empty())
        {
            continue;
        }
        const auto& [channel, messages] = *open->begin();
        const auto& [sender, receiver, tag] = channel;
        const auto [bytes, id] = messages.waiting[messages.next];
        const bool isSend = open == &m_sent;
        const std::string size = std::to_string(bytes) + " bytes ";
        Refuse(isSend ? sender : receiver,
               FindTask(isSend ? sender : receiver, id),
               isSend ? "sends " + size : "receives " + size,
               isSend ? receiver : sender,
               {},
               isSend ? "does not receive them" : "does not send them",
               "a receive for each send, of the same tag");
    }
}

} // namespace

void
CheckAgreement(const TaskGraph& graph, bool isUniform)
{
    Agreement agreement(graph);
    for (uint32_t rank = 0; rank < graph.GetRanks() && !isUniform; rank++)
    {
        agreement.AddRank(rank);
    }
    agreement.Finish();
}

} // namespace ns3::training
