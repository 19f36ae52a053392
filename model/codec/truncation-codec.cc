/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * Truncation: drops the low bits of a float32, as in the comparison of INCEPTIONN's paper.
 */

#include "codec-blocks.h"
#include "codec/codec-bit-stream.h"

#include "ns3/training-float-bits.h"

#include <cmath>

namespace ns3::training
{

namespace
{

class TruncationCodec final : public GradientCodec
{
  public:
    explicit TruncationCodec(uint32_t dropped)
        : m_dropped(dropped)
    {
    }

    CodecTraits GetTraits() const override
    {
        CodecTraits traits;
        traits.elementwise = true;
        traits.fixedSize = true;
        return traits;
    }

    uint64_t GetCodedBytes(uint64_t count) const override
    {
        return (count * (32 - m_dropped) + 7) / 8;
    }

    void Encode(const float* values,
                uint64_t count,
                const CodecKey&,
                std::vector<uint8_t>& code) const override
    {
        code.resize(GetCodedBytes(count) + BIT_STREAM_SLACK);
        BitWriter writer(code.data());
        for (uint64_t i = 0; i < count; i++)
        {
            writer.Put(ToBits(values[i]) >> m_dropped, 32 - m_dropped);
        }
        code.resize(GetCodedBytes(count));
    }

    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey&,
                float* values,
                uint64_t count) const override
    {
        CheckCodeSize("truncation", bytes, GetCodedBytes(count), count);
        const auto padded = PadCode(code, bytes);
        BitReader reader(padded.data());
        for (uint64_t i = 0; i < count; i++)
        {
            values[i] = ToFloat(static_cast<uint32_t>(reader.Get(32 - m_dropped)) << m_dropped);
        }
    }

    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override
    {
        // With the lowest bit of the exponent goes up to 3/4 of the number.
        const double share =
            m_dropped == 24 ? 0.75 : std::ldexp(1, static_cast<int>(m_dropped) - 23);
        return GetRelativeSumError(largest, codings, addends, share) +
               codings * std::ldexp(1, static_cast<int>(m_dropped) - 149);
    }

  private:
    uint32_t m_dropped; // bits
};

Ptr<GradientCodec>
MakeTruncation(const KeyValues& keys)
{
    return Create<TruncationCodec>(static_cast<uint32_t>(keys.GetCount("drop")));
}

const Registry<CodecEntry>::Entry g_truncation(
    "truncation",
    {"drops the low bits of a float32",
     {Key::Count("drop", 16, 1, 24, "bits: 16, 22 and 24 are those of INCEPTIONN's paper")},
     &MakeTruncation});

} // namespace

} // namespace ns3::training
