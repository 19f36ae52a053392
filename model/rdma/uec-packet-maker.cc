/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-packet-maker.h"

#include "rdma/mrc-paths.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

namespace
{

/// Limit of packets from the first unacknowledged one on (reference simulator).
constexpr uint64_t MAX_RANGE = 1 << 14;

/** @return bits that tell planes apart */
uint32_t
GetPlaneBits(std::size_t planes)
{
    uint32_t bits = 0;
    while (std::size_t{1} << bits < planes)
    {
        bits++;
    }
    return bits;
}

/** @return the paths of a connection in a plane */
std::unique_ptr<UecPaths>
MakePaths(const UecPort& port, const UecPlane& plane)
{
    const UecSettings& settings = port.GetUecSettings();
    // The planes share the values of a connection.
    const uint32_t bits = settings.pathBits - std::min(settings.pathBits, plane.bits);
    if (settings.isMrc)
    {
        return std::make_unique<MrcPaths>(
            MrcPaths::Settings{bits, settings.backupPaths, settings.probeAnswers},
            port.GetRandom(),
            plane);
    }
    return std::make_unique<UecPaths>(bits, port.GetRandom(), plane);
}

} // namespace

UecLane::UecLane(UecPacketMaker& maker, const UecPortPair& ports, uint32_t plane)
    : RdmaSendQueue(maker.GetNumber(), maker.GetPriority()),
      m_maker(maker),
      m_ports(ports),
      m_plane(plane)
{
}

bool
UecLane::CanSend() const
{
    return m_maker.CanSendIn(m_plane);
}

Frame*
UecLane::MakeFrame(int64_t now)
{
    return m_maker.MakeFrameIn(m_plane, now);
}

void
UecLane::OnResize(const Frame& frame, uint32_t before, int64_t now)
{
    m_maker.OnResize(frame, before, now);
}

UecPacketMaker::UecPacketMaker(UecPort& port,
                               uint32_t number,
                               const RdmaRemote& remote,
                               UecCongestionControl& congestionControl,
                               QueuePairCounters& counters,
                               const std::vector<UecPortPair>& ports)
    : RdmaSendQueue(number, port.GetSettings().dataPriority),
      m_port(port),
      m_remote(remote),
      m_overhead(GetUecBytes(port.GetProtocol(), UecType::REQUEST) +
                 (congestionControl.NeedsCredit() ? UEC_REQUEST_STATE_BYTES : 0)),
      m_window(congestionControl.GetWindow()),
      m_credit(congestionControl.NeedsCredit(), port.GetUecSettings().creditLimit),
      m_counters(counters),
      m_planeBits(GetPlaneBits(ports.size())),
      m_linePacket(m_overhead + port.GetSettings().mtu)
{
    for (uint32_t plane = 0; plane < std::max<std::size_t>(ports.size(), 1); plane++)
    {
        m_paths.push_back(MakePaths(port, {m_planeBits, plane}));
    }
    for (const UecPortPair& pair : ports)
    {
        m_lanes.push_back(
            std::make_unique<UecLane>(*this, pair, static_cast<uint32_t>(m_lanes.size())));
    }
}

void
UecPacketMaker::ScheduleSend()
{
    if (m_lanes.empty())
    {
        m_port.Schedule(*this);
        return;
    }
    const auto lanes = static_cast<uint32_t>(m_lanes.size());
    m_turn = (m_turn + 1) % lanes;
    for (uint32_t i = 0; i < lanes; i++)
    {
        m_lanes[(m_turn + i) % lanes]->Schedule();
    }
}

/** @return whether both ports of a plane are up as far as is known, and a path has not failed */
bool
UecPacketMaker::IsUsable(uint32_t plane) const
{
    return m_paths[plane]->HasPath() && !(m_remoteDown >> plane & 1) &&
           m_lanes[plane]->GetPorts().port->IsUp();
}

bool
UecPacketMaker::IsAnyUsable() const
{
    for (uint32_t plane = 0; plane < m_lanes.size(); plane++)
    {
        if (IsUsable(plane))
        {
            return true;
        }
    }
    return false;
}

bool
UecPacketMaker::CanSendIn(uint32_t plane) const
{
    return CanSend() && (IsUsable(plane) || !IsAnyUsable());
}

Frame*
UecPacketMaker::MakeFrameIn(uint32_t plane, int64_t now)
{
    const UecPortPair& ports = m_lanes[plane]->GetPorts();
    Frame* frame = MakeFrameOf(*m_paths[plane], now);
    frame->source = ports.port->GetEndpoint();
    frame->destination = ports.remoteEndpoint;
    return frame;
}

bool
UecPacketMaker::HasWork() const
{
    return m_sent.HasLost() || m_sent.GetNext() < m_doorbellPsn;
}

uint32_t
UecPacketMaker::GetNextBytes() const
{
    if (m_sent.HasLost())
    {
        return m_sent.At(m_sent.GetFirstLost()).bytes;
    }
    const uint32_t mtu = m_port.GetSettings().mtu;
    const UecMessages::Posted& message = m_messages.GetCurrent();
    const uint64_t sent = (m_sent.GetNext() - message.firstPsn) * mtu;
    return m_overhead + static_cast<uint32_t>(std::min<uint64_t>(mtu, message.bytes - sent));
}

bool
UecPacketMaker::CanSend() const
{
    if (m_failed || !HasWork() || m_credit.IsSpent())
    {
        return false;
    }
    const uint64_t inFlight = GetInFlight();
    return (inFlight == 0 || inFlight + GetNextBytes() <= m_window) &&
           (m_sent.HasLost() || m_sent.GetNext() - m_sent.GetUnacked() < MAX_RANGE);
}

bool
UecPacketMaker::IsShort(const UecSentPackets::Packet& packet) const
{
    return packet.bytes < m_overhead + m_port.GetSettings().mtu;
}

Frame*
UecPacketMaker::MakeFrame(int64_t now)
{
    return MakeFrameOf(*m_paths.front(), now);
}

Frame*
UecPacketMaker::MakeFrameOf(UecPaths& paths, int64_t now)
{
    const bool resend = m_sent.HasLost();
    const uint64_t psn = resend ? m_sent.GetFirstLost() : m_sent.GetNext();
    uint64_t number = m_messages.GetCurrentNumber();
    const UecMessages::Posted& message =
        resend ? m_messages.Find(psn, number) : m_messages.GetCurrent();
    const uint32_t mtu = m_port.GetSettings().mtu;
    const uint64_t index = psn - message.firstPsn;
    const bool last = index + 1 == message.packets;

    UecHeader header;
    header.psn = static_cast<uint32_t>(psn);
    header.message = static_cast<uint16_t>(number);
    header.entropy = paths.Next();
    header.request.tag = message.tag;
    header.request.bytes = static_cast<uint32_t>(message.bytes);
    header.request.offset = static_cast<uint32_t>(index * mtu);
    header.request.data = index == 0 ? message.immediate.value_or(0) : 0;
    header.request.payload =
        last ? static_cast<uint32_t>(message.bytes) - header.request.offset : mtu;
    header.flags = static_cast<uint8_t>((index == 0 ? UEC_FIRST : 0) | (last ? UEC_LAST : 0) |
                                        (resend ? UEC_RETRANSMITTED : 0));

    const uint32_t bytes = m_overhead + header.request.payload;
    m_sent.Send(psn, bytes, header.entropy, now);
    if (resend)
    {
        m_counters.retransmittedPackets++;
        m_port.NotifyRetransmission(GetNumber(), psn);
    }
    else
    {
        m_unsentBytes -= bytes;
        if (last)
        {
            m_messages.TakeNext();
            if (message.sent)
            {
                message.sent();
            }
        }
    }
    m_counters.sentPackets++;
    if (m_credit.IsNeeded())
    {
        m_credit.Spend(bytes);
        header.flags |= UEC_CREDIT;
        header.credit = GetWantedCredit();
        m_credit.SetEvent(now);
    }
    // Without an answer to this packet, the next one may have to wait.
    if (resend || m_sent.GetNext() == m_doorbellPsn || m_credit.IsSpent() ||
        GetInFlight() + bytes >= m_window)
    {
        header.flags |= UEC_ACK_REQUEST;
    }
    Watch();

    Frame* frame = Frame::Make(header);
    frame->bytes = bytes;
    frame->source = m_port.GetEndpoint();
    frame->destination = m_remote.endpoint;
    frame->destinationQp = m_remote.queuePair;
    frame->flowHash = (m_remote.flowHash & ~ENTROPY_MASK) | header.entropy;
    frame->priority = GetPriority();
    frame->ecn = Ecn::ECT;
    frame->opcode = static_cast<uint8_t>(m_port.GetProtocol());
    frame->payloadBytes = header.request.payload;
    frame->typeOfService = message.typeOfService;
    if (message.payload)
    {
        frame->payload = message.payload;
        frame->payloadOffset = message.payloadOffset + header.request.offset;
    }
    return frame;
}

void
UecPacketMaker::OnResize(const Frame& frame, uint32_t before, int64_t)
{
    if (!frame.Is<UecHeader>() || frame.As<UecHeader>().type != UecType::REQUEST)
    {
        return; // not of this queue
    }
    const uint64_t psn = ExtendCounter(frame.As<UecHeader>().psn, UEC_PSN_BITS, m_sent.GetNext());
    const uint32_t saved = before - frame.bytes;
    m_sent.Shorten(psn, frame.bytes, saved);
    m_credit.Spend(-int64_t{saved});
    const uint32_t full = m_overhead + m_port.GetSettings().mtu;
    if (before == full) // what is asked for follows the size of the recent full packets
    {
        const int64_t change = int64_t{frame.bytes} - m_linePacket;
        m_linePacket += static_cast<uint32_t>(m_linePacket == full ? change : change / 8);
    }
}

bool
UecPacketMaker::NeedsCreditNow() const
{
    return m_credit.IsSpent() && HasWork();
}

uint32_t
UecPacketMaker::GetWantedCredit() const
{
    const uint64_t packet = m_overhead + m_port.GetSettings().mtu;
    uint64_t need = m_unsentBytes;
    if (m_linePacket < packet)
    {
        need = static_cast<uint64_t>(static_cast<double>(need) * m_linePacket /
                                     static_cast<double>(packet));
    }
    need += m_sent.GetLostBytes();
    if (m_window < std::numeric_limits<uint64_t>::max() - packet)
    {
        need = std::min(need, m_window + packet);
    }
    return m_credit.GetWanted(m_unsentBytes, need, packet);
}

void
UecPacketMaker::RequestCredit(int64_t now)
{
    m_credit.SetEvent(now);
    UecHeader header;
    header.type = UecType::CREDIT_REQUEST;
    header.credit = GetWantedCredit();
    header.entropy = m_paths.front()->Next();
    m_port.SendControl(m_port.MakeControl(header, m_remote, {&m_port, m_remote.endpoint}));
    Watch();
}

} // namespace ns3::training
