/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-recorder.h"

#include "run-figures.h"

#include "ns3/iteration-statistics.h"
#include "ns3/message-tag.h"
#include "ns3/simulator.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

namespace
{

/// Types of reports.
constexpr char COLLECTIVE = 'c';
constexpr char COMPUTE = 'p';
constexpr char SEND = 's';
constexpr char RECEIVE = 'r';

/// Number of a collective in a tag is modulo this.
constexpr uint64_t COLLECTIVES_OF_TAGS = uint64_t{1} << MessageTag::COLLECTIVE_BITS;

} // namespace

RunRecorder::RunRecorder(const Cluster& cluster,
                         ResultStore* store,
                         TimelineTrace* timeline,
                         bool keep,
                         std::set<uint32_t> traceRanks)
    : m_cluster(cluster),
      m_store(store),
      m_timeline(timeline),
      m_keep(keep),
      m_layers([](uint32_t, uint32_t) { return ""; }),
      m_traceRanks(std::move(traceRanks))
{
    if (!IsRecording())
    {
        return;
    }
    if (m_store)
    {
        m_links = std::make_unique<LinkRecorder>(cluster.GetFabric(), *m_store);
    }
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        auto communicator = cluster.GetCommunicator(rank);
        m_observed.insert(communicator);
        communicator->TraceConnectWithoutContext("Collective",
                                                 MakeCallback(&RunRecorder::OnCollective, this));
        auto messages = cluster.GetHostCommunicator(rank);
        messages->TraceConnectWithoutContext("Send", MakeCallback(&RunRecorder::OnSend, this));
        messages->TraceConnectWithoutContext("Receive",
                                             MakeCallback(&RunRecorder::OnReceive, this));
        if (IsDrawn(rank))
        {
            m_timeline->AddProcess(rank, "rank " + std::to_string(rank));
        }
    }
    for (uint32_t host = 0; host < cluster.GetStorageHosts(); host++)
    {
        if (IsDrawn(cluster.GetRanks() + host))
        {
            m_timeline->AddProcess(cluster.GetRanks() + host,
                                   "storage host " + std::to_string(host));
        }
    }
}

RunRecorder::~RunRecorder()
{
    for (uint32_t rank = 0; rank < m_cluster.GetRanks(); rank++)
    {
        auto communicator = m_cluster.GetCommunicator(rank);
        communicator->TraceDisconnectWithoutContext("Collective",
                                                    MakeCallback(&RunRecorder::OnCollective, this));
        auto messages = m_cluster.GetHostCommunicator(rank);
        messages->TraceDisconnectWithoutContext("Send", MakeCallback(&RunRecorder::OnSend, this));
        messages->TraceDisconnectWithoutContext("Receive",
                                                MakeCallback(&RunRecorder::OnReceive, this));
    }
    for (const auto& group : m_groups)
    {
        group->TraceDisconnectWithoutContext("Collective",
                                             MakeCallback(&RunRecorder::OnCollective, this));
        group->TraceDisconnectWithoutContext("Send", MakeCallback(&RunRecorder::OnSend, this));
        group->TraceDisconnectWithoutContext("Receive",
                                             MakeCallback(&RunRecorder::OnReceive, this));
    }
    for (const auto& application : m_applications)
    {
        application->TraceDisconnectWithoutContext(
            "ComputePhase",
            MakeCallback(&RunRecorder::OnComputePhase, this));
    }
}

bool
RunRecorder::IsRecording() const
{
    return m_store || m_timeline || m_keep;
}

bool
RunRecorder::IsDrawn(uint32_t rank) const
{
    return m_timeline && (m_traceRanks.empty() || m_traceRanks.count(rank) > 0);
}

void
RunRecorder::Observe(Ptr<TrainingApplication> application)
{
    auto communicators = application->GetCommunicators();
    communicators.push_back(application->GetMessages());
    communicators.push_back(application->GetStorage());
    for (const auto& communicator : communicators)
    {
        if (!IsRecording() || !communicator || !m_observed.insert(communicator).second)
        {
            continue;
        }
        m_groups.push_back(communicator);
        communicator->TraceConnectWithoutContext("Collective",
                                                 MakeCallback(&RunRecorder::OnCollective, this));
        communicator->TraceConnectWithoutContext("Send", MakeCallback(&RunRecorder::OnSend, this));
        communicator->TraceConnectWithoutContext("Receive",
                                                 MakeCallback(&RunRecorder::OnReceive, this));
    }
    if (IsRecording())
    {
        m_applications.push_back(application);
        application->TraceConnectWithoutContext("ComputePhase",
                                                MakeCallback(&RunRecorder::OnComputePhase, this));
    }
}

template <typename... T>
void
RunRecorder::Keep(char kind, const T&... fields)
{
    m_kept(Simulator::Now(), Simulator::GetContext(), kind, fields...);
}

void
RunRecorder::OnCollective(const CollectiveRecord& reported)
{
    CollectiveRecord record = reported;
    record.iteration = m_iteration.value_or(record.iteration);
    if (!m_keep)
    {
        Take(record);
        return;
    }
    Keep(COLLECTIVE, record.rank, record.communicator, record.collective, record.operation);
    m_kept(record.algorithm, record.bytes, record.iteration, record.bucket);
    m_kept(record.issued, record.started, record.finished, record.derived);
}

void
RunRecorder::WriteCollective(const CollectiveRecord& record)
{
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
        row.derived = record.derived;
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
                .Set("derived", record.derived)
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
RunRecorder::OnSend(const MessageRecord& record)
{
    if (m_keep)
    {
        Keep(SEND, record.source, record.destination, record.tag, record.time);
        return;
    }
    Take(SendRecord{record});
}

void
RunRecorder::OnReceive(const MessageRecord& record)
{
    if (!m_keep)
    {
        Take(record);
        return;
    }
    Keep(RECEIVE, record.source, record.destination, record.tag, record.time);
    m_kept(record.step, record.message, record.bytes);
}

void
RunRecorder::WriteMessage(const MessageRecord& record)
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
        row.derived = m_cycles > 0;
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
RunRecorder::Draw(const DrawnMessage& message, const std::string& collective)
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
RunRecorder::OnComputePhase(uint32_t rank,
                            uint32_t iteration,
                            const std::string& phase,
                            Time start,
                            Time end)
{
    if (m_keep)
    {
        Keep(COMPUTE, rank, iteration, phase, start, end);
        return;
    }
    Take(PhaseRecord{rank, iteration, phase, start, end});
}

void
RunRecorder::WriteComputePhase(uint32_t rank,
                               uint32_t iteration,
                               const std::string& phase,
                               Time start,
                               Time end)
{
    const uint32_t place = GetProcess(rank);
    if (m_store)
    {
        m_store->Add(ComputePhaseRow{place,
                                     iteration,
                                     phase,
                                     start.GetSeconds(),
                                     end.GetSeconds(),
                                     m_cycles > 0});
    }
    if (!IsDrawn(place))
    {
        return;
    }
    m_timeline->Complete(place,
                         TimelineTrace::COMPUTE,
                         phase,
                         start,
                         end,
                         JsonValue::Object().Set("iteration", iteration));
}

void
RunRecorder::SetHosts(std::vector<uint32_t> hosts)
{
    m_hosts = std::move(hosts);
}

uint32_t
RunRecorder::GetProcess(uint32_t rank) const
{
    return m_hosts.empty() ? rank : m_hosts.at(rank);
}

void
RunRecorder::SetLayers(LayerNames layers)
{
    m_layers = std::move(layers);
}

void
RunRecorder::BeginIteration(uint32_t iteration)
{
    m_iteration = iteration;
}

void
RunRecorder::OnIteration(uint32_t iteration)
{
    if (m_links && !m_keep)
    {
        m_links->AddIteration(iteration);
    }
}

void
RunRecorder::KeepPeriods()
{
    m_keepsPeriods = IsRecording();
    if (m_links)
    {
        m_links->Keep(IterationStatistics::MAX_PERIOD);
    }
    m_period.start = Simulator::Now();
}

void
RunRecorder::EndPeriod()
{
    if (!m_keepsPeriods)
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
RunRecorder::IsLike(uint32_t cycle)
{
    m_cycle = cycle;
    m_growth.clear();
    if (!m_keepsPeriods)
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
        isLike = Follows(before.reports[i], m_cycleTime, after.reports[i]);
    }
    return isLike;
}

/** @return the sequence of a collective */
RunRecorder::Sequence
RunRecorder::GetSequence(const CollectiveRecord& record)
{
    return {record.rank, record.rank, record.communicator, 0};
}

/** @return the sequence of a message */
RunRecorder::Sequence
RunRecorder::GetSequence(const MessageRecord& record)
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
RunRecorder::Follows(const Report& before, Time later, const Report& report)
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
               phase->phase == old.phase && phase->start == old.start + later &&
               phase->end == old.end + later;
    }
    if (const auto* collective = std::get_if<CollectiveRecord>(&report))
    {
        const auto& old = std::get<CollectiveRecord>(before);
        return collective->rank == old.rank && collective->communicator == old.communicator &&
               collective->operation == old.operation && collective->algorithm == old.algorithm &&
               collective->bytes == old.bytes && collective->iteration == old.iteration + m_cycle &&
               collective->bucket == old.bucket && collective->issued == old.issued + later &&
               collective->started == old.started + later &&
               collective->finished == old.finished + later &&
               grow(GetSequence(*collective), collective->collective - old.collective);
    }
    const auto* sent = std::get_if<SendRecord>(&report);
    const MessageRecord& message = sent ? sent->message : std::get<MessageRecord>(report);
    const MessageRecord& old =
        sent ? std::get<SendRecord>(before).message : std::get<MessageRecord>(before);
    const uint64_t growth = MessageTag::Unpack(message.tag).collective + COLLECTIVES_OF_TAGS -
                            MessageTag::Unpack(old.tag).collective;
    return message.step == old.step && message.message == old.message &&
           message.bytes == old.bytes && message.time == old.time + later &&
           GetSequence(message) == GetSequence(old) &&
           grow(GetSequence(message), growth % COLLECTIVES_OF_TAGS);
}

void
RunRecorder::RepeatPeriod(uint32_t iteration)
{
    if (!m_keepsPeriods)
    {
        return;
    }
    const uint32_t inCycle = m_repeats++ % m_cycle;
    m_cycles += inCycle == 0 ? 1 : 0;
    for (const Report& report : m_last[m_last.size() - m_cycle + inCycle].reports)
    {
        Write(report);
    }
    if (m_links)
    {
        m_links->Repeat(iteration, m_cycle);
    }
}

void
RunRecorder::ForgetPeriods()
{
    m_keepsPeriods = false;
    m_last.clear();
    m_period = {};
}

/** A report of the present period. */
void
RunRecorder::Take(const Report& report)
{
    if (m_keepsPeriods)
    {
        m_period.reports.push_back(report);
    }
    Write(report);
}

/** @return what the repeated periods add to the numbers of a sequence */
uint64_t
RunRecorder::GetAdded(const Sequence& sequence) const
{
    const auto found = m_growth.find(sequence);
    return m_cycles * (found == m_growth.end() ? 0 : found->second);
}

/** Writes a report, with the times and numbers that follow from repeated periods. */
void
RunRecorder::Write(Report report)
{
    const Time later = m_cycles * m_cycleTime;
    if (auto* collective = std::get_if<CollectiveRecord>(&report))
    {
        collective->iteration += m_cycles * m_cycle;
        collective->collective += GetAdded(GetSequence(*collective));
        collective->issued += later;
        collective->started += later;
        collective->finished += later;
        collective->derived |= m_cycles > 0;
        WriteCollective(*collective);
        return;
    }
    if (auto* phase = std::get_if<PhaseRecord>(&report))
    {
        WriteComputePhase(phase->rank,
                          phase->iteration + m_cycles * m_cycle,
                          phase->phase,
                          phase->start + later,
                          phase->end + later);
        return;
    }
    auto* sent = std::get_if<SendRecord>(&report);
    MessageRecord& message = sent ? sent->message : std::get<MessageRecord>(report);
    if (m_cycles > 0)
    {
        MessageTag tag = MessageTag::Unpack(message.tag);
        tag.collective += GetAdded(GetSequence(message));
        message.tag = tag.Pack();
        message.time += later;
    }
    if (sent)
    {
        m_sent[{message.source, message.destination, message.tag}] = message.time;
        return;
    }
    WriteMessage(message);
}

void
RunRecorder::SkipTraffic()
{
    if (m_links)
    {
        m_links->Skip();
    }
}

void
RunRecorder::Finish()
{
    WriteKept();
    for (const auto& [collective, messages] : std::exchange(m_drawn, {}))
    {
        for (const DrawnMessage& message : messages) // of collectives that the run has left
        {
            Draw(message, "");
        }
    }
    if (m_links)
    {
        m_links->Finish();
    }
    RunFigures figures;
    figures.AddAll({m_cluster});
    if (m_store)
    {
        figures.AddTo(*m_store);
    }
}

void
RunRecorder::WriteKept()
{
    if (!m_keep)
    {
        return;
    }
    const auto all = Processes::Gather(m_kept.GetText());
    m_kept.Clear();
    if (!m_store && !m_timeline)
    {
        return;
    }

    // Each process kept its events in order. The merge takes the earliest event, and among events
    // of one time that of the lowest node, as in a single process (BucketScheduler).
    struct Source
    {
        ByteReader reader;
        Time time;
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

    std::vector<Source> sources;
    for (const std::string& bytes : all)
    {
        sources.push_back({ByteReader(bytes.data(), bytes.size()), Time(), 0, false});
        sources.back().Advance();
    }
    const auto isEarlier = [](const Source& a, const Source& b) {
        return a.over == b.over ? std::tie(a.time, a.node) < std::tie(b.time, b.node) : b.over;
    };
    for (auto next = std::min_element(sources.begin(), sources.end(), isEarlier); !next->over;
         next->Advance(), next = std::min_element(sources.begin(), sources.end(), isEarlier))
    {
        WriteKept(next->reader);
    }
}

void
RunRecorder::WriteKept(ByteReader& reader)
{
    const char kind = reader.Next<char>();
    if (kind == COLLECTIVE)
    {
        CollectiveRecord record;
        reader(record.rank, record.communicator, record.collective, record.operation);
        reader(record.algorithm, record.bytes, record.iteration, record.bucket);
        reader(record.issued, record.started, record.finished, record.derived);
        WriteCollective(record);
    }
    else if (kind == COMPUTE)
    {
        const auto rank = reader.Next<uint32_t>();
        const auto iteration = reader.Next<uint32_t>();
        const auto phase = reader.Next<std::string>();
        const auto start = reader.Next<Time>();
        const auto end = reader.Next<Time>();
        WriteComputePhase(rank, iteration, phase, start, end);
    }
    else
    {
        MessageRecord record;
        reader(record.source, record.destination, record.tag, record.time);
        if (kind == SEND)
        {
            m_sent[{record.source, record.destination, record.tag}] = record.time;
            return;
        }
        reader(record.step, record.message, record.bytes);
        WriteMessage(record);
    }
}

} // namespace ns3::training
