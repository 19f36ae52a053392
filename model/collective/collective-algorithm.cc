/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-algorithm.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCollectiveAlgorithm");

const CollectiveAlgorithm&
CheckRequest(const std::string& algorithm, const CollectiveRequest& request)
{
    const CollectiveAlgorithm& entry = Registry<CollectiveAlgorithm>::Find(algorithm);
    const auto& able = entry.operations;
    if (std::find(able.begin(), able.end(), request.operation) == able.end())
    {
        std::string names;
        for (CollectiveOperation operation : able)
        {
            names += (names.empty() ? "" : ", ") + GetName(operation);
        }
        throw ConfigurationError("the algorithm '" + algorithm + "' has no " +
                                 GetName(request.operation) + " (allowed: " + names + ")");
    }
    if (request.ranks == 0 || request.root >= request.ranks)
    {
        throw ConfigurationError("root " + std::to_string(request.root) + " of " +
                                 std::to_string(request.ranks) +
                                 " ranks (allowed: 0 to ranks - 1)");
    }
    if (request.servers == 0 || request.servers > request.ranks)
    {
        throw ConfigurationError(std::to_string(request.servers) + " parameter servers for " +
                                 std::to_string(request.ranks) + " ranks (allowed: 1 to ranks)");
    }
    return entry;
}

CollectiveSchedule
BuildSchedule(const std::string& algorithm, const CollectiveRequest& request)
{
    const CollectiveAlgorithm& entry = CheckRequest(algorithm, request);
    CollectiveSchedule schedule;
    schedule.operation = request.operation;
    schedule.algorithm = algorithm;
    schedule.root = request.root;
    schedule.chunks = request.ranks;
    schedule.ranks.resize(request.ranks);
    if (request.ranks > 1)
    {
        entry.build(request, schedule);
    }
    return schedule;
}

} // namespace ns3::training
