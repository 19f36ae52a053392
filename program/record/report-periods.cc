/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-periods.h"

#include "ns3/iteration-statistics.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3::training
{

void
ReportPeriods::Begin()
{
    m_isKeeping = true;
    m_period.start = Simulator::Now();
}

void
ReportPeriods::Forget()
{
    m_isKeeping = false;
    m_last.clear();
    m_period = {};
}

void
ReportPeriods::Add(const TraceReport& report)
{
    if (m_isKeeping)
    {
        m_period.reports.push_back(report);
    }
}

void
ReportPeriods::End()
{
    if (!m_isKeeping)
    {
        return;
    }
    m_last.push_back(std::exchange(m_period, {Simulator::Now(), {}}));
    if (m_last.size() > IterationStatistics::MAX_PERIOD + 1)
    {
        m_last.pop_front();
    }
}

bool
ReportPeriods::IsLike(uint32_t cycle)
{
    m_cycle = cycle;
    m_growth.clear();
    if (!m_isKeeping)
    {
        return true;
    }
    if (cycle >= m_last.size())
    {
        return false;
    }
    const Period& after = m_last.back();
    const Period& before = m_last[m_last.size() - 1 - cycle];
    m_cycleTime = after.start - before.start;
    bool isLike = before.reports.size() == after.reports.size();
    for (std::size_t i = 0; isLike && i < after.reports.size(); i++)
    {
        isLike = Follows(before.reports[i], after.reports[i]);
    }
    return isLike;
}

/** @return the sequence of a collective */
ReportPeriods::Sequence
ReportPeriods::GetSequence(const CollectiveRecord& record)
{
    return {record.rank, record.rank, record.communicator, 0};
}

/** @return the sequence of a message */
ReportPeriods::Sequence
ReportPeriods::GetSequence(const MessageRecord& record)
{
    const MessageTag tag = MessageTag::Unpack(record.tag);
    const bool isPeerToPeer = tag.step == MessageTag::PEER_TO_PEER;
    return {record.source,
            record.destination,
            tag.communicator,
            isPeerToPeer ? 1 + tag.message : 0};
}

/** @return whether a report is another one later, but for numbers that have grown */
bool
ReportPeriods::Follows(const TraceReport& before, const TraceReport& report)
{
    if (before.index() != report.index())
    {
        return false;
    }
    const auto grow = [this](const Sequence& sequence, uint64_t growth) {
        return m_growth.emplace(sequence, growth).first->second == growth;
    };
    if (const auto* phase = std::get_if<PhaseRecord>(&report))
    {
        const auto& old = std::get<PhaseRecord>(before);
        return phase->rank == old.rank && phase->iteration == old.iteration + m_cycle &&
               phase->phase == old.phase && phase->start == old.start + m_cycleTime &&
               phase->end == old.end + m_cycleTime;
    }
    if (const auto* collective = std::get_if<CollectiveRecord>(&report))
    {
        const auto& old = std::get<CollectiveRecord>(before);
        return collective->rank == old.rank && collective->communicator == old.communicator &&
               collective->operation == old.operation && collective->algorithm == old.algorithm &&
               collective->bytes == old.bytes && collective->iteration == old.iteration + m_cycle &&
               collective->bucket == old.bucket && collective->issued == old.issued + m_cycleTime &&
               collective->started == old.started + m_cycleTime &&
               collective->finished == old.finished + m_cycleTime &&
               grow(GetSequence(*collective), collective->collective - old.collective);
    }
    const auto* sent = std::get_if<SendRecord>(&report);
    const MessageRecord& message = sent ? sent->message : std::get<MessageRecord>(report);
    const MessageRecord& old =
        sent ? std::get<SendRecord>(before).message : std::get<MessageRecord>(before);
    const uint64_t growth = MessageTag::Unpack(message.tag).collective +
                            ReportWriter::COLLECTIVES_OF_TAGS -
                            MessageTag::Unpack(old.tag).collective;
    return message.step == old.step && message.message == old.message &&
           message.bytes == old.bytes && message.time == old.time + m_cycleTime &&
           GetSequence(message) == GetSequence(old) &&
           grow(GetSequence(message), growth % ReportWriter::COLLECTIVES_OF_TAGS);
}

const std::vector<TraceReport>&
ReportPeriods::Repeat()
{
    const uint32_t inCycle = m_repeats++ % m_cycle;
    m_cycles += inCycle == 0 ? 1 : 0;
    return m_last[m_last.size() - m_cycle + inCycle].reports;
}

/** @return what the repeated periods add to the numbers of a sequence */
uint64_t
ReportPeriods::GetAdded(const Sequence& sequence) const
{
    const auto found = m_growth.find(sequence);
    return m_cycles * (found == m_growth.end() ? 0 : found->second);
}

TraceReport
ReportPeriods::Continue(TraceReport report) const
{
    if (m_cycles == 0)
    {
        return report;
    }
    const Time later = m_cycles * m_cycleTime;
    if (auto* collective = std::get_if<CollectiveRecord>(&report))
    {
        collective->iteration += m_cycles * m_cycle;
        collective->collective += GetAdded(GetSequence(*collective));
        collective->issued += later;
        collective->started += later;
        collective->finished += later;
        return report;
    }
    if (auto* phase = std::get_if<PhaseRecord>(&report))
    {
        phase->iteration += m_cycles * m_cycle;
        phase->start += later;
        phase->end += later;
        return report;
    }
    auto* sent = std::get_if<SendRecord>(&report);
    MessageRecord& message = sent ? sent->message : std::get<MessageRecord>(report);
    MessageTag tag = MessageTag::Unpack(message.tag);
    tag.collective += GetAdded(GetSequence(message));
    message.tag = tag.Pack();
    message.time += later;
    return report;
}

} // namespace ns3::training
