/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "roce-wire-format.h"

#include "fabric/endpoint-address.h"

#include "ns3/fabric-wire-format.h"

#include <algorithm>
#include <array>
#include <memory>
#include <zlib.h>

namespace ns3::training
{

namespace
{

constexpr uint32_t BTH_BYTES = 12;
constexpr uint32_t ICRC_BYTES = 4;

// Constants for wire fields that a Frame does not store.
constexpr uint16_t PARTITION_KEY = 0xffff;
constexpr uint8_t BTH_MIGRATED = 0x40;
constexpr uint8_t BTH_BECN = 0x40;
constexpr uint8_t BTH_ACK_REQUEST = 0x80;
constexpr uint32_t REMOTE_KEY = 0x00000001;
constexpr uint32_t QUEUE_KEY = 0x01234567; // RDMA_UDP_QKEY of librdmacm

// Telemetry of a hop in 64 bits (HPCC, section 4.1): rate, time, bytes sent, queue length.
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
             code < TELEMETRY_RATES.size() ? TELEMETRY_RATES[code] : 0,
             0});
    }
    return stack;
}

void
PutBaseTransportHeader(WireBytes& out, const Frame& frame, uint8_t opcode, bool isData)
{
    const bool isCnp = opcode == CNP;
    const uint32_t pad = isData ? -frame.payloadBytes & 3 : 0;
    PutNumber(out, opcode, 1);
    PutNumber(out, (isCnp ? 0 : BTH_MIGRATED) | pad << 4, 1);
    PutNumber(out, PARTITION_KEY, 2);
    PutNumber(out, isCnp || (!isData && frame.ecnEcho) ? BTH_BECN : 0, 1);
    PutNumber(out, frame.destinationQp, 3);
    PutNumber(out, isData && frame.ackRequest ? BTH_ACK_REQUEST : 0, 1);
    PutNumber(out, isCnp ? 0 : frame.psn, 3);
}

/** Appends the extended transport headers and the payload. */
void
PutExtensions(WireBytes& out, const Frame& frame)
{
    if (frame.kind == FrameKind::ROCE_CNP)
    {
        PutNumber(out, 0, CNP_BYTES / 2);
        PutNumber(out, 0, CNP_BYTES / 2);
        return;
    }
    if (frame.kind == FrameKind::ROCE_ACK)
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

/**
 * Appends a whole packet.
 * @param out output buffer
 * @param frame source of the other headers
 * @param transport bytes from the base transport header to the payload
 */
void
PutPacket(WireBytes& out, const Frame& frame, WireBytes transport)
{
    const auto fixed = static_cast<uint32_t>(transport.size()) + Frame::ETHERNET_BYTES +
                       IPV4_BYTES + UDP_BYTES + ICRC_BYTES;
    // Padding that the sender added beyond the minimum.
    const uint32_t room = frame.bytes > fixed ? frame.bytes - fixed : 0;
    const uint32_t unit = GetTelemetryBytes(1) - GetTelemetryBytes(0);
    const uint32_t hops = frame.hasTelemetry && room >= GetTelemetryBytes(0)
                              ? (room - GetTelemetryBytes(0)) / unit
                              : 0;
    const uint32_t shim = frame.hasTelemetry ? GetTelemetryBytes(hops) : 0;
    if (frame.kind == FrameKind::ROCE_ACK && room >= shim + SELECTIVE_BYTES)
    {
        PutNumber(transport, frame.selectivePsn, SELECTIVE_BYTES);
    }
    const auto udpBytes = static_cast<uint32_t>(UDP_BYTES + shim + transport.size() + ICRC_BYTES);

    PutUdp(out, frame, frame.hasTelemetry ? TELEMETRY_UDP_PORT : ROCE_UDP_PORT, udpBytes);
    if (frame.hasTelemetry)
    {
        PutTelemetry(out, *frame.GetTelemetry(), hops);
    }
    out.insert(out.end(), transport.begin(), transport.end());
    const uint32_t crc = GetInvariantCrc(out.data() + HEADER_BYTES,
                                         static_cast<uint32_t>(out.size()) - HEADER_BYTES);
    for (uint32_t i = 0; i < ICRC_BYTES; i++)
    {
        out.push_back(static_cast<uint8_t>(crc >> 8 * i));
    }
}

void
PutRoce(WireBytes& out, const Frame& frame)
{
    const bool isData = frame.kind == FrameKind::ROCE_DATA;
    const uint8_t control = frame.kind == FrameKind::ROCE_CNP ? CNP : ACKNOWLEDGE;
    WireBytes transport;
    transport.reserve(frame.bytes);
    PutBaseTransportHeader(transport, frame, isData ? frame.opcode : control, isData);
    PutExtensions(transport, frame);
    PutPacket(out, frame, std::move(transport));
}

/** Parses the packet from the extended transport headers on. */
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

std::string
ReadRoce(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    const RoceContents contents = ReadRoceHeaders(udp, bytes, frame);
    if (!contents.error.empty())
    {
        return contents.error;
    }
    const bool isData = frame.opcode <= WRITE_ONLY_IMMEDIATE || IsDatagram(frame.opcode);
    if (!isData && frame.opcode != ACKNOWLEDGE && frame.opcode != CNP)
    {
        return "unknown opcode " + std::to_string(frame.opcode);
    }
    frame.kind = isData                ? FrameKind::ROCE_DATA
                 : frame.opcode == CNP ? FrameKind::ROCE_CNP
                                       : FrameKind::ROCE_ACK;
    frame.ecnEcho = frame.kind == FrameKind::ROCE_ACK && contents.isMarked;
    return ReadExtensions(contents.at, contents.bytes, contents.pad, frame);
}

const WireFormat::Entry g_roce({"RoCEv2",
                                ROCE_PROTOCOL,
                                nullptr,
                                &PutRoce,
                                {WireFormat::Udp(ROCE_UDP_PORT, &ReadRoce),
                                 WireFormat::Udp(TELEMETRY_UDP_PORT, &ReadRoce)}});

} // namespace

uint32_t
GetInvariantCrc(const uint8_t* packet, uint32_t bytes)
{
    constexpr uint32_t LINK_BYTES = 8; // all ones, in place of InfiniBand's link header (LRH)
    const uint8_t* const udp = packet + IPV4_BYTES;
    const uint32_t shim =
        GetNumber(udp + 2, 2) == TELEMETRY_UDP_PORT ? GetTelemetryBytes(udp[UDP_BYTES + 1]) : 0;
    const uint8_t* const transport = udp + UDP_BYTES + shim;
    std::array<uint8_t, LINK_BYTES + IPV4_BYTES + UDP_BYTES + BTH_BYTES> headers;
    std::fill_n(headers.begin(), LINK_BYTES, 0xff);
    uint8_t* const ipv4 = headers.data() + LINK_BYTES;
    std::copy(packet, udp + UDP_BYTES, ipv4);
    std::copy(transport, transport + BTH_BYTES, ipv4 + IPV4_BYTES + UDP_BYTES);
    ipv4[1] = 0xff;                                     // type of service
    ipv4[8] = 0xff;                                     // time to live
    ipv4[10] = ipv4[11] = 0xff;                         // checksum
    ipv4[IPV4_BYTES + 6] = ipv4[IPV4_BYTES + 7] = 0xff; // checksum of UDP
    ipv4[IPV4_BYTES + UDP_BYTES + 4] = 0xff;            // FECN, BECN and reserved bits
    // zlib computes the CRC of Ethernet faster than ns-3, which takes one byte at a time.
    const uLong crc = crc32(0, headers.data(), static_cast<uInt>(headers.size()));
    const uint8_t* const rest = transport + BTH_BYTES;
    return static_cast<uint32_t>(crc32(crc, rest, static_cast<uInt>(packet + bytes - rest)));
}

void
PutRoceData(WireBytes& out,
            const Frame& frame,
            void (*putExtensions)(WireBytes& out, const Frame& frame))
{
    WireBytes transport;
    PutBaseTransportHeader(transport, frame, frame.opcode, true);
    putExtensions(transport, frame);
    PutPacket(out, frame, std::move(transport));
}

RoceContents
ReadRoceHeaders(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    RoceContents contents;
    const bool hasTelemetry = GetNumber(udp + 2, 2) == TELEMETRY_UDP_PORT;
    contents.error = CheckUdp(udp, bytes);
    if (!contents.error.empty())
    {
        return contents;
    }
    const uint32_t left = bytes - UDP_BYTES;
    const uint32_t shim =
        hasTelemetry && left >= GetTelemetryBytes(0) ? GetTelemetryBytes(udp[UDP_BYTES + 1]) : 0;
    if (left < shim + BTH_BYTES + ICRC_BYTES || (hasTelemetry && (shim == 0 || udp[8] > udp[9])))
    {
        contents.error = "too short for its headers";
        return contents;
    }
    const uint8_t* const packet = udp - IPV4_BYTES;
    const uint32_t crc = GetInvariantCrc(packet, IPV4_BYTES + bytes - ICRC_BYTES);
    const uint8_t* const sent = udp + bytes - ICRC_BYTES;
    if ((sent[0] | sent[1] << 8 | sent[2] << 16 | uint32_t{sent[3]} << 24) != crc)
    {
        contents.error = "wrong invariant CRC";
        return contents;
    }
    if (GetEndpointIpv4Address(frame.source).Get() != GetNumber(packet + 12, 4) ||
        GetEndpointIpv4Address(frame.destination).Get() != GetNumber(packet + 16, 4))
    {
        contents.error = "MAC and IPv4 addresses of different endpoints";
        return contents;
    }
    frame.flowHash = static_cast<uint32_t>(GetNumber(udp, 2) & ENTROPY_MASK);
    if (hasTelemetry)
    {
        frame.SetTelemetry(std::make_unique<TelemetryStack>(GetTelemetry(udp + UDP_BYTES)));
    }
    const uint8_t* const at = udp + UDP_BYTES + shim;
    frame.opcode = at[0];
    frame.destinationQp = static_cast<uint32_t>(GetNumber(at + 5, 3));
    frame.ackRequest = at[8] & BTH_ACK_REQUEST;
    frame.psn = static_cast<uint32_t>(GetNumber(at + 9, 3));
    contents.at = at + BTH_BYTES;
    contents.bytes = left - shim - BTH_BYTES - ICRC_BYTES;
    contents.pad = at[1] >> 4 & 3;
    contents.isMarked = at[4] & BTH_BECN;
    return contents;
}

} // namespace ns3::training
