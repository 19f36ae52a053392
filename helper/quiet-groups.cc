/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "quiet-groups.h"

#include "job/rank-execution.h"

#include "ns3/rdma-transport.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace ns3::training
{

/** The links of one group. */
class QuietGroups::GroupGuard : public CollectiveReplay::Guard
{
  public:
    /**
     * @param owner knows all ranks
     * @param groups index of groups
     * @param members by rank: it is in the group
     * @param users by rank in and outside of it that have messages on its links, the groups whose
     *        collectives bring them
     */
    GroupGuard(std::shared_ptr<const QuietGroups> owner,
               uint32_t groups,
               std::vector<bool> members,
               const std::map<uint32_t, std::set<uint32_t>>& users)
        : m_owner(std::move(owner)),
          m_groups(groups),
          m_members(std::move(members))
    {
        for (const auto& [rank, meeting] : users)
        {
            m_users.push_back({rank, meeting, {}});
        }
    }

    bool IsIdle() const override
    {
        const ClusterTransports& transports = m_owner->m_cluster.GetTransports();
        return std::none_of(m_users.begin(), m_users.end(), [&](const User& user) {
            const auto transport = DynamicCast<RdmaTransport>(transports.Get(user.rank));
            const auto flows = transports.ListOpenFlows(user.rank);
            return std::any_of(flows.begin(), flows.end(), [&](const OpenFlow& flow) {
                return IsOnLinks(user.rank, transport->GetPeer(flow.number));
            });
        });
    }

    std::vector<bool> GetLoad() const override
    {
        std::vector<bool> load;
        for (const User& user : m_users)
        {
            if (IsLoaded(user))
            {
                load.push_back(GetExecution(user).IsStreamBusy());
            }
        }
        return load;
    }

    Time GetLoadUntil(Time length) override
    {
        Time least = Time::Max();
        for (const User& user : m_users)
        {
            if (IsLoaded(user))
            {
                least = std::min(least,
                                 GetExecution(user).GetLeastTimeToCompute(GetLeast(user, length)));
            }
        }
        return AfterNow(least);
    }

    Time GetIdleUntil(Time length) override
    {
        const Time end = Simulator::Now() + length;
        Time until = Time::Max();
        for (User& user : m_users)
        {
            // What was found earlier holds, but for members: it depends on the length.
            if (m_members[user.rank] || user.next <= end)
            {
                user.next = AfterNow(GetLeastTime(user, length));
            }
            until = std::min(until, user.next);
        }
        return until;
    }

  private:
    /** A rank with messages on the links. */
    struct User
    {
        uint32_t rank;
        std::set<uint32_t> meeting; // groups whose collectives bring such messages
        Time next;                  // its next such message starts no earlier
    };

    /** @return whether a message between two ranks uses the links, and is not of the group */
    bool IsOnLinks(uint32_t from, uint32_t to) const
    {
        return m_owner->AreInServer(from, to) && !(m_members[from] && m_members[to]) &&
               (m_members[from] || m_members[m_owner->GetImages().GetSimulated(to)]);
    }

    /** @return whether computations of a rank make collectives of the group slower */
    bool IsLoaded(const User& user) const
    {
        return m_owner->m_isLoaded && m_members[user.rank];
    }

    const RankExecution& GetExecution(const User& user) const
    {
        return *m_owner->m_ranks[user.rank].execution;
    }

    static Time AfterNow(Time least)
    {
        return least == Time::Max() ? least : Simulator::Now() + least;
    }

    /** @return what returns the least time that a collective of a rank takes */
    std::function<Time(const GraphTask&)> GetLeast(const User& user, Time length) const
    {
        return [this, &user, length](const GraphTask& collective) {
            const bool isOwn = m_members[user.rank] && collective.groups == m_groups;
            return isOwn ? length : Time(0);
        };
    }

    /** @return least time until a rank starts such a message */
    Time GetLeastTime(const User& user, Time length) const
    {
        return GetExecution(user).GetLeastTimeTo(
            [&](const GraphTask& task) {
                return (task.kind == TaskKind::SEND && IsOnLinks(user.rank, task.peer)) ||
                       (task.kind == TaskKind::COLLECTIVE && user.meeting.count(task.groups) > 0);
            },
            GetLeast(user, length));
    }

    std::shared_ptr<const QuietGroups> m_owner;
    uint32_t m_groups;
    std::vector<bool> m_members;
    std::vector<User> m_users;
};

QuietGroups::QuietGroups(const Cluster& cluster,
                         std::shared_ptr<const TaskGraph> graph,
                         bool isLoaded)
    : m_cluster(cluster),
      m_isLoaded(isLoaded),
      m_graph(std::move(graph)),
      m_servers(cluster.GetTopology().GetServers()),
      m_ranks(m_graph->GetRanks())
{
    for (uint32_t rank = 0; rank < m_ranks.size(); rank++)
    {
        if (m_cluster.IsLocal(rank))
        {
            List(rank);
        }
    }
}

/** Finds out what a rank does. */
void
QuietGroups::List(uint32_t rank)
{
    Rank& list = m_ranks[rank];
    uint64_t last = 0; // task of the stream of computations
    const auto source = m_graph->MakeSource(rank, 2);
    for (GraphTask task; source->Next(task); task = {})
    {
        if (task.kind == TaskKind::SEND && AreInServer(rank, task.peer))
        {
            list.peers.insert(task.peer);
        }
        else if (task.kind == TaskKind::COLLECTIVE)
        {
            list.used.insert(task.groups);
        }
        const bool isMessage = task.kind == TaskKind::SEND || task.kind == TaskKind::COLLECTIVE;
        list.isOrdered =
            list.isOrdered && (!isMessage || last == 0 || task.stream == COMPUTE_STREAM ||
                               std::count(task.after.begin(), task.after.end(), last));
        last = task.stream == COMPUTE_STREAM ? task.id : last;
    }
}

bool
QuietGroups::AreInServer(uint32_t one, uint32_t other) const
{
    return m_servers[one] != TopologyGraph::NO_SERVER && m_servers[one] == m_servers[other];
}

/** @return the ranks that are not simulated */
const RankImages&
QuietGroups::GetImages() const
{
    return m_cluster.GetOptions().images;
}

/**
 * @return whether some of the ranks that share a server with one are in a group or images of it,
 *         others not
 */
bool
QuietGroups::Meet(const std::vector<uint32_t>& ranks,
                  uint32_t rank,
                  const std::vector<bool>& group) const
{
    bool isInside = false;
    bool isOutside = false;
    for (uint32_t other : ranks)
    {
        const bool isUser = AreInServer(rank, other);
        isInside = isInside || (isUser && group[GetImages().GetSimulated(other)]);
        isOutside = isOutside || (isUser && !group[other]);
    }
    return isInside && isOutside;
}

std::unique_ptr<CollectiveReplay::Guard>
QuietGroups::MakeGuard(uint32_t groups, const std::vector<uint32_t>& group)
{
    std::vector<bool> members(m_ranks.size());
    for (uint32_t rank : group)
    {
        members[rank] = true;
    }
    std::set<uint32_t> servers; // of the group and of its images
    for (uint32_t image = 0; image < GetImages().GetCount(); image++)
    {
        servers.insert(m_servers[GetImages().Turn(group.front(), image)]);
    }
    std::map<uint32_t, std::set<uint32_t>> users;
    for (uint32_t rank = 0; rank < m_ranks.size(); rank++)
    {
        if (servers.count(m_servers[rank]) == 0 || !m_cluster.IsLocal(rank))
        {
            continue;
        }
        const Rank& list = m_ranks[rank];
        bool isUser = members[rank];
        std::set<uint32_t> meeting;
        for (uint32_t peer : list.peers)
        {
            if (members[rank] && members[peer])
            {
                return nullptr; // not told from messages of its collectives
            }
            isUser = isUser || members[GetImages().GetSimulated(peer)];
        }
        for (uint32_t index : list.used)
        {
            const auto ranks = m_graph->GetGroup(index, rank);
            const auto inside = std::count_if(ranks.begin(), ranks.end(), [&](uint32_t each) {
                return members[each];
            });
            if (index != groups && members[rank] && inside > 1)
            {
                return nullptr;
            }
            if (Meet(ranks, rank, members))
            {
                meeting.insert(index);
            }
        }
        isUser = isUser || !meeting.empty();
        if (isUser && !list.isOrdered)
        {
            return nullptr;
        }
        if (isUser)
        {
            users.emplace(rank, std::move(meeting));
        }
    }
    return std::make_unique<GroupGuard>(shared_from_this(), groups, std::move(members), users);
}

void
QuietGroups::Add(TrainingApplication& application)
{
    m_ranks[application.GetRank()].execution = &application.GetExecution();
}

} // namespace ns3::training
