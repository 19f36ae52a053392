/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "timeline-trace.h"

#include "ns3/log.h"

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
    static const std::array<std::pair<Track, const char*>, 3> TRACKS{
        {{COMPUTE, "compute"}, {COLLECTIVES, "collectives"}, {STEPS, "steps"}}};
    AddMetadata("process_name", rank, 0, "name", name);
    AddMetadata("process_sort_index", rank, 0, "sort_index", rank);
    for (const auto& [track, trackName] : TRACKS)
    {
        AddMetadata("thread_name", rank, track, "name", trackName);
        AddMetadata("thread_sort_index", rank, track, "sort_index", static_cast<uint32_t>(track));
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
TimelineTrace::Complete(uint32_t rank,
                        Track track,
                        const std::string& name,
                        Time start,
                        Time end,
                        const JsonValue& arguments)
{
    NS_LOG_FUNCTION(this << rank << track << name << start << end);
    const uint32_t thread =
        track == COMPUTE ? uint32_t{COMPUTE} : FindLane(rank, track, start, end);
    // Formatted by hand: a double cannot hold the picoseconds of a long run.
    std::string event = "{\"ph\":\"X\",\"pid\":" + std::to_string(rank) +
                        ",\"tid\":" + std::to_string(thread) + ",\"ts\":" + ToMicroseconds(start) +
                        ",\"dur\":" + ToMicroseconds(end - start) + ",\"name\":" + QuoteJson(name);
    if (!arguments.IsEmpty())
    {
        event += ",\"args\":" + arguments.Write();
    }
    Add(event + "}");
}

uint32_t
TimelineTrace::FindLane(uint32_t rank, Track track, Time start, Time end)
{
    // Events arrive in the order of their ends, so an event that starts after the end of a lane's
    // last event overlaps with no event of the lane.
    std::vector<Time>& lanes = m_lanes[{rank, track}];
    uint32_t lane = 0;
    while (lane < lanes.size() && lanes[lane] > start)
    {
        lane++;
    }
    const uint32_t thread = track + (track == STEPS ? lane : lane * FIRST_COLLECTIVES_LANE);
    if (lane == lanes.size())
    {
        lanes.push_back(end);
        if (lane > 0)
        {
            const std::string name =
                (track == STEPS ? "steps, lane " : "collectives, lane ") + std::to_string(lane + 1);
            AddMetadata("thread_name", rank, thread, "name", name);
            AddMetadata("thread_sort_index",
                        rank,
                        thread,
                        "sort_index",
                        track == STEPS ? thread : static_cast<uint32_t>(track));
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
    m_file.Write(text);
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
    m_file.Commit();
}

} // namespace ns3::training
