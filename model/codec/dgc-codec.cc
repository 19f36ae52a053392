/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-codec
 * Deep gradient compression (Lin et al., ICLR 2018).
 */

#include "bucket-codec.h"
#include "codec-blocks.h"
#include "codec/sparse-code.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

namespace ns3::training
{

namespace
{

/// Shares that the warm-up sends, one after the other.
constexpr std::array<double, 5> WARM_UP{0.25, 0.0625, 0.015625, 0.004, 0.001};
/// Share of the numbers that is sampled for the threshold.
constexpr double SAMPLE = 0.01;
/// Least sample.
constexpr uint64_t MIN_SAMPLE = 256;
/// Attempts to correct the threshold.
constexpr uint32_t MAX_ROUNDS = 10;

/** @return the magnitude of the number that has a rank among the largest, from 1 on */
float
GetLargest(std::vector<float> values, uint64_t rank)
{
    const auto last = values.begin() + static_cast<int64_t>(rank) - 1;
    std::nth_element(values.begin(), last, values.end(), [](float a, float b) {
        return std::abs(a) > std::abs(b);
    });
    return std::abs(*last);
}

/** Parameters of the codec. */
struct DgcSettings
{
    double keep;     ///< share of the numbers that is sent
    double momentum; ///< of the momentum correction
    double clip;     ///< norm to which N^(-1/2) gradients are clipped; 0: they are not
    uint32_t warmUp; ///< iterations of each share of the warm-up; 0: none
};

/**
 * Keeps the momentum u = m u + g and the numbers that are not yet sent, v = v + u. The largest of v
 * are sent, and cleared in both. The threshold comes from a sample, and is corrected by factors of
 * 1.3 and 0.7 until 0.7 to 1.3 times the wanted count exceed it; failing that, it is the exact one.
 */
class DgcBucket final : public BucketCodec
{
  public:
    DgcBucket(const BucketRequest& request, const DgcSettings& settings)
        : m_request(request),
          m_settings(settings)
    {
        SparseCode::CheckCount(request.count);
    }

    std::vector<BucketPhase> GetPhases() const override
    {
        const uint64_t kept = SparseCode::GetKept(m_settings.keep, m_request.count);
        const uint64_t bytes = SparseCode::GetBytes(kept, m_request.count, INDICES);
        return {{BucketExchange::GATHER, bytes, 8, 8}};
    }

    void Start(const float* gradient, const CodecKey& key) override
    {
        m_momentum.resize(m_request.count);
        m_unsent.resize(m_request.count);
        const float factor = GetClipFactor(gradient);
        for (uint64_t i = 0; i < m_request.count; i++)
        {
            m_momentum[i] =
                static_cast<float>(m_settings.momentum) * m_momentum[i] + factor * gradient[i];
            m_unsent[i] += m_momentum[i];
        }
        const std::vector<uint32_t> kept = Select(key);
        std::vector<uint8_t> code;
        SparseCode::Write(m_unsent.data(), m_request.count, kept, INDICES, code);
        SetPart(std::move(code));
        m_own.assign(m_request.count, 0);
        for (const uint32_t index : kept)
        {
            m_own[index] = m_unsent[index];
            m_unsent[index] = 0;
            m_momentum[index] = 0;
        }
    }

    void Continue(const BucketResult& result) override
    {
        std::vector<float> values(m_request.count);
        m_sum.assign(m_request.count, 0);
        for (const std::vector<uint8_t>& code : result.codes)
        {
            SparseCode::Read("dgc",
                             code.data(),
                             code.size(),
                             INDICES,
                             code.size() / 8,
                             values.data(),
                             values.size());
            std::transform(values.begin(),
                           values.end(),
                           m_sum.begin(),
                           m_sum.begin(),
                           std::plus<>());
        }
    }

  private:
    static constexpr SparseCode::Indices INDICES = SparseCode::Indices::WORDS;

    float GetClipFactor(const float* gradient) const
    {
        CheckFinite(gradient, m_request.count);
        if (m_settings.clip == 0)
        {
            return 1;
        }
        double squares = 0;
        for (uint64_t i = 0; i < m_request.count; i++)
        {
            squares += double{gradient[i]} * gradient[i];
        }
        const double limit = m_settings.clip / std::sqrt(m_request.ranks);
        const double norm = std::sqrt(squares);
        return norm <= limit ? 1 : static_cast<float>(limit / norm);
    }

    double GetShare(uint32_t iteration) const
    {
        const uint32_t stage = m_settings.warmUp == 0 ? static_cast<uint32_t>(WARM_UP.size())
                                                      : iteration / m_settings.warmUp;
        return stage < WARM_UP.size() ? std::max(WARM_UP[stage], m_settings.keep) : m_settings.keep;
    }

    float GetThreshold(double share, const CodecKey& key) const
    {
        const auto wanted = static_cast<uint64_t>(SAMPLE * static_cast<double>(m_request.count));
        const uint64_t size = std::min(std::max(wanted, MIN_SAMPLE), m_request.count);
        const CodecRandom random(key);
        std::vector<float> sample(size);
        for (uint64_t i = 0; i < size; i++)
        {
            // All numbers of a small tensor, otherwise random ones.
            const uint64_t index =
                size == m_request.count
                    ? i
                    : static_cast<uint64_t>(random.GetUniform(i) *
                                            static_cast<double>(m_request.count));
            sample[i] = m_unsent[index];
        }
        return GetLargest(std::move(sample), SparseCode::GetKept(share, size));
    }

    std::vector<uint32_t> Select(const CodecKey& key) const
    {
        std::vector<uint32_t> kept;
        if (m_request.count == 0)
        {
            return kept;
        }
        const double share = GetShare(key.iteration);
        const auto wanted = static_cast<double>(SparseCode::GetKept(share, m_request.count));
        float threshold = GetThreshold(share, key);
        bool fits = false;
        for (uint32_t round = 0; round < MAX_ROUNDS && !fits; round++)
        {
            const auto count = static_cast<double>(
                std::count_if(m_unsent.begin(), m_unsent.end(), [&](float value) {
                    return std::abs(value) >= threshold;
                }));
            fits = count >= 0.7 * wanted && count <= 1.3 * wanted;
            threshold *= fits ? 1 : count > wanted ? 1.3F : 0.7F;
        }
        if (!fits) // the factors may jump to and fro, above all with few numbers
        {
            threshold = GetLargest(m_unsent, static_cast<uint64_t>(wanted));
        }
        for (uint64_t i = 0; i < m_request.count; i++)
        {
            if (std::abs(m_unsent[i]) >= threshold && m_unsent[i] != 0)
            {
                kept.push_back(static_cast<uint32_t>(i));
            }
        }
        return kept;
    }

    BucketRequest m_request;
    DgcSettings m_settings;
    std::vector<float> m_momentum; // u
    std::vector<float> m_unsent;   // v
};

Ptr<BucketCodec>
MakeDgc(const KeyValues& keys, const BucketRequest& request)
{
    return Create<DgcBucket>(request,
                             DgcSettings{keys.GetNumber("keep"),
                                         keys.GetNumber("momentum"),
                                         keys.GetNumber("clip"),
                                         static_cast<uint32_t>(keys.GetCount("warm-up"))});
}

const Registry<CodecEntry>::Entry g_dgc(
    "dgc",
    {"deep gradient compression: the largest of momentum and unsent numbers, by a sampled "
     "threshold",
     {SparseCode::MakeKeepKey(0.001),
      Key::Number("momentum", 0.9, 0, 1, "of the momentum correction"),
      Key::Number("clip", 0, 0, 1e30, "norm of the sum of gradients; 0: they are not clipped"),
      Key::Count("warm-up", 0, 0, 1U << 30, "iterations of each larger share at first; 0: none")},
     nullptr,
     MakeGraceCost(11, 8, "1 %"),
     &MakeDgc});

} // namespace

} // namespace ns3::training
