/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-replay.h"

#include "fabric/port-growth.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCollectiveReplay");

CollectiveReplay::CollectiveReplay(uint32_t size,
                                   std::vector<Ptr<FabricChannel>> channels,
                                   std::function<uint64_t()> countPackets,
                                   std::unique_ptr<Guard> guard)
    : m_size(size),
      m_channels(std::move(channels)),
      m_countPackets(countPackets ? std::move(countPackets) : [] { return uint64_t{0}; }),
      m_guard(std::move(guard))
{
}

CollectiveReplay::Sums
CollectiveReplay::Add(const std::vector<std::shared_ptr<CollectiveReplay>>& replays)
{
    Sums sums;
    for (const auto& replay : replays)
    {
        sums.simulated += replay->m_sums.simulated;
        sums.derived += replay->m_sums.derived;
        sums.packetHops += replay->m_sums.packetHops;
        sums.packets += replay->m_sums.packets;
    }
    return sums;
}

/** Keeps what the last collective has added to the counters, if it was simulated. */
void
CollectiveReplay::Measure()
{
    m_settled.Cancel();
    if (!m_measured)
    {
        return;
    }
    std::vector<PortCounters>& growth = m_measured->growth;
    growth.resize(m_before.size());
    for (std::size_t i = 0; i < growth.size(); i++)
    {
        growth[i] = GetGrowth(m_before[i], m_channels[i / 2]->GetPort(i % 2).GetCounters());
    }
    // Frames under way at either end of the span arrive in the other.
    for (std::size_t i = 0; i < growth.size(); i++)
    {
        const PortCounters& sender = growth[i ^ 1];
        growth[i].receivedFrames =
            sender.transmittedFrames + sender.duplicatedFrames - sender.lostFrames;
        growth[i].receivedBytes = sender.transmittedBytes - sender.lostBytes;
    }
    m_measured->packets = m_countPackets() - m_packetsBefore;
    m_measured = nullptr;
}

/** @return longest time of a collective of the kind that may be derived; 0: there is none */
Time
CollectiveReplay::FindLongest(const Kind& kind) const
{
    Time longest;
    for (auto known = m_known.lower_bound({kind, {}});
         known != m_known.end() && known->first.first == kind;
         known++)
    {
        longest = known->second.isConfirmed ? std::max(longest, known->second.longest) : longest;
    }
    return longest;
}

/** A collective is simulated. */
void
CollectiveReplay::Begin(Meeting& meeting)
{
    m_sums.simulated++;
    meeting.isSimulated = true;
    meeting.first = Simulator::Now();
    for (const Ptr<FabricChannel>& channel : m_channels)
    {
        meeting.before.push_back(channel->GetPort(0).GetCounters());
        meeting.before.push_back(channel->GetPort(1).GetCounters());
    }
    meeting.packetsBefore = m_countPackets();
}

void
CollectiveReplay::Arrive(uint32_t rank, uint64_t number, const Kind& kind, Member member)
{
    const auto [entry, isNew] = m_meetings.try_emplace(number);
    Meeting& meeting = entry->second;
    if (isNew)
    {
        Measure();
        meeting.kind = kind;
        meeting.ends.resize(m_size);
        const Time longest = FindLongest(kind);
        if (longest.IsZero() || (m_guard && !m_guard->IsIdle()))
        {
            NS_LOG_LOGIC("collective " << number << " is simulated");
            Begin(meeting);
        }
        else
        {
            meeting.timeout =
                Simulator::Schedule(TOGETHER * longest, &CollectiveReplay::Simulate, this, number);
        }
    }
    meeting.last = Simulator::Now();
    const bool isLast = ++meeting.arrived == m_size;
    if (!meeting.isSimulated)
    {
        meeting.waiting.emplace_back(rank, std::move(member));
    }
    if (isLast)
    {
        meeting.timeout.Cancel();
    }
    if (m_guard)
    {
        meeting.isShared = meeting.isShared || !m_guard->IsIdle();
        if (isLast)
        {
            // Computations that start now are part of the load.
            const auto next =
                meeting.isSimulated ? &CollectiveReplay::Watch : &CollectiveReplay::Decide;
            meeting.timeout = Simulator::ScheduleNow(next, this, number);
        }
    }
    if (meeting.isSimulated)
    {
        member.simulate();
    }
    else if (isLast && !m_guard)
    {
        Derive(meeting);
        m_meetings.erase(number);
    }
}

/** @return why a collective whose ranks have started is not derived; empty: it is */
std::string
CollectiveReplay::FindObstacle(const Meeting& meeting, const Known& known)
{
    const Time end = Simulator::Now() + known.longest;
    return meeting.isShared || !m_guard->IsIdle()       ? "others are on its links"
           : !known.isConfirmed                         ? "none of its load is known"
           : m_guard->GetIdleUntil(known.longest) < end ? "others may come"
           : m_guard->GetLoadUntil(known.longest) < end ? "the load may change"
                                                        : "";
}

/** All ranks have started a collective that may be derived. */
void
CollectiveReplay::Decide(uint64_t number)
{
    Meeting& meeting = m_meetings.at(number);
    meeting.load = m_guard->GetLoad();
    const std::string obstacle = FindObstacle(meeting, m_known[{meeting.kind, meeting.load}]);
    if (!obstacle.empty())
    {
        NS_LOG_LOGIC("collective " << number << " is simulated: " << obstacle);
        Simulate(number);
        return;
    }
    Derive(meeting);
    m_meetings.erase(number);
}

/** All ranks have started a collective that is simulated. */
void
CollectiveReplay::Watch(uint64_t number)
{
    /// So long that what waits for its end does not come before.
    const Time length = Seconds(1000);
    const auto found = m_meetings.find(number);
    if (found == m_meetings.end() || found->second.isShared)
    {
        return;
    }
    Meeting& meeting = found->second;
    meeting.isShared = !m_guard->IsIdle(); // by what has started with the last rank
    meeting.load = m_guard->GetLoad();
    meeting.until = std::min(m_guard->GetIdleUntil(length), m_guard->GetLoadUntil(length));
}

void
CollectiveReplay::Derive(Meeting& meeting)
{
    m_sums.derived++;
    const Known& known = m_known[{meeting.kind, meeting.load}];
    m_sums.packets += known.packets;
    for (std::size_t i = 0; i < known.growth.size(); i++)
    {
        FabricPort& port = m_channels[i / 2]->GetPort(i % 2);
        PortCounters counters = port.GetCounters();
        Grow(counters, known.growth[i]);
        m_sums.packetHops += known.growth[i].transmittedFrames;
        port.SetCounters(counters);
    }
    for (const auto& [rank, member] : meeting.waiting)
    {
        member.completeIn(known.lengths[rank]);
    }
}

/** Starts what waits: a rank is late, or not all is known or idle. */
void
CollectiveReplay::Simulate(uint64_t number)
{
    Meeting& meeting = m_meetings.at(number);
    Begin(meeting);
    meeting.last = Simulator::Now();
    if (m_guard && meeting.arrived == m_size)
    {
        Watch(number);
    }
    const auto waiting = std::exchange(meeting.waiting, {});
    for (const auto& [rank, member] : waiting)
    {
        member.simulate();
    }
}

void
CollectiveReplay::End(uint32_t rank, uint64_t number)
{
    const auto found = m_meetings.find(number);
    Meeting& meeting = found->second;
    meeting.ends[rank] = Simulator::Now();
    if (++meeting.ended == m_size)
    {
        Learn(meeting);
        m_meetings.erase(found);
    }
}

/** @return whether nothing else was there, or will be for the rest, until now or the next one */
bool
CollectiveReplay::IsAlone(const Meeting& meeting, Time rest)
{
    const Time now = Simulator::Now();
    return !m_guard || (!meeting.isShared && meeting.until >= now && m_guard->IsIdle() &&
                        (m_meetings.size() > 1 || m_guard->GetIdleUntil(Time(0)) >= now + rest));
}

/** Lets what the last acknowledgements add count, unless the next collective has begun. */
void
CollectiveReplay::Settle(Meeting& meeting, Known& known)
{
    m_measured = &known;
    m_before = std::move(meeting.before);
    m_packetsBefore = meeting.packetsBefore;
    if (m_meetings.size() > 1)
    {
        Measure();
    }
    else if (m_guard)
    {
        m_settled = Simulator::Schedule(TOGETHER * known.longest, &CollectiveReplay::Measure, this);
    }
}

void
CollectiveReplay::Learn(Meeting& meeting)
{
    std::vector<Time> lengths;
    for (const Time& end : meeting.ends)
    {
        lengths.push_back(end - meeting.last);
    }
    const Time longest = *std::max_element(lengths.begin(), lengths.end());
    const Time skew = meeting.last - meeting.first;
    NS_LOG_LOGIC("length " << longest << ", starts within " << skew << ", alone until "
                           << meeting.until);
    if (skew > TOGETHER * longest || !IsAlone(meeting, TOGETHER * longest))
    {
        return; // ranks did not start together, or not alone
    }
    Known& known = m_known[{meeting.kind, meeting.load}];
    known.isConfirmed = known.lengths.size() == lengths.size();
    for (uint32_t rank = 0; rank < m_size && known.isConfirmed; rank++)
    {
        known.isConfirmed = Abs(known.lengths[rank] - lengths[rank]) <= SAME * longest + skew;
    }
    known.lengths = std::move(lengths);
    known.longest = longest;
    Settle(meeting, known);
}

} // namespace ns3::training
