/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * Floats of 8 bits with a scale for each block.
 */

#include "codec-blocks.h"
#include "codec/eight-bit-float.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

/** The scale, a float32, maps the largest magnitude of the block to the largest number. */
class EightBitFloatCodec final : public GradientCodec
{
  public:
    EightBitFloatCodec(EightBitFloat::Format format, uint32_t block)
        : m_format(format),
          m_block(block)
    {
        for (uint32_t code = 0; code < m_numbers.size(); code++)
        {
            m_numbers[code] = EightBitFloat::Decode(format, static_cast<uint8_t>(code));
        }
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
        return count + (count + m_block - 1) / m_block * sizeof(float);
    }

    void Encode(const float* values,
                uint64_t count,
                const CodecKey&,
                std::vector<uint8_t>& code) const override
    {
        CheckFinite(values, count);
        code.clear();
        code.reserve(GetCodedBytes(count));
        for (uint64_t at = 0; at < count; at += m_block)
        {
            const uint64_t size = std::min<uint64_t>(m_block, count - at);
            // Smaller scales would not be normal numbers.
            const float scale = std::max(GetLargestMagnitude(values + at, size) /
                                             EightBitFloat::GetLargest(m_format),
                                         std::numeric_limits<float>::min());
            AppendNumber(code, scale);
            for (uint64_t i = at; i < at + size; i++)
            {
                code.push_back(EightBitFloat::Encode(m_format, values[i] / scale));
            }
        }
    }

    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey&,
                float* values,
                uint64_t count) const override
    {
        CheckCodeSize("fp8", bytes, GetCodedBytes(count), count);
        for (uint64_t at = 0; at < count; at += m_block)
        {
            const auto scale = ReadNumber<float>(code);
            if (!(scale >= std::numeric_limits<float>::min() && std::isfinite(scale)))
            {
                throw CodecError("fp8: the scale of number " + std::to_string(at) +
                                 " is not one that the encoder writes");
            }
            code += sizeof(scale);
            const uint64_t size = std::min<uint64_t>(m_block, count - at);
            for (uint64_t i = 0; i < size; i++)
            {
                values[at + i] = m_numbers[code[i]] * scale;
                if (!std::isfinite(m_numbers[code[i]]))
                {
                    throw CodecError("fp8: number " + std::to_string(at + i) +
                                     " is not one that the encoder writes");
                }
            }
            code += size;
        }
    }

    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override
    {
        // Half a unit in the last place, and the rounding of the scale and of both scalings.
        const double share = m_format == EightBitFloat::Format::E4M3 ? 0x1p-4 : 0x1p-3;
        const double step = std::numeric_limits<float>::min() * 0x1p-10;
        return GetRelativeSumError(largest, codings, addends, share + 0x1p-22) + codings * step;
    }

  private:
    EightBitFloat::Format m_format;
    uint32_t m_block;                 // numbers with one scale
    std::array<float, 256> m_numbers; // by code
};

Ptr<GradientCodec>
MakeEightBitFloat(const KeyValues& keys)
{
    const bool isE4M3 = keys.GetText("format") == "e4m3";
    return Create<EightBitFloatCodec>(isE4M3 ? EightBitFloat::Format::E4M3
                                             : EightBitFloat::Format::E5M2,
                                      static_cast<uint32_t>(keys.GetCount("block")));
}

const Registry<CodecEntry>::Entry g_eightBitFloat(
    "fp8",
    {"8-bit floats of the OCP with a float32 scale for each block",
     {Key::Word("format", "e4m3", {"e4m3", "e5m2"}, "bits of exponent and mantissa"),
      MakeBlockKey("numbers with one scale", 256, 1)},
     &MakeEightBitFloat});

} // namespace

} // namespace ns3::training
