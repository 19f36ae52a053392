/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODEC_BIT_STREAM_H
#define DISTRIBUTED_TRAINING_CODEC_BIT_STREAM_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

/**
 * @file
 * @ingroup distributed-training-codec
 * Fields of bits, least significant bit first: bit k of a stream is bit k mod 8 of byte k div 8.
 * Words move whole, so neither class has a branch for each field.
 */
namespace ns3::training
{

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "codes are moved as little-endian words");

/// Bytes past the end of the fields that a BitWriter writes to, and a BitReader reads.
constexpr uint64_t BIT_STREAM_SLACK = 8;

/**
 * @ingroup distributed-training-codec
 * Writes fields into a buffer with BIT_STREAM_SLACK bytes behind the last field.
 */
class BitWriter
{
  public:
    /** @param to first byte of the stream */
    explicit BitWriter(uint8_t* to)
        : m_to(to)
    {
    }

    /**
     * @param field the bits; those above `bits` are 0
     * @param bits width of the field, at most 56
     */
    void Put(uint64_t field, uint32_t bits)
    {
        m_bits |= field << m_count;
        m_count += bits;
        std::memcpy(m_to, &m_bits, sizeof(m_bits));
        const uint32_t full = m_count & ~7U;
        m_to += full / 8;
        m_bits >>= full; // at most 56, as less than a byte was left before
        m_count -= full;
    }

    /** @return the byte behind the last one, which zeros fill up */
    uint8_t* Finish() const
    {
        return m_to + (m_count > 0);
    }

  private:
    uint8_t* m_to;       // byte that takes the bits that are left
    uint64_t m_bits{0};  // bits that do not yet fill a byte, already written
    uint32_t m_count{0}; // number of them
};

/**
 * @ingroup distributed-training-codec
 * @param code fields
 * @param bytes of the code
 * @return a copy for a BitReader
 */
inline std::vector<uint8_t>
PadCode(const uint8_t* code, uint64_t bytes)
{
    std::vector<uint8_t> padded(bytes + BIT_STREAM_SLACK);
    std::copy(code, code + bytes, padded.begin());
    return padded;
}

/**
 * @ingroup distributed-training-codec
 * Reads fields from a buffer with BIT_STREAM_SLACK bytes behind the last field.
 */
class BitReader
{
  public:
    /** @param from first byte of the stream */
    explicit BitReader(const uint8_t* from)
        : m_from(from)
    {
    }

    /**
     * @param bits width of the next field, at most 56
     * @return the field
     */
    uint64_t Get(uint32_t bits)
    {
        uint64_t word;
        std::memcpy(&word, m_from + m_position / 8, sizeof(word));
        const uint64_t field = word >> (m_position % 8) & ((uint64_t{1} << bits) - 1);
        m_position += bits;
        return field;
    }

    /** @return number of bits read */
    uint64_t GetPosition() const
    {
        return m_position;
    }

  private:
    const uint8_t* m_from;  // first byte
    uint64_t m_position{0}; // next bit
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CODEC_BIT_STREAM_H
