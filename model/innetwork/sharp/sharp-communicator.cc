/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sharp-communicator.h"

#include "sharp-wire-format.h"

#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSharpCommunicator");
NS_OBJECT_ENSURE_REGISTERED(SharpCommunicator);

TypeId
SharpCommunicator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::SharpCommunicator")
            .SetParent<SharpEndpoint>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<SharpCommunicator>()
            .AddAttribute("Trees",
                          "Trees that share each tensor, with roots of their own if there are "
                          "several equally good ones",
                          UintegerValue(1),
                          MakeUintegerAccessor(&SharpCommunicator::m_trees),
                          MakeUintegerChecker<uint32_t>(1, 64))
            .AddAttribute("StreamingThreshold",
                          "Largest message, bytes of values, that does not go by streaming trees "
                          "(SHARP: 16384)",
                          UintegerValue(16384),
                          MakeUintegerAccessor(&SharpCommunicator::m_threshold),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("LockBatch",
                          "Messages for which a streaming tree is locked; 0: for good (SHARP: "
                          "infinity; 1 if several jobs want it)",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SharpCommunicator::m_lockBatch),
                          MakeUintegerChecker<uint64_t>());
    return tid;
}

uint32_t
SharpCommunicator::GetQueuePair(uint32_t tree, bool streaming)
{
    return 2 * tree + streaming;
}

void
SharpCommunicator::SetSession(const Session& session)
{
    m_session = session;
    m_locks.assign(session.positions.size(), Lock());
    for (uint32_t tree = 0; tree < session.positions.size(); tree++)
    {
        const TreePosition& position = session.positions[tree];
        for (const bool streaming : {false, true})
        {
            Channel channel;
            channel.connection = Connect(
                {position.switchEndpoint, streaming ? position.streaming : position.lowLatency});
            channel.tree = tree;
            channel.window = streaming ? session.credits : session.window;
            m_channels.push_back(channel);
        }
    }
    if (session.lineRate > 0)
    {
        const double bits = 8.0 * (GetSharpFrameBytes(session.streamingBytes) +
                                   Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
        SetLimits({"credits",
                   session.creditsOfSwitch,
                   session.credits,
                   static_cast<double>(session.positions.size()) * bits /
                       static_cast<double>(session.lineRate)});
    }
}

bool
SharpCommunicator::IsOffloaded(CollectiveOperation operation) const
{
    return operation == CollectiveOperation::ALL_REDUCE ||
           operation == CollectiveOperation::REDUCE ||
           operation == CollectiveOperation::BROADCAST || operation == CollectiveOperation::BARRIER;
}

std::pair<uint64_t, uint64_t>
SharpCommunicator::GetRange(const Channel& channel, uint64_t packet) const
{
    const uint64_t begin = channel.begin + packet * channel.elements;
    return {std::min(begin, channel.end), std::min(begin + channel.elements, channel.end)};
}

void
SharpCommunicator::Start()
{
    m_streams = GetValueCount() * GetBytes(GetFormat()) > m_threshold;
    const auto isEmpty = [this](uint32_t tree) {
        const auto [begin, end] = GetSums().GetPart(tree, GetValueCount());
        return begin == end &&
               (tree > 0 || GetValueCount() > 0); // a barrier is one packet of the first tree
    };
    m_partsLeft = 0;
    for (uint32_t tree = 0; tree < GetSums().GetCount(); tree++)
    {
        m_partsLeft += isEmpty(tree) ? 0 : 1;
    }
    for (uint32_t tree = 0; tree < GetSums().GetCount(); tree++)
    {
        if (isEmpty(tree))
        {
            continue;
        }
        if (m_streams && !m_locks[tree].held)
        {
            StartLock(tree);
        }
        else
        {
            StartPart(tree, m_streams);
        }
    }
}

void
SharpCommunicator::StartLock(uint32_t tree)
{
    Channel& channel = m_channels[GetQueuePair(tree, false)];
    channel.Begin(0, 0, 1);
    channel.locks = true;
    channel.unlocks = false;
    Pump(channel);
}

void
SharpCommunicator::StartPart(uint32_t tree, bool streaming)
{
    Channel& channel = m_channels[GetQueuePair(tree, streaming)];
    const auto [begin, end] = GetSums().GetPart(tree, GetValueCount());
    channel.Begin(begin,
                  end,
                  streaming ? m_session.streamingBytes / GetBytes(GetFormat())
                            : m_session.elements);
    channel.locks = false;
    channel.unlocks = streaming && ++m_locks[tree].used == m_lockBatch;
    Pump(channel);
}

void
SharpCommunicator::Channel::Begin(uint64_t from, uint64_t to, uint32_t numbers)
{
    first += total;
    begin = from;
    end = to;
    elements = numbers;
    total = std::max<uint64_t>(1, (to - from + numbers - 1) / numbers);
    sent = 0;
    received = 0;
}

void
SharpCommunicator::Pump(Channel& channel)
{
    while (channel.sent < channel.total && channel.sent - channel.received < channel.window)
    {
        SendPacket(channel);
    }
}

void
SharpCommunicator::SendPacket(Channel& channel)
{
    const uint64_t packet = channel.sent++;
    const bool isLast = channel.sent == channel.total;
    const bool isReduce = GetOperation() == CollectiveOperation::REDUCE;
    const uint8_t operation = channel.locks ? SHARP_LOCK
                                            : (channel.unlocks && isLast ? SHARP_UNLOCK : 0) |
                                                  (isReduce ? SHARP_TO_ONE : 0);
    SharpMessage message = MakeMessage(channel.connection, channel.first + packet, operation);
    message.header.packet = GetNumber(channel.first + packet, channel.window);
    message.header.slot = static_cast<uint16_t>(GetRoot());
    if (Contributes() && !channel.locks)
    {
        const auto [begin, end] = GetRange(channel, packet);
        WriteValues(message, begin, end);
    }
    CountSent(1);
    Send(channel.connection, message);
}

void
SharpCommunicator::OnMessage(uint32_t connection, const Frame& frame)
{
    Channel& channel = m_channels[connection];
    const auto& header = frame.As<SharpHeader>();
    const uint64_t packet = channel.first + channel.received;
    if (!IsUnderWay() || channel.received == channel.sent ||
        header.packet != GetNumber(packet, channel.window))
    {
        CountDuplicate(); // the sum arrives by multicast too, before or after those ahead of it
        return;
    }
    if (!Check(header, connection, packet))
    {
        return;
    }
    NoteAnswer();
    CountReceived();
    const auto [begin, end] = GetRange(channel, channel.received++);
    if (channel.locks)
    {
        TakeLock(channel.tree, !(header.operation & SHARP_REFUSED));
        return;
    }
    ReadValues(frame, begin, end, GetOperation() != CollectiveOperation::BROADCAST);
    if (channel.received < channel.total)
    {
        Pump(channel);
        return;
    }
    if (channel.unlocks)
    {
        m_locks[channel.tree] = Lock();
    }
    if (--m_partsLeft == 0)
    {
        m_hasStreamed = m_streams;
        if (m_streams)
        {
            NoteRate(channel.total);
        }
        End();
    }
}

void
SharpCommunicator::TakeLock(uint32_t tree, bool granted)
{
    NS_LOG_LOGIC("rank " << GetRank() << ": streaming tree " << tree << (granted ? "" : " not")
                         << " granted");
    m_locks[tree].held = granted;
    m_streams = m_streams && granted;
    StartPart(tree, granted);
}

std::string
SharpCommunicator::GetMissing() const
{
    const auto found = std::find_if(m_channels.begin(), m_channels.end(), [](const auto& channel) {
        return channel.received < channel.total;
    });
    if (found == m_channels.end())
    {
        return "its own host";
    }
    return (found->locks ? "the lock of tree " : "the sum of tree ") + std::to_string(found->tree) +
           ", packet " + std::to_string(GetNumber(found->first + found->received, found->window)) +
           " (" + std::to_string(found->received) + " of " + std::to_string(found->total) +
           " received)";
}

} // namespace ns3::training
