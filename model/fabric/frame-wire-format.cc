/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "frame-wire-format.h"

#include "atp-wire-format.h"
#include "endpoint-address.h"
#include "fabric-port.h"
#include "roce-wire-format.h"
#include "switch-ps-wire-format.h"
#include "switchml-wire-format.h"
#include "tree-wire-format.h"
#include "wire-bytes.h"

#include "ns3/abort.h"
#include "ns3/crc32.h"
#include "ns3/log.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFrameWireFormat");

namespace
{

constexpr uint32_t BTH_BYTES = 12;
constexpr uint32_t ICRC_BYTES = 4;

// Of MAC control: IEEE 802.1Qbb, 802.3 annex 31D.
constexpr std::array<uint8_t, 6> PAUSE_DESTINATION{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
constexpr uint16_t ETHERTYPE_MAC_CONTROL = 0x8808;
constexpr uint16_t OPCODE_PRIORITY_PAUSE = 0x0101;
/// A frame does not know the port that pauses: the MAC address of an endpoint that does not exist.
constexpr uint32_t PAUSE_SOURCE = 0xffffffff;

// Fixed values of what a frame does not carry.
constexpr uint16_t PARTITION_KEY = 0xffff;
constexpr uint8_t BTH_MIGRATED = 0x40;
constexpr uint8_t BTH_BECN = 0x40;
constexpr uint8_t BTH_ACK_REQUEST = 0x80;
constexpr uint32_t REMOTE_KEY = 0x00000001;
constexpr uint32_t QUEUE_KEY = 0x01234567; // RDMA_UDP_QKEY of librdmacm

// A hop's telemetry in 64 bits (HPCC, section 4.1): rate, time, bytes sent, queue.
constexpr uint64_t GIGABIT = 1000000000;
constexpr std::array<uint64_t, 11> TELEMETRY_RATES{0,
                                                   1 * GIGABIT,
                                                   10 * GIGABIT,
                                                   25 * GIGABIT,
                                                   40 * GIGABIT,
                                                   50 * GIGABIT,
                                                   100 * GIGABIT,
                                                   200 * GIGABIT,
                                                   400 * GIGABIT,
                                                   800 * GIGABIT,
                                                   1600 * GIGABIT};
constexpr int64_t TELEMETRY_TIME_UNIT = 1000; // ps
constexpr uint64_t TELEMETRY_SENT_UNIT = 128; // bytes
constexpr uint64_t TELEMETRY_QUEUE_UNIT = 80; // bytes
constexpr uint64_t TELEMETRY_TIME_MASK = 0xffffff;
constexpr uint64_t TELEMETRY_SENT_MASK = 0xfffff;
constexpr uint64_t TELEMETRY_QUEUE_MASK = 0xffff;

void
PutPause(WireBytes& out, const Frame& frame)
{
    PutEthernet(out, PAUSE_SOURCE, 0, ETHERTYPE_MAC_CONTROL);
    std::copy(PAUSE_DESTINATION.begin(), PAUSE_DESTINATION.end(), out.begin());
    PutNumber(out, OPCODE_PRIORITY_PAUSE, 2);
    PutNumber(out, frame.pauseClasses, 2);
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        PutNumber(out, frame.pauseClasses >> priority & 1 ? frame.pauseQuanta : 0, 2);
    }
}

/** A packet of a stock stack: as it is, but for what switches change. */
void
PutIp(WireBytes& out, const Frame& frame)
{
    PutEthernet(out, frame.source, frame.destination, frame.protocol);
    const uint32_t size = frame.packet->GetSize();
    out.resize(HEADER_BYTES + size);
    uint8_t* const header = out.data() + HEADER_BYTES;
    frame.packet->CopyData(header, size);
    if (frame.ecn == Ecn::CE)
    {
        header[1] |= static_cast<uint8_t>(Ecn::CE);
    }
    SetIpv4Checksum(header, (header[0] & 0xf) * 4); // ns-3 may leave it out
}

void
PutTelemetry(WireBytes& out, const TelemetryStack& stack, uint32_t room)
{
    const uint32_t hops = std::min<uint32_t>(room, static_cast<uint32_t>(stack.size()));
    PutNumber(out, hops, 1);
    PutNumber(out, room, 1);
    for (uint32_t i = 0; i < room; i++)
    {
        if (i >= hops)
        {
            PutNumber(out, 0, 8);
            continue;
        }
        const HopTelemetry& hop = stack[i];
        const auto rate = std::find(TELEMETRY_RATES.begin(), TELEMETRY_RATES.end(), hop.rate);
        const uint64_t code = rate == TELEMETRY_RATES.end() ? 0 : rate - TELEMETRY_RATES.begin();
        const uint64_t time = static_cast<uint64_t>(hop.time / TELEMETRY_TIME_UNIT);
        const uint64_t queue =
            std::min(hop.queueBytes / TELEMETRY_QUEUE_UNIT, TELEMETRY_QUEUE_MASK);
        const uint64_t sent = hop.sentBytes / TELEMETRY_SENT_UNIT & TELEMETRY_SENT_MASK;
        PutNumber(out, code << 60 | (time & TELEMETRY_TIME_MASK) << 36 | sent << 16 | queue, 8);
    }
}

TelemetryStack
GetTelemetry(const uint8_t* shim)
{
    TelemetryStack stack;
    for (uint32_t i = 0; i < shim[0]; i++)
    {
        const uint64_t hop = GetNumber(shim + GetTelemetryBytes(i), 8);
        const uint64_t code = hop >> 60;
        stack.push_back(
            {static_cast<int64_t>(hop >> 36 & TELEMETRY_TIME_MASK) * TELEMETRY_TIME_UNIT,
             (hop >> 16 & TELEMETRY_SENT_MASK) * TELEMETRY_SENT_UNIT,
             (hop & TELEMETRY_QUEUE_MASK) * TELEMETRY_QUEUE_UNIT,
             code < TELEMETRY_RATES.size() ? TELEMETRY_RATES[code] : 0});
    }
    return stack;
}

/** Base transport header and what follows, without invariant CRC. */
void
PutTransport(WireBytes& out, const Frame& frame)
{
    const bool isData = frame.kind == FrameKind::ROCE_DATA || frame.kind == FrameKind::SWITCHML;
    const bool isCnp = frame.kind == FrameKind::ROCE_CNP;
    const uint32_t pad = isData ? -frame.payloadBytes & 3 : 0;
    PutNumber(out, isData ? frame.opcode : uint32_t{isCnp ? CNP : ACKNOWLEDGE}, 1);
    PutNumber(out, (isCnp ? 0 : BTH_MIGRATED) | pad << 4, 1);
    PutNumber(out, PARTITION_KEY, 2);
    PutNumber(out, isCnp || (!isData && frame.ecnEcho) ? BTH_BECN : 0, 1);
    PutNumber(out, frame.destinationQp, 3);
    PutNumber(out, isData && frame.ackRequest ? BTH_ACK_REQUEST : 0, 1);
    PutNumber(out, isCnp ? 0 : frame.psn, 3);
    if (frame.kind == FrameKind::SWITCHML)
    {
        PutSwitchMlMessage(out, frame);
        return;
    }
    if (isCnp)
    {
        PutNumber(out, 0, CNP_BYTES / 2);
        PutNumber(out, 0, CNP_BYTES / 2);
        return;
    }
    if (!isData)
    {
        PutNumber(out, frame.syndrome, 1);
        PutNumber(out, frame.messageNumber, 3);
        return;
    }
    if (HasReth(frame.opcode))
    {
        PutNumber(out, frame.remoteAddress, 8);
        PutNumber(out, REMOTE_KEY, 4);
        PutNumber(out, frame.messageBytes, 4);
    }
    if (IsDatagram(frame.opcode))
    {
        PutNumber(out, QUEUE_KEY, 4);
        PutNumber(out, frame.sourceQp, 4);
    }
    if (HasImmediate(frame.opcode))
    {
        PutNumber(out, frame.immediate, 4);
    }
    PutPayload(out, frame);
}

bool
IsNak(uint8_t syndrome)
{
    return syndrome >> 5 == SYNDROME_NAK_SEQUENCE >> 5;
}

void
PutRoce(WireBytes& out, const Frame& frame)
{
    WireBytes transport;
    PutTransport(transport, frame);
    const auto fixed = static_cast<uint32_t>(transport.size()) + Frame::ETHERNET_BYTES +
                       IPV4_BYTES + UDP_BYTES + ICRC_BYTES;
    // What the sender made room for beyond that.
    const uint32_t room = frame.bytes > fixed ? frame.bytes - fixed : 0;
    const uint32_t unit = GetTelemetryBytes(1) - GetTelemetryBytes(0);
    const uint32_t hops =
        frame.telemetry && room >= GetTelemetryBytes(0) ? (room - GetTelemetryBytes(0)) / unit : 0;
    const uint32_t shim = frame.telemetry ? GetTelemetryBytes(hops) : 0;
    if (frame.kind == FrameKind::ROCE_ACK && IsNak(frame.syndrome) &&
        room >= shim + SELECTIVE_BYTES)
    {
        PutNumber(transport, frame.selectivePsn, SELECTIVE_BYTES);
    }
    const auto udpBytes = static_cast<uint32_t>(UDP_BYTES + shim + transport.size() + ICRC_BYTES);

    PutUdp(out, frame, frame.telemetry ? TELEMETRY_UDP_PORT : ROCE_UDP_PORT, udpBytes);
    if (frame.telemetry)
    {
        PutTelemetry(out, *frame.telemetry, hops);
    }
    out.insert(out.end(), transport.begin(), transport.end());
    const uint32_t crc = GetInvariantCrc(out.data() + HEADER_BYTES,
                                         static_cast<uint32_t>(out.size()) - HEADER_BYTES);
    for (uint32_t i = 0; i < ICRC_BYTES; i++)
    {
        out.push_back(static_cast<uint8_t>(crc >> 8 * i));
    }
}

/** @return the number of the endpoint of a MAC address; no value if it is none's */
std::optional<uint32_t>
GetEndpoint(const uint8_t* bytes)
{
    const auto endpoint = static_cast<uint32_t>(GetNumber(bytes + 2, 4));
    Mac48Address address;
    address.CopyFrom(bytes);
    return address == GetEndpointMacAddress(endpoint) ? std::make_optional(endpoint) : std::nullopt;
}

std::string
ReadPause(const WireBytes& bytes, Frame& frame)
{
    const uint8_t* const control = bytes.data() + HEADER_BYTES;
    if (!std::equal(PAUSE_DESTINATION.begin(), PAUSE_DESTINATION.end(), bytes.begin()))
    {
        return "MAC control to another address";
    }
    if (GetNumber(control, 2) != OPCODE_PRIORITY_PAUSE)
    {
        return "MAC control that is no priority flow control";
    }
    frame.pauseClasses = control[3];
    frame.pauseQuanta = 0;
    bool any = false;
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        const auto quanta = static_cast<uint16_t>(GetNumber(control + 4 + 2 * priority, 2));
        if (frame.pauseClasses >> priority & 1)
        {
            if (any && quanta != frame.pauseQuanta)
            {
                return "a pause of different times";
            }
            any = true;
            frame.pauseQuanta = quanta;
        }
    }
    return "";
}

/** Reads from the extended transport headers on. */
std::string
ReadExtensions(const uint8_t* at, uint32_t size, uint32_t pad, Frame& frame)
{
    if (frame.kind == FrameKind::ROCE_CNP)
    {
        return size == CNP_BYTES ? "" : "a congestion notification of another size";
    }
    if (frame.kind == FrameKind::ROCE_ACK)
    {
        if (size != AETH_BYTES && size != AETH_BYTES + SELECTIVE_BYTES)
        {
            return "an acknowledgement of another size";
        }
        frame.syndrome = at[0];
        frame.messageNumber = static_cast<uint32_t>(GetNumber(at + 1, 3));
        frame.selectivePsn =
            size > AETH_BYTES ? static_cast<uint32_t>(GetNumber(at + AETH_BYTES, 4)) : 0;
        return "";
    }
    const uint32_t headers = (HasReth(frame.opcode) ? RETH_BYTES : 0) +
                             (IsDatagram(frame.opcode) ? DETH_BYTES : 0) +
                             (HasImmediate(frame.opcode) ? IMMEDIATE_BYTES : 0);
    if (size < headers + pad || (size - headers) % 4 != 0)
    {
        return "a data packet of another size";
    }
    if (HasReth(frame.opcode))
    {
        frame.remoteAddress = GetNumber(at, 8);
        frame.messageBytes = GetNumber(at + 12, 4);
        at += RETH_BYTES;
    }
    if (IsDatagram(frame.opcode))
    {
        frame.sourceQp = static_cast<uint32_t>(GetNumber(at + 5, 3));
        at += DETH_BYTES;
    }
    if (HasImmediate(frame.opcode))
    {
        frame.immediate = static_cast<uint32_t>(GetNumber(at, 4));
        at += IMMEDIATE_BYTES;
    }
    TakePayload(frame, at, size - headers - pad);
    return "";
}

/**
 * @param packet an IPv4 packet whose header is right
 * @param size its length
 * @param frame to be filled in
 * @return what is wrong, if anything
 */
std::string
ReadRoce(const uint8_t* packet, uint32_t size, Frame& frame)
{
    const uint8_t* at = packet + IPV4_BYTES;
    const bool hasTelemetry = GetNumber(at + 2, 2) == TELEMETRY_UDP_PORT;
    const std::string error = CheckUdp(at, size - IPV4_BYTES);
    if (!error.empty())
    {
        return error;
    }
    uint32_t left = size - IPV4_BYTES - UDP_BYTES;
    const uint32_t shim =
        hasTelemetry && left >= GetTelemetryBytes(0) ? GetTelemetryBytes(at[UDP_BYTES + 1]) : 0;
    if (left < shim + BTH_BYTES + ICRC_BYTES || (hasTelemetry && (shim == 0 || at[8] > at[9])))
    {
        return "too short for its headers";
    }
    const uint32_t crc = GetInvariantCrc(packet, size - ICRC_BYTES);
    const uint8_t* const sent = packet + size - ICRC_BYTES;
    if ((sent[0] | sent[1] << 8 | sent[2] << 16 | uint32_t{sent[3]} << 24) != crc)
    {
        return "wrong invariant CRC";
    }
    if (GetEndpointIpv4Address(frame.source).Get() != GetNumber(packet + 12, 4) ||
        GetEndpointIpv4Address(frame.destination).Get() != GetNumber(packet + 16, 4))
    {
        return "MAC and IPv4 addresses of different endpoints";
    }
    frame.flowHash = static_cast<uint32_t>(GetNumber(at, 2) & ENTROPY_MASK);
    at += UDP_BYTES;
    if (hasTelemetry)
    {
        frame.telemetry = std::make_unique<TelemetryStack>(GetTelemetry(at));
    }
    at += shim;
    left -= shim + BTH_BYTES + ICRC_BYTES;

    frame.opcode = at[0];
    const bool isSum = HasUnreliableReth(frame.opcode) || HasUnreliableImmediate(frame.opcode) ||
                       frame.opcode == UC_WRITE_MIDDLE;
    const bool isData = frame.opcode <= WRITE_ONLY_IMMEDIATE || IsDatagram(frame.opcode);
    if (!isSum && !isData && frame.opcode != ACKNOWLEDGE && frame.opcode != CNP)
    {
        return "unknown opcode " + std::to_string(frame.opcode);
    }
    frame.kind = isData                ? FrameKind::ROCE_DATA
                 : frame.opcode == CNP ? FrameKind::ROCE_CNP
                                       : FrameKind::ROCE_ACK;
    frame.ecnEcho = frame.kind == FrameKind::ROCE_ACK && at[4] & BTH_BECN;
    frame.destinationQp = static_cast<uint32_t>(GetNumber(at + 5, 3));
    frame.ackRequest = at[8] & BTH_ACK_REQUEST;
    frame.psn = static_cast<uint32_t>(GetNumber(at + 9, 3));
    if (isSum)
    {
        frame.kind = FrameKind::SWITCHML;
        return ReadSwitchMlMessage(at + BTH_BYTES, left, frame);
    }
    return ReadExtensions(at + BTH_BYTES, left, at[1] >> 4 & 3, frame);
}

std::string
ReadIpv4(const WireBytes& bytes, Frame& frame)
{
    const uint8_t* const packet = bytes.data() + HEADER_BYTES;
    const uint32_t headerBytes = (packet[0] & 0xf) * 4;
    const auto size = static_cast<uint32_t>(GetNumber(packet + 2, 2));
    if (packet[0] >> 4 != 4 || headerBytes < IPV4_BYTES || size < headerBytes ||
        size > bytes.size() - HEADER_BYTES)
    {
        return "wrong lengths in the IPv4 header";
    }
    if (SumIpv4(packet, headerBytes) != 0)
    {
        return "wrong IPv4 checksum";
    }
    const uint8_t ecn = packet[1] & 3;
    frame.ecn = ecn == 3 ? Ecn::CE : ecn ? Ecn::ECT : Ecn::NOT_ECT;
    frame.priority = packet[1] >> 2 >> DSCP_BITS_BELOW_PRIORITY;
    const auto source = GetEndpoint(bytes.data() + 6);
    const auto destination = GetEndpoint(bytes.data());
    if (!source || !destination)
    {
        return "a MAC address of no endpoint";
    }
    frame.source = *source;
    frame.destination = *destination;
    if (GetNumber(bytes.data() + HEADER_BYTES - 2, 2) == ETHERTYPE_ATP)
    {
        return headerBytes == IPV4_BYTES ? ReadAtp(packet + IPV4_BYTES, size - IPV4_BYTES, frame)
                                         : "wrong lengths in the IPv4 header";
    }
    frame.protocol = ETHERTYPE_IPV4;
    const uint8_t* const udp = packet + headerBytes;
    const uint64_t port =
        packet[9] == IPV4_UDP && headerBytes == IPV4_BYTES && size >= IPV4_BYTES + UDP_BYTES
            ? GetNumber(udp + 2, 2)
            : 0;
    if (port == ROCE_UDP_PORT || port == TELEMETRY_UDP_PORT)
    {
        return ReadRoce(packet, size, frame);
    }
    if ((port & SWITCHML_UDP_PORT_MASK) == SWITCHML_UDP_PORT)
    {
        return ReadSwitchMl(udp, size - IPV4_BYTES, frame);
    }
    if (port == SWITCH_PS_UDP_PORT)
    {
        return ReadSwitchPs(udp, size - IPV4_BYTES, frame);
    }
    if (port == TREE_UDP_PORT)
    {
        return ReadTree(udp, size - IPV4_BYTES, frame);
    }
    frame.kind = FrameKind::IP;
    uint32_t ports = 0; // as HostDevice reads them
    std::copy(packet + IPV4_BYTES,
              packet + std::min<uint32_t>(size, IPV4_BYTES + sizeof(ports)),
              reinterpret_cast<uint8_t*>(&ports));
    frame.flowHash = HashFlow(frame.source, frame.destination, ports);
    frame.packet = Create<Packet>(packet, size);
    return "";
}

} // namespace

uint32_t
GetInvariantCrc(const uint8_t* packet, uint32_t bytes)
{
    constexpr uint32_t LINK_BYTES = 8; // ones in place of InfiniBand's link header
    const uint8_t* const udp = packet + IPV4_BYTES;
    const uint32_t shim =
        GetNumber(udp + 2, 2) == TELEMETRY_UDP_PORT ? GetTelemetryBytes(udp[UDP_BYTES + 1]) : 0;
    WireBytes covered(LINK_BYTES, 0xff);
    covered.insert(covered.end(), packet, udp + UDP_BYTES);
    covered.insert(covered.end(), udp + UDP_BYTES + shim, packet + bytes);
    uint8_t* const ipv4 = covered.data() + LINK_BYTES;
    ipv4[1] = 0xff;                                     // type of service
    ipv4[8] = 0xff;                                     // time to live
    ipv4[10] = ipv4[11] = 0xff;                         // checksum
    ipv4[IPV4_BYTES + 6] = ipv4[IPV4_BYTES + 7] = 0xff; // checksum of UDP
    ipv4[IPV4_BYTES + UDP_BYTES + 4] = 0xff;            // FECN, BECN and reserved bits
    return CRC32Calculate(covered.data(), static_cast<int>(covered.size()));
}

Ptr<Packet>
ToPacket(const Frame& frame)
{
    WireBytes out;
    out.reserve(frame.bytes);
    switch (frame.kind)
    {
    case FrameKind::PAUSE:
        PutPause(out, frame);
        break;
    case FrameKind::IP:
        PutIp(out, frame);
        break;
    case FrameKind::SWITCHML:
        frame.opcode > 0 ? PutRoce(out, frame) : PutSwitchMl(out, frame);
        break;
    case FrameKind::SWITCH_PS:
        PutSwitchPs(out, frame);
        break;
    case FrameKind::ATP:
        PutAtp(out, frame);
        break;
    case FrameKind::TREE:
        PutTree(out, frame);
        break;
    default:
        PutRoce(out, frame);
    }
    NS_ABORT_MSG_IF(out.size() + FCS_BYTES > frame.bytes,
                    "a frame of " << frame.bytes << " bytes has contents of "
                                  << out.size() + FCS_BYTES);
    out.resize(frame.bytes - FCS_BYTES); // Ethernet's padding
    return Create<Packet>(out.data(), static_cast<uint32_t>(out.size()));
}

ParsedFrame
FromPacket(const Packet& packet)
{
    WireBytes bytes(packet.GetSize());
    packet.CopyData(bytes.data(), packet.GetSize());
    if (bytes.size() + FCS_BYTES < Frame::MINIMUM_BYTES)
    {
        return {nullptr, "shorter than an Ethernet frame"};
    }
    const uint64_t etherType = GetNumber(bytes.data() + HEADER_BYTES - 2, 2);
    Frame* frame = Frame::Allocate(FrameKind::PAUSE);
    frame->bytes = packet.GetSize() + FCS_BYTES;
    const std::string error = etherType == ETHERTYPE_MAC_CONTROL ? ReadPause(bytes, *frame)
                              : etherType == ETHERTYPE_IPV4 || etherType == ETHERTYPE_ATP
                                  ? ReadIpv4(bytes, *frame)
                                  : "unknown EtherType";
    if (!error.empty())
    {
        Frame::Free(frame);
        return {nullptr, error};
    }
    return {frame, ""};
}

} // namespace ns3::training
