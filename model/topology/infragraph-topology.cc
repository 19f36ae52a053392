/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * Infrastructure graphs of Keysight's InfraGraph: devices of components, instances of devices,
 * and edges between components, as YAML or JSON. Endpoints have indexes as Python slices. XPUs are
 * hosts; other components are switches, or parts of links if they have two and are not named so.
 */

#include "topology-builder.h"
#include "topology-contents.h"

#include "ns3/training-input-file.h"
#include "ns3/training-quantity.h"
#include "ns3/training-yaml.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/// Most components of all instances, and most edges.
constexpr std::size_t MAX_PARTS = 1 << 22;
/// Most devices within each other.
constexpr uint32_t MAX_DEPTH = 16;

/** What a link is said to be. */
struct Physical
{
    std::optional<DataRate> rate;
    std::optional<Time> delay;
    std::size_t line{1};
};

/** A component of an instance. */
struct Part
{
    std::string kind; // its choice
    uint32_t instance;
    std::set<uint32_t> edges; // indexes
};

/** An edge between two components; parts are equal if it is gone. */
struct Edge
{
    uint32_t a;
    uint32_t b;
    Physical physical;
};

/** Reads a graph. */
class InfraGraph
{
  public:
    explicit InfraGraph(const std::string& path)
        : m_path(path)
    {
    }

    /** @return hosts, switches and links */
    FileContents Read(const TopologyRequest& request);

  private:
    [[noreturn]] void Refuse(const YamlValue& value, const std::string& text) const
    {
        throw ConfigurationError(m_path + ":" + std::to_string(value.line) + ": " + text);
    }

    const YamlValue& Get(const YamlValue& value, const std::string& key) const;
    const std::string& GetText(const YamlValue& value, const std::string& key) const;
    const std::vector<YamlValue>& GetList(const YamlValue& value, const std::string& key) const;
    uint32_t GetCount(const YamlValue& value) const;
    const YamlValue& FindNamed(const YamlValue& owner,
                               const std::string& list,
                               const std::string& name,
                               const YamlValue& user) const;
    const YamlValue& FindDevice(const std::string& name, const YamlValue& user) const;
    Physical ReadLink(const YamlValue& owner, const YamlValue& edge) const;
    double GetQuantity(const YamlValue& physical,
                       const std::map<std::string, double>& units,
                       const std::string& key) const;
    void CheckKeys(const YamlValue& value, const std::set<std::string>& known) const;
    std::vector<uint32_t> ParseSlice(const std::string& element,
                                     uint32_t count,
                                     const YamlValue& where) const;
    std::vector<std::string> Expand(const YamlValue& device,
                                    const std::string& endpoint,
                                    const YamlValue& where) const;
    void AddParts(const std::string& prefix,
                  const YamlValue& device,
                  uint32_t instance,
                  uint32_t depth);
    void AddEdges(const std::vector<std::string>& from,
                  const std::vector<std::string>& to,
                  const YamlValue& edge,
                  const Physical& physical);
    void AddDeviceEdges(const std::string& prefix, const YamlValue& device);
    void AddInstanceEdges();
    void Prune();
    void Remove(uint32_t edge);

    std::string m_path;
    YamlValue m_document;
    const YamlValue* m_root{nullptr};
    std::vector<Part> m_parts;
    std::map<std::string, uint32_t> m_names; // parts
    std::vector<Edge> m_edges;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_pairs; // edges by their parts
};

const YamlValue&
InfraGraph::Get(const YamlValue& value, const std::string& key) const
{
    const YamlValue* member = value.Find(key);
    if (!member)
    {
        Refuse(value, "no " + key + " (allowed: as InfraGraph's schema)");
    }
    return *member;
}

const std::string&
InfraGraph::GetText(const YamlValue& value, const std::string& key) const
{
    const YamlValue& member = Get(value, key);
    if (member.kind != YamlValue::Kind::TEXT || member.text.empty())
    {
        Refuse(member, key + " (allowed: a text)");
    }
    return member.text;
}

const std::vector<YamlValue>&
InfraGraph::GetList(const YamlValue& value, const std::string& key) const
{
    static const std::vector<YamlValue> NONE;
    const YamlValue* member = value.Find(key);
    if (member && member->kind != YamlValue::Kind::LIST)
    {
        Refuse(*member, key + " (allowed: a list)");
    }
    return member ? member->list : NONE;
}

uint32_t
InfraGraph::GetCount(const YamlValue& value) const
{
    const auto count = ParseUnsigned(GetText(value, "count"));
    if (!count || *count > MAX_PARTS)
    {
        Refuse(Get(value, "count"),
               "count is '" + MakePrintableName(GetText(value, "count")) + "' (allowed: 0 to " +
                   std::to_string(MAX_PARTS) + ")");
    }
    return static_cast<uint32_t>(*count);
}

const YamlValue&
InfraGraph::FindNamed(const YamlValue& owner,
                      const std::string& list,
                      const std::string& name,
                      const YamlValue& user) const
{
    std::string allowed;
    for (const YamlValue& value : GetList(owner, list))
    {
        if (GetText(value, "name") == name)
        {
            return value;
        }
        allowed += (allowed.empty() ? "" : ", ") + MakePrintableName(GetText(value, "name"));
    }
    Refuse(user,
           "'" + MakePrintableName(name) + "' is not in " + list +
               " (allowed: " + (allowed.empty() ? "none" : allowed) + ")");
}

const YamlValue&
InfraGraph::FindDevice(const std::string& name, const YamlValue& user) const
{
    return FindNamed(*m_root, "devices", name, user);
}

void
InfraGraph::CheckKeys(const YamlValue& value, const std::set<std::string>& known) const
{
    for (const auto& [key, member] : value.members)
    {
        if (known.count(key) == 0)
        {
            Refuse(member,
                   "unknown key '" + MakePrintableName(key) +
                       "' (allowed: " + boost::join(known, ", ") + ")");
        }
    }
}

double
InfraGraph::GetQuantity(const YamlValue& physical,
                        const std::map<std::string, double>& units,
                        const std::string& key) const
{
    const YamlValue& value = Get(physical, key);
    std::string allowed;
    for (const auto& [unit, factor] : units)
    {
        allowed += (allowed.empty() ? "" : ", ") + unit;
    }
    for (const auto& [unit, factor] : units)
    {
        if (value.Find(unit))
        {
            const auto number = ParseDouble(GetText(value, unit));
            if (!number || *number < 0)
            {
                Refuse(*value.Find(unit),
                       unit + " is '" + MakePrintableName(GetText(value, unit)) +
                           "' (allowed: numbers from 0)");
            }
            return *number * factor;
        }
    }
    Refuse(value, key + " without a known unit (allowed: " + allowed + ")");
}

Physical
InfraGraph::ReadLink(const YamlValue& owner, const YamlValue& edge) const
{
    const YamlValue& link = FindNamed(owner, "links", GetText(edge, "link"), Get(edge, "link"));
    Physical result;
    result.line = link.line;
    const YamlValue* physical = link.Find("physical");
    if (physical && physical->Find("bandwidth"))
    {
        // Gigatransfers are those of each of 16 lanes of PCI Express, a bit each.
        const double rate = GetQuantity(*physical,
                                        {{"gigabits_per_second", 1e9},
                                         {"gigabytes_per_second", 8e9},
                                         {"gigatransfers_per_second", 16e9}},
                                        "bandwidth");
        if (rate < 1e6 || rate > 1e14)
        {
            Refuse(*physical->Find("bandwidth"),
                   "bandwidth (allowed: rates " + std::string(LINK_RATES) + ")");
        }
        result.rate = DataRate(static_cast<uint64_t>(std::llround(rate)));
    }
    if (physical && physical->Find("latency"))
    {
        const double delay =
            GetQuantity(*physical, {{"ms", 1e9}, {"ns", 1e3}, {"us", 1e6}}, "latency");
        if (delay > 1e14)
        {
            Refuse(*physical->Find("latency"),
                   "latency (allowed: " + std::string(LINK_DELAYS) + ")");
        }
        result.delay = PicoSeconds(std::llround(delay));
    }
    return result;
}

/** @return indexes of `name`, `name[1]`, `name[0:2]`, `name[::2]` */
std::vector<uint32_t>
InfraGraph::ParseSlice(const std::string& element, uint32_t count, const YamlValue& where) const
{
    const std::size_t open = element.find('[');
    uint64_t values[3] = {0, count, 1};
    bool isRight = open == std::string::npos || element.back() == ']';
    if (isRight && open != std::string::npos)
    {
        std::vector<std::string> pieces;
        const std::string slice = element.substr(open + 1, element.size() - open - 2);
        boost::split(pieces, slice, boost::is_any_of(":"));
        isRight = pieces.size() <= 3 && !(pieces.size() == 1 && pieces[0].empty());
        for (std::size_t i = 0; isRight && i < pieces.size(); i++)
        {
            const auto number = ParseUnsigned(pieces[i]);
            isRight = pieces[i].empty() || number;
            values[i] = number.value_or(values[i]);
        }
        values[1] = pieces.size() == 1 ? values[0] + 1 : values[1];
    }
    if (!isRight || values[1] > count || values[2] == 0)
    {
        Refuse(where,
               "'" + MakePrintableName(element) +
                   "' (allowed: a name, or a name with an index or "
                   "slice, such as [0] or [0:2], of " +
                   std::to_string(count) + ")");
    }
    std::vector<uint32_t> indexes;
    for (uint64_t i = values[0]; i < values[1]; i += values[2])
    {
        indexes.push_back(static_cast<uint32_t>(i));
    }
    return indexes;
}

/** @return names of an endpoint's components within a device, such as nic.0 */
std::vector<std::string>
InfraGraph::Expand(const YamlValue& device,
                   const std::string& endpoint,
                   const YamlValue& where) const
{
    std::vector<std::string> elements;
    boost::split(elements, endpoint, boost::is_any_of("."));
    std::vector<std::string> names{""};
    const YamlValue* owner = &device;
    for (std::size_t i = 0; i < elements.size(); i++)
    {
        const std::string name = elements[i].substr(0, elements[i].find('['));
        const YamlValue& component = FindNamed(*owner, "components", name, where);
        std::vector<std::string> longer;
        for (uint32_t index : ParseSlice(elements[i], GetCount(component), where))
        {
            for (const std::string& begin : names)
            {
                longer.push_back(begin + "." + name + "." + std::to_string(index));
            }
        }
        // The order is that of InfraGraph: the last index runs first.
        const std::size_t inner = names.empty() ? 0 : longer.size() / names.size();
        std::vector<std::string> sorted;
        for (std::size_t outer = 0; outer < names.size(); outer++)
        {
            for (std::size_t j = 0; j < inner; j++)
            {
                sorted.push_back(longer[j * names.size() + outer]);
            }
        }
        names = std::move(sorted);
        const bool isDevice = GetText(component, "choice") == "device";
        if (isDevice != (i + 1 < elements.size()))
        {
            Refuse(where,
                   "'" + MakePrintableName(endpoint) +
                       "' (allowed: a component, behind the names of the devices that it is in)");
        }
        owner = isDevice ? &FindDevice(name, component) : owner;
    }
    return names;
}

void
InfraGraph::AddParts(const std::string& prefix,
                     const YamlValue& device,
                     uint32_t instance,
                     uint32_t depth)
{
    static const std::set<std::string>
        KINDS{"custom", "device", "cpu", "xpu", "nic", "memory", "port", "switch"};
    for (const YamlValue& component : GetList(device, "components"))
    {
        const std::string& kind = GetText(component, "choice");
        if (KINDS.count(kind) == 0)
        {
            Refuse(Get(component, "choice"),
                   "choice is '" + MakePrintableName(kind) +
                       "' (allowed: " + boost::join(KINDS, ", ") + ")");
        }
        const std::string& name = GetText(component, "name");
        for (uint32_t i = 0; i < GetCount(component); i++)
        {
            const std::string path = prefix + "." + name + "." + std::to_string(i);
            if (m_parts.size() == MAX_PARTS || depth == MAX_DEPTH)
            {
                Refuse(component,
                       "too many components, or devices within each other (allowed: " +
                           std::to_string(MAX_PARTS) + ", and " + std::to_string(MAX_DEPTH) + ")");
            }
            if (kind == "device")
            {
                AddParts(path, FindDevice(name, component), instance, depth + 1);
            }
            else
            {
                if (!m_names.emplace(path, m_parts.size()).second)
                {
                    Refuse(component,
                           "second '" + MakePrintableName(name) + "' (allowed: different names)");
                }
                m_parts.push_back({kind, instance, {}});
            }
        }
    }
    AddDeviceEdges(prefix, device);
}

void
InfraGraph::AddEdges(const std::vector<std::string>& from,
                     const std::vector<std::string>& to,
                     const YamlValue& edge,
                     const Physical& physical)
{
    const std::string& scheme = GetText(edge, "scheme");
    const bool isEach = scheme == "many2many";
    if (!isEach && scheme != "one2one")
    {
        Refuse(Get(edge, "scheme"),
               "scheme is '" + MakePrintableName(scheme) + "' (allowed: one2one, many2many)");
    }
    const auto add = [&](const std::string& first, const std::string& second) {
        const auto pair = std::minmax(m_names.at(first), m_names.at(second));
        if (pair.first == pair.second)
        {
            return;
        }
        if (m_edges.size() == MAX_PARTS)
        {
            Refuse(edge, "too many edges (allowed: " + std::to_string(MAX_PARTS) + ")");
        }
        // Two components have one edge, the last one.
        const auto [place, isNew] = m_pairs.emplace(pair, m_edges.size());
        if (isNew)
        {
            m_parts[pair.first].edges.insert(place->second);
            m_parts[pair.second].edges.insert(place->second);
            m_edges.push_back({pair.first, pair.second, physical});
        }
        m_edges[place->second].physical = physical;
    };
    for (std::size_t i = 0; i < from.size(); i++)
    {
        const std::size_t begin = isEach ? 0 : i;
        const std::size_t end = isEach ? to.size() : std::min(i + 1, to.size());
        for (std::size_t j = begin; j < end; j++)
        {
            add(from[i], to[j]);
        }
    }
}

/** @return `begin` in front of each name */
std::vector<std::string>
Prepend(const std::string& begin, std::vector<std::string> names)
{
    for (std::string& name : names)
    {
        name.insert(0, begin);
    }
    return names;
}

void
InfraGraph::AddDeviceEdges(const std::string& prefix, const YamlValue& device)
{
    for (const YamlValue& edge : GetList(device, "edges"))
    {
        std::vector<std::string> ends[2];
        for (int i = 0; i < 2; i++)
        {
            const YamlValue& endpoint = Get(edge, i == 0 ? "ep1" : "ep2");
            const bool isIn = endpoint.Find("device") != nullptr;
            const std::string name =
                (isIn ? GetText(endpoint, "device") + "." : "") + GetText(endpoint, "component");
            ends[i] = Prepend(prefix, Expand(device, name, endpoint));
        }
        AddEdges(ends[0], ends[1], edge, ReadLink(device, edge));
    }
}

void
InfraGraph::AddInstanceEdges()
{
    for (const YamlValue& edge : GetList(*m_root, "edges"))
    {
        std::vector<std::string> ends[2];
        for (int i = 0; i < 2; i++)
        {
            const YamlValue& endpoint = Get(edge, i == 0 ? "ep1" : "ep2");
            const std::string& slice = GetText(endpoint, "instance");
            const std::string name = slice.substr(0, slice.find('['));
            const YamlValue& instance = FindNamed(*m_root, "instances", name, endpoint);
            const YamlValue& device = FindDevice(GetText(instance, "device"), instance);
            const auto names = Expand(device, GetText(endpoint, "component"), endpoint);
            for (uint32_t index : ParseSlice(slice, GetCount(instance), endpoint))
            {
                const auto more = Prepend(name + "." + std::to_string(index), names);
                ends[i].insert(ends[i].end(), more.begin(), more.end());
            }
        }
        AddEdges(ends[0], ends[1], edge, ReadLink(*m_root, edge));
    }
}

void
InfraGraph::Remove(uint32_t edge)
{
    m_parts[m_edges[edge].a].edges.erase(edge);
    m_parts[m_edges[edge].b].edges.erase(edge);
    m_edges[edge].b = m_edges[edge].a;
}

/** Removes components at which no path goes on, and joins the two links of others. */
void
InfraGraph::Prune()
{
    std::vector<uint32_t> open;
    for (uint32_t part = 0; part < m_parts.size(); part++)
    {
        open.push_back(static_cast<uint32_t>(m_parts.size()) - 1 - part);
    }
    while (!open.empty())
    {
        const uint32_t part = open.back();
        open.pop_back();
        const std::set<uint32_t> edges = m_parts[part].edges;
        const bool isFixed =
            m_parts[part].kind == "xpu" || (m_parts[part].kind == "switch" && edges.size() == 2);
        if (isFixed || edges.empty() || edges.size() > 2)
        {
            continue;
        }
        const auto other = [&](uint32_t edge) {
            return m_edges[edge].a == part ? m_edges[edge].b : m_edges[edge].a;
        };
        const uint32_t first = *edges.begin();
        const uint32_t last = *edges.rbegin();
        const uint32_t a = other(first);
        const uint32_t b = other(last);
        const Physical in = m_edges[first].physical;
        Physical joined = m_edges[last].physical;
        Remove(first);
        open.push_back(a);
        if (first == last)
        {
            continue;
        }
        Remove(last);
        open.push_back(b);
        if (a != b)
        {
            joined.rate = in.rate && joined.rate ? std::min(*in.rate, *joined.rate)
                          : in.rate              ? in.rate
                                                 : joined.rate;
            joined.delay = in.delay && joined.delay ? *in.delay + *joined.delay
                           : in.delay               ? in.delay
                                                    : joined.delay;
            m_parts[a].edges.insert(last);
            m_parts[b].edges.insert(last);
            m_edges[last] = {a, b, joined};
        }
    }
}

FileContents
InfraGraph::Read(const TopologyRequest& request)
{
    const auto text = ReadInputFile(m_path);
    if (!text)
    {
        throw ConfigurationError(m_path + ": cannot be read (allowed: a file of InfraGraph)");
    }
    m_document = ParseYaml(m_path, *text);
    const YamlValue* inner = m_document.Find("infrastructure");
    m_root = inner ? inner : &m_document;
    CheckKeys(*m_root, {"name", "description", "devices", "links", "instances", "edges"});
    uint32_t number = 0;
    for (const YamlValue& instance : GetList(*m_root, "instances"))
    {
        const YamlValue& device = FindDevice(GetText(instance, "device"), instance);
        for (uint32_t i = 0; i < GetCount(instance); i++)
        {
            AddParts(GetText(instance, "name") + "." + std::to_string(i), device, number++, 0);
        }
    }
    AddInstanceEdges();
    Prune();
    FileContents contents;
    std::vector<uint32_t> nodes(m_parts.size());
    std::map<uint32_t, uint32_t> hosts; // of each instance
    for (std::size_t i = 0; i < m_parts.size(); i++)
    {
        const bool isHost = m_parts[i].kind == "xpu";
        if (isHost || !m_parts[i].edges.empty())
        {
            nodes[i] = contents.nodes++;
            contents.isSwitch.push_back(!isHost);
            hosts[m_parts[i].instance] += isHost;
        }
        const bool joinsHosts =
            std::all_of(m_parts[i].edges.begin(), m_parts[i].edges.end(), [&](uint32_t edge) {
                const uint32_t other = m_edges[edge].a == i ? m_edges[edge].b : m_edges[edge].a;
                return m_parts[other].kind == "xpu" &&
                       m_parts[other].instance == m_parts[i].instance;
            });
        if (!isHost && !m_parts[i].edges.empty() && joinsHosts)
        {
            contents.scaleUpSwitches.push_back(nodes[i]);
        }
    }
    for (const Edge& edge : m_edges)
    {
        if (edge.a != edge.b)
        {
            FileLink link{};
            link.link = {nodes[edge.a],
                         nodes[edge.b],
                         edge.physical.rate.value_or(request.rate),
                         edge.physical.delay.value_or(request.delay)};
            link.line = edge.physical.line;
            contents.links.push_back(link);
        }
    }
    std::set<uint32_t> sizes;
    for (const auto& [instance, count] : hosts)
    {
        if (count > 0)
        {
            sizes.insert(count);
        }
    }
    if (sizes.empty())
    {
        Refuse(*m_root, "no XPUs in instances (allowed: components with choice: xpu)");
    }
    contents.shape.groupSize = sizes.size() == 1 ? *sizes.begin() : 1;
    contents.shape.serverGroups = contents.shape.groupSize > 1;
    return contents;
}

void
BuildInfraGraph(const TopologyRequest& request, TopologyGraph& graph)
{
    BuildFromContents(InfraGraph(request.keys.GetFirst()).Read(request), graph);
}

const Registry<TopologyBuilder>::Entry g_infraGraph(
    "infragraph",
    {"a graph of InfraGraph, as YAML or JSON: devices of components, instances, edges",
     {},
     &BuildInfraGraph,
     FirstValue{"PATH", "a readable file", true, true, {}}});

} // namespace

} // namespace ns3::training
