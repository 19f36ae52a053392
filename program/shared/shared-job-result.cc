/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared-job-result.h"

#include "ns3/training-record-field.h"

#include <numeric>
#include <vector>

namespace ns3::training
{

namespace
{

/// What switches count for a job.
const std::vector<RecordField<InNetworkShare>> SHARE{
    {"slots", "", "slots of each switch, of the job or shared", &InNetworkShare::slots},
    {"packets", "", "packets of ranks and switches, at switches", &InNetworkShare::packets},
    {"added", "", "packets added in slots", &InNetworkShare::added},
    {"repeated", "", "duplicates", &InNetworkShare::repeated},
    {"collisions", "", "packets to servers, as slots were taken", &InNetworkShare::collisions},
    {"passed", "", "packets to servers, sent again or floats", &InNetworkShare::passed},
    {"evicted", "", "partial sums to servers", &InNetworkShare::evicted},
    {"completed", "", "sums of all contributors", &InNetworkShare::completed}};

} // namespace

JsonValue
SharedSwitchFigures::ToJson() const
{
    JsonValue object = workers.ToJson();
    SetMembers(object, SHARE, switches);
    return object;
}

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
