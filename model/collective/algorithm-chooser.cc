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

AlgorithmChooser::AlgorithmChooser(const NetworkCost& network)
    : m_network(network)
{
}

const std::optional<CollectiveCost>&
AlgorithmChooser::GetCost(const std::string& name, CollectiveRequest request)
{
    static const std::optional<CollectiveCost> none;
    const auto& entry = Registry<CollectiveAlgorithm>::Find(name);
    if (entry.searches && request.ranks > MAX_SEARCHED_RANKS)
    {
        NS_LOG_LOGIC("not " << name << ", which searches too long for " << request.ranks
                            << " ranks");
        return none;
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
        if (isNew)
        {
            found->second = CollectiveCost::Measure(*request.topology,
                                                    request.hosts,
                                                    m_network,
                                                    BuildSchedule(name, request));
        }
        return found->second;
    }
    catch (const ConfigurationError& error)
    {
        NS_LOG_LOGIC("not " << error.what());
        return none;
    }
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

    /** An algorithm and its expected time. */
    struct Candidate
    {
        double seconds;
        uint32_t steps;
        std::string name;
        double latency;
    };

    std::vector<Candidate> candidates;
    for (const auto& [name, entry] : Registry<CollectiveAlgorithm>::All())
    {
        if (const auto& cost = GetCost(name, request))
        {
            const double latency = cost->GetLatency(request.bytes);
            candidates.push_back(
                {latency + cost->GetTransfer(request.bytes), cost->GetSteps(), name, latency});
        }
    }
    if (candidates.empty())
    {
        m_choices.erase(found);
        throw ConfigurationError("auto: no algorithm for " + GetName(request.operation) +
                                 " among " + std::to_string(request.ranks) + " ranks");
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return std::tie(a.seconds, a.steps, a.name) < std::tie(b.seconds, b.steps, b.name);
    });
    const Candidate& best = candidates.front();
    std::string reason = best.name + " for " + GetName(request.operation) + " of " +
                         FormatBytes(request.bytes) + " among " + std::to_string(request.ranks) +
                         " ranks: " + FormatMicroseconds(best.seconds) + " expected (" +
                         std::to_string(best.steps) + " steps: latency " +
                         FormatMicroseconds(best.latency) + ", transfer " +
                         FormatMicroseconds(best.seconds - best.latency) + ")";
    for (std::size_t i = 1; i < candidates.size() && i <= MAX_NAMED; i++)
    {
        reason += (i == 1 ? "; next " : ", ") + candidates[i].name + " " +
                  FormatMicroseconds(candidates[i].seconds);
    }
    NS_LOG_INFO(reason);
    found->second = {best.name, reason};
    return found->second;
}

} // namespace ns3::training
