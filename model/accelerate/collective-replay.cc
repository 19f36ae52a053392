/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-replay.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

CollectiveReplay::CollectiveReplay(uint32_t size)
    : m_size(size)
{
}

void
CollectiveReplay::Arrive(uint32_t rank, uint64_t number, const Kind& kind, Member member)
{
    const auto [entry, isNew] = m_meetings.try_emplace(number);
    Meeting& meeting = entry->second;
    if (isNew)
    {
        const Known& known = m_known[kind];
        meeting.kind = kind;
        meeting.first = Simulator::Now();
        meeting.ends.resize(m_size);
        meeting.isSimulated = !known.isConfirmed;
        if (known.isConfirmed)
        {
            meeting.timeout = Simulator::Schedule(TOGETHER * known.longest,
                                                  &CollectiveReplay::Simulate,
                                                  this,
                                                  number);
        }
        else
        {
            m_simulated++;
        }
    }
    meeting.last = Simulator::Now();
    meeting.arrived++;
    if (meeting.isSimulated)
    {
        member.simulate();
        return;
    }
    meeting.waiting.emplace_back(rank, std::move(member));
    if (meeting.arrived == m_size)
    {
        meeting.timeout.Cancel();
        Derive(meeting);
        m_meetings.erase(number);
    }
}

void
CollectiveReplay::Derive(Meeting& meeting)
{
    m_derived++;
    const Known& known = m_known[meeting.kind];
    for (const auto& [rank, member] : meeting.waiting)
    {
        member.completeIn(known.lengths[rank]);
    }
}

/** Starts what waits: a rank is late. */
void
CollectiveReplay::Simulate(uint64_t number)
{
    Meeting& meeting = m_meetings.at(number);
    m_simulated++;
    meeting.isSimulated = true;
    meeting.first = Simulator::Now();
    meeting.last = Simulator::Now();
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

void
CollectiveReplay::Learn(const Meeting& meeting)
{
    std::vector<Time> lengths;
    for (const Time& end : meeting.ends)
    {
        lengths.push_back(end - meeting.last);
    }
    const Time longest = *std::max_element(lengths.begin(), lengths.end());
    const Time skew = meeting.last - meeting.first;
    if (skew > TOGETHER * longest)
    {
        return; // ranks did not start together
    }
    Known& known = m_known[meeting.kind];
    known.isConfirmed = known.lengths.size() == lengths.size();
    for (uint32_t rank = 0; rank < m_size && known.isConfirmed; rank++)
    {
        known.isConfirmed = Abs(known.lengths[rank] - lengths[rank]) <= SAME * longest + skew;
    }
    known.lengths = std::move(lengths);
    known.longest = longest;
}

} // namespace ns3::training
