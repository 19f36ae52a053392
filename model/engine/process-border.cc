/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "process-border.h"

#include "ns3/assert.h"
#include "ns3/frame-archive.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingProcessBorder");

namespace
{

/// Marker in place of port number + 1: a notice follows.
constexpr uint32_t NOTICE = 0;

/** Header of a message. */
struct MessageHeader
{
    uint32_t process; ///< sending process
    uint32_t number;  ///< sequence number per sender and receiver
    uint32_t last;    ///< whether it is the last message of a flush
};

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
    ByteWriter& writer = border.m_peers[process].outgoing;
    writer(port + 1, arrival);
    WriteFrame(writer, *frame);
    Frame::Free(frame);
    border.ScheduleFlush();
}

ProcessBorder::ProcessBorder(uint32_t id,
                             uint32_t count,
                             Time lookAhead,
                             uint32_t longest,
                             Sender sender)
    : m_id(id),
      m_lookAhead(lookAhead),
      m_longest(longest),
      m_sender(std::move(sender)),
      m_peers(count)
{
    NS_ASSERT(lookAhead.IsStrictlyPositive() && longest > sizeof(MessageHeader));
}

ProcessBorder::~ProcessBorder() = default;

void
ProcessBorder::AddLink(FabricPort& mine, uint32_t number, uint32_t peerNumber, uint32_t process)
{
    NS_ASSERT(mine.GetDelay() >= 2 * m_lookAhead && process != m_id);
    m_ports.resize(std::max<std::size_t>(m_ports.size(), number + 1));
    m_ports[number] = &mine;
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
    for (uint32_t process = 0; process < m_peers.size(); process++)
    {
        if (process != m_id)
        {
            m_peers[process].outgoing(NOTICE, notice, Simulator::Now());
        }
    }
    ScheduleFlush();
}

void
ProcessBorder::ScheduleFlush()
{
    if (!m_flushPending)
    {
        m_flushPending = true;
        // An event without a node runs after all other events of the same time.
        Simulator::ScheduleWithContext(Simulator::NO_CONTEXT,
                                       m_lookAhead,
                                       &ProcessBorder::Flush,
                                       this);
    }
}

void
ProcessBorder::Flush()
{
    m_flushPending = false;
    const std::size_t most = m_longest - sizeof(MessageHeader);
    std::vector<uint8_t> message;
    for (Peer& peer : m_peers)
    {
        NS_LOG_LOGIC("sends " << peer.outgoing.GetSize() << " bytes to process "
                              << &peer - m_peers.data());
        for (std::size_t from = 0; from < peer.outgoing.GetSize(); from += most)
        {
            const std::size_t size = std::min(most, peer.outgoing.GetSize() - from);
            const MessageHeader header{m_id,
                                       peer.sent++,
                                       from + size == peer.outgoing.GetSize() ? 1U : 0U};
            message.resize(sizeof(header) + size);
            std::memcpy(message.data(), &header, sizeof(header));
            std::memcpy(message.data() + sizeof(header), peer.outgoing.GetData() + from, size);
            m_sender(static_cast<uint32_t>(&peer - m_peers.data()),
                     message.data(),
                     static_cast<uint32_t>(message.size()));
        }
        peer.outgoing.Clear();
    }
}

void
ProcessBorder::Receive(const uint8_t* data, uint32_t size)
{
    MessageHeader header;
    std::memcpy(&header, data, sizeof(header));
    Peer& peer = m_peers.at(header.process);
    if (header.number != peer.received)
    {
        NS_LOG_LOGIC("message " << header.number << " of process " << header.process
                                << " is ahead of message " << peer.received);
        peer.early.emplace(header.number, std::vector<uint8_t>(data, data + size));
        return;
    }
    Deliver(peer, data, size);
    for (auto next = peer.early.begin(); next != peer.early.end() && next->first == peer.received;
         next = peer.early.erase(next))
    {
        Deliver(peer, next->second.data(), next->second.size());
    }
}

void
ProcessBorder::Deliver(Peer& peer, const uint8_t* data, std::size_t size)
{
    MessageHeader header;
    std::memcpy(&header, data, sizeof(header));
    peer.received++;
    const uint8_t* contents = data + sizeof(header);
    const std::size_t length = size - sizeof(header);
    if (header.last && peer.incoming.empty())
    {
        Unpack(contents, length); // the flush fits into one message
        return;
    }
    peer.incoming.insert(peer.incoming.end(), contents, contents + length);
    if (header.last)
    {
        Unpack(peer.incoming.data(), peer.incoming.size());
        peer.incoming.clear();
    }
}

void
ProcessBorder::Unpack(const uint8_t* data, std::size_t size)
{
    ByteReader reader(data, size);
    const int64_t now = Simulator::Now().GetTimeStep();
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
        frame->port = m_ports.at(port - 1);
        frame->ingress = frame->port->GetIndex();
        NS_ASSERT_MSG(arrival > now, "a frame from another process comes too late");
        frame->Ref(); // the simulator releases one reference after the event
        Simulator::ScheduleWithContext(frame->port->GetNodeId(),
                                       TimeStep(static_cast<uint64_t>(arrival - now)),
                                       frame);
    }
}

} // namespace ns3::training
