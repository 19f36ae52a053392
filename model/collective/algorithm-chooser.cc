/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "algorithm-chooser.h"

#include "ns3/log.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingAlgorithmChooser");

namespace
{

/// Maximum number of runner-up algorithms in a reason.
constexpr std::size_t MAX_NAMED = 3;

std::string
FormatMicroseconds(double seconds)
{
    char text[40];
    std::snprintf(text, sizeof(text), "%.3f us", seconds * 1e6);
    return text;
}

} // namespace

AlgorithmChooser::AlgorithmChooser(const NetworkCost& network, HostQuestions hosts)
    : m_network(network),
      m_hosts(std::move(hosts))
{
}

AlgorithmCandidate
AlgorithmChooser::Judge(const std::string& name, CollectiveRequest request)
{
    AlgorithmCandidate candidate;
    candidate.name = name;
    const auto& entry = Registry<CollectiveAlgorithm>::Find(name);
    if (entry.searches && request.ranks > MAX_SEARCHED_RANKS)
    {
        candidate.unfit = name + " among " + std::to_string(request.ranks) +
                          " ranks searches too long (allowed: up to " +
                          std::to_string(MAX_SEARCHED_RANKS) + ", for auto)";
        NS_LOG_LOGIC("not " << candidate.unfit);
        return candidate;
    }
    try
    {
        CheckRequest(name, request);
        if (request.segments == 0)
        {
            request.segments = entry.segments ? entry.segments(request) : 1;
        }
        const auto [found, isNew] =
            m_costs.try_emplace(PlanKey(request.operation,
                                        name,
                                        request.root,
                                        request.segments,
                                        entry.dependsOnSize ? request.bytes : 0));
        Judgement& judgement = found->second;
        if (isNew)
        {
            try
            {
                CollectiveSchedule schedule = BuildSchedule(name, request);
                judgement.cost =
                    CollectiveCost::Measure(*request.topology, request.hosts, m_network, schedule);
                if (m_hosts.estimate && judgement.cost)
                {
                    judgement.schedule =
                        std::make_shared<const CollectiveSchedule>(std::move(schedule));
                }
                judgement.unfit =
                    judgement.cost ? "" : name + " has too many messages for an estimate";
            }
            catch (const ConfigurationError& error)
            {
                judgement.unfit = error.what();
            }
        }
        candidate.unfit = judgement.unfit;
        if (judgement.cost)
        {
            const HostEstimate hosts = judgement.schedule
                                           ? m_hosts.estimate(*judgement.schedule, request.bytes)
                                           : HostEstimate();
            const double transfer = hosts.wireFactor * judgement.cost->GetTransfer(request.bytes);
            candidate.latency = judgement.cost->GetLatency(request.bytes) + hosts.seconds;
            candidate.seconds = candidate.latency + std::max(transfer, hosts.channel);
            candidate.steps = judgement.cost->GetSteps();
        }
    }
    catch (const ConfigurationError& error)
    {
        candidate.unfit = error.what();
    }
    if (!candidate.unfit.empty())
    {
        NS_LOG_LOGIC("not " << candidate.unfit);
    }
    return candidate;
}

std::string
AlgorithmChooser::Object(const std::string& name, CollectiveOperation operation) const
{
    if (!m_hosts.listAlgorithms)
    {
        return "";
    }
    const auto known = m_hosts.listAlgorithms(operation);
    if (known.empty() || std::find(known.begin(), known.end(), name) != known.end())
    {
        return "";
    }
    std::string all;
    for (const std::string& one : known)
    {
        all += (all.empty() ? "" : ", ") + one;
    }
    return "; the library of these hosts has no " + name + " (it has: " + all + ")";
}

const AlgorithmChoice&
AlgorithmChooser::Choose(const CollectiveRequest& request)
{
    const auto [found, isNew] =
        m_choices.try_emplace({request.operation, request.bytes, request.root});
    if (!isNew)
    {
        return found->second;
    }
    std::vector<AlgorithmCandidate> candidates;
    for (const auto& [name, entry] : Registry<CollectiveAlgorithm>::All())
    {
        candidates.push_back(Judge(name, request));
    }
    std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
        const bool isUnfit[] = {!a.unfit.empty(), !b.unfit.empty()};
        return std::tie(isUnfit[0], a.seconds, a.steps, a.name) <
               std::tie(isUnfit[1], b.seconds, b.steps, b.name);
    });
    if (candidates.empty() || !candidates.front().unfit.empty())
    {
        m_choices.erase(found);
        throw ConfigurationError("auto: no algorithm for " + training::GetName(request.operation) +
                                 " among " + std::to_string(request.ranks) + " ranks");
    }
    const AlgorithmCandidate& best = candidates.front();
    std::string reason = best.name + " for " + training::GetName(request.operation) + " of " +
                         FormatBytes(request.bytes) + " among " + std::to_string(request.ranks) +
                         " ranks: " + FormatMicroseconds(best.seconds) + " expected (" +
                         std::to_string(best.steps) + " steps: latency " +
                         FormatMicroseconds(best.latency) + ", transfer " +
                         FormatMicroseconds(best.seconds - best.latency) + ")";
    for (std::size_t i = 1; i < candidates.size() && i <= MAX_NAMED && candidates[i].unfit.empty();
         i++)
    {
        reason += (i == 1 ? "; next " : ", ") + candidates[i].name + " " +
                  FormatMicroseconds(candidates[i].seconds);
    }
    reason += Object(best.name, request.operation);
    NS_LOG_INFO(reason);
    found->second = {best.name, reason, candidates};
    return found->second;
}

} // namespace ns3::training
