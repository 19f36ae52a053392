/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * Block floating point: signed mantissas with one exponent for each block.
 */

#include "codec-blocks.h"
#include "codec/codec-bit-stream.h"

#include "ns3/training-float-bits.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

constexpr uint32_t EXPONENT_BITS = 8;

/**
 * A block has the exponent field of its largest magnitude, 2^E and more, and mantissas of k bits in
 * two's complement with a step of 2^(E + 2 - k).
 */
class BlockFloatCodec final : public GradientCodec
{
  public:
    BlockFloatCodec(uint32_t bits, uint32_t block)
        : m_bits(bits),
          m_block(block)
    {
    }

    CodecTraits GetTraits() const override
    {
        CodecTraits traits;
        traits.fixedSize = true;
        traits.block = m_block;
        return traits;
    }

    uint64_t GetCodedBytes(uint64_t count) const override
    {
        return (count * m_bits + (count + m_block - 1) / m_block * EXPONENT_BITS + 7) / 8;
    }

    void Encode(const float* values,
                uint64_t count,
                const CodecKey&,
                std::vector<uint8_t>& code) const override
    {
        CheckFinite(values, count);
        code.resize(GetCodedBytes(count) + BIT_STREAM_SLACK);
        BitWriter writer(code.data());
        const int64_t most = (int64_t{1} << (m_bits - 1)) - 1;
        for (uint64_t at = 0; at < count; at += m_block)
        {
            const uint64_t size = std::min<uint64_t>(m_block, count - at);
            const uint32_t exponent = ToBits(GetLargestMagnitude(values + at, size)) >> 23;
            writer.Put(exponent, EXPONENT_BITS);
            const double scale = 1 / GetStep(exponent);
            for (uint64_t i = at; i < at + size; i++)
            {
                const int64_t mantissa = std::lrint(values[i] * scale);
                const auto field = static_cast<uint64_t>(std::clamp(mantissa, -most - 1, most));
                writer.Put(field & ((uint64_t{1} << m_bits) - 1), m_bits);
            }
        }
        code.resize(GetCodedBytes(count));
    }

    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey&,
                float* values,
                uint64_t count) const override
    {
        CheckCodeSize("block-float", bytes, GetCodedBytes(count), count);
        const auto padded = PadCode(code, bytes);
        BitReader reader(padded.data());
        for (uint64_t at = 0; at < count; at += m_block)
        {
            const auto exponent = static_cast<uint32_t>(reader.Get(EXPONENT_BITS));
            if (exponent == 255)
            {
                throw CodecError("block-float: the exponent of number " + std::to_string(at) +
                                 " is 255 (allowed: 0 to 254)");
            }
            const double step = GetStep(exponent);
            const uint64_t size = std::min<uint64_t>(m_block, count - at);
            for (uint64_t i = at; i < at + size; i++)
            {
                const auto field = static_cast<int64_t>(reader.Get(m_bits) << (64 - m_bits));
                values[i] = static_cast<float>(static_cast<double>(field >> (64 - m_bits)) * step);
            }
        }
    }

    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override
    {
        // A mantissa that saturates errs by up to a step, 2^(2 - k) of the largest magnitude.
        const double share = std::ldexp(1, 2 - static_cast<int>(m_bits));
        const double smallest = std::ldexp(1, -124 - static_cast<int>(m_bits));
        return GetRelativeSumError(largest, codings, addends, share) + codings * smallest;
    }

  private:
    double GetStep(uint32_t exponent) const
    {
        const int power = std::max(static_cast<int>(exponent), 1) - 127; // 0: subnormal numbers
        return std::ldexp(1, power + 2 - static_cast<int>(m_bits));
    }

    uint32_t m_bits;  // k
    uint32_t m_block; // numbers with one exponent
};

Ptr<GradientCodec>
MakeBlockFloat(const KeyValues& keys)
{
    return Create<BlockFloatCodec>(static_cast<uint32_t>(keys.GetCount("bits")),
                                   static_cast<uint32_t>(keys.GetCount("block")));
}

const Registry<CodecEntry>::Entry g_blockFloat(
    "block-float",
    {"block floating point: an 8-bit exponent for each block, signed mantissas",
     {Key::Count("bits", 8, 2, 24, "of a mantissa, with its sign"),
      MakeBlockKey("numbers with one exponent", 16, 1)},
     &MakeBlockFloat});

} // namespace

} // namespace ns3::training
