/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kept-reports.h"

#include "ns3/simulator.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace ns3::training
{

namespace
{

/** Writes or reads the fields of a record. */
template <typename Archive, typename Record>
void
Exchange(Archive& archive, Record& record)
{
    using Type = std::remove_const_t<Record>;
    if constexpr (std::is_same_v<Type, CollectiveRecord>)
    {
        archive(record.rank, record.communicator, record.collective, record.operation);
        archive(record.algorithm, record.bytes, record.iteration, record.bucket);
        archive(record.issued, record.started, record.finished, record.derived);
    }
    else if constexpr (std::is_same_v<Type, PhaseRecord>)
    {
        archive(record.rank, record.iteration, record.phase, record.start, record.end);
    }
    else if constexpr (std::is_same_v<Type, SendRecord>)
    {
        auto& message = record.message;
        archive(message.source, message.destination, message.tag, message.time);
    }
    else
    {
        archive(record.source, record.destination, record.tag, record.time);
        archive(record.step, record.message, record.bytes);
    }
}

/** @return the next report, if it is of the type with this number or a later one */
template <std::size_t INDEX = 0>
TraceReport
Read(ByteReader& reader, std::size_t index)
{
    if constexpr (INDEX + 1 < std::variant_size_v<TraceReport>)
    {
        if (index > INDEX)
        {
            return Read<INDEX + 1>(reader, index);
        }
    }
    std::variant_alternative_t<INDEX, TraceReport> record;
    Exchange(reader, record);
    return record;
}

/** The reports of a process. */
struct ReportSource
{
    ByteReader reader;
    Time time; // of the next one
    uint32_t node{0};
    bool over{false};

    void Advance()
    {
        over = reader.IsAtEnd();
        if (!over)
        {
            reader(time, node);
        }
    }
};

} // namespace

void
KeptReports::Add(const TraceReport& report)
{
    m_bytes(Simulator::Now(), Simulator::GetContext(), report.index());
    std::visit([this](const auto& record) { Exchange(m_bytes, record); }, report);
}

void
KeptReports::Gather(const std::function<void(const TraceReport&)>& take)
{
    const auto all = Processes::Gather(m_bytes.GetText());
    m_bytes.Clear();
    if (!take)
    {
        return;
    }
    // Each process kept its events in order. The merge takes the earliest event, and among events
    // of one time that of the lowest node, as in a single process (BucketScheduler).
    std::vector<ReportSource> sources;
    for (const std::string& bytes : all)
    {
        sources.push_back({ByteReader(bytes.data(), bytes.size()), Time(), 0, false});
        sources.back().Advance();
    }
    const auto isEarlier = [](const ReportSource& a, const ReportSource& b) {
        return a.over == b.over ? std::tie(a.time, a.node) < std::tie(b.time, b.node) : b.over;
    };
    for (auto next = std::min_element(sources.begin(), sources.end(), isEarlier); !next->over;
         next->Advance(), next = std::min_element(sources.begin(), sources.end(), isEarlier))
    {
        take(Read(next->reader, next->reader.Next<std::size_t>()));
    }
}

} // namespace ns3::training
