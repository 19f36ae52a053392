/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec/quantizing-codec.h"

#include "codec-blocks.h"
#include "codec/codec-bit-stream.h"

#include "ns3/training-float-bits.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

uint64_t
QuantizingCodec::GetCodedBytes(uint64_t count) const
{
    const uint64_t blocks = m_block == 0 ? count > 0 : (count + m_block - 1) / m_block;
    return (count * m_bits + 32 * blocks + 7) / 8;
}

void
QuantizingCodec::Encode(const float* values,
                        uint64_t count,
                        const CodecKey& key,
                        std::vector<uint8_t>& code) const
{
    CheckFinite(values, count);
    const CodecRandom random(key);
    code.resize(GetCodedBytes(count) + BIT_STREAM_SLACK);
    BitWriter writer(code.data());
    for (uint64_t at = 0; at < count; at += GetBlock(count))
    {
        const uint64_t size = std::min(GetBlock(count), count - at);
        const float scale = GetScale(values + at, size);
        writer.Put(ToBits(scale), 32);
        for (uint64_t i = at; i < at + size; i++)
        {
            writer.Put(Quantize(values[i], scale, random, i), m_bits);
        }
    }
    code.resize(GetCodedBytes(count));
}

void
QuantizingCodec::Decode(const uint8_t* code,
                        uint64_t bytes,
                        const CodecKey&,
                        float* values,
                        uint64_t count) const
{
    CheckCodeSize(m_name, bytes, GetCodedBytes(count), count);
    const auto padded = PadCode(code, bytes);
    BitReader reader(padded.data());
    for (uint64_t at = 0; at < count; at += GetBlock(count))
    {
        const float scale = ToFloat(static_cast<uint32_t>(reader.Get(32)));
        if (!(scale >= 0 && std::isfinite(scale)))
        {
            throw CodecError(std::string(m_name) + ": the scale of number " + std::to_string(at) +
                             " is not one that the encoder writes");
        }
        const uint64_t size = std::min(GetBlock(count), count - at);
        for (uint64_t i = at; i < at + size; i++)
        {
            const auto field = static_cast<uint32_t>(reader.Get(m_bits));
            if (!IsField(field))
            {
                throw CodecError(std::string(m_name) + ": number " + std::to_string(i) +
                                 " is not one that the encoder writes");
            }
            values[i] = Restore(field, scale);
        }
    }
}

uint64_t
QuantizingCodec::GetBlock(uint64_t count) const
{
    return m_block == 0 ? count : m_block;
}

uint32_t
GetLevelBits(uint32_t levels)
{
    uint32_t bits = 0;
    while (uint64_t{1} << bits <= levels)
    {
        bits++;
    }
    return bits;
}

} // namespace ns3::training
