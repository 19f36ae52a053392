/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "failure-plan.h"

#include "core/random-streams.h"

#include "ns3/guarded-run.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-key-values.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace ns3::training
{

namespace
{

/** @return the number behind a prefix, below a limit */
std::optional<uint32_t>
ReadNumber(const std::string& text, const std::string& prefix, uint32_t limit)
{
    if (text.rfind(prefix, 0) != 0)
    {
        return std::nullopt;
    }
    const auto number = ParseUnsigned(text.substr(prefix.size()));
    return number && *number < limit ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
}

} // namespace

FailurePlan::FailurePlan(const LifeOptions& options, const TopologyGraph& topology, uint32_t ranks)
    : m_topology(topology),
      m_ranks(ranks)
{
    FindNodes();
    for (const std::string& list : options.fail)
    {
        std::istringstream stream(list + ","); // so that an empty last part is refused
        for (std::string text; std::getline(stream, text, ',');)
        {
            Add(text);
        }
    }
    std::stable_sort(m_given.begin(), m_given.end(), [](const auto& a, const auto& b) {
        return a.time < b.time;
    });
    if (!options.failures.empty())
    {
        m_model = MakeFailureModel(options.failures);
        m_sequence = std::make_unique<FailureSequence>(*m_model,
                                                       GetNodes(),
                                                       GetRandomStream(RandomUse::FAILURES));
        m_drawn = Draw();
    }
}

void
FailurePlan::FindNodes()
{
    const uint32_t hosts = m_topology.shape.GetHostsPerServer();
    const std::vector<uint32_t> servers = m_topology.GetServers();
    std::map<uint32_t, uint32_t> known; // nodes by server
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        const uint32_t server = hosts > 1                                   ? rank / hosts
                                : servers[rank] != TopologyGraph::NO_SERVER ? servers[rank]
                                                                            : m_ranks + rank;
        const auto next = static_cast<uint32_t>(known.size());
        m_nodes.push_back(known.emplace(server, next).first->second);
    }
}

uint32_t
FailurePlan::GetNodes() const
{
    return *std::max_element(m_nodes.begin(), m_nodes.end()) + 1;
}

void
FailurePlan::Add(const std::string& text)
{
    KeyValues values = KeyValues::Split(text);
    PlannedFailure failure;
    failure.target = values.GetName();
    failure.cause = "given";
    if (!values.Read({}, LifeOptions::GetFailureTime()).empty() || !FindTarget(failure))
    {
        throw ConfigurationError("fail",
                                 text,
                                 " (allowed: TARGET:TIME with a target rank0 to rank" +
                                     std::to_string(m_ranks - 1) + ", node0 to node" +
                                     std::to_string(GetNodes() - 1) +
                                     " or a link such as host0-switch0 of topology '" +
                                     m_topology.name + "', and a time with a unit)");
    }
    failure.time = ParseTime(values.GetFirst()).value();
    m_given.push_back(failure);
}

void
FailurePlan::AddHost(uint32_t host, PlannedFailure& failure) const
{
    failure.ranks.push_back(host);
    const auto links = m_topology.FindLinks(m_topology.GetName(host));
    failure.links.insert(failure.links.end(), links.begin(), links.end());
}

bool
FailurePlan::FindTarget(PlannedFailure& failure) const
{
    if (const auto rank = ReadNumber(failure.target, "rank", m_ranks))
    {
        failure.node = m_nodes[*rank];
        AddHost(*rank, failure);
        return true;
    }
    if (const auto node = ReadNumber(failure.target, "node", GetNodes()))
    {
        failure.node = *node;
        for (uint32_t rank = 0; rank < m_ranks; rank++)
        {
            if (m_nodes[rank] == *node)
            {
                AddHost(rank, failure);
            }
        }
        return true;
    }
    if (failure.target.find('-') == std::string::npos)
    {
        return false;
    }
    failure.links = m_topology.FindLinks(failure.target);
    for (const uint32_t link : failure.links)
    {
        const uint32_t host = std::min(m_topology.links[link].a, m_topology.links[link].b);
        failure.node = host < m_ranks ? std::optional(m_nodes[host]) : std::nullopt;
    }
    return !failure.links.empty();
}

std::optional<PlannedFailure>
FailurePlan::Draw()
{
    const Failure next = m_sequence->Next();
    if (ToSeconds(next.time) > GuardedRun::MAX_SECONDS)
    {
        return std::nullopt;
    }
    PlannedFailure failure;
    failure.time = NanoSeconds(next.time.count());
    failure.target = "node" + std::to_string(next.node);
    failure.cause = m_model->causes[next.cause].name;
    FindTarget(failure);
    return failure;
}

std::vector<std::string>
FailurePlan::GetLeft() const
{
    std::vector<std::string> left;
    for (const PlannedFailure& failure : m_given)
    {
        left.push_back(failure.target + ":" + FormatTime(failure.time));
    }
    return left;
}

std::optional<PlannedFailure>
FailurePlan::Next()
{
    const bool isGiven = !m_given.empty() && (!m_drawn || m_given.front().time <= m_drawn->time);
    std::optional<PlannedFailure> next = m_drawn;
    if (isGiven)
    {
        next = m_given.front();
        m_given.pop_front();
    }
    else if (m_drawn)
    {
        m_drawn = Draw();
    }
    return next;
}

} // namespace ns3::training
