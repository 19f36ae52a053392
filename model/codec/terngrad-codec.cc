/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * TernGrad.
 */

#include "codec-blocks.h"
#include "codec/quantizing-codec.h"
#include "codec/shared-scale-bucket.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

/** @return magnitude at which TernGrad clips: some standard deviations; the largest one without */
float
GetClipped(const float* values, uint64_t count, double deviations)
{
    const float largest = GetLargestMagnitude(values, count);
    if (deviations == 0 || count == 0)
    {
        return largest;
    }
    double sum = 0;
    double squares = 0;
    for (uint64_t i = 0; i < count; i++)
    {
        sum += values[i];
        squares += double{values[i]} * values[i];
    }
    const auto n = static_cast<double>(count);
    const double variance = std::max(squares / n - sum / n * (sum / n), 0.0);
    return static_cast<float>(std::min<double>(largest, deviations * std::sqrt(variance)));
}

/** @return -1, 0 or 1 with the mean value / scale, clipped to [-1, 1] */
int32_t
GetTernary(float value, float scale, const CodecRandom& random, uint64_t index)
{
    const bool isKept = random.GetUniform(index) * scale < std::abs(value);
    return !isKept || scale == 0 ? 0 : value < 0 ? -1 : 1;
}

/** TernGrad (Wen et al., NIPS 2017): fields 0, 1 and 2 for 0, the scale and its negative. */
class TernGradCodec final : public QuantizingCodec
{
  public:
    TernGradCodec(double deviations, uint32_t block)
        : QuantizingCodec("terngrad", 2, block),
          m_deviations(deviations)
    {
    }

    CodecTraits GetTraits() const override
    {
        CodecTraits traits;
        traits.fixedSize = true;
        traits.unbiased = m_deviations == 0;
        traits.random = true;
        traits.block = m_block;
        return traits;
    }

  private:
    float GetScale(const float* values, uint64_t count) const override
    {
        return GetClipped(values, count, m_deviations);
    }

    uint32_t Quantize(float value,
                      float scale,
                      const CodecRandom& random,
                      uint64_t index) const override
    {
        const int32_t ternary = GetTernary(value, scale, random, index);
        return ternary < 0 ? 2 : static_cast<uint32_t>(ternary);
    }

    bool IsField(uint32_t field) const override
    {
        return field < 3;
    }

    float Restore(uint32_t field, float scale) const override
    {
        return field == 0 ? 0 : field == 1 ? scale : -scale;
    }

    double m_deviations; // at which numbers are clipped; 0: they are not
};

class TernGradBucket final : public SharedScaleBucket
{
  public:
    TernGradBucket(const BucketRequest& request, double deviations, uint32_t block)
        : SharedScaleBucket(request, block),
          m_deviations(deviations)
    {
    }

  private:
    uint32_t GetBits(uint32_t addends) const override
    {
        return GetLevelBits(2 * addends); // -N to N
    }

    float GetScale(const float* values, uint64_t count) const override
    {
        return GetClipped(values, count, m_deviations);
    }

    int32_t Quantize(float value,
                     float scale,
                     const CodecRandom& random,
                     uint64_t index) const override
    {
        return GetTernary(value, scale, random, index);
    }

    float Restore(int32_t steps, float scale) const override
    {
        return static_cast<float>(double{scale} * steps);
    }

    double m_deviations; // at which numbers are clipped; 0: they are not
};

Ptr<GradientCodec>
MakeTernGrad(const KeyValues& keys)
{
    return Create<TernGradCodec>(keys.GetNumber("clip"),
                                 static_cast<uint32_t>(keys.GetCount("block")));
}

Ptr<BucketCodec>
MakeTernGradBucket(const KeyValues& keys, const BucketRequest& request)
{
    return Create<TernGradBucket>(request,
                                  keys.GetNumber("clip"),
                                  static_cast<uint32_t>(keys.GetCount("block")));
}

const Registry<CodecEntry>::Entry g_ternGrad(
    "terngrad",
    {"TernGrad: minus the scale, 0 or the scale, at random",
     {Key::Number("clip", 2.5, 0, 100, "standard deviations at which numbers are clipped; 0: none"),
      MakeBlockKey("numbers with one scale", 0)},
     &MakeTernGrad,
     MakeGraceCost(0),
     &MakeTernGradBucket});

} // namespace

} // namespace ns3::training
