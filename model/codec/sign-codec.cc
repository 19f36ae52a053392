/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * One bit for each number: its sign, and what the bit stands for.
 */

#include "bucket-codec.h"
#include "codec-blocks.h"

#include "ns3/training-float-bits.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ns3::training
{

namespace
{

/** Magnitudes of the two signs, then a bit for each number: 1 if it is negative. */
class SignCodec final : public GradientCodec
{
  public:
    /** What is decoded. */
    enum class Magnitude
    {
        STEP, ///< one number for all, not in the code (signSGD)
        MEAN, ///< the mean magnitude (EF-signSGD)
        MEANS ///< the mean of the positive numbers, and that of the negative ones (1-bit SGD)
    };

    SignCodec(const char* name, Magnitude magnitude, float step)
        : m_name(name),
          m_magnitude(magnitude),
          m_step(step)
    {
    }

    CodecTraits GetTraits() const override
    {
        CodecTraits traits;
        traits.elementwise = m_magnitude == Magnitude::STEP;
        traits.fixedSize = true;
        traits.block = m_magnitude == Magnitude::STEP ? 1 : 0;
        return traits;
    }

    uint64_t GetCodedBytes(uint64_t count) const override
    {
        return count == 0 ? 0 : GetHeader() + (count + 7) / 8;
    }

    void Encode(const float* values,
                uint64_t count,
                const CodecKey&,
                std::vector<uint8_t>& code) const override
    {
        CheckFinite(values, count);
        code.assign(GetCodedBytes(count), 0);
        if (count == 0)
        {
            return;
        }
        const std::array<float, 2> magnitudes = GetMagnitudes(values, count);
        std::memcpy(code.data(), magnitudes.data(), GetHeader());
        uint8_t* bits = code.data() + GetHeader();
        for (uint64_t i = 0; i < count; i++)
        {
            bits[i / 8] |= static_cast<uint8_t>(uint32_t{values[i] < 0} << i % 8);
        }
    }

    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey&,
                float* values,
                uint64_t count) const override
    {
        CheckCodeSize(m_name, bytes, GetCodedBytes(count), count);
        if (count == 0)
        {
            return;
        }
        std::array<float, 2> magnitudes{m_step, m_step};
        std::memcpy(magnitudes.data(), code, GetHeader());
        if (m_magnitude == Magnitude::MEAN)
        {
            magnitudes[1] = magnitudes[0];
        }
        for (const float magnitude : magnitudes)
        {
            if (!(magnitude >= 0 && std::isfinite(magnitude)))
            {
                throw CodecError(std::string(m_name) +
                                 ": a magnitude is not one that the encoder writes");
            }
        }
        const uint8_t* bits = code + GetHeader();
        for (uint64_t i = 0; i < count; i++)
        {
            const uint32_t isNegative = bits[i / 8] >> i % 8 & 1;
            values[i] = isNegative != 0 ? -magnitudes[1] : magnitudes[0];
        }
    }

  private:
    uint64_t GetHeader() const
    {
        return sizeof(float) * static_cast<uint64_t>(m_magnitude);
    }

    std::array<float, 2> GetMagnitudes(const float* values, uint64_t count) const
    {
        std::array<double, 2> sums{};
        std::array<uint64_t, 2> counts{};
        for (uint64_t i = 0; i < count; i++)
        {
            const bool isNegative = values[i] < 0;
            sums[isNegative] += std::abs(values[i]);
            counts[isNegative]++;
        }
        const auto mean = [](double sum, uint64_t number) {
            return number == 0 ? 0.0F : static_cast<float>(sum / static_cast<double>(number));
        };
        return m_magnitude == Magnitude::MEANS
                   ? std::array<float, 2>{mean(sums[0], counts[0]), mean(sums[1], counts[1])}
                   : std::array<float, 2>{mean(sums[0] + sums[1], count), 0};
    }

    const char* m_name;    // of the codec
    Magnitude m_magnitude; // what is decoded
    float m_step;          // STEP
};

/**
 * signSGD with majority vote (Bernstein et al., ICML 2018): the ranks count the positive signs.
 * More than half, or half, is a positive vote.
 */
class MajorityBucket final : public BucketCodec
{
  public:
    MajorityBucket(const BucketRequest& request, float step)
        : m_request(request),
          m_step(step)
    {
    }

    std::vector<BucketPhase> GetPhases() const override
    {
        uint32_t bits = 0; // of a count from 0 to N
        while (uint64_t{1} << bits <= m_request.ranks)
        {
            bits++;
        }
        return {{BucketExchange::SUM, m_request.count, 1, bits}};
    }

    void Start(const float* gradient, const CodecKey&) override
    {
        CheckFinite(gradient, m_request.count);
        std::vector<float> votes(m_request.count);
        m_own.resize(m_request.count);
        for (uint64_t i = 0; i < m_request.count; i++)
        {
            votes[i] = gradient[i] < 0 ? 0 : 1;
            m_own[i] = gradient[i] < 0 ? -m_step : m_step;
        }
        SetPart(std::move(votes));
    }

    void Continue(const BucketResult& result) override
    {
        const float half = static_cast<float>(m_request.ranks) / 2;
        m_sum.resize(m_request.count);
        for (uint64_t i = 0; i < m_request.count; i++)
        {
            m_sum[i] = result.numbers[i] < half ? -m_step : m_step;
        }
    }

  private:
    BucketRequest m_request;
    float m_step; // magnitude of a vote
};

Key
MakeStepKey()
{
    return Key::Number("step", 1, 1e-30, 1e30, "magnitude of a decoded number");
}

Ptr<GradientCodec>
MakeSign(const KeyValues& keys)
{
    return Create<SignCodec>("signsgd",
                             SignCodec::Magnitude::STEP,
                             static_cast<float>(keys.GetNumber("step")));
}

Ptr<BucketCodec>
MakeMajority(const KeyValues& keys, const BucketRequest& request)
{
    return Create<MajorityBucket>(request, static_cast<float>(keys.GetNumber("step")));
}

Ptr<GradientCodec>
MakeOneBit(const KeyValues&)
{
    return Create<SignCodec>("1-bit", SignCodec::Magnitude::MEANS, 0.0F);
}

Ptr<GradientCodec>
MakeEfSign(const KeyValues&)
{
    return Create<SignCodec>("ef-sign", SignCodec::Magnitude::MEAN, 0.0F);
}

const Registry<CodecEntry>::Entry g_sign(
    "signsgd",
    {"signSGD: the sign; the ranks of a bucket vote, and the sum is the majority's sign",
     {MakeStepKey()},
     &MakeSign,
     MakeGraceCost(0.45),
     &MakeMajority});
const Registry<CodecEntry>::Entry g_oneBit(
    "1-bit",
    {"1-bit SGD: the sign, and the mean of each sign; for error feedback",
     {},
     &MakeOneBit,
     MakeGraceCost(0.6)});
const Registry<CodecEntry>::Entry g_efSign(
    "ef-sign",
    {"EF-signSGD: the sign, and the mean magnitude; for error feedback",
     {},
     &MakeEfSign,
     MakeGraceCost(0)});

} // namespace

} // namespace ns3::training
