/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "timeline-trace.h"

#include "core/lost-outputs.h"

#include "ns3/log.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTimelineTrace");

namespace
{

/** Threads of further collective lanes are multiples of this, above all steps. */
constexpr uint32_t FIRST_COLLECTIVES_LANE = 1 << 20;

/** Threads of sent messages are above this. */
constexpr uint32_t FIRST_SENT_LANE = 1 << 30;

/** Process of the counters of the network, above all ranks. */
constexpr uint32_t NETWORK = 1 << 30;

/// Process of the job as a whole.
constexpr uint32_t JOB = NETWORK + 1;

/** @return the thread of a lane of a track, from 0 */
uint32_t
GetThread(TimelineTrace::Track track, uint32_t lane)
{
    return track == TimelineTrace::STEPS  ? track + lane
           : track == TimelineTrace::SENT ? FIRST_SENT_LANE + lane
                                          : track + lane * FIRST_COLLECTIVES_LANE;
}

/** @return whether a name ends as one of a compressed file */
bool
IsPackedName(const std::string& path)
{
    const std::string end = ".gz";
    return path.size() >= end.size() &&
           path.compare(path.size() - end.size(), end.size(), end) == 0;
}

/** Size of the event buffer before it is written, bytes. */
constexpr std::size_t BUFFER_BYTES = 1 << 16;

/**
 * @param time a time, not negative
 * @return the time in microseconds, exact
 */
std::string
ToMicroseconds(Time time)
{
    constexpr int64_t PICOSECONDS = 1000000;
    const int64_t picoseconds = time.GetPicoSeconds();
    const std::string fraction = std::to_string(picoseconds % PICOSECONDS + PICOSECONDS);
    return std::to_string(picoseconds / PICOSECONDS) + "." + fraction.substr(1);
}

} // namespace

const std::string&
TimelineTrace::Check(const std::string& path)
{
    CheckOutputFile(path, OutputKind::TIMELINE);
    return path;
}

TimelineTrace::TimelineTrace(const std::string& path)
    : m_file(Check(path)),
      m_packer(IsPackedName(path) ? std::make_unique<TextPacker>() : nullptr),
      m_buffer("[")
{
    NS_LOG_FUNCTION(this << path);
}

TimelineTrace::~TimelineTrace()
{
    NS_LOG_FUNCTION(this);
    try
    {
        Close();
    }
    catch (const std::runtime_error& error)
    {
        NS_LOG_ERROR(error.what());
    }
}

void
TimelineTrace::AddProcess(uint32_t rank, const std::string& name)
{
    NS_LOG_FUNCTION(this << rank << name);
    static const std::array<std::pair<Track, const char*>, 4> TRACKS{
        {{COMPUTE, "compute"}, {COLLECTIVES, "collectives"}, {STEPS, "steps"}, {SENT, "sent"}}};
    AddMetadata("process_name", rank, 0, "name", name);
    AddMetadata("process_sort_index", rank, 0, "sort_index", rank);
    for (const auto& [track, trackName] : TRACKS)
    {
        const uint32_t thread = GetThread(track, 0);
        AddMetadata("thread_name", rank, thread, "name", trackName);
        AddMetadata("thread_sort_index", rank, thread, "sort_index", thread);
    }
}

void
TimelineTrace::AddMetadata(const std::string& kind,
                           uint32_t rank,
                           uint32_t track,
                           const std::string& key,
                           const JsonValue& value)
{
    auto event = JsonValue::Object();
    event.Set("ph", "M").Set("name", kind).Set("pid", rank).Set("tid", track);
    event.Set("args", JsonValue::Object().Set(key, value));
    Add(event.Write());
}

void
TimelineTrace::BeginSimulation()
{
    m_shift = m_last;
}

uint32_t
TimelineTrace::Complete(uint32_t rank,
                        Track track,
                        const std::string& name,
                        Time start,
                        Time end,
                        const JsonValue& arguments)
{
    NS_LOG_FUNCTION(this << rank << track << name << start << end);
    const uint32_t thread = track == COMPUTE
                                ? uint32_t{COMPUTE}
                                : FindLane(rank, track, start + m_shift, end + m_shift);
    AddEvent(rank, thread, name, start, end, arguments);
    return thread;
}

void
TimelineTrace::AddLife(JobTrack track,
                       const std::string& name,
                       Time start,
                       Time end,
                       const JsonValue& arguments)
{
    NS_LOG_FUNCTION(this << track << name << start << end);
    if (!std::exchange(m_hasLife, true))
    {
        AddMetadata("process_name", JOB, 0, "name", "job");
        AddMetadata("process_sort_index", JOB, 0, "sort_index", JOB);
        AddMetadata("thread_name", JOB, LIFE, "name", "life");
        AddMetadata("thread_name", JOB, WRITES, "name", "checkpoints on their way");
    }
    AddEvent(JOB, track, name, start, end, arguments);
}

void
TimelineTrace::AddEvent(uint32_t process,
                        uint32_t thread,
                        const std::string& name,
                        Time start,
                        Time end,
                        const JsonValue& arguments)
{
    start += m_shift;
    end += m_shift;
    m_last = std::max(m_last, end);
    // Formatted by hand: a double cannot hold the picoseconds of a long run.
    std::string event = "{\"ph\":\"X\",\"pid\":" + std::to_string(process) +
                        ",\"tid\":" + std::to_string(thread) + ",\"ts\":" + ToMicroseconds(start) +
                        ",\"dur\":" + ToMicroseconds(end - start) + ",\"name\":" + QuoteJson(name);
    if (!arguments.IsEmpty())
    {
        event += ",\"args\":" + arguments.Write();
    }
    Add(event + "}");
}

void
TimelineTrace::AddArrow(ArrowEnd from, ArrowEnd to, Time time)
{
    m_arrows++;
    time += m_shift;
    const auto format = [&](const std::string& kind, const ArrowEnd& end) {
        return "{\"ph\":" + kind + ",\"id\":" + std::to_string(m_arrows) +
               ",\"pid\":" + std::to_string(end.rank) + ",\"tid\":" + std::to_string(end.thread) +
               ",\"ts\":" + ToMicroseconds(time) + R"(,"name":"message","cat":"message"})";
    };
    Add(format(R"("s")", from));
    Add(format(R"("f","bp":"e")", to));
}

void
TimelineTrace::AddCounter(const std::string& name,
                          const std::string& series,
                          Time time,
                          double value)
{
    time += m_shift;
    m_last = std::max(m_last, time);
    if (!std::exchange(m_hasCounters, true))
    {
        AddMetadata("process_name", NETWORK, 0, "name", "network");
        AddMetadata("process_sort_index", NETWORK, 0, "sort_index", NETWORK);
    }
    Add(R"({"ph":"C","pid":)" + std::to_string(NETWORK) + ",\"ts\":" + ToMicroseconds(time) +
        ",\"name\":" + QuoteJson(name) +
        ",\"args\":" + JsonValue::Object().Set(series, value).Write() + "}");
}

uint32_t
TimelineTrace::FindLane(uint32_t rank, Track track, Time start, Time end)
{
    // An event that starts after all events of a lane have ended overlaps with none of them.
    std::vector<Time>& lanes = m_lanes[{rank, track}];
    uint32_t lane = 0;
    while (lane < lanes.size() && lanes[lane] > start)
    {
        lane++;
    }
    const uint32_t thread = GetThread(track, lane);
    if (lane == lanes.size())
    {
        lanes.push_back(end);
        if (lane > 0)
        {
            const std::string name = std::string(track == STEPS  ? "steps"
                                                 : track == SENT ? "sent"
                                                                 : "collectives") +
                                     ", lane " + std::to_string(lane + 1);
            AddMetadata("thread_name", rank, thread, "name", name);
            AddMetadata("thread_sort_index",
                        rank,
                        thread,
                        "sort_index",
                        track == COLLECTIVES ? static_cast<uint32_t>(track) : thread);
        }
    }
    lanes[lane] = end;
    return thread;
}

void
TimelineTrace::Add(const std::string& event)
{
    if (m_isClosed)
    {
        return;
    }
    m_buffer += m_isFirst ? "\n" : ",\n";
    m_buffer += event;
    m_isFirst = false;
    if (m_buffer.size() >= BUFFER_BYTES)
    {
        Flush();
    }
}

void
TimelineTrace::Flush()
{
    NS_LOG_FUNCTION(this << m_buffer.size());
    const std::string text = std::exchange(m_buffer, "");
    m_isLost =
        m_isLost || !LostOutputs::Try([&] {
            m_file.Write(m_packer && !text.empty() ? m_packer->Pack(text, m_isClosed) : text);
        });
}

void
TimelineTrace::Close()
{
    NS_LOG_FUNCTION(this);
    if (m_isClosed)
    {
        return;
    }
    m_isClosed = true;
    m_buffer += "\n]\n";
    Flush();
    m_isLost = m_isLost || !LostOutputs::Try([this] { m_file.Commit(); });
}

} // namespace ns3::training
