/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-wire-format.h"

#include "fabric/coded-payload.h"

#include "ns3/fabric-wire-format.h"

#include <algorithm>
#include <array>

namespace ns3::training
{

namespace
{

/** Type and subtype of a packet in the PDS, in the order of UecType. */
struct PdsType
{
    uint8_t type;
    uint8_t subtype; ///< next header; of a control packet, its type
};

constexpr uint8_t PDS_RUD_CC_REQUEST = 13; // a request with congestion control state
constexpr uint8_t PDS_CONTROL = 11;
constexpr std::array<PdsType, 5> PDS_TYPES{{
    {2, 3},           // RUD_REQ, standard request header
    {8, 0},           // ACK_CC, no response header
    {10, 0},          // NACK
    {PDS_CONTROL, 7}, // CREDIT
    {PDS_CONTROL, 8}, // REQ_CREDIT
}};

// Flags in the PDS. The last one is reserved there: a switch reports a trim at the last hop by a
// code point of its own (DSCP), and the codes here carry the traffic class.
constexpr uint8_t PDS_ACK_REQUEST = 1 << 3;
constexpr uint8_t PDS_RETRANSMITTED = 1 << 4;
constexpr uint8_t PDS_MARKED = 1 << 5;
constexpr uint8_t PDS_LAST_HOP = 1 << 0;

// Codes of a NACK.
constexpr uint8_t NACK_TRIMMED = 1;
constexpr uint8_t NACK_TRIMMED_LAST_HOP = 2;

// Header of the SES.
constexpr uint8_t SES_TAGGED_SEND = 9;
constexpr uint8_t SES_FIRST = 1 << 0;
constexpr uint8_t SES_LAST = 1 << 1;
constexpr uint32_t SES_PAYLOAD_BITS = 14; // size of the payload, before the offset

constexpr uint32_t QUANTA_MASK = (1 << UEC_QUANTA_BITS) - 1;

bool
HasState(const UecHeader& header)
{
    return header.flags & UEC_CREDIT;
}

/** Appends a difference of sequence numbers. */
void
PutOffset(WireBytes& out, uint32_t psn, uint32_t from)
{
    PutNumber(out, (psn - from) & 0xffff, 2);
}

uint32_t
GetOffset(const uint8_t* at, uint32_t from)
{
    return from + static_cast<uint32_t>(static_cast<int16_t>(GetNumber(at, 2)));
}

/** Appends a connection number: 8 bits as source and 16 bits as destination context (PDC). */
void
PutConnection(WireBytes& out, const Frame& frame)
{
    PutNumber(out, frame.destinationQp >> 16, 2);
    PutNumber(out, frame.destinationQp & 0xffff, 2);
}

void
PutSemantic(WireBytes& out, const Frame& frame, const UecHeader& header)
{
    const bool first = header.flags & UEC_FIRST;
    const bool last = header.flags & UEC_LAST;
    const UecHeader::Request& request = header.request;
    PutNumber(out, SES_TAGGED_SEND, 1);
    PutNumber(out, (first ? SES_FIRST : 0) | (last ? SES_LAST : 0), 1);
    PutNumber(out, header.message, 2);
    PutNumber(out, 0, 8); // generation, job, process and resource index: not simulated
    PutNumber(out, 0, 8); // buffer offset
    PutNumber(out, frame.source, 4);
    PutNumber(out, request.tag, 8);
    PutNumber(out, first ? request.data : uint64_t{request.payload} << 32 | request.offset, 8);
    PutNumber(out, request.bytes, 4);
    out.insert(out.end(), frame.payloadBytes, 0);
    if (frame.payload)
    {
        const uint8_t* const from = frame.payload->bytes.data() + frame.payloadOffset;
        std::copy(from, from + frame.payloadBytes, out.end() - frame.payloadBytes);
    }
}

void
PutUec(WireBytes& out, const Frame& frame)
{
    if (static_cast<UecProtocol>(frame.opcode) != UecProtocol::UET)
    {
        PutMrc(out, frame);
        return;
    }
    const auto& header = frame.As<UecHeader>();
    const bool isTrimmed = header.flags & UEC_TRIMMED;
    const bool isRequest = header.type == UecType::REQUEST;
    const uint32_t bytes = isRequest ? UEC_REQUEST_BYTES +
                                           (HasState(header) ? UEC_REQUEST_STATE_BYTES : 0) +
                                           (isTrimmed ? 0 : UEC_SEMANTIC_BYTES + frame.payloadBytes)
                           : header.type == UecType::ACK ? UEC_ACK_BYTES
                                                         : UEC_CONTROL_BYTES;
    PutUdp(out, frame, UEC_UDP_PORT, UDP_BYTES + bytes);
    const PdsType pds = PDS_TYPES.at(static_cast<std::size_t>(header.type));
    const uint8_t type = isRequest && HasState(header) ? PDS_RUD_CC_REQUEST : pds.type;
    const uint8_t flags = (header.flags & UEC_ACK_REQUEST ? PDS_ACK_REQUEST : 0) |
                          (header.flags & UEC_RETRANSMITTED ? PDS_RETRANSMITTED : 0) |
                          (header.flags & UEC_MARKED ? PDS_MARKED : 0) |
                          (header.flags & UEC_LAST_HOP ? PDS_LAST_HOP : 0);
    PutNumber(out, type << 11 | pds.subtype << 7 | flags, 2);
    switch (header.type)
    {
    case UecType::REQUEST:
        PutNumber(out, 0, 2); // all responses are cleared
        PutNumber(out, header.psn, 4);
        PutConnection(out, frame);
        if (HasState(header))
        {
            PutNumber(out, header.credit & QUANTA_MASK, UEC_REQUEST_STATE_BYTES);
        }
        if (!isTrimmed)
        {
            PutSemantic(out, frame, header);
        }
        break;
    case UecType::ACK:
        PutOffset(out, header.ack.cause, header.psn);
        PutNumber(out, header.psn, 4);
        PutConnection(out, frame);
        PutNumber(out, 0, 2); // type of the state: NSCC; no limit on the range of packets
        PutOffset(out, header.ack.base, header.psn);
        PutNumber(out, header.ack.bitmap, 8);
        PutNumber(out, 0, 3); // service time, penalty on the window
        PutNumber(out, header.ack.received & QUANTA_MASK, 3);
        PutNumber(out, header.outOfOrder, 2);
        break;
    case UecType::NACK:
        PutNumber(out, header.flags & UEC_LAST_HOP ? NACK_TRIMMED_LAST_HOP : NACK_TRIMMED, 1);
        PutNumber(out, 0, 1); // vendor code
        PutNumber(out, header.psn, 4);
        PutConnection(out, frame);
        PutNumber(out, 0, 4);
        break;
    case UecType::CREDIT:
    case UecType::CREDIT_REQUEST:
        PutNumber(out, 0, 2);
        PutNumber(out, header.psn, 4);
        PutConnection(out, frame);
        PutNumber(out, header.credit & QUANTA_MASK, 4);
        break;
    case UecType::PROBE:
    case UecType::PORT_STATUS:
        break; // of MRC
    }
}

std::string
ReadSemantic(const uint8_t* at, uint32_t bytes, UecHeader& header, Frame& frame)
{
    UecHeader::Request& request = header.request;
    if (at[0] != SES_TAGGED_SEND)
    {
        return "unknown operation " + std::to_string(at[0]);
    }
    const bool first = at[1] & SES_FIRST;
    header.flags |= (first ? UEC_FIRST : 0) | (at[1] & SES_LAST ? UEC_LAST : 0);
    header.message = static_cast<uint16_t>(GetNumber(at + 2, 2));
    request.tag = GetNumber(at + 24, 8);
    const uint64_t data = GetNumber(at + 32, 8);
    request.data = first ? data : 0;
    request.offset = first ? 0 : static_cast<uint32_t>(data);
    request.bytes = static_cast<uint32_t>(GetNumber(at + 40, 4));
    const uint32_t payload = bytes - UEC_SEMANTIC_BYTES;
    request.payload = IsCoded(frame) ? GetPlainBytes(frame) : payload;
    if (!first && data >> 32 != request.payload)
    {
        return "a payload of another size";
    }
    static_assert(UEC_MAX_MESSAGE < uint64_t{1} << (32 + SES_PAYLOAD_BITS), "fits");
    TakePayload(frame, at + UEC_SEMANTIC_BYTES, payload);
    return "";
}

std::string
ReadRequest(const uint8_t* at, uint32_t bytes, UecHeader& header, Frame& frame)
{
    const uint32_t state = HasState(header) ? UEC_REQUEST_STATE_BYTES : 0;
    if (bytes < UEC_REQUEST_BYTES + state)
    {
        return "too short for its headers";
    }
    if (state > 0)
    {
        header.credit = static_cast<uint32_t>(GetNumber(at + UEC_REQUEST_BYTES, state));
    }
    const uint32_t left = bytes - UEC_REQUEST_BYTES - state;
    if (left == 0)
    {
        header.flags |= UEC_TRIMMED;
        return "";
    }
    return left < UEC_SEMANTIC_BYTES
               ? "too short for its headers"
               : ReadSemantic(at + UEC_REQUEST_BYTES + state, left, header, frame);
}

std::string
ReadUec(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    const std::string error = CheckUdp(udp, bytes);
    const uint8_t* const at = udp + UDP_BYTES;
    const uint32_t left = bytes - UDP_BYTES;
    if (!error.empty() || left < UEC_REQUEST_BYTES)
    {
        return error.empty() ? "too short for its headers" : error;
    }
    const auto prologue = static_cast<uint16_t>(GetNumber(at, 2));
    const auto subtype = static_cast<uint8_t>(prologue >> 7 & 0xf);
    uint8_t type = prologue >> 11;
    UecHeader header;
    if (type == PDS_RUD_CC_REQUEST)
    {
        type = PDS_TYPES[0].type;
        header.flags |= UEC_CREDIT;
    }
    const auto* const known =
        std::find_if(PDS_TYPES.begin(), PDS_TYPES.end(), [=](const PdsType& pds) {
            return pds.type == type && pds.subtype == subtype;
        });
    if (known == PDS_TYPES.end())
    {
        return "unknown type " + std::to_string(type);
    }
    header.type = static_cast<UecType>(known - PDS_TYPES.begin());
    header.flags |= (prologue & PDS_ACK_REQUEST ? UEC_ACK_REQUEST : 0) |
                    (prologue & PDS_RETRANSMITTED ? UEC_RETRANSMITTED : 0) |
                    (prologue & PDS_MARKED ? UEC_MARKED : 0) |
                    (prologue & PDS_LAST_HOP ? UEC_LAST_HOP : 0);
    header.psn = static_cast<uint32_t>(GetNumber(at + 4, 4));
    header.entropy = static_cast<uint16_t>(GetNumber(udp, 2) & ENTROPY_MASK);
    frame.flowHash = header.entropy;
    frame.destinationQp = static_cast<uint32_t>(GetNumber(at + 8, 4));
    std::string problem;
    if (header.type == UecType::REQUEST)
    {
        problem = ReadRequest(at, left, header, frame);
    }
    else if (left != (header.type == UecType::ACK ? UEC_ACK_BYTES : UEC_CONTROL_BYTES))
    {
        problem = "a control packet of another size";
    }
    else if (header.type == UecType::ACK)
    {
        header.ack = {};
        header.ack.cause = GetOffset(at + 2, header.psn);
        header.ack.base = GetOffset(at + 14, header.psn);
        header.ack.bitmap = GetNumber(at + 16, 8);
        header.ack.received = static_cast<uint32_t>(GetNumber(at + 27, 3));
        header.outOfOrder = static_cast<uint16_t>(GetNumber(at + 30, 2));
    }
    else if (header.type != UecType::NACK)
    {
        header.credit = static_cast<uint32_t>(GetNumber(at + 12, 4));
    }
    frame.Set(header);
    return problem;
}

/** Cuts a request to its header. */
bool
TrimUec(Frame& frame, bool isLastHop)
{
    auto& header = frame.As<UecHeader>();
    const auto protocol = static_cast<UecProtocol>(frame.opcode);
    const uint32_t bytes =
        protocol == UecProtocol::UET ? UEC_TRIMMED_BYTES : GetUecBytes(protocol, header.type);
    if (header.type != UecType::REQUEST || frame.bytes <= bytes)
    {
        return false;
    }
    header.flags |= UEC_TRIMMED | (isLastHop ? UEC_LAST_HOP : 0);
    frame.bytes = bytes;
    frame.identification = 0; // no code is left
    frame.payloadBytes = 0;
    frame.payload = nullptr;
    return true;
}

/** All packets of a port go to its NIC. */
uint32_t
GetKey(const Frame&)
{
    return 0;
}

const WireFormat::Entry g_uec({"UET",
                               UecHeader::PROTOCOL,
                               &GetKey,
                               &PutUec,
                               {WireFormat::Udp(UEC_UDP_PORT, &ReadUec)},
                               &TrimUec});

} // namespace

uint32_t
GetUecFrameBytes(uint32_t payload, bool carriesCredit)
{
    return GetUecBytes(UecProtocol::UET, UecType::REQUEST) +
           (carriesCredit ? UEC_REQUEST_STATE_BYTES : 0) + payload;
}

uint32_t
GetUecBytes(UecProtocol protocol, UecType type)
{
    if (protocol == UecProtocol::UET)
    {
        const uint32_t bytes = type == UecType::REQUEST ? UEC_REQUEST_BYTES + UEC_SEMANTIC_BYTES
                               : type == UecType::ACK   ? UEC_ACK_BYTES
                                                        : UEC_CONTROL_BYTES;
        return std::max(Frame::ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + bytes, Frame::MIN_BYTES);
    }
    const uint32_t bytes = type == UecType::REQUEST ? MRC_WRITE_BYTES
                           : type == UecType::ACK   ? MRC_SACK_BYTES
                           : type == UecType::NACK  ? MRC_NACK_BYTES
                                                    : MRC_PROBE_BYTES;
    return Frame::ETHERNET_BYTES + (protocol == UecProtocol::MRC_ROUTED ? 2 : 1) * IPV6_BYTES +
           UDP_BYTES + MRC_BASE_BYTES + bytes + MRC_CRC_BYTES;
}

} // namespace ns3::training
