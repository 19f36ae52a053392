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

#include "core/input-file.h"
#include "topology-builder.h"
#include "topology/infragraph-file.h"
#include "topology/topology-contents.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

constexpr std::size_t MAX_PARTS = InfraGraphFile::MAX_PARTS;
/// Most devices within each other.
constexpr uint32_t MAX_DEPTH = 16;

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
    InfraGraphLink physical;
};

/** Reads a graph. */
class InfraGraph
{
  public:
    explicit InfraGraph(const std::string& path)
        : m_file(path)
    {
    }

    /** @return hosts, switches and links */
    FileContents Read(const TopologyRequest& request);

  private:
    void AddParts(const std::string& prefix,
                  const YamlValue& device,
                  uint32_t instance,
                  uint32_t depth);
    void AddEdges(const std::vector<std::string>& from,
                  const std::vector<std::string>& to,
                  const YamlValue& edge,
                  const InfraGraphLink& physical);
    void AddDeviceEdges(const std::string& prefix, const YamlValue& device);
    void AddInstanceEdges();
    void Prune();
    void Remove(uint32_t edge);

    InfraGraphFile m_file;
    std::vector<Part> m_parts;
    std::map<std::string, uint32_t> m_names; // parts
    std::vector<Edge> m_edges;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_pairs; // edges by their parts
};

void
InfraGraph::AddParts(const std::string& prefix,
                     const YamlValue& device,
                     uint32_t instance,
                     uint32_t depth)
{
    static const std::set<std::string>
        KINDS{"custom", "device", "cpu", "xpu", "nic", "memory", "port", "switch"};
    for (const YamlValue& component : m_file.GetList(device, "components"))
    {
        const std::string& kind = m_file.GetText(component, "choice");
        if (KINDS.count(kind) == 0)
        {
            m_file.Refuse(m_file.Get(component, "choice"),
                          "choice is '" + MakePrintableName(kind) +
                              "' (allowed: " + boost::join(KINDS, ", ") + ")");
        }
        const std::string& name = m_file.GetText(component, "name");
        for (uint32_t i = 0; i < m_file.GetCount(component); i++)
        {
            const std::string path = prefix + "." + name + "." + std::to_string(i);
            if (m_parts.size() == MAX_PARTS || depth == MAX_DEPTH)
            {
                m_file.Refuse(component,
                              "too many components, or devices within each other (allowed: " +
                                  std::to_string(MAX_PARTS) + ", and " + std::to_string(MAX_DEPTH) +
                                  ")");
            }
            if (kind == "device")
            {
                AddParts(path, m_file.FindDevice(name, component), instance, depth + 1);
            }
            else
            {
                if (!m_names.emplace(path, m_parts.size()).second)
                {
                    m_file.Refuse(component,
                                  "second '" + MakePrintableName(name) +
                                      "' (allowed: different names)");
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
                     const InfraGraphLink& physical)
{
    const std::string& scheme = m_file.GetText(edge, "scheme");
    const bool isEach = scheme == "many2many";
    if (!isEach && scheme != "one2one")
    {
        m_file.Refuse(m_file.Get(edge, "scheme"),
                      "scheme is '" + MakePrintableName(scheme) +
                          "' (allowed: one2one, many2many)");
    }
    const auto add = [&](const std::string& first, const std::string& second) {
        const auto pair = std::minmax(m_names.at(first), m_names.at(second));
        if (pair.first == pair.second)
        {
            return;
        }
        if (m_edges.size() == MAX_PARTS)
        {
            m_file.Refuse(edge, "too many edges (allowed: " + std::to_string(MAX_PARTS) + ")");
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
    for (const YamlValue& edge : m_file.GetList(device, "edges"))
    {
        std::vector<std::string> ends[2];
        for (int i = 0; i < 2; i++)
        {
            const YamlValue& endpoint = m_file.Get(edge, i == 0 ? "ep1" : "ep2");
            const bool isIn = endpoint.Find("device") != nullptr;
            const std::string name = (isIn ? m_file.GetText(endpoint, "device") + "." : "") +
                                     m_file.GetText(endpoint, "component");
            ends[i] = Prepend(prefix, m_file.Expand(device, name, endpoint));
        }
        AddEdges(ends[0], ends[1], edge, m_file.ReadLink(device, edge));
    }
}

void
InfraGraph::AddInstanceEdges()
{
    for (const YamlValue& edge : m_file.GetList(m_file.GetRoot(), "edges"))
    {
        std::vector<std::string> ends[2];
        for (int i = 0; i < 2; i++)
        {
            const YamlValue& endpoint = m_file.Get(edge, i == 0 ? "ep1" : "ep2");
            const std::string& slice = m_file.GetText(endpoint, "instance");
            const std::string name = slice.substr(0, slice.find('['));
            const YamlValue& instance =
                m_file.FindNamed(m_file.GetRoot(), "instances", name, endpoint);
            const YamlValue& device =
                m_file.FindDevice(m_file.GetText(instance, "device"), instance);
            const auto names =
                m_file.Expand(device, m_file.GetText(endpoint, "component"), endpoint);
            for (uint32_t index : m_file.ParseSlice(slice, m_file.GetCount(instance), endpoint))
            {
                const auto more = Prepend(name + "." + std::to_string(index), names);
                ends[i].insert(ends[i].end(), more.begin(), more.end());
            }
        }
        AddEdges(ends[0], ends[1], edge, m_file.ReadLink(m_file.GetRoot(), edge));
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
        const InfraGraphLink in = m_edges[first].physical;
        InfraGraphLink joined = m_edges[last].physical;
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
    uint32_t number = 0;
    for (const YamlValue& instance : m_file.GetList(m_file.GetRoot(), "instances"))
    {
        const YamlValue& device = m_file.FindDevice(m_file.GetText(instance, "device"), instance);
        for (uint32_t i = 0; i < m_file.GetCount(instance); i++)
        {
            AddParts(m_file.GetText(instance, "name") + "." + std::to_string(i),
                     device,
                     number++,
                     0);
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
        m_file.Refuse(m_file.GetRoot(),
                      "no XPUs in instances (allowed: components with choice: xpu)");
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
