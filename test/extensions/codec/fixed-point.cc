/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * A codec of 16 bits: whole multiples of a unit.
 */

#include "ns3/codec-blocks.h"

#include <cmath>
#include <cstring>

namespace
{

using namespace ns3;
using namespace ns3::training;

class FixedPointCodec : public GradientCodec
{
  public:
    explicit FixedPointCodec(double unit)
        : m_unit(unit)
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
        return sizeof(int16_t) * count;
    }

    void Encode(const float* values,
                uint64_t count,
                const CodecKey&,
                std::vector<uint8_t>& code) const override
    {
        code.resize(GetCodedBytes(count));
        for (uint64_t i = 0; i < count; i++)
        {
            const double units = std::round(values[i] / m_unit);
            if (!(std::abs(units) <= INT16_MAX))
            {
                throw CodecError("fixed-point: number " + std::to_string(i) + " is out of range");
            }
            const auto whole = static_cast<int16_t>(units);
            std::memcpy(code.data() + i * sizeof(whole), &whole, sizeof(whole));
        }
    }

    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey&,
                float* values,
                uint64_t count) const override
    {
        CheckCodeSize("fixed-point", bytes, GetCodedBytes(count), count);
        for (uint64_t i = 0; i < count; i++)
        {
            const auto whole = ReadNumber<int16_t>(code + i * sizeof(int16_t));
            values[i] = static_cast<float>(whole * m_unit);
        }
    }

    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override
    {
        return codings * m_unit / 2 + GetRelativeSumError(largest, codings, addends, 0x1p-24);
    }

  private:
    double m_unit;
};

Ptr<GradientCodec>
MakeFixedPoint(const KeyValues& keys)
{
    return Create<FixedPointCodec>(keys.GetNumber("unit"));
}

const Registry<CodecEntry>::Entry g_fixedPoint(
    "fixed-point",
    {"16 bits: whole multiples of a unit",
     {Key::Number("unit", 1e-4, 1e-9, 1, "weight of the last bit")},
     &MakeFixedPoint});

} // namespace
