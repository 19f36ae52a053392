/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-replay.h"

#include "fabric/port-growth.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

CollectiveReplay::CollectiveReplay(uint32_t size,
                                   std::vector<Ptr<FabricChannel>> channels,
                                   std::function<uint64_t()> countPackets)
    : m_size(size),
      m_channels(std::move(channels)),
      m_before(2 * m_channels.size()),
      m_countPackets(countPackets ? std::move(countPackets) : [] { return uint64_t{0}; })
{
}

/** Keeps what the last collective has added to the counters, if it was simulated. */
void
CollectiveReplay::Measure()
{
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

void
CollectiveReplay::Arrive(uint32_t rank, uint64_t number, const Kind& kind, Member member)
{
    const auto [entry, isNew] = m_meetings.try_emplace(number);
    Meeting& meeting = entry->second;
    if (isNew)
    {
        Measure();
        Known& known = m_known[kind];
        for (std::size_t i = 0; i < m_before.size() && !known.isConfirmed; i++)
        {
            m_before[i] = m_channels[i / 2]->GetPort(i % 2).GetCounters();
        }
        m_measured = known.isConfirmed ? nullptr : &known;
        m_packetsBefore = m_measured ? m_countPackets() : 0;
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
    m_packets += known.packets;
    for (std::size_t i = 0; i < known.growth.size(); i++)
    {
        FabricPort& port = m_channels[i / 2]->GetPort(i % 2);
        PortCounters counters = port.GetCounters();
        Grow(counters, known.growth[i]);
        m_packetHops += known.growth[i].transmittedFrames;
        port.SetCounters(counters);
    }
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
