/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef ADDER_WIRE_FORMAT_H
#define ADDER_WIRE_FORMAT_H

#include "ns3/fabric-frame.h"

#include <cstdint>

/** The header of a packet: one part of the tensor, from a worker or back from the switch. */
struct AdderHeader
{
    static constexpr uint16_t PROTOCOL = 300; ///< Frame::protocol; numbers up to 255 are reserved

    uint32_t packet{0}; ///< number of the packet in its job
    uint8_t job{0};     ///< number of the job
};

/**
 * @param elements 32-bit integers per packet
 * @return size of its frame, bytes
 */
uint32_t GetAdderFrameBytes(uint32_t elements);

#endif // ADDER_WIRE_FORMAT_H
