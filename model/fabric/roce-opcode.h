/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ROCE_OPCODE_H
#define DISTRIBUTED_TRAINING_ROCE_OPCODE_H

#include <cstdint>

/**
 * @file
 * @ingroup distributed-training-fabric
 * What a RoCEv2 packet is: opcodes in its base transport header (BTH), and syndromes in the ACK
 * extended transport header (AETH; IB specification volume 1, chapter 9).
 */
namespace ns3::training
{

/** Opcodes of reliable connections (RC) and unreliable datagrams (UD) in the BTH. */
enum RoceOpcode : uint8_t
{
    SEND_FIRST = 0x00,
    SEND_MIDDLE = 0x01,
    SEND_LAST = 0x02,
    SEND_LAST_IMMEDIATE = 0x03,
    SEND_ONLY = 0x04,
    SEND_ONLY_IMMEDIATE = 0x05,
    WRITE_FIRST = 0x06,
    WRITE_MIDDLE = 0x07,
    WRITE_LAST = 0x08,
    WRITE_LAST_IMMEDIATE = 0x09,
    WRITE_ONLY = 0x0a,
    WRITE_ONLY_IMMEDIATE = 0x0b,
    ACKNOWLEDGE = 0x11,
    UD_SEND_ONLY = 0x64,
    UD_SEND_ONLY_IMMEDIATE = 0x65,
    CNP = 0x81
};

/// AETH syndrome of an ACK with unlimited credits.
static constexpr uint8_t SYNDROME_ACK = 0x1f;
/// AETH syndrome of an RNR NAK (receiver not ready), to be ORed with a 5-bit timer code.
static constexpr uint8_t SYNDROME_RNR_NAK = 0x20;
/// AETH syndrome of a NAK for a PSN sequence error.
static constexpr uint8_t SYNDROME_NAK_SEQUENCE = 0x60;

/**
 * @param opcode of a data packet of a connection
 * @return whether it is part of a SEND, not of a WRITE
 */
inline bool
IsSend(uint8_t opcode)
{
    return opcode <= SEND_ONLY_IMMEDIATE;
}

/**
 * @param opcode of a data packet of a connection
 * @return whether it begins a message
 */
inline bool
IsFirst(uint8_t opcode)
{
    return opcode == WRITE_FIRST || opcode == WRITE_ONLY || opcode == WRITE_ONLY_IMMEDIATE ||
           opcode == SEND_FIRST || opcode == SEND_ONLY || opcode == SEND_ONLY_IMMEDIATE;
}

/**
 * @param opcode of a data packet of a connection
 * @return whether it ends a message
 */
inline bool
IsLast(uint8_t opcode)
{
    return opcode != WRITE_FIRST && opcode != WRITE_MIDDLE && opcode != SEND_FIRST &&
           opcode != SEND_MIDDLE;
}

/**
 * @param opcode of a data packet
 * @return whether it carries immediate data
 */
inline bool
HasImmediate(uint8_t opcode)
{
    return opcode == WRITE_LAST_IMMEDIATE || opcode == WRITE_ONLY_IMMEDIATE ||
           opcode == SEND_LAST_IMMEDIATE || opcode == SEND_ONLY_IMMEDIATE ||
           opcode == UD_SEND_ONLY_IMMEDIATE;
}

/**
 * @param opcode of a data packet
 * @return whether it has an RDMA extended transport header
 */
inline bool
HasReth(uint8_t opcode)
{
    return opcode == WRITE_FIRST || opcode == WRITE_ONLY || opcode == WRITE_ONLY_IMMEDIATE;
}

/**
 * @param opcode of a data packet
 * @return whether it is a datagram, with a datagram extended transport header
 */
inline bool
IsDatagram(uint8_t opcode)
{
    return opcode == UD_SEND_ONLY || opcode == UD_SEND_ONLY_IMMEDIATE;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ROCE_OPCODE_H
