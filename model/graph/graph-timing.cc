/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph/graph-timing.h"

#include "task-meetings.h"
#include "task-runner.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace ns3::training
{

namespace
{

/** A job on a network of known times: a small event list of its own. */
class TimedJob
{
  public:
    TimedJob(const TaskGraph& graph,
             uint32_t iterations,
             const CommunicationTimes& times,
             const std::vector<uint32_t>& ranks);

    GraphTiming Run();

  private:
    /** A task of a rank. */
    struct Place
    {
        uint32_t rank;
        uint64_t id;

        bool operator<(const Place& other) const
        {
            return std::tie(rank, id) < std::tie(other.rank, other.id);
        }
    };

    /** A collective of a group, while not all of its ranks have started it. */
    struct Meeting
    {
        std::vector<Place> places;
    };

    /** Messages from one rank to another: those that are there, and those that are awaited. */
    struct Channel
    {
        std::deque<Time> arrivals;
        std::deque<Place> receivers;
    };

    /** A task that has started. */
    struct Running
    {
        const GraphTask* task;
        uint64_t number; // of a collective in its groups
        std::shared_ptr<TaskTrace> trace;
    };

    /** State of a rank. */
    struct Rank
    {
        std::unique_ptr<TaskRunner> runner;       // null: it does not run
        Time computed;                            // end of the last computation
        std::map<uint32_t, uint64_t> collectives; // started so far, by groups
        std::map<uint64_t, Running> running;      // by task
    };

    void Start(uint32_t rank, const GraphTask& task, const TaskTrace::Pointer& cause);
    void Perform(uint32_t rank, const GraphTask& task, uint64_t number);
    void End(const Place& place);
    void StartCollective(uint32_t rank, const GraphTask& task, uint64_t number);
    void At(Time time, Place place);
    std::string DescribeWaits() const;

    const TaskGraph& m_graph;
    const CommunicationTimes& m_times;
    TaskMeetings m_causes;
    std::vector<Rank> m_ranks;
    std::vector<std::vector<uint32_t>> m_groupOfRank; // by groups and rank: index of its group
    std::vector<std::vector<uint32_t>> m_sizes;       // by groups and group: ranks of it that run
    /// By groups, group and number of the collective.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Meeting> m_meetings;
    /// By sender, receiver and tag.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Channel> m_channels;
    std::map<std::pair<Time, uint64_t>, Place> m_events; // by time and order
    uint64_t m_order{0};
    Time m_now;
    GraphTiming m_timing;
};

TimedJob::TimedJob(const TaskGraph& graph,
                   uint32_t iterations,
                   const CommunicationTimes& times,
                   const std::vector<uint32_t>& ranks)
    : m_graph(graph),
      m_times(times),
      m_causes(graph),
      m_ranks(graph.GetRanks())
{
    m_timing.ranks.resize(graph.GetRanks());
    std::vector<bool> runs(graph.GetRanks(), ranks.empty());
    for (uint32_t rank : ranks)
    {
        runs.at(rank) = true;
    }
    for (const TaskGroups& groups : graph.GetGroups())
    {
        std::vector<uint32_t> sizes(std::max<std::size_t>(1, groups.groups.size()));
        for (uint32_t group = 0; group < groups.groups.size(); group++)
        {
            for (uint32_t rank : groups.groups[group])
            {
                sizes[group] += runs.at(rank) ? 1 : 0;
            }
        }
        if (groups.groups.empty())
        {
            sizes[0] = static_cast<uint32_t>(std::count(runs.begin(), runs.end(), true));
        }
        m_groupOfRank.push_back(groups.GetIndices(graph.GetRanks()));
        m_sizes.push_back(sizes);
    }
    for (uint32_t rank = 0; rank < graph.GetRanks(); rank++)
    {
        if (!runs[rank])
        {
            continue;
        }
        m_ranks[rank].runner = std::make_unique<TaskRunner>(
            graph.MakeSource(rank, iterations),
            graph.GetWindow(),
            [this, rank](const GraphTask& task, const TaskTrace::Pointer& cause) {
                Start(rank, task, cause);
            });
    }
}

void
TimedJob::At(Time time, Place place)
{
    m_events.emplace(std::make_pair(time, m_order++), place);
}

void
TimedJob::Start(uint32_t rank, const GraphTask& task, const TaskTrace::Pointer& cause)
{
    Rank& state = m_ranks[rank];
    const bool isCollective = task.kind == TaskKind::COLLECTIVE;
    const uint64_t number = isCollective ? state.collectives[task.groups]++ : 0;
    const auto trace = std::make_shared<TaskTrace>(task, rank);
    trace->start = m_now;
    trace->ready = m_now;
    trace->cause = cause;
    state.running[task.id] = {&task, number, trace};
    m_causes.Start(rank, task, number, m_now, cause);
    if ((task.kind == TaskKind::COMPUTE || task.kind == TaskKind::MARK) &&
        task.stream == COMPUTE_STREAM)
    {
        RankTiming& timing = m_timing.ranks[rank];
        timing.idle.Add(cause, state.computed, m_now);
        timing.compute += task.length;
        state.computed = m_now + task.length;
    }
    Perform(rank, task, number);
}

void
TimedJob::End(const Place& place)
{
    Rank& state = m_ranks[place.rank];
    const auto found = state.running.find(place.id);
    const Running running = found->second;
    state.running.erase(found);
    running.trace->end = m_now;
    m_causes.End(*running.task, running.number, running.trace);
    m_timing.ranks[place.rank].end = m_now;
    m_timing.last = running.trace;
    state.runner->Complete(place.id, running.trace);
}

void
TimedJob::Perform(uint32_t rank, const GraphTask& task, uint64_t number)
{
    switch (task.kind)
    {
    case TaskKind::COMPUTE:
    case TaskKind::MEMORY:
        At(m_now + task.length, {rank, task.id});
        return;
    case TaskKind::MARK:
        At(m_now, {rank, task.id});
        return;
    case TaskKind::COLLECTIVE:
        StartCollective(rank, task, number);
        return;
    case TaskKind::SEND: {
        if (!m_ranks.at(task.peer).runner)
        {
            At(m_now, {rank, task.id});
            return;
        }
        Channel& channel = m_channels[{rank, task.peer, task.tag}];
        const Time arrival = m_now + (m_times.message ? m_times.message(task) : Time());
        const bool takesTime = task.untilSent && m_times.sent;
        At(m_now + (takesTime ? m_times.sent(task) : Time()), {rank, task.id});
        if (channel.receivers.empty())
        {
            channel.arrivals.push_back(arrival);
            return;
        }
        At(arrival, channel.receivers.front());
        channel.receivers.pop_front();
        return;
    }
    case TaskKind::RECEIVE: {
        if (!m_ranks.at(task.peer).runner)
        {
            At(m_now, {rank, task.id});
            return;
        }
        Channel& channel = m_channels[{task.peer, rank, task.tag}];
        if (channel.arrivals.empty())
        {
            channel.receivers.push_back({rank, task.id});
            return;
        }
        At(std::max(m_now, channel.arrivals.front()), {rank, task.id});
        channel.arrivals.pop_front();
        return;
    }
    }
}

void
TimedJob::StartCollective(uint32_t rank, const GraphTask& task, uint64_t number)
{
    const auto& groups = m_graph.GetGroups()[task.groups].groups;
    const uint32_t group = m_groupOfRank[task.groups][rank];
    const std::size_t size = groups.empty() ? m_graph.GetRanks() : groups[group].size();
    const auto key = std::make_tuple(task.groups, group, number);
    Meeting& meeting = m_meetings[key];
    meeting.places.push_back({rank, task.id});
    if (meeting.places.size() < m_sizes[task.groups][group])
    {
        return;
    }
    const Time time =
        m_times.collective ? m_times.collective(task, static_cast<uint32_t>(size)) : Time();
    for (const Place& place : meeting.places)
    {
        At(m_now + time, place);
    }
    m_meetings.erase(key);
}

std::string
TimedJob::DescribeWaits() const
{
    std::string text;
    uint32_t listed = 0;
    constexpr uint32_t MOST = 4;
    for (uint32_t rank = 0; rank < m_ranks.size(); rank++)
    {
        if (!m_ranks[rank].runner || m_ranks[rank].runner->IsFinished())
        {
            continue;
        }
        if (++listed > MOST)
        {
            text += "; ...";
            break;
        }
        text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) + " waits for";
        for (const GraphTask* task : m_ranks[rank].runner->GetRunning())
        {
            text += " " + m_graph.GetNames()[task->name] + " (" + GetName(task->kind) +
                    (task->kind == TaskKind::RECEIVE ? " from rank " + std::to_string(task->peer)
                                                     : "") +
                    ")";
        }
    }
    return text;
}

GraphTiming
TimedJob::Run()
{
    for (Rank& rank : m_ranks)
    {
        if (rank.runner)
        {
            rank.runner->Run();
        }
    }
    while (!m_events.empty())
    {
        const auto [key, place] = *m_events.begin();
        m_events.erase(m_events.begin());
        m_now = key.first;
        End(place);
    }
    m_timing.end = m_now;
    m_timing.stuck = DescribeWaits();
    return m_timing;
}

} // namespace

GraphTiming
TimeGraph(const TaskGraph& graph,
          uint32_t iterations,
          const CommunicationTimes& times,
          const std::vector<uint32_t>& ranks)
{
    return TimedJob(graph, iterations, times, ranks).Run();
}

} // namespace ns3::training
