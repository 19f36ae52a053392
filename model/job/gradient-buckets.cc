/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gradient-buckets.h"

#include <algorithm>

namespace ns3::training
{

std::vector<GradientBucket>
MakeGradientBuckets(const std::vector<Layer>& layers, uint64_t capBytes, uint32_t gradientBytes)
{
    std::vector<GradientBucket> buckets;
    GradientBucket open;
    for (uint32_t index = layers.size(); index-- > 0;)
    {
        open.layers.push_back(index);
        if (layers[index].parameters == 0)
        {
            continue;
        }
        open.bytes += gradientBytes * layers[index].parameters;
        open.readyLayer = index;
        const uint64_t cap = buckets.empty() ? std::min(FIRST_BUCKET_BYTES, capBytes) : capBytes;
        if (open.bytes >= cap)
        {
            buckets.push_back(std::move(open));
            open = {};
        }
    }
    if (open.bytes > 0)
    {
        buckets.push_back(std::move(open));
    }
    else if (!buckets.empty())
    {
        // Leading layers without parameters: no bucket waits for them.
        auto& last = buckets.back().layers;
        last.insert(last.end(), open.layers.begin(), open.layers.end());
    }
    return buckets;
}

} // namespace ns3::training
