/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nvls-communicator.h"

#include "core/attribute-choice.h"

#include "ns3/log.h"
#include "ns3/sharp-wire-format.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingNvlsCommunicator");
NS_OBJECT_ENSURE_REGISTERED(NvlsCommunicator);

namespace
{

/// Values of Framing.
const std::vector<std::string> FRAMINGS{"nvlink", "ethernet"};
/// Values of Choice.
const std::vector<std::string> CHOICES{"always", "tuning"};

} // namespace

TypeId
NvlsCommunicator::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::NvlsCommunicator")
                            .SetParent<SharpEndpoint>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<NvlsCommunicator>()
                            .AddAttribute("Framing",
                                          "Size of frames: that of the NVLink packets that they "
                                          "stand for (nvlink), or that of a tree's packets over "
                                          "Ethernet (ethernet)",
                                          StringValue("nvlink"),
                                          MakeStringAccessor(&NvlsCommunicator::SetFraming,
                                                             &NvlsCommunicator::GetFraming),
                                          MakeStringChecker())
                            .AddAttribute("Choice",
                                          "Which all-reduces the switches add: all (always), or "
                                          "those that the host model expects to be faster so "
                                          "(tuning); the others are a ring's",
                                          StringValue("always"),
                                          MakeStringAccessor(&NvlsCommunicator::SetChoice,
                                                             &NvlsCommunicator::GetChoice),
                                          MakeStringChecker());
    return tid;
}

void
NvlsCommunicator::SetFraming(std::string name)
{
    m_framing = FindAllowedValue("NvlsCommunicator::Framing", name, FRAMINGS);
}

std::string
NvlsCommunicator::GetFraming() const
{
    return FRAMINGS[m_framing];
}

void
NvlsCommunicator::SetChoice(std::string name)
{
    m_choice = FindAllowedValue("NvlsCommunicator::Choice", name, CHOICES);
}

std::string
NvlsCommunicator::GetChoice() const
{
    return CHOICES[m_choice];
}

SharpConnection::Settings
NvlsCommunicator::GetSettings() const
{
    SharpConnection::Settings settings = SharpEndpoint::GetSettings();
    settings.nvlink = m_framing == 0;
    return settings;
}

void
NvlsCommunicator::SetSession(const Session& session)
{
    m_session = session;
    m_parts.assign(session.connections.size(), Part());
    for (uint32_t connection : session.connections)
    {
        Connect({session.switchEndpoint, connection});
    }
    if (session.lineRate > 0)
    {
        // The line to a rank, for each packet that it reads, as do the others: requests and writes
        // of all, and its sum.
        const auto owners = static_cast<double>(session.connections.size());
        const uint32_t overhead = Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
        const uint32_t payload = session.elements * GetBytes(GetNumberFormat());
        const auto getLineBytes = [&](NvlinkPacket kind, uint32_t sent) {
            const uint32_t frame =
                m_framing == 0 ? GetNvlinkFrameBytes(kind, payload) : GetSharpFrameBytes(sent);
            return frame + overhead;
        };
        const double bytes = owners * (getLineBytes(NvlinkPacket::READ, 0) +
                                       getLineBytes(NvlinkPacket::WRITE, payload)) +
                             getLineBytes(NvlinkPacket::ANSWER, payload);
        SetLimits({session.key,
                   session.slots,
                   session.window,
                   8 * bytes / static_cast<double>(session.lineRate)});
    }
}

void
NvlsCommunicator::SetHostModel(std::shared_ptr<const HostModel> model)
{
    m_hostModel = std::move(model);
    if (m_choice != 0 && !m_hostModel)
    {
        throw ConfigurationError("ns3::training::NvlsCommunicator::Choice",
                                 GetChoice(),
                                 " with host model none (allowed: with a host model)");
    }
    GetHostTime(0); // refuses
}

const HostModel*
NvlsCommunicator::GetHostModel() const
{
    return m_hostModel.get();
}

std::pair<uint64_t, uint64_t>
NvlsCommunicator::GetOwnedPart(uint32_t owner, uint64_t values) const
{
    const uint64_t owners = m_parts.size();
    return {values * owner / owners, values * (owner + 1) / owners};
}

void
NvlsCommunicator::Cancel()
{
    Simulator::Cancel(m_end);
    SharpEndpoint::Cancel();
}

std::pair<uint64_t, uint64_t>
NvlsCommunicator::GetRange(uint32_t owner, uint64_t packet) const
{
    const auto [begin, end] = GetOwnedPart(owner, GetValueCount());
    const uint64_t from = begin + packet * m_session.elements;
    return {std::min(from, end), std::min(from + m_session.elements, end)};
}

void
NvlsCommunicator::Start()
{
    NS_LOG_FUNCTION(this << GetValueCount());
    m_left = 0;
    m_asked = 0;
    m_answered = 0;
    m_passedOn = 0;
    m_behindBarrier = false;
    m_begin = Simulator::Now(); // a tensor may be complete before its barrier
    m_barrier = m_parts[0].next++;
    for (uint32_t owner = 0; owner < m_parts.size(); owner++)
    {
        const auto [begin, end] = GetOwnedPart(owner, GetValueCount());
        Part& part = m_parts[owner];
        part.first = part.next;
        part.packets = (end - begin + m_session.elements - 1) / m_session.elements;
        part.next += part.packets;
        part.read = 0;
        part.written = 0;
        m_left += part.packets;
    }
    SharpMessage barrier = MakeMessage(0, m_barrier, 0);
    SetBytes(barrier, NvlinkPacket::WRITE, 0);
    SendPacket(0, m_barrier, barrier);
}

void
NvlsCommunicator::SendPacket(uint32_t owner, uint64_t number, SharpMessage message)
{
    message.header.packet = GetNumber(number, m_session.window);
    message.header.slot = static_cast<uint16_t>(owner);
    CountSent(1);
    Send(owner, message);
}

void
NvlsCommunicator::Read()
{
    const uint32_t me = m_session.member;
    const Part& mine = m_parts[me];
    while (m_asked < mine.packets && m_asked - m_answered < m_session.window)
    {
        const auto [begin, end] = GetRange(me, m_asked);
        const uint64_t number = mine.first + m_asked++;
        SharpMessage request = MakeMessage(me, number, SHARP_BROADCAST);
        SetBytes(request,
                 NvlinkPacket::READ,
                 static_cast<uint32_t>(end - begin) * GetBytes(GetFormat()));
        SendPacket(me, number, request);
    }
}

void
NvlsCommunicator::Contribute(uint32_t owner, uint64_t packet)
{
    const uint64_t number = m_parts[owner].first + packet;
    SharpMessage message = MakeMessage(owner, number, SHARP_TO_ONE | SHARP_NO_NOTIFICATION);
    const auto [begin, end] = GetRange(owner, packet);
    WriteValues(message, begin, end);
    SetBytes(message, NvlinkPacket::ANSWER, message.payloadBytes);
    SendPacket(owner, number, message);
}

void
NvlsCommunicator::OnSum(const Frame& frame)
{
    Write({frame.As<SharpHeader>(), frame.payloadBytes, frame.payload, frame.payloadOffset, 0, 0});
}

void
NvlsCommunicator::Write(SharpMessage message)
{
    message.header.operation = SHARP_BROADCAST;
    SetBytes(message, NvlinkPacket::WRITE, message.payloadBytes);
    SendPacket(m_session.member, m_parts[m_session.member].first + m_passedOn++, message);
}

bool
NvlsCommunicator::IsNumber(uint32_t owner, uint64_t packet, const Frame& frame) const
{
    return packet < m_parts[owner].packets &&
           frame.As<SharpHeader>().packet ==
               GetNumber(m_parts[owner].first + packet, m_session.window);
}

void
NvlsCommunicator::OnMessage(uint32_t owner, const Frame& frame)
{
    const auto& header = frame.As<SharpHeader>();
    Part& part = m_parts[owner];
    const bool isDirect = header.operation & SHARP_BROADCAST;
    const bool isRead = isDirect && frame.payloadBytes == 0;
    const bool isSum = header.operation & SHARP_TO_ONE;
    const bool isBarrier = !isDirect && !isSum;
    // A rank may have a whole tensor, by other trees, before that tensor's barrier reaches it.
    const bool isOfBarrier =
        !m_behindBarrier && header.packet == GetNumber(m_barrier, m_session.window);
    const bool isExpected = IsUnderWay() && (isBarrier ? isOfBarrier
                                             : isRead  ? IsNumber(owner, part.read, frame)
                                             : isSum   ? IsNumber(owner, m_answered, frame)
                                                       : IsNumber(owner, part.written, frame));
    if (!isExpected)
    {
        NS_LOG_LOGIC("rank " << GetRank() << ": packet " << header.packet << " of owner " << owner
                             << " is not awaited");
        CountDuplicate();
        return;
    }
    if (isRead)
    {
        Contribute(owner, part.read++);
        return;
    }
    const uint64_t number =
        isBarrier ? m_barrier : part.first + (isSum ? m_answered : part.written);
    if (!Check(header, owner, number))
    {
        return;
    }
    NoteAnswer();
    CountReceived();
    if (isBarrier)
    {
        NS_LOG_LOGIC("rank " << GetRank() << " is behind the barrier");
        m_behindBarrier = true;
        m_begin = Simulator::Now();
        Read();
    }
    else if (isSum)
    {
        m_answered++;
        OnSum(frame);
        Read();
    }
    else
    {
        const auto [begin, end] = GetRange(owner, part.written++);
        ReadValues(frame, begin, end, true);
        if (--m_left == 0)
        {
            NoteRate(GetOwnPackets(), GetHostTime(GetValueCount() * sizeof(float)));
            CopyOut();
        }
    }
}

void
NvlsCommunicator::CopyOut()
{
    const SwitchCost cost = GetSwitchCost(GetValueCount() * sizeof(float));
    if (cost.copies == 0 && cost.copyTime.IsZero())
    {
        End();
        return;
    }
    const double seconds = cost.copies * (Simulator::Now() - m_begin).GetSeconds();
    m_end = Simulator::Schedule(cost.copyTime + Seconds(seconds), &NvlsCommunicator::End, this);
}

std::string
NvlsCommunicator::GetMissing() const
{
    const auto found = std::find_if(m_parts.begin(), m_parts.end(), [](const Part& part) {
        return part.written < part.packets;
    });
    if (!m_behindBarrier || found == m_parts.end())
    {
        return "the barrier";
    }
    return "the part of rank " + std::to_string(found - m_parts.begin()) + " (" +
           std::to_string(found->written) + " of " + std::to_string(found->packets) +
           " packets written)";
}

} // namespace ns3::training
