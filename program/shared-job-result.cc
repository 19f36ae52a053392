/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared-job-result.h"

#include <numeric>

namespace ns3::training
{

double
SharedJobResult::GetIterationTime() const
{
    const double sum = std::accumulate(
        iterations.begin(),
        iterations.end(),
        0.0,
        [](double before, const IterationRecord& next) { return before + next.iterationTimeS; });
    return iterations.empty() ? 0 : sum / static_cast<double>(iterations.size());
}

} // namespace ns3::training
