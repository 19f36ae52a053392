/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * THC: Tensor homomorphic compression (Li et al., NSDI 2024).
 */

#include "bucket-codec.h"
#include "codec-blocks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ns3::training
{

namespace
{

/// Codes are numbers of 4 bits.
constexpr uint32_t LEVELS = 16;
/// Values of the levels, from 0 to the granularity, in the authors' tables (BytePS_THC).
constexpr std::array<uint32_t, LEVELS>
    LEVELS_OF_16{0, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 14, 16};
constexpr std::array<uint32_t, LEVELS>
    LEVELS_OF_30{0, 4, 6, 8, 10, 12, 13, 14, 16, 17, 18, 20, 22, 24, 26, 30};
/// Sums have 8 bits.
constexpr uint32_t MAX_SUM = 255;

/** @return t with P(|z| > t) = share for a standard normal z */
double
GetClamp(double share)
{
    double low = 0;
    double high = 10;
    for (uint32_t i = 0; i < 60; i++)
    {
        const double middle = (low + high) / 2;
        (std::erfc(middle / std::sqrt(2.0)) > share ? low : high) = middle;
    }
    return low;
}

/** Multiplies by the orthonormal Hadamard matrix, its own inverse. @param values 2^k numbers */
void
Transform(std::vector<double>& values)
{
    for (std::size_t half = 1; half < values.size(); half *= 2)
    {
        for (std::size_t at = 0; at < values.size(); at += 2 * half)
        {
            for (std::size_t i = at; i < at + half; i++)
            {
                const double a = values[i];
                const double b = values[i + half];
                values[i] = a + b;
                values[i + half] = a - b;
            }
        }
    }
    const double factor = 1 / std::sqrt(static_cast<double>(values.size()));
    for (double& value : values)
    {
        value *= factor;
    }
}

/**
 * The ranks agree on the largest norm. Each turns its bucket by a Hadamard matrix with random
 * signs, which makes its d coordinates nearly normal, clamps them, and rounds them at random to a
 * level; a level's index has 4 bits. Switches look up the levels' values and add them in 8 bits.
 */
class ThcBucket final : public BucketCodec
{
  public:
    ThcBucket(const BucketRequest& request, uint32_t granularity, uint32_t overflow)
        : m_request(request),
          m_levels(granularity == 16 ? LEVELS_OF_16 : LEVELS_OF_30),
          m_clamp(GetClamp(1.0 / overflow))
    {
        const uint32_t most = MAX_SUM / granularity;
        if (request.ranks > most)
        {
            throw ConfigurationError("codec 'thc': sums of " + std::to_string(request.ranks) +
                                     " ranks with a granularity of " + std::to_string(granularity) +
                                     " do not fit 8 bits (allowed: up to " + std::to_string(most) +
                                     " ranks)");
        }
        while (m_size < request.count)
        {
            m_size *= 2;
        }
    }

    std::vector<BucketPhase> GetPhases() const override
    {
        return {{BucketExchange::MAX, 1, 32, 32}, {BucketExchange::SUM, m_size, 4, 8}};
    }

    void Start(const float* gradient, const CodecKey& key) override
    {
        CheckFinite(gradient, m_request.count);
        m_key = key;
        m_isQuantized = false;
        m_turned.assign(m_size, 0);
        double squares = 0;
        const CodecRandom signs(key.GetShared());
        for (uint64_t i = 0; i < m_request.count; i++)
        {
            m_turned[i] = GetSign(signs, i) * gradient[i];
            squares += double{gradient[i]} * gradient[i];
        }
        Transform(m_turned);
        SetPart(std::vector<float>{static_cast<float>(std::sqrt(squares))});
    }

    void Continue(const BucketResult& result) override
    {
        if (m_isQuantized)
        {
            m_sum = Restore(result.numbers, m_request.ranks);
            return;
        }
        m_isQuantized = true;
        m_norm = result.numbers[0];
        const CodecRandom random(m_key, 1);
        std::vector<float> levels(m_size);
        for (uint64_t i = 0; i < m_size; i++)
        {
            levels[i] = static_cast<float>(m_levels[Quantize(m_turned[i], random.GetUniform(i))]);
        }
        m_own = Restore(levels, 1);
        SetPart(std::move(levels));
    }

  private:
    /** @return sign of a coordinate, the same at all ranks */
    static double GetSign(const CodecRandom& signs, uint64_t index)
    {
        return (signs.GetBits(index) & 1) != 0 ? -1 : 1;
    }

    /** @return largest magnitude of a coordinate */
    double GetLimit() const
    {
        return m_clamp * m_norm / std::sqrt(static_cast<double>(m_size));
    }

    uint32_t Quantize(double coordinate, double random) const
    {
        const double limit = GetLimit();
        if (limit == 0)
        {
            return LEVELS / 2 - 1; // what it stands for is multiplied by 0
        }
        const double clamped = std::clamp(coordinate / limit, -1.0, 1.0);
        const double exact = (clamped + 1) / 2 * m_levels.back();
        uint32_t upper = 1; // level at or above the coordinate
        while (m_levels[upper] < exact)
        {
            upper++;
        }
        const double low = m_levels[upper - 1];
        const double step = m_levels[upper] - low;
        return upper - uint32_t{random * step >= exact - low};
    }

    /** @return the numbers of sums of levels */
    std::vector<float> Restore(const std::vector<float>& sums, uint32_t addends) const
    {
        const double half = m_levels.back() / 2.0;
        std::vector<double> turned(m_size);
        for (uint64_t i = 0; i < m_size; i++)
        {
            turned[i] = (sums[i] / half - addends) * GetLimit();
        }
        Transform(turned);
        const CodecRandom signs(m_key.GetShared());
        std::vector<float> values(m_request.count);
        for (uint64_t i = 0; i < m_request.count; i++)
        {
            values[i] = static_cast<float>(GetSign(signs, i) * turned[i]);
        }
        return values;
    }

    BucketRequest m_request;
    std::array<uint32_t, LEVELS> m_levels; // values by index
    double m_clamp;                        // standard deviations at which coordinates are clamped
    uint64_t m_size{1};                    // d, a power of two
    CodecKey m_key;                        // of the coding
    bool m_isQuantized{false};             // whether the second phase runs
    double m_norm{0};                      // the largest of all ranks
    std::vector<double> m_turned;          // coordinates
};

Ptr<BucketCodec>
MakeThc(const KeyValues& keys, const BucketRequest& request)
{
    return Create<ThcBucket>(request,
                             static_cast<uint32_t>(std::stoul(keys.GetText("granularity"))),
                             static_cast<uint32_t>(keys.GetCount("overflow")));
}

const Registry<CodecEntry>::Entry g_thc(
    "thc",
    {"THC: 4 bits of a turned bucket, summed in 8 bits by look-up; for error feedback",
     {Key::Word("granularity", "16", {"16", "30"}, "value of the last level"),
      Key::Count("overflow", 32, 2, 1U << 20, "one in so many coordinates is clamped")},
     nullptr,
     {},
     &MakeThc});

} // namespace

} // namespace ns3::training
