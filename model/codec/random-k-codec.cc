/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * Random numbers, the same ones of all ranks.
 */

#include "bucket-codec.h"
#include "codec-blocks.h"
#include "codec/sparse-code.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace ns3::training
{

namespace
{

/** Chooses the numbers that all ranks send. */
class RandomSet
{
  public:
    RandomSet(double share, bool isScaled)
        : m_share(share),
          m_isScaled(isScaled)
    {
    }

    uint64_t GetKept(uint64_t count) const
    {
        return SparseCode::GetKept(m_share, count);
    }

    /** @return ascending indices, each set with the same probability (R. W. Floyd's algorithm) */
    std::vector<uint32_t> Choose(uint64_t count, const CodecKey& key) const
    {
        SparseCode::CheckCount(count);
        const CodecRandom random(key.GetShared());
        std::unordered_set<uint32_t> chosen;
        for (uint64_t last = count - GetKept(count); last < count; last++)
        {
            const double position = random.GetUniform(last) * static_cast<double>(last + 1);
            if (!chosen.insert(static_cast<uint32_t>(position)).second)
            {
                chosen.insert(static_cast<uint32_t>(last));
            }
        }
        std::vector<uint32_t> kept(chosen.begin(), chosen.end());
        std::sort(kept.begin(), kept.end());
        return kept;
    }

    /** @return factor of the numbers that are sent */
    float GetFactor(uint64_t count) const
    {
        return m_isScaled && count > 0 ? static_cast<float>(static_cast<double>(count) /
                                                            static_cast<double>(GetKept(count)))
                                       : 1;
    }

    bool IsScaled() const
    {
        return m_isScaled;
    }

  private:
    double m_share;  // of the numbers that is sent
    bool m_isScaled; // whether the mean of the decoded numbers is the coded one
};

/** Numbers of a set that follows from the key, so that the code has no indices. */
class RandomKCodec final : public GradientCodec
{
  public:
    explicit RandomKCodec(const RandomSet& set)
        : m_set(set)
    {
    }

    CodecTraits GetTraits() const override
    {
        CodecTraits traits;
        traits.sums = true;
        traits.fixedSize = true;
        traits.unbiased = m_set.IsScaled();
        traits.random = true;
        traits.block = 0;
        return traits;
    }

    uint64_t GetCodedBytes(uint64_t count) const override
    {
        return sizeof(float) * m_set.GetKept(count);
    }

    void Encode(const float* values,
                uint64_t count,
                const CodecKey& key,
                std::vector<uint8_t>& code) const override
    {
        const float factor = m_set.GetFactor(count);
        code.clear();
        for (const uint32_t index : m_set.Choose(count, key))
        {
            AppendNumber(code, values[index] * factor);
        }
    }

    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey& key,
                float* values,
                uint64_t count) const override
    {
        CheckCodeSize("random-k", bytes, GetCodedBytes(count), count);
        std::fill(values, values + count, 0.0F);
        for (const uint32_t index : m_set.Choose(count, key))
        {
            values[index] = ReadNumber<float>(code);
            code += sizeof(float);
        }
    }

    bool Add(uint8_t* sum, const uint8_t* code, uint64_t bytes) const override
    {
        bool fits = true;
        for (uint64_t at = 0; at < bytes; at += sizeof(float))
        {
            const auto a = ReadNumber<float>(sum + at);
            const auto b = ReadNumber<float>(code + at);
            const float both = a + b;
            fits &= std::isfinite(both) || !std::isfinite(a) || !std::isfinite(b);
            std::memcpy(sum + at, &both, sizeof(both));
        }
        return fits;
    }

  private:
    RandomSet m_set;
};

/** A sum of the chosen numbers alone. */
class RandomKBucket final : public BucketCodec
{
  public:
    RandomKBucket(const BucketRequest& request, const RandomSet& set)
        : m_count(request.count),
          m_set(set)
    {
    }

    std::vector<BucketPhase> GetPhases() const override
    {
        return {{BucketExchange::SUM, m_set.GetKept(m_count), 32, 32}};
    }

    void Start(const float* gradient, const CodecKey& key) override
    {
        m_kept = m_set.Choose(m_count, key);
        std::vector<float> chosen;
        m_own.assign(m_count, 0);
        for (const uint32_t index : m_kept)
        {
            chosen.push_back(gradient[index] * m_set.GetFactor(m_count));
            m_own[index] = chosen.back();
        }
        SetPart(std::move(chosen));
    }

    void Continue(const BucketResult& result) override
    {
        m_sum.assign(m_count, 0);
        for (std::size_t i = 0; i < m_kept.size(); i++)
        {
            m_sum[m_kept[i]] = result.numbers[i];
        }
    }

  private:
    uint64_t m_count; // numbers of the bucket
    RandomSet m_set;
    std::vector<uint32_t> m_kept; // indices of this exchange
};

RandomSet
MakeRandomSet(const KeyValues& keys)
{
    return {keys.GetNumber("keep"), keys.GetBoolean("scaled")};
}

Ptr<GradientCodec>
MakeRandomK(const KeyValues& keys)
{
    return Create<RandomKCodec>(MakeRandomSet(keys));
}

Ptr<BucketCodec>
MakeRandomKBucket(const KeyValues& keys, const BucketRequest& request)
{
    return Create<RandomKBucket>(request, MakeRandomSet(keys));
}

const Registry<CodecEntry>::Entry g_randomK(
    "random-k",
    {"random numbers, the same ones of all ranks",
     {SparseCode::MakeKeepKey(0.01),
      Key::Of("scaled",
              Key::Type::BOOLEAN,
              "true",
              "whether they are scaled, so that the mean is right; false for error feedback")},
     &MakeRandomK,
     MakeGraceCost(0.3, 1, "1 %: 0.2 to 0.4 ns"),
     &MakeRandomKBucket});

} // namespace

} // namespace ns3::training
