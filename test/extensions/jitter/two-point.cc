/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * Some draws are slow by a factor, all others equally fast, with mean 1.
 */

#include "ns3/training-jitter.h"

namespace
{

using namespace ns3;
using namespace ns3::training;

Ptr<RandomVariableStream>
Make(const KeyValues& keys)
{
    const double slow = keys.GetNumber("slow");
    const double factor = keys.GetNumber("factor");
    if (slow * factor > 1)
    {
        throw ConfigurationError("jitter",
                                 keys.GetSpelling(),
                                 " (allowed: slow x factor up to 1, as the mean is 1)");
    }
    auto variable = CreateObject<EmpiricalRandomVariable>();
    variable->CDF((1 - slow * factor) / (1 - slow), 1 - slow);
    variable->CDF(factor, 1);
    return variable;
}

const Registry<JitterEntry>::Entry g_twoPoint(
    "two-point",
    {"some draws are slow, the others equally fast",
     {Key::Number("slow", 0.1, 0, 0.9, "part of the draws that are slow"),
      Key::Number("factor", 2, 1, 10, "their factor")},
     &Make});

} // namespace
