/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "iteration-statistics.h"

#include <utility>

namespace ns3::training
{

IterationStatistics::IterationStatistics(uint32_t ranks, uint32_t warmup)
    : m_ranks(ranks),
      m_warmup(warmup)
{
}

void
IterationStatistics::SetLowerBound(double seconds)
{
    m_lowerBoundS = seconds;
}

void
IterationStatistics::SetBusBytes(double bytes)
{
    m_busBytes = bytes;
}

void
IterationStatistics::SetExpectedSums(uint64_t sums)
{
    m_expectedSums = sums;
}

void
IterationStatistics::SetVerifier(std::function<bool()> isRight)
{
    m_isRight = std::move(isRight);
}

void
IterationStatistics::OnComplete(Complete callback)
{
    m_complete = std::move(callback);
}

void
IterationStatistics::AddRank(uint32_t iteration, const RankIteration& measured)
{
    Report report;
    report.ranks = 1;
    report.measured = measured;
    report.measured.start += m_repeatedTime;
    report.measured.end += m_repeatedTime;
    Note(iteration + m_repeated, report);
}

void
IterationStatistics::AddSum(uint32_t iteration, bool isRight)
{
    Report report;
    report.sums = 1;
    report.rightSums = isRight ? 1 : 0;
    Note(iteration, report);
}

void
IterationStatistics::Rewind(uint32_t first)
{
    m_pending.clear();
    m_unpacked.clear();
    while (!m_records.empty() && m_records.back().iteration >= first)
    {
        m_records.pop_back();
    }
}

void
IterationStatistics::BeginAt(Time start)
{
    m_previousEnd = start;
}

void
IterationStatistics::Repeat(uint32_t period)
{
    Report report = m_last.at(m_last.size() - period);
    const Time length = report.measured.end - report.measured.start;
    report.measured.start = GetEnd();
    report.measured.end = GetEnd() + length;
    std::map<uint32_t, Report> pending;
    for (auto& [iteration, each] : m_pending)
    {
        each.measured.start += length;
        each.measured.end += length;
        pending[iteration + 1] = each;
    }
    m_pending = std::move(pending);
    m_repeated++;
    m_repeatedTime += length;
    Finish(m_records.back().iteration + 1, report, true);
}

void
IterationStatistics::Pack(ByteWriter& writer)
{
    writer(m_unpacked.size());
    for (const auto& [iteration, report] : m_unpacked)
    {
        writer(iteration, report.ranks, report.sums, report.rightSums);
        for (const IterationField& field : GetIterationFields())
        {
            if (field.measured)
            {
                writer(report.measured.*field.measured);
            }
        }
    }
    m_unpacked.clear();
}

void
IterationStatistics::Merge(ByteReader& reader)
{
    for (auto left = reader.Next<std::size_t>(); left > 0; left--)
    {
        const auto iteration = reader.Next<uint32_t>();
        Report report;
        reader(report.ranks, report.sums, report.rightSums);
        for (const IterationField& field : GetIterationFields())
        {
            if (field.measured)
            {
                reader(report.measured.*field.measured);
            }
        }
        Add(iteration, report);
    }
}

const std::vector<IterationRecord>&
IterationStatistics::GetRecords() const
{
    return m_records;
}

void
IterationStatistics::Report::Add(const Report& other)
{
    if (ranks == 0)
    {
        measured = other.measured;
    }
    else if (other.ranks > 0)
    {
        measured.Merge(other.measured);
    }
    ranks += other.ranks;
    sums += other.sums;
    rightSums += other.rightSums;
}

void
IterationStatistics::Note(uint32_t iteration, const Report& report)
{
    m_unpacked[iteration].Add(report);
    Add(iteration, report);
}

void
IterationStatistics::Add(uint32_t iteration, const Report& report)
{
    Report& pending = m_pending[iteration];
    pending.Add(report);
    if (pending.ranks == m_ranks && pending.sums >= m_expectedSums.value_or(0))
    {
        const Report complete = pending;
        m_pending.erase(iteration);
        Finish(iteration, complete);
    }
}

void
IterationStatistics::Finish(uint32_t iteration, const Report& report, bool isDerived)
{
    RankIteration measured = report.measured;
    measured.start = m_previousEnd.value_or(measured.start);
    m_previousEnd = measured.end;
    m_last.push_back(report);
    m_last.back().measured.start = measured.start;
    if (m_last.size() > MAX_PERIOD)
    {
        m_last.pop_front();
    }
    IterationRecord record;
    record.iteration = iteration;
    record.warmup = iteration < m_warmup;
    record.derived = isDerived;
    SetMeasurements(measured, m_ranks, record);
    const Time iterationTime = measured.end - measured.start;
    record.iterationTimeS = iterationTime.GetSeconds();
    record.idleS = (iterationTime - measured.computeTime).GetSeconds();
    record.exposedCommunicationS = record.exposedDataS + record.exposedTensorS +
                                   record.exposedPipelineS + record.exposedContextS +
                                   record.exposedExpertS + record.exposedOtherS;
    record.stragglerTimeS = (measured.totalCompute - m_ranks * measured.leastCompute).GetSeconds();
    record.lowerBoundS = m_lowerBoundS;
    record.busBytes = m_busBytes;
    record.verified =
        m_isRight ? m_isRight() : m_expectedSums && report.rightSums == *m_expectedSums;
    SetRatios(record);
    m_records.push_back(record);
    if (m_complete)
    {
        m_complete(m_records.back());
    }
}

} // namespace ns3::training
