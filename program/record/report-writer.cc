/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-writer.h"

#include <utility>

namespace ns3::training
{

ReportWriter::ReportWriter(ResultStore* store,
                           TimelineTrace* timeline,
                           std::set<uint32_t> traceRanks)
    : m_store(store),
      m_timeline(timeline),
      m_traceRanks(std::move(traceRanks)),
      m_layers([](uint32_t, uint32_t) { return ""; })
{
}

void
ReportWriter::Name(uint32_t rank, const std::string& name)
{
    if (IsDrawn(rank))
    {
        m_timeline->AddProcess(rank, name);
    }
}

void
ReportWriter::SetHosts(std::vector<uint32_t> hosts)
{
    m_hosts = std::move(hosts);
}

void
ReportWriter::SetLayers(LayerNames layers)
{
    m_layers = std::move(layers);
}

bool
ReportWriter::IsDrawn(uint32_t rank) const
{
    return m_timeline && (m_traceRanks.empty() || m_traceRanks.count(rank) > 0);
}

void
ReportWriter::Write(const TraceReport& report, bool isDerived)
{
    std::visit([&](const auto& record) { Write(record, isDerived); }, report);
}

void
ReportWriter::Write(const CollectiveRecord& record, bool isDerived)
{
    const bool derived = record.derived || isDerived;
    const std::string layers = m_layers(record.rank, record.bucket);
    if (m_store)
    {
        CollectiveRow row;
        row.rank = record.rank;
        row.iteration = record.iteration;
        row.sequence = record.bucket;
        row.operation = GetName(record.operation);
        row.algorithm = record.algorithm;
        row.bytes = record.bytes;
        row.startS = record.issued.GetSeconds();
        row.endS = record.finished.GetSeconds();
        row.communicator = record.communicator;
        row.turnS = record.started.GetSeconds();
        row.layers = layers;
        row.derived = derived;
        m_store->Add(row);
    }
    if (IsDrawn(record.rank))
    {
        const std::string of = layers.empty() ? "" : ": " + layers;
        m_timeline->Complete(
            record.rank,
            TimelineTrace::COLLECTIVES,
            GetName(record.operation) + " " + std::to_string(record.bucket) + of,
            record.started,
            record.finished,
            JsonValue::Object()
                .Set("iteration", record.iteration)
                .Set("layers", layers)
                .Set("bytes", record.bytes)
                .Set("algorithm", record.algorithm)
                .Set("derived", derived)
                .Set("waited_us", (record.started - record.issued).GetSeconds() * 1e6));
        const auto messages = m_drawn.extract(
            {record.rank, record.communicator, record.collective % COLLECTIVES_OF_TAGS});
        if (messages)
        {
            for (const DrawnMessage& message : messages.mapped())
            {
                Draw(message, "bucket " + std::to_string(record.bucket) + of + ", ");
            }
        }
    }
}

void
ReportWriter::Write(const MessageRecord& record, bool isDerived)
{
    const auto sent = m_sent.find({record.source, record.destination, record.tag});
    if (m_store)
    {
        MessageRow row;
        row.source = record.source;
        row.destination = record.destination;
        row.tag = record.tag;
        row.bytes = record.bytes;
        row.startS = sent->second.GetSeconds();
        row.endS = record.time.GetSeconds();
        const MessageTag tag = MessageTag::Unpack(record.tag);
        row.communicator = tag.communicator;
        row.collective = tag.collective;
        row.step = tag.step;
        row.message = tag.message;
        row.derived = isDerived;
        m_store->Add(row);
    }
    if (IsDrawn(record.source) || IsDrawn(record.destination))
    {
        const DrawnMessage message{record, sent->second};
        const MessageTag tag = MessageTag::Unpack(record.tag);
        if (record.step == MessageTag::PEER_TO_PEER || !IsDrawn(record.destination))
        {
            Draw(message, "");
        }
        else
        {
            m_drawn[{record.destination, tag.communicator, tag.collective}].push_back(message);
        }
    }
    m_sent.erase(sent);
}

void
ReportWriter::Write(const SendRecord& record, bool)
{
    const MessageRecord& message = record.message;
    m_sent[{message.source, message.destination, message.tag}] = message.time;
}

void
ReportWriter::Write(const PhaseRecord& record, bool isDerived)
{
    const uint32_t place = m_hosts.empty() ? record.rank : m_hosts.at(record.rank);
    if (m_store)
    {
        m_store->Add(ComputePhaseRow{place,
                                     record.iteration,
                                     record.phase,
                                     record.start.GetSeconds(),
                                     record.end.GetSeconds(),
                                     isDerived});
    }
    if (IsDrawn(place))
    {
        m_timeline->Complete(place,
                             TimelineTrace::COMPUTE,
                             record.phase,
                             record.start,
                             record.end,
                             JsonValue::Object().Set("iteration", record.iteration));
    }
}

void
ReportWriter::Draw(const DrawnMessage& message, const std::string& collective)
{
    const MessageRecord& record = message.record;
    const std::string what = record.step == MessageTag::PEER_TO_PEER
                                 ? "message"
                                 : collective + "step " + std::to_string(record.step);
    const auto arguments = JsonValue::Object()
                               .Set("from_rank", record.source)
                               .Set("to_rank", record.destination)
                               .Set("message", record.message)
                               .Set("bytes", record.bytes);
    const auto draw = [&](uint32_t rank, TimelineTrace::Track track, const std::string& name) {
        const uint32_t thread =
            m_timeline->Complete(rank, track, name, message.sent, record.time, arguments);
        return TimelineTrace::ArrowEnd{rank, thread};
    };
    const bool hasBoth = IsDrawn(record.source) && IsDrawn(record.destination);
    const std::string to = " to rank " + std::to_string(record.destination);
    const std::string from = " from rank " + std::to_string(record.source);
    if (hasBoth)
    {
        const auto begin = draw(record.source, TimelineTrace::SENT, what + to);
        const auto end = draw(record.destination, TimelineTrace::STEPS, what + from);
        m_timeline->AddArrow(begin, end, message.sent);
    }
    else if (IsDrawn(record.source))
    {
        draw(record.source, TimelineTrace::SENT, what + to);
    }
    else
    {
        draw(record.destination, TimelineTrace::STEPS, what + from);
    }
}

void
ReportWriter::Finish()
{
    for (const auto& [collective, messages] : std::exchange(m_drawn, {}))
    {
        for (const DrawnMessage& message : messages)
        {
            Draw(message, "");
        }
    }
}

} // namespace ns3::training
