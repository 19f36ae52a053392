/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCHML_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_SWITCHML_WIRE_FORMAT_H

#include "ns3/fabric-frame.h"
#include "ns3/roce-wire-format.h"

#include <algorithm>
#include <cstdint>

/**
 * @file
 * @ingroup distributed-training-innetwork
 * SwitchML's packets, as in its released switch program and clients. With UDP: IPv4, UDP, a header
 * of 8 bytes, two exponents, and 32-bit integers in network byte order. With RDMA: RDMA WRITE
 * messages over unreliable connections; the remote key is the slot of the first packet, and the
 * immediate data hold a number and two exponents.
 */
namespace ns3::training
{

/// UDP destination port: the switch accepts 0xbee0 to 0xbeef.
static constexpr uint16_t SWITCHML_UDP_PORT = 0xbee0;
/// Mask of the significant bits of the port.
static constexpr uint16_t SWITCHML_UDP_PORT_MASK = 0xfff0;
/// Type and size, job, packet and slot, bytes.
static constexpr uint32_t SWITCHML_HEADER_BYTES = 8;
/// Two exponents of one byte, bytes.
static constexpr uint32_t SWITCHML_EXPONENT_BYTES = 2;
/// Message type of values, as in the released client.
static constexpr uint8_t SWITCHML_DATA = 1;
/// Maximum slots: 15 bits of a pool index.
static constexpr uint32_t SWITCHML_MAX_SLOTS = 1 << 15;

/** The header of a packet. */
struct SwitchMlHeader
{
    static constexpr uint16_t PROTOCOL = 2; ///< Frame::protocol

    /// Simulation-only checksum: each worker contributed exactly once. Not serialized.
    uint64_t check{0};
    uint32_t packet{0};    ///< packet number in its job
    uint16_t slot{0};      ///< slot in the switch's pool
    uint8_t set{0};        ///< version of the slot, 0 or 1
    uint8_t job{0};        ///< number of the job
    int8_t exponents[2]{}; ///< maximum exponents of the coming blocks
    bool overflow{false};  ///< a sum has overflowed 32 bits. Not serialized
};

/**
 * @param elements values per packet
 * @return size of its frame, bytes: 180, 308, 1076 for 32, 64, 256 elements, plus the frame
 *         check sequence
 */
inline uint32_t
GetSwitchMlFrameBytes(uint32_t elements)
{
    return std::max(Frame::ETHERNET_BYTES + 20 + 8 + SWITCHML_HEADER_BYTES +
                        SWITCHML_EXPONENT_BYTES + 4 * elements,
                    uint32_t{Frame::MIN_BYTES});
}

/** Opcodes of RDMA WRITE over unreliable connections (base transport header). */
enum UnreliableOpcode : uint8_t
{
    UC_WRITE_FIRST = 0x26,
    UC_WRITE_MIDDLE = 0x27,
    UC_WRITE_LAST_IMMEDIATE = 0x29,
    UC_WRITE_ONLY_IMMEDIATE = 0x2b
};

/// Queue pair numbers at the switch: this base, plus worker * 2^16, plus an index per worker.
static constexpr uint32_t SWITCHML_QUEUE_PAIRS = 0x800000;
/// Maximum queue pairs of a worker at the switch, one per message in flight.
static constexpr uint32_t SWITCHML_MAX_QUEUE_PAIRS = 512;

/**
 * @param packet index in the message, from 0
 * @param packets number of packets in the message
 * @return its opcode
 */
inline uint8_t
GetUnreliableOpcode(uint32_t packet, uint32_t packets)
{
    return packets == 1            ? UC_WRITE_ONLY_IMMEDIATE
           : packet == 0           ? UC_WRITE_FIRST
           : packet + 1 == packets ? UC_WRITE_LAST_IMMEDIATE
                                   : UC_WRITE_MIDDLE;
}

/**
 * @param opcode of an unreliable connection
 * @return whether the packet has an RDMA extended transport header
 */
inline bool
HasUnreliableReth(uint8_t opcode)
{
    return opcode == UC_WRITE_FIRST || opcode == UC_WRITE_ONLY_IMMEDIATE;
}

/**
 * @param opcode of an unreliable connection
 * @return whether the packet has immediate data
 */
inline bool
HasUnreliableImmediate(uint8_t opcode)
{
    return opcode == UC_WRITE_LAST_IMMEDIATE || opcode == UC_WRITE_ONLY_IMMEDIATE;
}

/**
 * @param opcode of an unreliable connection
 * @param elements values per packet
 * @return size of its frame, bytes
 */
inline uint32_t
GetSwitchMlRdmaFrameBytes(uint8_t opcode, uint32_t elements)
{
    return GetFrameBytes(ROCE_BYTES + (HasUnreliableReth(opcode) ? RETH_BYTES : 0) +
                         (HasUnreliableImmediate(opcode) ? IMMEDIATE_BYTES : 0) + 4 * elements);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCHML_WIRE_FORMAT_H
