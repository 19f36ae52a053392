/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "reference-sums.h"

#include "ns3/schedule-interpreter.h"

#include <algorithm>

namespace ns3::training
{

std::vector<std::vector<float>>
GetReferenceSums(const Cluster& cluster,
                 const std::vector<std::vector<float>>& inputs,
                 const std::vector<float>& result)
{
    const auto& workers = cluster.GetInNetworkCommunicators();
    return workers.empty()
               ? GetReferenceSumsOfHosts(cluster, inputs)
               : std::vector<std::vector<float>>{workers.front()->GetExpectedSum(inputs, result)};
}

std::vector<std::vector<float>>
GetReferenceSumsOfHosts(const Cluster& cluster, const std::vector<std::vector<float>>& inputs)
{
    const uint64_t bytes = inputs[0].size() * sizeof(float);
    const auto operation = CollectiveOperation::ALL_REDUCE;
    auto sums = InterpretSchedule(*cluster.GetReferenceSchedule(operation, bytes),
                                  inputs,
                                  nullptr,
                                  cluster.GetCoding(operation));
    const auto same = [&](const std::vector<float>& sum) { return sum == sums[0]; };
    if (std::all_of(sums.begin(), sums.end(), same))
    {
        sums.resize(1);
    }
    return sums;
}

bool
HasFallenBack(const Cluster& cluster)
{
    const auto& workers = cluster.GetInNetworkCommunicators();
    return std::any_of(workers.begin(), workers.end(), [](const auto& worker) {
        return worker->HasFallenBack();
    });
}

} // namespace ns3::training
