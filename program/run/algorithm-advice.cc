/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/algorithm-advice.h"

#include "ns3/algorithm-chooser.h"
#include "ns3/background-helper.h"
#include "ns3/collective-algorithm.h"
#include "ns3/collective-cost.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <cstdio>
#include <optional>

namespace ns3::training
{

namespace
{

/// Ratio of time and lower bound above which a collective is slow.
constexpr double SLOW = 1.5;
/// Ratio of expected times above which another algorithm is worth an advice.
constexpr double WORTH = 1.25;

/** @return whether schedules of hosts, and nothing else, determine the times of a cluster */
bool
IsComparable(const Cluster& cluster, uint32_t ranks)
{
    const ClusterOptions& options = cluster.GetOptions();
    return options.schedule.empty() && options.algorithm != AlgorithmChooser::NAME &&
           !IsInNetwork(options.algorithm) && !IsInNic(options.algorithm) &&
           !cluster.GetNicEngines().IsInstalled() && !cluster.GetCodecs().IsInstalled() &&
           !cluster.HasFaults() && options.background == BackgroundHelper::NONE && ranks > 1 &&
           ranks <= MAX_ADVISED_RANKS;
}

/** @return a time in microseconds */
std::string
FormatMicroseconds(double seconds)
{
    char text[40];
    std::snprintf(text, sizeof(text), "%.3f us", seconds * 1e6);
    return text;
}

/** @return expected time of an algorithm, s; none if there is no estimate */
std::optional<double>
GetExpectedTime(const NetworkCost& network,
                const std::string& algorithm,
                const CollectiveRequest& request)
{
    const auto cost = CollectiveCost::Measure(*request.topology,
                                              request.hosts,
                                              network,
                                              BuildSchedule(algorithm, request));
    if (!cost)
    {
        return std::nullopt;
    }
    return cost->GetLatency(request.bytes) + cost->GetTransfer(request.bytes);
}

/** @return AdviseAlgorithm(); the subject is what took the time */
std::string
Advise(const Cluster& cluster,
       const std::string& subject,
       const FinishedCollective& collective,
       const std::vector<uint32_t>& hosts)
{
    const auto ranks = hosts.empty() ? cluster.GetRanks() : static_cast<uint32_t>(hosts.size());
    if (!IsComparable(cluster, ranks) || collective.lowerBound <= 0 ||
        collective.seconds < SLOW * collective.lowerBound)
    {
        return "";
    }
    const std::string& current = cluster.GetOptions().algorithm;
    const NetworkCost& network = cluster.GetPlan().GetNetworkCost();
    CollectiveRequest request;
    request.operation = collective.operation;
    request.bytes = collective.bytes;
    request.ranks = ranks;
    request.hosts = hosts;
    request.topology = &cluster.GetTopology();
    request.segments = static_cast<uint32_t>(cluster.GetOptions().segments);
    try
    {
        const std::string best = AlgorithmChooser(network).Choose(request).name;
        const auto expected = GetExpectedTime(network, best, request);
        const auto usual = GetExpectedTime(network, current, request);
        if (!expected || !usual || *usual < WORTH * *expected)
        {
            return "";
        }
        char text[200];
        std::snprintf(text,
                      sizeof(text),
                      " takes %.2f times its lower bound; expected for %s of %s: ",
                      collective.seconds / collective.lowerBound,
                      GetName(collective.operation).c_str(),
                      FormatBytes(collective.bytes).c_str());
        return subject + text + FormatMicroseconds(*usual) + " with " + current + ", " +
               FormatMicroseconds(*expected) + " with " + best +
               " (see --collective=" + AlgorithmChooser::NAME + ")";
    }
    catch (const ConfigurationError&)
    {
        return ""; // no algorithm does this operation
    }
}

} // namespace

std::string
AdviseAlgorithm(const Cluster& cluster, const FinishedCollective& collective)
{
    return Advise(cluster,
                  GetName(collective.operation) + " of " + FormatBytes(collective.bytes),
                  collective,
                  {});
}

std::string
AdviseAlgorithm(const Cluster& cluster,
                const JobPlan& plan,
                const IterationRecord& mean,
                const std::vector<uint32_t>& hosts)
{
    FinishedCollective largest{CollectiveOperation::ALL_REDUCE,
                               0,
                               mean.collectiveTimeS,
                               mean.lowerBoundS};
    uint64_t most = 0;
    for (const auto& [collective, count] : plan.summary.collectives)
    {
        const auto& [groups, operation, bytes] = collective;
        const TaskGroups& members = plan.graph->GetGroups()[groups];
        if (!members.exchanges && members.AreAll(plan.graph->GetRanks()) && bytes * count > most)
        {
            most = bytes * count;
            largest.operation = operation;
            largest.bytes = bytes;
        }
    }
    return most > 0 ? Advise(cluster, "communication", largest, hosts) : "";
}

JsonValue
ListCandidates(const std::vector<PlannedChoice>& choices)
{
    auto rows = JsonValue::Array();
    for (const PlannedChoice& one : choices)
    {
        for (const AlgorithmCandidate& candidate : one.choice.candidates)
        {
            const bool fits = candidate.unfit.empty();
            auto row = JsonValue::Object();
            row.Set("ranks", one.ranks)
                .Set("operation", GetName(one.operation))
                .Set("bytes", one.bytes)
                .Set("algorithm", candidate.name)
                .Set("is_chosen", candidate.name == one.choice.name)
                .Set("expected_us", fits ? JsonValue(candidate.seconds * 1e6) : JsonValue())
                .Set("latency_us", fits ? JsonValue(candidate.latency * 1e6) : JsonValue())
                .Set("steps", fits ? JsonValue(uint64_t{candidate.steps}) : JsonValue())
                .Set("unfit", candidate.unfit);
            rows.Append(row);
        }
    }
    return rows;
}

} // namespace ns3::training
