/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "process-border.h"

#include "fabric/frame-archive.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"
#include "ns3/training-prefetch.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingProcessBorder");

namespace
{

/// Marker in place of port number + 1: a notice follows.
constexpr uint32_t NOTICE = 0;
/// Prefetch distance in frames: hosts wrote them, and switches do not read all of them.
constexpr std::size_t AHEAD = 8;

} // namespace

ProcessBorder::Crossing::Crossing(ProcessBorder& owner, uint32_t toPort, uint32_t toProcess)
    : border(owner),
      port(toPort),
      process(toProcess)
{
}

void
ProcessBorder::Crossing::Cross(Frame* frame, int64_t arrival)
{
    border.m_frames[process].push_back({frame, arrival, port});
    border.m_earliest = std::min(border.m_earliest, static_cast<uint64_t>(arrival));
}

ProcessBorder::ProcessBorder(uint32_t id, uint32_t count, Exchanger exchanger)
    : m_id(id),
      m_exchanger(std::move(exchanger)),
      m_frames(count),
      m_outgoing(count)
{
}

ProcessBorder::~ProcessBorder() = default;

void
ProcessBorder::AddLink(FabricPort& mine, uint32_t number, uint32_t peerNumber, uint32_t process)
{
    NS_ASSERT(mine.GetDelay().IsStrictlyPositive() && process != m_id);
    m_ports.resize(std::max<std::size_t>(m_ports.size(), number + 1));
    m_ports[number] = {&mine, mine.GetNodeId(), mine.GetIndex()};
    m_crossings.emplace_back(*this, peerNumber, process);
    mine.SetBorder(&m_crossings.back());
}

void
ProcessBorder::SetNoticeHandler(NoticeHandler handler)
{
    m_noticeHandler = std::move(handler);
}

void
ProcessBorder::Announce(Notice notice)
{
    NS_LOG_FUNCTION(this << static_cast<uint32_t>(notice));
    for (ByteWriter& writer : m_outgoing)
    {
        writer(NOTICE, notice, Simulator::Now());
    }
    m_earliest = std::min(m_earliest, static_cast<uint64_t>(EventLoop::Now()));
}

void
ProcessBorder::Pack(const std::vector<CrossingFrame>& frames, ByteWriter& writer)
{
    for (std::size_t i = 0; i < frames.size(); i++)
    {
        if (i + AHEAD < frames.size())
        {
            PrefetchBytes(frames[i + AHEAD].frame, sizeof(Frame));
        }
        const CrossingFrame& crossing = frames[i];
        writer(crossing.port + 1, crossing.arrival);
        WriteFrame(writer, *crossing.frame);
        Frame::Free(crossing.frame);
    }
}

uint64_t
ProcessBorder::Exchange(uint64_t next)
{
    uint64_t earliest = std::min(next, std::exchange(m_earliest, NEVER));
    for (std::size_t process = 0; process < m_outgoing.size(); process++)
    {
        Pack(m_frames[process], m_outgoing[process]);
        m_frames[process].clear();
        m_outgoing[process].Append(&earliest, sizeof(earliest));
    }
    m_exchanger(m_outgoing, [&](uint32_t process, const uint8_t* data, std::size_t size) {
        NS_LOG_LOGIC("process " << process << " sends " << size << " bytes");
        earliest = std::min(earliest, Unpack(data, size));
    });
    for (ByteWriter& writer : m_outgoing)
    {
        writer.Clear();
    }
    return earliest;
}

uint64_t
ProcessBorder::Unpack(const uint8_t* data, std::size_t size)
{
    uint64_t earliest = NEVER;
    const std::size_t contents = size - sizeof(earliest);
    std::memcpy(&earliest, data + contents, sizeof(earliest));
    ByteReader reader(data, contents);
    const int64_t now = EventLoop::Now();
    while (!reader.IsAtEnd())
    {
        const auto port = reader.Next<uint32_t>();
        if (port == NOTICE)
        {
            const auto notice = reader.Next<Notice>();
            m_noticeHandler(notice, reader.Next<Time>());
            continue;
        }
        const auto arrival = reader.Next<int64_t>();
        Frame* frame = ReadFrame(reader);
        const Port& to = m_ports.at(port - 1);
        frame->port = to.port;
        frame->ingress = to.index;
        NS_ABORT_MSG_UNLESS(arrival > now, "a frame from another process comes too late");
        frame->Ref(); // the simulator releases one reference after the event
        EventLoop::Schedule(to.node, now, arrival, frame);
    }
    return earliest;
}

} // namespace ns3::training
