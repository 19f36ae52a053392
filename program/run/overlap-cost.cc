/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "overlap-cost.h"

#include "ns3/host-model.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-key-values.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ns3::training
{

namespace
{

/// An all-reduce of 256 MiB among 4 A100 beside matrix products of 8192 x 8192: the products take
/// 4313.0 us in place of 3715.8, of which 2880.1 beside the all-reduce, and this takes 2880.1 us in
/// place of 1944.4 (simllm, a100_hardware_envelope_v1). 24 channels of 108 multiprocessors would
/// give 1.29 in place of 1.26. The line hides part of the copies: 1.78 makes an all-reduce 1.48
/// times as long there.
constexpr OverlapCost MEASURED{2880.1 / (2880.1 - (4313.0 - 3715.8)), 1.78};

/// Largest factor.
constexpr double MOST = 1000;

} // namespace

OverlapCost
OverlapCost::Read(const std::string& text, const std::string& hostModel, bool isMeasured)
{
    if (text == AUTOMATIC)
    {
        const auto& entry = Registry<HostModelEntry>::Find(KeyValues::Split(hostModel).GetName());
        return entry.chooses && !isMeasured ? MEASURED : OverlapCost();
    }
    if (text == NONE)
    {
        return {};
    }
    OverlapCost cost;
    std::size_t begin = 0;
    for (auto [name, factor] : {std::pair{"compute=", &cost.compute}, {"copies=", &cost.copies}})
    {
        const std::size_t length = std::string(name).size();
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const auto number = text.compare(begin, length, name) == 0
                                ? ParseDouble(text.substr(begin + length, end - begin - length))
                                : std::nullopt;
        if (!number || !(*number >= 1 && *number <= MOST) ||
            (factor == &cost.copies && end != text.size()))
        {
            throw ConfigurationError("overlap-cost",
                                     text,
                                     " (allowed: auto, none, or compute=FACTOR,copies=FACTOR with "
                                     "factors from 1 to 1000)");
        }
        *factor = *number;
        begin = std::min(end + 1, text.size());
    }
    if (hostModel == NONE && cost.IsPaid())
    {
        throw ConfigurationError(
            "overlap-cost",
            text,
            " with host model none, which copies nothing (allowed: auto, none, "
            "or a host model)");
    }
    return cost;
}

} // namespace ns3::training
