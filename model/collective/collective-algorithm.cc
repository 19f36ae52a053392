/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-algorithm.h"

#include "ns3/topology-graph.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Limited by the 32-bit chunk numbers of an all-to-all.
constexpr uint32_t MAX_ALL_TO_ALL_RANKS = 65535;

std::string
GetNames(const std::vector<CollectiveOperation>& operations)
{
    std::string names;
    for (CollectiveOperation operation : operations)
    {
        names += (names.empty() ? "" : ", ") + GetName(operation);
    }
    return names;
}

} // namespace

uint32_t
CollectiveRequest::GetHost(uint32_t rank) const
{
    return hosts.empty() ? rank : hosts.at(rank);
}

std::string
CollectiveRequest::Describe() const
{
    return std::to_string(ranks) + " ranks" +
           (topology ? " on topology '" + topology->name + "'" : "");
}

std::vector<std::string>
GetNotes(const CollectiveAlgorithm& algorithm)
{
    const bool all = algorithm.operations.size() == GetCollectiveOperations().size();
    std::vector<std::string> notes{"for " +
                                   (all ? "every operation" : GetNames(algorithm.operations))};
    for (const AlgorithmNeed& need : algorithm.needs)
    {
        notes.push_back(std::string("needs ") + need.text);
    }
    return notes;
}

void
CheckRequest(const Choice<CollectiveAlgorithm>& algorithm, CollectiveRequest& request)
{
    const std::string& name = algorithm.values.GetName();
    const auto& able = algorithm.entry->operations;
    if (std::find(able.begin(), able.end(), request.operation) == able.end())
    {
        throw ConfigurationError("the algorithm '" + name + "' has no " +
                                 GetName(request.operation) + " (allowed: " + GetNames(able) + ")");
    }
    if (request.ranks == 0 || request.root >= request.ranks)
    {
        throw ConfigurationError("root " + std::to_string(request.root) + " of " +
                                 std::to_string(request.ranks) +
                                 " ranks (allowed: 0 to ranks - 1)");
    }
    if (IsExchange(request.operation) && request.ranks > MAX_ALL_TO_ALL_RANKS)
    {
        throw ConfigurationError(GetName(request.operation) + " among " +
                                 std::to_string(request.ranks) + " ranks (allowed: up to " +
                                 std::to_string(MAX_ALL_TO_ALL_RANKS) + ")");
    }
    request.keys = algorithm.values;
    for (const AlgorithmNeed& need : algorithm.entry->needs)
    {
        if (!need.isMet(request))
        {
            throw ConfigurationError(algorithm.values.GetSpelling() + ": " +
                                     (need.describe ? need.describe(request) : request.Describe()) +
                                     " (allowed: " + need.text + ")");
        }
    }
}

const CollectiveAlgorithm&
CheckRequest(const std::string& algorithm, CollectiveRequest& request)
{
    const auto choice = Choose<CollectiveAlgorithm>(algorithm);
    CheckRequest(choice, request);
    return *choice.entry;
}

CollectiveSchedule
BuildSchedule(const std::string& algorithm, CollectiveRequest request)
{
    return BuildSchedule(Choose<CollectiveAlgorithm>(algorithm), std::move(request));
}

CollectiveSchedule
BuildSchedule(const Choice<CollectiveAlgorithm>& algorithm, CollectiveRequest request)
{
    CheckRequest(algorithm, request);
    const CollectiveAlgorithm& entry = *algorithm.entry;
    CollectiveSchedule schedule;
    schedule.operation = request.operation;
    schedule.algorithm = algorithm.values.GetName();
    schedule.root = request.root;
    schedule.chunks = request.ranks;
    if (request.operation == CollectiveOperation::ALL_TO_ALL ||
        request.operation == CollectiveOperation::ALL_TO_ALL_V)
    {
        schedule.chunks = request.ranks * request.ranks;
    }
    else if (request.operation == CollectiveOperation::BARRIER)
    {
        schedule.chunks = 1;
    }
    schedule.Resize(request.ranks);
    if (request.ranks > 1)
    {
        schedule.segments = request.segments > 0 ? request.segments
                            : entry.segments     ? entry.segments(request)
                                                 : 1;
        entry.build(request, schedule);
    }
    schedule.Close();
    return schedule;
}

} // namespace ns3::training
