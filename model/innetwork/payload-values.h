/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PAYLOAD_VALUES_H
#define DISTRIBUTED_TRAINING_PAYLOAD_VALUES_H

#include "ns3/fabric-frame.h"
#include "ns3/wire-bytes.h"

#include <cstdint>
#include <cstring>

/**
 * @file
 * @ingroup distributed-training-innetwork
 * Numbers of 32 bits, int32_t or float, in the real payload of a frame.
 */
namespace ns3::training
{

/**
 * @param frame with a real payload
 * @return its first byte
 */
inline const uint8_t*
GetPayload(const Frame& frame)
{
    return frame.payload->bytes.data() + frame.payloadOffset;
}

/**
 * Gives a frame its own payload of zeros.
 * @param frame its current payload may be shared with other frames
 * @param bytes size of the payload
 * @return its first byte
 */
inline uint8_t*
MakePayload(Frame& frame, uint32_t bytes)
{
    frame.payload = Create<ByteBuffer>();
    frame.payload->bytes.resize(bytes);
    frame.payloadOffset = 0;
    return frame.payload->bytes.data();
}

/**
 * @param frame with a real payload
 * @param values receives its first numbers
 * @param count how many
 */
template <class Value>
void
ReadValues(const Frame& frame, Value* values, uint32_t count)
{
    static_assert(sizeof(Value) == sizeof(uint32_t), "numbers have 32 bits");
    const uint8_t* from = GetPayload(frame);
    for (uint32_t i = 0; i < count; i++, from += sizeof(uint32_t))
    {
        const uint32_t word = GetWord(from);
        std::memcpy(values + i, &word, sizeof(word));
    }
}

/**
 * Gives a frame its own payload.
 * @param frame its current payload may be shared with other frames
 * @param values the numbers of the payload
 * @param count how many
 */
template <class Value>
void
WriteValues(Frame& frame, const Value* values, uint32_t count)
{
    static_assert(sizeof(Value) == sizeof(uint32_t), "numbers have 32 bits");
    uint8_t* to = MakePayload(frame, sizeof(uint32_t) * count);
    for (uint32_t i = 0; i < count; i++, to += sizeof(uint32_t))
    {
        uint32_t word;
        std::memcpy(&word, values + i, sizeof(word));
        SetWord(to, word);
    }
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PAYLOAD_VALUES_H
