/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology-builder.h"

#include "ns3/log.h"
#include "ns3/quantity.h"

#include <algorithm>
#include <sstream>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTopologyBuilder");

namespace
{

/// A fabric of more hosts than this is a typing error.
constexpr uint32_t MOST_HOSTS = 1 << 20;

std::string
ListKeys(const TopologyBuilder& builder)
{
    std::string text;
    for (const auto& [key, range] : builder.keys)
    {
        text += (text.empty() ? "" : ", ") + key + " from " + std::to_string(range.first) + " to " +
                std::to_string(range.second);
    }
    return text.empty() ? "no keys" : text;
}

} // namespace

uint64_t
TopologyRequest::Get(const std::string& key, uint64_t initial) const
{
    const auto found = keys.find(key);
    return found == keys.end() ? initial : found->second;
}

TopologyGraph
BuildTopology(const std::string& spec, uint32_t ranks, DataRate rate, Time delay)
{
    const std::size_t colon = spec.find(':');
    const std::string name = spec.substr(0, colon);
    const TopologyBuilder& builder = Registry<TopologyBuilder>::Find(name);
    TopologyRequest request{ranks, rate, delay, {}};
    if (colon != std::string::npos)
    {
        std::istringstream text(spec.substr(colon + 1) + ",");
        std::string pair;
        while (std::getline(text, pair, ','))
        {
            const std::size_t equals = pair.find('=');
            const std::string key = pair.substr(0, equals);
            const auto known = builder.keys.find(key);
            const auto value =
                equals == std::string::npos ? std::nullopt : ParseUnsigned(pair.substr(equals + 1));
            if (known == builder.keys.end() || !value || *value < known->second.first ||
                *value > known->second.second || request.keys.count(key) > 0)
            {
                throw ConfigurationError("topology '" + spec + "': '" + pair +
                                         "' is not allowed (" + name + " takes " +
                                         ListKeys(builder) + ", each once, as key=value)");
            }
            request.keys[key] = *value;
        }
    }
    if (ranks == 0 || ranks > MOST_HOSTS)
    {
        throw ConfigurationError(std::to_string(ranks) + " ranks (allowed: 1 to " +
                                 std::to_string(MOST_HOSTS) + ")");
    }
    TopologyGraph graph;
    graph.name = spec;
    builder.build(request, graph);
    if (graph.hosts > MOST_HOSTS)
    {
        throw ConfigurationError("topology '" + spec + "' has " + std::to_string(graph.hosts) +
                                 " hosts (allowed: up to " + std::to_string(MOST_HOSTS) + ")");
    }
    if (graph.hosts < ranks)
    {
        throw ConfigurationError(std::to_string(ranks) + " ranks on topology '" + spec +
                                 "' (allowed: 1 to " + std::to_string(graph.hosts) +
                                 ", the number of its hosts)");
    }
    return graph;
}

} // namespace ns3::training
