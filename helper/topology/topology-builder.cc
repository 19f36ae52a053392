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

/// Longest side of a grid, and most of its dimensions.
constexpr uint32_t LONGEST_SIDE = 4096;
constexpr std::size_t MOST_SIDES = 8;

/** @return whether a link may have a rate: sums of very high ones are out of range */
bool
IsLinkRate(const DataRate& rate)
{
    return rate.GetBitRate() >= 1000000 && rate.GetBitRate() <= 100000000000000;
}

/** @return whether a link may have a propagation delay: so may sums of very long ones */
bool
IsLinkDelay(const Time& delay)
{
    return delay <= Seconds(100);
}

/** @return the parts of a text between separators */
std::vector<std::string>
Split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::istringstream stream(text + separator);
    std::string part;
    while (std::getline(stream, part, separator))
    {
        parts.push_back(part);
    }
    return parts;
}

std::string
ListKeys(const TopologyBuilder& builder)
{
    std::string text;
    if (builder.first == TopologyBuilder::First::SIDES)
    {
        text = "sides such as 4x4 first, 1 to " + std::to_string(LONGEST_SIDE) + " each";
    }
    for (const auto& [key, range] : builder.keys)
    {
        text += (text.empty() ? "" : ", ") + key;
        switch (range.kind)
        {
        case TopologyKey::Kind::NUMBER:
            text += " from " + std::to_string(range.least) + " to " + std::to_string(range.most);
            break;
        case TopologyKey::Kind::RATE:
            text += std::string(" as a rate ") + LINK_RATES;
            break;
        case TopologyKey::Kind::TIME:
            text += std::string(" as a time ") + LINK_DELAYS;
            break;
        }
    }
    return text.empty() ? "no keys" : text;
}

/** @return whether a value is what its key asks for */
bool
IsAllowed(const TopologyKey& key, const std::string& value)
{
    switch (key.kind)
    {
    case TopologyKey::Kind::NUMBER: {
        const auto number = ParseUnsigned(value);
        return number && *number >= key.least && *number <= key.most;
    }
    case TopologyKey::Kind::RATE:
        return ParseLinkRate(value).has_value();
    case TopologyKey::Kind::TIME:
        return ParseLinkDelay(value).has_value();
    }
    return false;
}

/** Reads sides such as 4x4; returns whether they are well formed. */
bool
ReadSides(const std::string& text, std::vector<uint32_t>& sides)
{
    uint64_t product = 1;
    for (const std::string& part : Split(text, 'x'))
    {
        const auto side = ParseUnsigned(part);
        if (!side || *side < 1 || *side > LONGEST_SIDE || sides.size() == MOST_SIDES)
        {
            return false;
        }
        product *= *side;
        if (product > MOST_HOSTS)
        {
            return false;
        }
        sides.push_back(static_cast<uint32_t>(*side));
    }
    return true;
}

/** Reads what is behind the colon of a specification. */
void
ReadArguments(const TopologyBuilder& builder,
              const std::string& name,
              const std::string& arguments,
              TopologyRequest& request)
{
    bool isFirst = true;
    for (const std::string& part : Split(arguments, ','))
    {
        const std::size_t equals = part.find('=');
        const auto known = builder.keys.find(part.substr(0, equals));
        const bool takesSides = isFirst && builder.first == TopologyBuilder::First::SIDES;
        isFirst = false;
        if (takesSides && equals == std::string::npos && ReadSides(part, request.sides))
        {
            continue;
        }
        if (equals == std::string::npos || known == builder.keys.end() ||
            !IsAllowed(known->second, part.substr(equals + 1)) ||
            !request.keys.emplace(known->first, part.substr(equals + 1)).second)
        {
            throw ConfigurationError("topology '" + request.spec + "': '" + part +
                                     "' is not allowed (" + name + " takes " + ListKeys(builder) +
                                     ", each once, as key=value)");
        }
    }
}

} // namespace

std::optional<DataRate>
ParseLinkRate(const std::string& text)
{
    const auto rate = ParseRate(text);
    return rate && IsLinkRate(*rate) ? rate : std::nullopt;
}

std::optional<Time>
ParseLinkDelay(const std::string& text)
{
    const auto delay = ParseTime(text);
    return delay && IsLinkDelay(*delay) ? delay : std::nullopt;
}

uint32_t
TopologyRequest::Get(const std::string& key, uint64_t initial) const
{
    const auto found = keys.find(key);
    return static_cast<uint32_t>(found == keys.end() ? initial
                                                     : ParseUnsigned(found->second).value());
}

DataRate
TopologyRequest::GetRate(const std::string& key, const DataRate& initial) const
{
    const auto found = keys.find(key);
    return found == keys.end() ? initial : ParseRate(found->second).value();
}

Time
TopologyRequest::GetTime(const std::string& key, const Time& initial) const
{
    const auto found = keys.find(key);
    return found == keys.end() ? initial : ParseTime(found->second).value();
}

TopologyGraph
BuildTopology(const std::string& spec, uint32_t ranks, DataRate rate, Time delay)
{
    if (!IsLinkRate(rate))
    {
        throw ConfigurationError("--rate=" + FormatRate(rate) + " (allowed: " + LINK_RATES + ")");
    }
    if (!IsLinkDelay(delay))
    {
        throw ConfigurationError("--delay=" + FormatTime(delay) + " (allowed: " + LINK_DELAYS +
                                 ")");
    }
    const std::size_t colon = spec.find(':');
    const std::string name = spec.substr(0, colon);
    const TopologyBuilder& builder = Registry<TopologyBuilder>::Find(name);
    TopologyRequest request{ranks, rate, delay, spec, {}, {}, {}};
    const std::string arguments = colon == std::string::npos ? "" : spec.substr(colon + 1);
    if (builder.first == TopologyBuilder::First::PATH)
    {
        request.path = arguments;
    }
    else if (colon != std::string::npos)
    {
        ReadArguments(builder, name, arguments, request);
    }
    if (ranks == 0 || ranks > MOST_HOSTS)
    {
        throw ConfigurationError(std::to_string(ranks) + " ranks (allowed: 1 to " +
                                 std::to_string(MOST_HOSTS) + ")");
    }
    TopologyGraph graph;
    graph.name = spec;
    graph.shape.kind = name;
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
    for (const auto& link : graph.links) // rates that a topology has worked out, too
    {
        if (!IsLinkRate(link.rate) || !IsLinkDelay(link.delay))
        {
            throw ConfigurationError("topology '" + spec + "' has a link of " +
                                     FormatRate(link.rate) + " and " + FormatTime(link.delay) +
                                     ", " + graph.GetName(link.a) + "-" + graph.GetName(link.b) +
                                     " (allowed: " + LINK_RATES + ", " + LINK_DELAYS + ")");
        }
    }
    return graph;
}

std::vector<std::pair<std::string, std::string>>
DescribeTopologies()
{
    std::vector<std::pair<std::string, std::string>> rows;
    for (const auto& [name, builder] : Registry<TopologyBuilder>::All())
    {
        rows.emplace_back(name, builder.help);
        std::string arguments = builder.first == TopologyBuilder::First::SIDES  ? "4x4"
                                : builder.first == TopologyBuilder::First::PATH ? "PATH"
                                                                                : "";
        for (const auto& [key, range] : builder.keys)
        {
            arguments += (arguments.empty() ? "" : ",") + key + "=";
        }
        if (!arguments.empty())
        {
            rows.emplace_back("", name + ":" + arguments);
        }
    }
    return rows;
}

} // namespace ns3::training
