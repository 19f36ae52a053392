/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * Bytes and half bytes: whole steps of a block's largest magnitude.
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

/** Whole steps of the largest magnitude in two's complement, rounded to nearest even. */
template <uint32_t BITS>
class WholeStepsCodec final : public QuantizingCodec
{
  public:
    static constexpr int32_t MOST = (1 << (BITS - 1)) - 1; ///< steps

    WholeStepsCodec(const char* name, uint32_t block)
        : QuantizingCodec(name, BITS, block)
    {
    }

    CodecTraits GetTraits() const override
    {
        CodecTraits traits;
        traits.fixedSize = true;
        traits.block = m_block;
        return traits;
    }

    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override
    {
        // Half a step, and the rounding of the result to float32; the smallest steps are coarser.
        return GetRelativeSumError(largest, codings, addends, 0.5 / MOST + 0x1p-22) +
               codings * 0x1p-142;
    }

  private:
    float GetScale(const float* values, uint64_t count) const override
    {
        return GetLargestMagnitude(values, count);
    }

    uint32_t Quantize(float value, float scale, const CodecRandom&, uint64_t) const override
    {
        const double steps = scale == 0 ? 0 : double{MOST} * value / scale;
        return static_cast<uint32_t>(std::lrint(steps)) & ((1U << BITS) - 1);
    }

    bool IsField(uint32_t field) const override
    {
        return field != 1U << (BITS - 1);
    }

    float Restore(uint32_t field, float scale) const override
    {
        const auto steps = static_cast<int32_t>(field);
        const int32_t signedSteps = steps > MOST ? steps - (1 << BITS) : steps;
        return static_cast<float>(double{scale} * signedSteps / MOST);
    }
};

using Int4Codec = WholeStepsCodec<4>;
using Int8Codec = WholeStepsCodec<8>;

/** At most 127/N steps, so that the sum of N ranks fits 8 bits. */
class Int8Bucket final : public SharedScaleBucket
{
  public:
    Int8Bucket(const BucketRequest& request, uint32_t block)
        : SharedScaleBucket(request, block),
          m_most(Int8Codec::MOST / static_cast<int32_t>(request.ranks))
    {
        if (request.ranks > static_cast<uint32_t>(Int8Codec::MOST))
        {
            throw ConfigurationError("codec 'int8': sums of " + std::to_string(request.ranks) +
                                     " ranks do not fit 8 bits (allowed: up to 127)");
        }
    }

  private:
    uint32_t GetBits(uint32_t) const override
    {
        return 8;
    }

    float GetScale(const float* values, uint64_t count) const override
    {
        return GetLargestMagnitude(values, count);
    }

    int32_t Quantize(float value, float scale, const CodecRandom&, uint64_t) const override
    {
        return scale == 0 ? 0 : static_cast<int32_t>(std::lrint(double{value} * m_most / scale));
    }

    float Restore(int32_t steps, float scale) const override
    {
        return static_cast<float>(double{scale} * steps / m_most);
    }

    int32_t m_most; // steps of a rank
};

Ptr<GradientCodec>
MakeInt8(const KeyValues& keys)
{
    return Create<Int8Codec>("int8", static_cast<uint32_t>(keys.GetCount("block")));
}

Ptr<GradientCodec>
MakeInt4(const KeyValues& keys)
{
    return Create<Int4Codec>("int4", static_cast<uint32_t>(keys.GetCount("block")));
}

Ptr<BucketCodec>
MakeInt8Bucket(const KeyValues& keys, const BucketRequest& request)
{
    return Create<Int8Bucket>(request, static_cast<uint32_t>(keys.GetCount("block")));
}

const Registry<CodecEntry>::Entry g_int4("int4",
                                         {"whole steps of 1/7 of a block's largest magnitude",
                                          {MakeBlockKey("numbers with one scale", 256)},
                                          &MakeInt4});

const Registry<CodecEntry>::Entry g_int8("int8",
                                         {"whole steps of 1/127 of a block's largest magnitude",
                                          {MakeBlockKey("numbers with one scale", 256)},
                                          &MakeInt8,
                                          MakeGraceCost(4.1, 8, "of its table of 8 bits"),
                                          &MakeInt8Bucket});

} // namespace

} // namespace ns3::training
