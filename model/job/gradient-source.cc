/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gradient-source.h"

#include "job/gradient-values.h"

#include "ns3/training-configuration-error.h"

namespace ns3::training
{

namespace
{

/** Evenly spaced numbers in [-1, 1), each exact in float32: see GradientOfKey(). */
class HashGradients : public GradientSource
{
  public:
    std::vector<float> Make(const GradientPlace& place, std::size_t count) const override
    {
        return MakeGradients(place.seed, place.rank, place.iteration, place.bucket, count);
    }
};

std::shared_ptr<const GradientSource>
MakeHash(const KeyValues&)
{
    return std::make_shared<HashGradients>();
}

const Registry<GradientSourceEntry>::Entry g_hash(
    "hash",
    {"uniform in [-1, 1), which finds wrong sums best; not distributed as gradients are",
     &MakeHash});

} // namespace

std::shared_ptr<const GradientSource>
MakeGradientSource(const std::string& text)
{
    const auto choice = Choose<GradientSourceEntry>(text);
    if (!choice.entry->make)
    {
        std::string able;
        for (const auto& [name, entry] : Registry<GradientSourceEntry>::All())
        {
            able += !entry.make ? "" : (able.empty() ? "" : ", ") + name;
        }
        throw ConfigurationError("gradients",
                                 text,
                                 " learns, which takes a training job (allowed: " + able + ")");
    }
    return choice.entry->make(choice.values);
}

} // namespace ns3::training
