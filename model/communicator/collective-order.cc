/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-order.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

using Waiting = std::vector<WaitingCollective>;

std::size_t
PickFirst(const Waiting&)
{
    return 0;
}

std::size_t
PickLast(const Waiting& waiting)
{
    return waiting.size() - 1;
}

std::size_t
PickHighestPriority(const Waiting& waiting)
{
    const auto highest =
        std::max_element(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) {
            return a.priority < b.priority;
        });
    return static_cast<std::size_t>(highest - waiting.begin());
}

const Registry<CollectiveOrder>::Entry g_fifo("fifo", {"issued first", true, &PickFirst});

const Registry<CollectiveOrder>::Entry g_lifo("lifo", {"issued last", false, &PickLast});

const Registry<CollectiveOrder>::Entry g_priority(
    "priority",
    {"highest Tensor::priority; of several the one issued first", false, &PickHighestPriority});

} // namespace

} // namespace ns3::training
