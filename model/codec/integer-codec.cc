/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec/integer-codec.h"

#include "codec-blocks.h"
#include "codec/codec-bit-stream.h"

#include "ns3/abort.h"

#include <string>

namespace ns3::training
{

IntegerCodec::IntegerCodec(uint32_t bits, bool isSigned)
    : m_bits(bits),
      m_least(isSigned ? -(int32_t{1} << (bits - 1)) : 0)
{
    NS_ABORT_MSG_UNLESS(bits >= 1 && bits <= MAX_BITS, "whole numbers of " << bits << " bits");
}

CodecTraits
IntegerCodec::GetTraits() const
{
    CodecTraits traits;
    traits.elementwise = true;
    traits.fixedSize = true;
    return traits;
}

uint64_t
IntegerCodec::GetCodedBytes(uint64_t count) const
{
    return (count * m_bits + 7) / 8;
}

void
IntegerCodec::Encode(const float* values,
                     uint64_t count,
                     const CodecKey&,
                     std::vector<uint8_t>& code) const
{
    code.assign(GetCodedBytes(count) + BIT_STREAM_SLACK, 0);
    BitWriter writer(code.data());
    const int64_t most = m_least + (int64_t{1} << m_bits) - 1;
    for (uint64_t i = 0; i < count; i++)
    {
        const auto number = static_cast<int64_t>(values[i]);
        if (static_cast<float>(number) != values[i] || number < m_least || number > most)
        {
            throw CodecError("number " + std::to_string(i) + ", " + std::to_string(values[i]) +
                             ", is no whole number of " + std::to_string(m_bits) + " bits");
        }
        writer.Put(static_cast<uint64_t>(number - m_least), m_bits);
    }
    code.resize(GetCodedBytes(count));
}

void
IntegerCodec::Decode(const uint8_t* code,
                     uint64_t bytes,
                     const CodecKey&,
                     float* values,
                     uint64_t count) const
{
    CheckCodeSize("integers", bytes, GetCodedBytes(count), count);
    const std::vector<uint8_t> padded = PadCode(code, bytes);
    BitReader reader(padded.data());
    for (uint64_t i = 0; i < count; i++)
    {
        values[i] = static_cast<float>(static_cast<int64_t>(reader.Get(m_bits)) + m_least);
    }
}

} // namespace ns3::training
