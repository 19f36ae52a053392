/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * Natural compression.
 */

#include "codec-blocks.h"
#include "codec/codec-bit-stream.h"

#include "ns3/training-float-bits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

/**
 * Natural compression (Horvath et al., 2019): one of the two powers of two around a number, such
 * that the mean is the number. 0 is the sign's exponent field 0.
 */
class NaturalCodec final : public GradientCodec
{
  public:
    CodecTraits GetTraits() const override
    {
        CodecTraits traits;
        traits.elementwise = true;
        traits.fixedSize = true;
        traits.unbiased = true;
        traits.random = true;
        return traits;
    }

    uint64_t GetCodedBytes(uint64_t count) const override
    {
        return (BITS * count + 7) / 8;
    }

    void Encode(const float* values,
                uint64_t count,
                const CodecKey& key,
                std::vector<uint8_t>& code) const override
    {
        CheckFinite(values, count);
        if (GetLargestMagnitude(values, count) > 0x1p127F)
        {
            throw CodecError("natural: a number exceeds 2^127, the largest power of two");
        }
        const CodecRandom random(key);
        code.resize(GetCodedBytes(count) + BIT_STREAM_SLACK);
        BitWriter writer(code.data());
        for (uint64_t i = 0; i < count; i++)
        {
            const uint32_t bits = ToBits(values[i]);
            // Of a subnormal number, which lies between 0 and 2^-126, this is the probability of
            // the upper one, too.
            const auto up = static_cast<uint32_t>(random.GetBits(i) >> 41) < (bits & 0x7fffff);
            writer.Put((bits >> 23) + uint32_t{up}, BITS);
        }
        code.resize(GetCodedBytes(count));
    }

    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey&,
                float* values,
                uint64_t count) const override
    {
        CheckCodeSize("natural", bytes, GetCodedBytes(count), count);
        const auto padded = PadCode(code, bytes);
        BitReader reader(padded.data());
        for (uint64_t i = 0; i < count; i++)
        {
            const auto field = static_cast<uint32_t>(reader.Get(BITS));
            if ((field & 0xff) == 0xff)
            {
                throw CodecError("natural: the exponent of number " + std::to_string(i) +
                                 " is 255 (allowed: 0 to 254)");
            }
            values[i] = ToFloat(field << 23);
        }
    }

    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override
    {
        return GetRelativeSumError(largest, codings, addends, 1) + codings * 0x1p-126;
    }

  private:
    static constexpr uint32_t BITS = 9; // sign and exponent
};

Ptr<GradientCodec>
MakeNatural(const KeyValues&)
{
    return Create<NaturalCodec>();
}

const Registry<CodecEntry>::Entry g_natural(
    "natural",
    {"natural compression: sign and exponent, rounded at random to a power of two",
     {},
     &MakeNatural,
     MakeGraceCost(3.9)});

} // namespace

} // namespace ns3::training
