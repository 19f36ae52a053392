/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "error-feedback.h"

#include <algorithm>
#include <functional>

namespace ns3::training
{

void
ErrorFeedback::Add(uint32_t rank, uint64_t bucket, std::vector<float>& gradient) const
{
    const std::vector<float>& error = GetError(rank, bucket);
    std::transform(error.begin(), error.end(), gradient.begin(), gradient.begin(), std::plus<>());
}

void
ErrorFeedback::Keep(uint32_t rank,
                    uint64_t bucket,
                    const std::vector<float>& coded,
                    const std::vector<float>& decoded)
{
    std::vector<float>& error = m_errors[{rank, bucket}];
    error.resize(coded.size());
    std::transform(coded.begin(), coded.end(), decoded.begin(), error.begin(), std::minus<>());
}

void
ErrorFeedback::Forget(uint32_t rank, uint64_t bucket)
{
    m_errors.erase({rank, bucket});
}

const std::vector<float>&
ErrorFeedback::GetError(uint32_t rank, uint64_t bucket) const
{
    static const std::vector<float> none;
    const auto found = m_errors.find({rank, bucket});
    return found == m_errors.end() ? none : found->second;
}

} // namespace ns3::training
