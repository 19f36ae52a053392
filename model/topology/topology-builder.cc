/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology-builder.h"

#include "ns3/training-quantity.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace ns3::training
{

namespace
{

/// Maximum number of hosts; more are treated as a typing error.
constexpr uint32_t MAX_HOSTS = 1 << 20;

/// Maximum length of a grid side, and maximum number of dimensions.
constexpr uint32_t MAX_SIDE = 4096;
constexpr std::size_t MAX_SIDES = 8;

/** @return whether a link rate is allowed; sums of higher rates would overflow */
bool
IsLinkRate(const DataRate& rate)
{
    return rate.GetBitRate() >= 1000000 && rate.GetBitRate() <= 100000000000000;
}

/** @return whether a link delay is allowed; sums of longer delays would overflow */
bool
IsLinkDelay(const Time& delay)
{
    return delay <= Seconds(100);
}

/** @return the sides in a text such as 4x4; none if malformed or out of range */
std::optional<std::vector<uint32_t>>
ReadSides(const std::string& text)
{
    auto sides = ParseSides(text, MAX_HOSTS);
    const bool fits =
        sides && sides->size() <= MAX_SIDES &&
        std::all_of(sides->begin(), sides->end(), [](uint32_t side) { return side <= MAX_SIDE; });
    return fits ? sides : std::nullopt;
}

/** Refuses more ranks than hosts. */
void
CheckHosts(const TopologyGraph& graph, uint32_t ranks)
{
    if (graph.hosts < ranks)
    {
        throw ConfigurationError(std::to_string(ranks) + " ranks on topology '" + graph.name +
                                 "' (allowed: 1 to " + std::to_string(graph.hosts) +
                                 ", the number of its hosts)");
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
TopologyRequest::GetCount(const std::string& key, uint64_t initial) const
{
    return static_cast<uint32_t>(keys.Has(key) ? keys.GetCount(key) : initial);
}

uint32_t
TopologyRequest::GetCountOrShare(const std::string& key, uint32_t parts) const
{
    return keys.Has(key) ? GetCount(key) : GetShare(parts);
}

uint32_t
TopologyRequest::GetCount(const std::string& key) const
{
    return static_cast<uint32_t>(keys.GetCount(key));
}

std::vector<uint32_t>
TopologyRequest::GetSides() const
{
    return keys.GetFirst().empty() ? std::vector<uint32_t>() : ReadSides(keys.GetFirst()).value();
}

std::optional<FirstValue>
GetFirstValue(const TopologyBuilder& builder)
{
    return builder.first;
}

FirstValue
MakeSidesValue(const std::string& help)
{
    return {"4x4",
            help + "; each side 1 to " + std::to_string(MAX_SIDE),
            false,
            false,
            [](const std::string& text) { return ReadSides(text).has_value(); }};
}

Key
MakeCountKey(const std::string& name, const std::string& help, uint64_t max, uint64_t min)
{
    return Key::OptionalCount(name, min, max, help);
}

Key
MakeRateKey(const std::string& name, const std::string& initial, const std::string& help)
{
    Key key = Key::Of(name, Key::Type::RATE, initial, help);
    key.range = std::string("a rate ") + LINK_RATES;
    key.accepts = [](const std::string& value) { return ParseLinkRate(value).has_value(); };
    return key;
}

Key
MakeDelayKey(const std::string& name, const std::string& initial, const std::string& help)
{
    Key key = Key::Of(name, Key::Type::TIME, initial, help);
    key.range = std::string("a time ") + LINK_DELAYS;
    key.accepts = [](const std::string& value) { return ParseLinkDelay(value).has_value(); };
    return key;
}

namespace
{

/** @return the topology, which may have too few hosts */
TopologyGraph
Build(const std::string& spec, uint32_t ranks, DataRate rate, Time delay)
{
    if (!IsLinkRate(rate))
    {
        throw ConfigurationError("rate",
                                 FormatRate(rate),
                                 std::string(" (allowed: ") + LINK_RATES + ")");
    }
    if (!IsLinkDelay(delay))
    {
        throw ConfigurationError("delay",
                                 FormatTime(delay),
                                 std::string(" (allowed: ") + LINK_DELAYS + ")");
    }
    const auto choice = Choose<TopologyBuilder>(spec);
    if (ranks == 0 || ranks > MAX_HOSTS)
    {
        throw ConfigurationError(std::to_string(ranks) + " ranks (allowed: 1 to " +
                                 std::to_string(MAX_HOSTS) + ")");
    }
    TopologyGraph graph;
    graph.name = spec;
    const TopologyRequest request(ranks, rate, delay, choice.values);
    choice.entry->build(request, graph);
    graph.followsRanks = request.FollowsRanks();
    if (graph.hosts > MAX_HOSTS)
    {
        throw ConfigurationError("topology '" + spec + "' has " + std::to_string(graph.hosts) +
                                 " hosts (allowed: up to " + std::to_string(MAX_HOSTS) + ")");
    }
    for (const auto& link : graph.links) // also checks rates computed by a builder
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

/** @return when the file that a text names was changed, in ticks; none if it names no file */
std::optional<int64_t>
GetFileTime(const std::string& spec)
{
    const auto colon = spec.find(':');
    std::string path = colon == std::string::npos ? "" : spec.substr(colon + 1);
    path = path.substr(0, path.find(','));
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
    {
        return std::nullopt;
    }
    return std::filesystem::last_write_time(path, error).time_since_epoch().count();
}

} // namespace

TopologyGraph
BuildTopology(const std::string& spec, uint32_t ranks, DataRate rate, Time delay)
{
    TopologyGraph graph = Build(spec, ranks, rate, delay);
    CheckHosts(graph, ranks);
    return graph;
}

std::shared_ptr<const TopologyGraph>
BuiltTopology::Get(const std::string& spec, uint32_t ranks, DataRate rate, Time delay)
{
    Prepare(spec, ranks, rate, delay);
    CheckHosts(*m_graph, ranks);
    return m_graph;
}

std::optional<uint32_t>
BuiltTopology::FindHosts(const std::string& spec, uint32_t ranks, DataRate rate, Time delay)
{
    Prepare(spec, ranks, rate, delay);
    return m_graph->followsRanks ? std::nullopt : std::optional(m_graph->hosts);
}

void
BuiltTopology::Prepare(const std::string& spec, uint32_t ranks, DataRate rate, Time delay)
{
    const auto changed = GetFileTime(spec);
    const bool isKnown = m_graph && m_graph->name == spec && m_rate == rate && m_delay == delay &&
                         m_changed == changed && (m_ranks == ranks || !m_graph->followsRanks);
    if (!isKnown)
    {
        m_graph = std::make_shared<TopologyGraph>(Build(spec, ranks, rate, delay));
        m_ranks = ranks;
        m_rate = rate;
        m_delay = delay;
        m_changed = changed;
    }
}

} // namespace ns3::training
