/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-jitter.h"

#include "ns3/double.h"

#include <cmath>

namespace ns3::training
{

namespace
{

/** @return key of the coefficient of variation: standard deviation / mean */
Key
MakeVariation(double initial, double max)
{
    return Key::Number("cv", initial, 0, max, "standard deviation / mean");
}

/** @return normal with mean 1, cut symmetrically to 0 .. 2, which keeps the mean */
Ptr<RandomVariableStream>
MakeNormal(const KeyValues& keys)
{
    auto variable = CreateObject<NormalRandomVariable>();
    variable->SetAttribute("Mean", DoubleValue(1));
    variable->SetAttribute("Variance", DoubleValue(std::pow(keys.GetNumber("cv"), 2)));
    variable->SetAttribute("Bound", DoubleValue(1));
    return variable;
}

/** @return lognormal with mean 1: exp(mu + sigma^2 / 2) = 1, exp(sigma^2) - 1 = cv^2 */
Ptr<RandomVariableStream>
MakeLogNormal(const KeyValues& keys)
{
    const double variance = std::log1p(std::pow(keys.GetNumber("cv"), 2));
    auto variable = CreateObject<LogNormalRandomVariable>();
    variable->SetAttribute("Mu", DoubleValue(-variance / 2));
    variable->SetAttribute("Sigma", DoubleValue(std::sqrt(variance)));
    return variable;
}

/** @return exponential with mean 1 */
Ptr<RandomVariableStream>
MakeExponential(const KeyValues&)
{
    auto variable = CreateObject<ExponentialRandomVariable>();
    variable->SetAttribute("Mean", DoubleValue(1));
    return variable;
}

const Registry<JitterEntry>::Entry g_none("none", {"no variation", {}, {}});

const Registry<JitterEntry>::Entry g_normal("normal",
                                            {"normal distribution, cut to 0 .. 2 times the mean",
                                             {MakeVariation(0.02, 0.3)},
                                             &MakeNormal});

const Registry<JitterEntry>::Entry g_logNormal("lognormal",
                                               {"lognormal distribution: a long tail of slow cases",
                                                {MakeVariation(0.1, 10)},
                                                &MakeLogNormal});

const Registry<JitterEntry>::Entry g_exponential(
    "exponential",
    {"exponential distribution: standard deviation = mean", {}, &MakeExponential});

} // namespace

Ptr<RandomVariableStream>
MakeJitter(const std::string& text)
{
    const auto choice = Choose<JitterEntry>(text);
    return choice.entry->make ? choice.entry->make(choice.values) : nullptr;
}

} // namespace ns3::training
