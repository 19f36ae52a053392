/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec/shared-scale-bucket.h"

#include "codec-blocks.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

SharedScaleBucket::SharedScaleBucket(const BucketRequest& request, uint32_t block)
    : m_ranks(request.ranks),
      m_count(request.count),
      m_block(block == 0 ? std::max<uint64_t>(request.count, 1) : block)
{
}

std::vector<BucketPhase>
SharedScaleBucket::GetPhases() const
{
    const uint64_t blocks = (m_count + m_block - 1) / m_block;
    return {{BucketExchange::MAX, blocks, 32, 32},
            {BucketExchange::SUM, m_count, GetBits(1), GetBits(m_ranks), true}};
}

void
SharedScaleBucket::Start(const float* gradient, const CodecKey& key)
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

void
SharedScaleBucket::Continue(const BucketResult& result)
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

void
SharedScaleBucket::Finish(const std::vector<float>& sums)
{
    m_sum.resize(m_count);
    for (uint64_t i = 0; i < m_count; i++)
    {
        m_sum[i] = Restore(static_cast<int32_t>(sums[i]), m_scales[i / m_block]);
    }
}

} // namespace ns3::training
