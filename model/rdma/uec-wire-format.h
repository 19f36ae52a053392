/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_UEC_WIRE_FORMAT_H

#include "ns3/fabric-frame.h"
#include "ns3/wire-bytes.h"

#include <cstdint>

/**
 * @file
 * @ingroup distributed-training-rdma
 * The wire format of Ultra Ethernet Transport (UET): the headers of the packet delivery sublayer
 * (PDS) and the semantic sublayer (SES) over UDP, as in Ultra Ethernet specification 1.0 and in the
 * Linux patches of include/uapi/linux/ultraeth.h. A full packet is 102 bytes longer than its
 * payload, 122 with preamble and gap.
 */
namespace ns3::training
{

/// UDP destination port of UET (IANA).
static constexpr uint16_t UEC_UDP_PORT = 4793;
/// Header of a request in the PDS, bytes.
static constexpr uint32_t UEC_REQUEST_BYTES = 12;
/// Congestion control state of a request (RUD_CC_REQ): the credit that the sender needs, bytes.
static constexpr uint32_t UEC_REQUEST_STATE_BYTES = 4;
/// Standard header of a request in the SES, bytes.
static constexpr uint32_t UEC_SEMANTIC_BYTES = 44;
/// Header of an acknowledgement with congestion control state (ACK_CC), bytes.
static constexpr uint32_t UEC_ACK_BYTES = 32;
/// Header of a NACK or a control packet, bytes.
static constexpr uint32_t UEC_CONTROL_BYTES = 16;
/// Size of a trimmed frame: the headers up to the PDS, bytes.
static constexpr uint32_t UEC_TRIMMED_BYTES = Frame::MIN_BYTES;
/// Unit of credits and of received bytes in an acknowledgement, bytes.
static constexpr uint32_t UEC_QUANTUM = 256;
/// Packets that an acknowledgement's bitmap covers.
static constexpr uint32_t UEC_BITMAP_PACKETS = 64;
/// Maximum message size, bytes. UET allows 2^32 - 1.
static constexpr uint64_t UEC_MAX_MESSAGE = uint64_t{1} << 30;
/// Maximum number of entropy values.
static constexpr uint32_t UEC_MAX_PATHS = 1 << 14;

/** Type of a packet: type in the PDS, and type of control packet. */
enum class UecType : uint8_t
{
    REQUEST,        ///< RUD_REQ or RUD_CC_REQ: part of a message
    ACK,            ///< ACK_CC: cumulative and selective acknowledgement
    NACK,           ///< NACK of a trimmed packet
    CREDIT,         ///< control packet CREDIT: grants credit (a "pull")
    CREDIT_REQUEST, ///< control packet REQ_CREDIT: asks for credit
    PROBE,          ///< of MRC: reliability probe, answered by an ACK
    PORT_STATUS     ///< of MRC: which ports of a host are down
};

/** Flags of UecHeader. */
enum UecFlag : uint8_t
{
    UEC_ACK_REQUEST = 1,   ///< request: to be acknowledged at once
    UEC_RETRANSMITTED = 2, ///< request: sent before; ACK: of such a request
    UEC_MARKED = 4,        ///< ACK, NACK: the request was ECN-marked
    UEC_TRIMMED = 8,       ///< request: cut to its header
    UEC_LAST_HOP = 16,     ///< trimmed request, NACK: trimmed at the link to its destination
    UEC_FIRST = 32,        ///< request: first packet of its message
    UEC_PROBED = 32,       ///< ACK: answers a probe
    UEC_LAST = 64,         ///< request: last packet of its message
    UEC_CREDIT = 128       ///< request: carries the credit that the sender needs
};

/** Header fields of a frame of UET, beside the fields that all frames have. */
struct UecHeader
{
    static constexpr uint16_t PROTOCOL = 6; ///< Frame::protocol

    UecType type{UecType::REQUEST}; ///< type of packet
    uint8_t flags{0};               ///< set of UecFlag
    uint16_t entropy{0};            ///< entropy value, 14 bits; ACK, NACK: that of the request
    /// Request, NACK: packet sequence number. ACK: the next one expected, so all before have
    /// arrived.
    uint32_t psn{0};
    /// Request: credit that the sender needs; credit: credit granted so far. Sums over the life of
    /// a connection, in quanta, 24 bits.
    uint32_t credit{0};
    uint16_t message{0};    ///< request: number of its message
    uint16_t outOfOrder{0}; ///< ACK: packets received ahead of a gap

    /** Fields of a request. */
    struct Request
    {
        uint64_t tag;     ///< match bits
        uint64_t data;    ///< header data; on the wire only in the first packet of a message
        uint32_t bytes;   ///< size of the message
        uint32_t offset;  ///< offset of this packet in the message, bytes
        uint32_t payload; ///< bytes of payload before trimming
    };

    /** Fields of an acknowledgement. */
    struct Ack
    {
        uint64_t bitmap;   ///< bit i: packet `base` + i has arrived
        uint32_t base;     ///< first packet of the bitmap
        uint32_t cause;    ///< packet that caused the acknowledgement
        uint32_t received; ///< bytes received over the life of a connection, in quanta, 24 bits
    };

    union {
        Request request{}; ///< of a request
        Ack ack;           ///< of an acknowledgement
    };
};

/**
 * @param payload payload of a request, bytes
 * @param carriesCredit whether it carries the credit that the sender needs
 * @return size of its frame, bytes
 */
uint32_t GetUecFrameBytes(uint32_t payload, bool carriesCredit);

/**
 * The protocols that frames with a UecHeader may have: Ultra Ethernet Transport, or Multipath
 * Reliable Connection (MRC), which has a wire format of its own. Frame::opcode holds it.
 */
enum class UecProtocol : uint8_t
{
    UET,        ///< Ultra Ethernet Transport over IPv4
    MRC,        ///< MRC over IPv6
    MRC_ROUTED, ///< MRC over IPv6 in IPv6, whose outer destination is the route (SRv6)
};

/// Base transport header of a packet of MRC, bytes.
static constexpr uint32_t MRC_BASE_BYTES = 12;
/// Headers of a write of MRC behind the base: METH and RETH, bytes.
static constexpr uint32_t MRC_WRITE_BYTES = 4 + 16;
/// Selective acknowledgement (SETH) with the state of congestion control, bytes.
static constexpr uint32_t MRC_SACK_BYTES = 28 + 8;
/// Negative acknowledgement (NETH), bytes.
static constexpr uint32_t MRC_NACK_BYTES = 20;
/// Reliability probe (PETH), and port status update (ERTH), bytes.
static constexpr uint32_t MRC_PROBE_BYTES = 16;
/// Invariant CRC of a packet of MRC, bytes.
static constexpr uint32_t MRC_CRC_BYTES = 4;
/// IPv6 header, bytes.
static constexpr uint32_t IPV6_BYTES = 40;

/**
 * @param protocol of a frame
 * @param type of its packet
 * @return size of the frame without payload and credit, bytes
 */
uint32_t GetUecBytes(UecProtocol protocol, UecType type);

/**
 * Appends a frame of MRC.
 * @param out buffer to append to
 * @param frame the frame
 */
void PutMrc(WireBytes& out, const Frame& frame);

/**
 * @param value counter on the wire
 * @param bits its width
 * @param reference 64-bit counter near it
 * @return the 64-bit counter with these low bits that is closest to the reference
 */
inline uint64_t
ExtendCounter(uint32_t value, uint32_t bits, uint64_t reference)
{
    const uint32_t unused = 32 - bits;
    const auto distance =
        static_cast<int32_t>((value - static_cast<uint32_t>(reference)) << unused) >> unused;
    return reference + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

/// Width of packet sequence numbers, bits.
static constexpr uint32_t UEC_PSN_BITS = 32;
/// Width of counters in quanta, bits.
static constexpr uint32_t UEC_QUANTA_BITS = 24;
/// Width of message numbers, bits.
static constexpr uint32_t UEC_MESSAGE_BITS = 16;

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_WIRE_FORMAT_H
