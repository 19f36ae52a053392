/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/job-lower-bound.h"

#include "ns3/nic-helper.h"

#include <algorithm>
#include <map>

namespace ns3::training
{

namespace
{

/** @return lower bound of the collectives that a group of ranks of the cluster has in common, s */
double
GetGroupBound(const JobPlan& plan,
              const Cluster& cluster,
              uint32_t index,
              const std::vector<uint32_t>& group)
{
    double seconds = 0;
    std::map<bool, LowerBound> bounds; // by whether engines in NICs code
    for (const auto& [collective, count] : plan.summary.collectives)
    {
        const auto& [groups, operation, bytes] = collective;
        // The sizes of an all-to-all-v are not in the summary.
        if (groups != index || operation == CollectiveOperation::ALL_TO_ALL_V)
        {
            continue;
        }
        const bool isCoded = cluster.GetNicEngines().Codes(operation);
        auto found = bounds.find(isCoded);
        if (found == bounds.end())
        {
            const bool isJob = group.size() == plan.graph->GetRanks();
            found =
                bounds.emplace(isCoded, cluster.GetBounds().MakeForGroup(group, operation, isJob))
                    .first;
        }
        seconds += static_cast<double>(count) * found->second.GetSeconds(operation, bytes);
    }
    return seconds;
}

/** @return lower bound of the collectives of all ranks of the cluster, s */
double
GetAllBound(const JobPlan& plan, const Cluster& cluster, uint32_t index)
{
    double seconds = 0;
    for (const auto& [collective, count] : plan.summary.collectives)
    {
        const auto& [groups, operation, bytes] = collective;
        const bool isKnown = operation != CollectiveOperation::ALL_TO_ALL_V;
        seconds += groups == index && isKnown
                       ? static_cast<double>(count) * cluster.GetBounds().Get(operation, bytes)
                       : 0;
    }
    return seconds;
}

} // namespace

double
GetLowerBound(const JobPlan& plan, const Cluster& cluster, const std::vector<uint32_t>& places)
{
    double longest = 0;
    for (uint32_t index = 0; index < plan.operations.size(); index++)
    {
        const TaskGroups& taskGroups = plan.graph->GetGroups()[index];
        std::vector<uint32_t> group = plan.graph->GetGroup(index, 0);
        if (places.empty() && taskGroups.groups.size() < 2 &&
            taskGroups.AreAll(cluster.GetRanks()) &&
            cluster.GetCommunicators().GetInNetworkOf(group).empty())
        {
            longest = std::max(longest, GetAllBound(plan, cluster, index));
            continue;
        }
        for (uint32_t& rank : group)
        {
            rank = places.empty() ? rank : places.at(rank);
        }
        longest = std::max(longest, GetGroupBound(plan, cluster, index, group));
    }
    return longest;
}

} // namespace ns3::training
