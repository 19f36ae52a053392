/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * QSGD.
 */

#include "codec-blocks.h"
#include "codec/quantizing-codec.h"

#include "ns3/training-float-bits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

/**
 * QSGD (Alistarh et al., NIPS 2017): floor(s |x| / norm) levels of norm / s, one more with the
 * probability of the rest. The sign is the top bit.
 */
class QsgdCodec final : public QuantizingCodec
{
  public:
    QsgdCodec(uint32_t levels, uint32_t block)
        : QuantizingCodec("qsgd", 1 + GetLevelBits(levels), block),
          m_levels(levels)
    {
    }

    CodecTraits GetTraits() const override
    {
        CodecTraits traits;
        traits.fixedSize = true;
        traits.unbiased = true;
        traits.random = true;
        traits.block = m_block;
        return traits;
    }

  private:
    float GetScale(const float* values, uint64_t count) const override
    {
        double squares = 0;
        for (uint64_t i = 0; i < count; i++)
        {
            squares += double{values[i]} * values[i];
        }
        const double norm = std::sqrt(squares);
        if (norm > std::numeric_limits<float>::max())
        {
            throw CodecError("qsgd: the norm of a block exceeds a float32");
        }
        // Rounded up, so that no number exceeds the last level.
        const auto rounded = static_cast<float>(norm);
        return rounded < norm ? std::nextafter(rounded, std::numeric_limits<float>::max())
                              : rounded;
    }

    uint32_t Quantize(float value,
                      float scale,
                      const CodecRandom& random,
                      uint64_t index) const override
    {
        const double exact = scale == 0 ? 0 : std::abs(1.0 * m_levels * value / scale);
        const auto below = static_cast<uint32_t>(exact);
        const uint32_t level = below + uint32_t{random.GetUniform(index) < exact - below};
        return (ToBits(value) >> 31) << (m_bits - 1) | level;
    }

    bool IsField(uint32_t field) const override
    {
        return (field & ((1U << (m_bits - 1)) - 1)) <= m_levels;
    }

    float Restore(uint32_t field, float scale) const override
    {
        const uint32_t sign = field >> (m_bits - 1);
        const uint32_t level = field & ((1U << (m_bits - 1)) - 1);
        const auto value = static_cast<float>(double{scale} * level / m_levels);
        return sign != 0 ? -value : value;
    }

    uint32_t m_levels; // s
};

Ptr<GradientCodec>
MakeQsgd(const KeyValues& keys)
{
    return Create<QsgdCodec>(static_cast<uint32_t>(keys.GetCount("levels")),
                             static_cast<uint32_t>(keys.GetCount("block")));
}

const Registry<CodecEntry>::Entry g_qsgd(
    "qsgd",
    {"QSGD: levels of a block's norm, rounded at random",
     {Key::Count("levels", 127, 1, 32767, "between 0 and the norm"),
      MakeBlockKey("numbers with one norm", 512)},
     &MakeQsgd,
     MakeGraceCost(0)});

} // namespace

} // namespace ns3::training
