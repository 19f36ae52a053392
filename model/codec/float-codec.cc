/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * IEEE 754 binary16 and bfloat16: codes that adders sum.
 */

#include "codec-blocks.h"

#include "ns3/training-float-bits.h"

#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

/** Half of the bits of a float32. */
class HalfCodec : public GradientCodec
{
  public:
    HalfCodec(const char* name, float scale)
        : m_name(name),
          m_scale(scale)
    {
    }

    CodecTraits GetTraits() const override
    {
        CodecTraits traits;
        traits.sums = true;
        traits.elementwise = true;
        traits.fixedSize = true;
        return traits;
    }

    uint64_t GetCodedBytes(uint64_t count) const override
    {
        return 2 * count;
    }

    void Encode(const float* values,
                uint64_t count,
                const CodecKey&,
                std::vector<uint8_t>& code) const override
    {
        code.resize(2 * count);
        for (uint64_t i = 0; i < count; i++)
        {
            const uint16_t half = ToHalf(values[i] * m_scale);
            std::memcpy(code.data() + 2 * i, &half, sizeof(half));
        }
    }

    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey&,
                float* values,
                uint64_t count) const override
    {
        CheckCodeSize(m_name, bytes, 2 * count, count);
        for (uint64_t i = 0; i < count; i++)
        {
            values[i] = FromHalf(ReadNumber<uint16_t>(code + 2 * i)) / m_scale;
        }
    }

    bool Add(uint8_t* sum, const uint8_t* code, uint64_t bytes) const override
    {
        bool fits = true;
        for (uint64_t at = 0; at < bytes; at += 2)
        {
            const float a = FromHalf(ReadNumber<uint16_t>(sum + at));
            const float b = FromHalf(ReadNumber<uint16_t>(code + at));
            const uint16_t half = ToHalf(a + b);
            fits &= std::isfinite(FromHalf(half)) || !std::isfinite(a) || !std::isfinite(b);
            std::memcpy(sum + at, &half, sizeof(half));
        }
        return fits;
    }

  protected:
    virtual uint16_t ToHalf(float value) const = 0;
    virtual float FromHalf(uint16_t half) const = 0;

    const char* m_name;  // of the codec
    const float m_scale; // of the numbers when they are coded, a power of two
};

/** Magnitudes from 65520 / scale on become infinite. */
class Float16Codec final : public HalfCodec
{
  public:
    explicit Float16Codec(float scale)
        : HalfCodec("fp16", scale)
    {
    }

    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override
    {
        const double error = GetRelativeSumError(largest, codings, addends, 0x1p-11) +
                             codings * 0x1p-25 / m_scale * (1 + 0x1p-10);
        const bool fits = (addends * largest + error) * m_scale < 65520;
        return fits ? error : std::numeric_limits<double>::infinity();
    }

  private:
    uint16_t ToHalf(float value) const override
    {
        return ToFloat16(value);
    }

    float FromHalf(uint16_t half) const override
    {
        return FromFloat16(half);
    }
};

class Bfloat16Codec final : public HalfCodec
{
  public:
    Bfloat16Codec()
        : HalfCodec("bf16", 1)
    {
    }

    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override
    {
        const double error =
            GetRelativeSumError(largest, codings, addends, 0x1p-8) + codings * 0x1p-134;
        return addends * largest + error < 0x1.ffp127 ? error
                                                      : std::numeric_limits<double>::infinity();
    }

  private:
    uint16_t ToHalf(float value) const override
    {
        return ToBfloat16(value);
    }

    float FromHalf(uint16_t half) const override
    {
        return FromBfloat16(half);
    }
};

Key
MakeScaleKey()
{
    Key key = Key::Number("scale", 1, 1, 1 << 24, "of the numbers when they are coded: loss scale");
    key.range = "a power of two from 1 to 2^24";
    key.accepts = [](const std::string& text) {
        int exponent = 0;
        return std::frexp(std::stod(text), &exponent) == 0.5;
    };
    return key;
}

Ptr<GradientCodec>
MakeFloat16(const KeyValues& keys)
{
    return Create<Float16Codec>(static_cast<float>(keys.GetNumber("scale")));
}

Ptr<GradientCodec>
MakeBfloat16(const KeyValues&)
{
    return Create<Bfloat16Codec>();
}

const Registry<CodecEntry>::Entry g_float16("fp16",
                                            {"IEEE 754 binary16, rounded to nearest even",
                                             {MakeScaleKey()},
                                             &MakeFloat16});
const Registry<CodecEntry>::Entry g_bfloat16("bf16",
                                             {"bfloat16, rounded to nearest even",
                                              {},
                                              &MakeBfloat16});

} // namespace

} // namespace ns3::training
