/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * Quantizers: levels between 0 and the largest magnitude or the norm of a block.
 */

#include "bucket-codec.h"
#include "codec-bit-stream.h"
#include "codec-blocks.h"

#include "ns3/training-float-bits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

/** A float32 for each block, and fields of some bits for each number. */
class QuantizingCodec : public GradientCodec
{
  public:
    QuantizingCodec(const char* name, uint32_t bits, uint32_t block)
        : m_name(name),
          m_bits(bits),
          m_block(block)
    {
    }

    uint64_t GetCodedBytes(uint64_t count) const override
    {
        const uint64_t blocks = m_block == 0 ? count > 0 : (count + m_block - 1) / m_block;
        return (count * m_bits + 32 * blocks + 7) / 8;
    }

    void Encode(const float* values,
                uint64_t count,
                const CodecKey& key,
                std::vector<uint8_t>& code) const override
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

    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey&,
                float* values,
                uint64_t count) const override
    {
        CheckCodeSize(m_name, bytes, GetCodedBytes(count), count);
        std::vector<uint8_t> padded(code, code + bytes);
        padded.resize(bytes + BIT_STREAM_SLACK);
        BitReader reader(padded.data());
        for (uint64_t at = 0; at < count; at += GetBlock(count))
        {
            const float scale = ToFloat(static_cast<uint32_t>(reader.Get(32)));
            if (!(scale >= 0 && std::isfinite(scale)))
            {
                throw CodecError(std::string(m_name) + ": the scale of number " +
                                 std::to_string(at) + " is not one that the encoder writes");
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

  protected:
    /** @return scale of a block, finite; at least its largest coded magnitude */
    virtual float GetScale(const float* values, uint64_t count) const = 0;
    /** @return the field of a number */
    virtual uint32_t Quantize(float value,
                              float scale,
                              const CodecRandom& random,
                              uint64_t index) const = 0;
    /** @return whether Quantize() may return a field */
    virtual bool IsField(uint32_t field) const = 0;
    /** @return the number of a field */
    virtual float Restore(uint32_t field, float scale) const = 0;

    const char* m_name;     // of the codec
    const uint32_t m_bits;  // of a field
    const uint32_t m_block; // numbers with one scale; 0: all

  private:
    uint64_t GetBlock(uint64_t count) const
    {
        return m_block == 0 ? count : m_block;
    }
};

/** Whole steps of 1/127 of the largest magnitude, rounded to nearest even. */
class Int8Codec final : public QuantizingCodec
{
  public:
    static constexpr int32_t MOST = 127; ///< steps

    explicit Int8Codec(uint32_t block)
        : QuantizingCodec("int8", 8, block)
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
        return static_cast<uint32_t>(std::lrint(steps)) & 0xff;
    }

    bool IsField(uint32_t field) const override
    {
        return field != 0x80;
    }

    float Restore(uint32_t field, float scale) const override
    {
        return static_cast<float>(double{scale} * static_cast<int8_t>(field) / MOST);
    }
};

/** @return bits of a level from 0 to s */
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

/**
 * Sums of small integers: the ranks first agree on the largest scale, so that switches and NICs can
 * add the quantized numbers.
 */
class SharedScaleBucket : public BucketCodec
{
  public:
    SharedScaleBucket(const BucketRequest& request, uint32_t block)
        : m_ranks(request.ranks),
          m_count(request.count),
          m_block(block == 0 ? std::max<uint64_t>(request.count, 1) : block)
    {
    }

    std::vector<BucketPhase> GetPhases() const override
    {
        const uint64_t blocks = (m_count + m_block - 1) / m_block;
        return {{BucketExchange::MAX, blocks, 32, 32},
                {BucketExchange::SUM, m_count, GetBits(1), GetBits(m_ranks)}};
    }

    void Start(const float* gradient, const CodecKey& key) override
    {
        m_key = key;
        m_scales.clear();
        CheckFinite(gradient, m_count);
        m_gradient.assign(gradient, gradient + m_count);
        std::vector<float> scales;
        for (uint64_t at = 0; at < m_count; at += m_block)
        {
            scales.push_back(GetScale(gradient + at, std::min(m_block, m_count - at)));
        }
        SetPart(std::move(scales));
    }

    void Continue(const BucketResult& result) override
    {
        if (!m_scales.empty() || m_count == 0)
        {
            Finish(result.numbers);
            return;
        }
        m_scales = result.numbers;
        const CodecRandom random(m_key);
        std::vector<float> quantized(m_count);
        m_own.resize(m_count);
        for (uint64_t i = 0; i < m_count; i++)
        {
            const float scale = m_scales[i / m_block];
            const int32_t steps = Quantize(m_gradient[i], scale, random, i);
            quantized[i] = static_cast<float>(steps);
            m_own[i] = Restore(steps, scale);
        }
        SetPart(std::move(quantized));
    }

  protected:
    /** @return bits of a sum of so many numbers */
    virtual uint32_t GetBits(uint32_t addends) const = 0;
    /** @return scale of a block */
    virtual float GetScale(const float* values, uint64_t count) const = 0;
    /** @return a whole number of steps */
    virtual int32_t Quantize(float value,
                             float scale,
                             const CodecRandom& random,
                             uint64_t index) const = 0;
    /** @return the number of some steps */
    virtual float Restore(int32_t steps, float scale) const = 0;

    uint32_t m_ranks; // that add

  private:
    void Finish(const std::vector<float>& sums)
    {
        m_sum.resize(m_count);
        for (uint64_t i = 0; i < m_count; i++)
        {
            m_sum[i] = Restore(static_cast<int32_t>(sums[i]), m_scales[i / m_block]);
        }
    }

    uint64_t m_count;              // numbers
    uint64_t m_block;              // numbers with one scale
    CodecKey m_key;                // of the coding
    std::vector<float> m_gradient; // between the phases
    std::vector<float> m_scales;   // of the blocks
};

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
        std::vector<uint8_t> padded(code, code + bytes);
        padded.resize(bytes + BIT_STREAM_SLACK);
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

uint32_t
GetBlock(const KeyValues& keys)
{
    return static_cast<uint32_t>(keys.GetCount("block"));
}

Ptr<GradientCodec>
MakeInt8(const KeyValues& keys)
{
    return Create<Int8Codec>(GetBlock(keys));
}

Ptr<BucketCodec>
MakeInt8Bucket(const KeyValues& keys, const BucketRequest& request)
{
    return Create<Int8Bucket>(request, GetBlock(keys));
}

Ptr<GradientCodec>
MakeQsgd(const KeyValues& keys)
{
    return Create<QsgdCodec>(static_cast<uint32_t>(keys.GetCount("levels")), GetBlock(keys));
}

Ptr<GradientCodec>
MakeTernGrad(const KeyValues& keys)
{
    return Create<TernGradCodec>(keys.GetNumber("clip"), GetBlock(keys));
}

Ptr<BucketCodec>
MakeTernGradBucket(const KeyValues& keys, const BucketRequest& request)
{
    return Create<TernGradBucket>(request, keys.GetNumber("clip"), GetBlock(keys));
}

Ptr<GradientCodec>
MakeNatural(const KeyValues&)
{
    return Create<NaturalCodec>();
}

const Registry<CodecEntry>::Entry g_int8("int8",
                                         {"whole steps of 1/127 of a block's largest magnitude",
                                          {MakeBlockKey("numbers with one scale", 256)},
                                          &MakeInt8,
                                          MakeGraceCost(4.1, 8, "of its table of 8 bits"),
                                          &MakeInt8Bucket});
const Registry<CodecEntry>::Entry g_qsgd(
    "qsgd",
    {"QSGD: levels of a block's norm, rounded at random",
     {Key::Count("levels", 127, 1, 32767, "between 0 and the norm"),
      MakeBlockKey("numbers with one norm", 512)},
     &MakeQsgd,
     MakeGraceCost(0)});
const Registry<CodecEntry>::Entry g_ternGrad(
    "terngrad",
    {"TernGrad: minus the scale, 0 or the scale, at random",
     {Key::Number("clip", 2.5, 0, 100, "standard deviations at which numbers are clipped; 0: none"),
      MakeBlockKey("numbers with one scale", 0)},
     &MakeTernGrad,
     MakeGraceCost(0),
     &MakeTernGradBucket});
const Registry<CodecEntry>::Entry g_natural(
    "natural",
    {"natural compression: sign and exponent, rounded at random to a power of two",
     {},
     &MakeNatural,
     MakeGraceCost(3.9)});

} // namespace

} // namespace ns3::training
