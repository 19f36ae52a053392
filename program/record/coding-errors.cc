/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "coding-errors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace ns3::training
{

namespace
{

/** @return a bound, null if there is none */
JsonValue
ToJsonBound(double bound)
{
    return std::isfinite(bound) ? JsonValue(bound) : JsonValue();
}

} // namespace

void
CodingErrors::Add(const std::vector<std::vector<float>>& inputs,
                  const std::vector<std::vector<float>>& sums,
                  const GradientCodec* codec)
{
    const auto ranks = static_cast<uint32_t>(inputs.size());
    double largest = 0;
    for (std::size_t i = 0; i < sums[0].size(); i++)
    {
        double exact = 0;
        for (const auto& input : inputs)
        {
            exact += input[i];
            largest = std::max(largest, std::abs(static_cast<double>(input[i])));
        }
        const auto [least, most] =
            std::minmax_element(sums.begin(), sums.end(), [i](const auto& a, const auto& b) {
                return a[i] < b[i];
            });
        const double drift = static_cast<double>((*most)[i]) - (*least)[i];
        driftedElements += drift > 0;
        largestDrift = std::max(largestDrift, drift);
        largestError =
            std::max({largestError, std::abs((*most)[i] - exact), std::abs((*least)[i] - exact)});
    }
    elements += sums[0].size();
    constexpr double NONE = std::numeric_limits<double>::infinity();
    bound = std::max(bound, codec ? codec->GetErrorBound(largest, ranks, ranks) : NONE);
    const double named = codec ? codec->GetNamedError() : NONE;
    namedBound = std::max(namedBound, ranks * named + GetFloatSumError(largest, ranks));
}

void
CodingErrors::Add(const CodingErrors& other)
{
    elements += other.elements;
    driftedElements += other.driftedElements;
    largestDrift = std::max(largestDrift, other.largestDrift);
    largestError = std::max(largestError, other.largestError);
    bound = std::max(bound, other.bound);
    namedBound = std::max(namedBound, other.namedBound);
}

void
CodingErrors::AddTo(JsonValue& json) const
{
    json.Set("drifted_elements", driftedElements)
        .Set("elements", elements)
        .Set("largest_drift", largestDrift)
        .Set("largest_error", largestError)
        .Set("error_bound", ToJsonBound(bound))
        .Set("named_bound", ToJsonBound(namedBound));
}

std::string
CodingErrors::Format(const std::string& who, const std::string& remedy) const
{
    char line[200];
    std::snprintf(line,
                  sizeof(line),
                  " errors: sums differ from exact ones by up to %.3g, ",
                  largestError);
    std::string text = who + line;
    if (std::isfinite(bound))
    {
        std::snprintf(line, sizeof(line), "the codec makes at most %.3g", bound);
        text += line;
    }
    else
    {
        text += "the codec has no bound";
    }
    if (std::isfinite(namedBound))
    {
        std::snprintf(line,
                      sizeof(line),
                      "; the bound that it is named by, %.3g for a sum, %s",
                      namedBound,
                      largestError <= namedBound ? "holds" : "does not hold");
        text += line;
    }
    text += "\n";
    if (driftedElements > 0)
    {
        std::snprintf(line,
                      sizeof(line),
                      "warning: the ranks' sums differ in %llu of %llu elements, by up to %.3g",
                      static_cast<unsigned long long>(driftedElements),
                      static_cast<unsigned long long>(elements),
                      largestDrift);
        text += line + (remedy.empty() ? remedy : " (" + remedy + ")") + "\n";
    }
    return text;
}

} // namespace ns3::training
