/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology/infragraph-file.h"

#include "core/input-file.h"
#include "topology-builder.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <boost/algorithm/string.hpp>
#include <cmath>
#include <utility>

namespace ns3::training
{

InfraGraphFile::InfraGraphFile(const std::string& path)
    : m_path(path)
{
    const auto text = ReadInputFile(m_path);
    if (!text)
    {
        throw ConfigurationError(m_path + ": cannot be read (allowed: a file of InfraGraph)");
    }
    m_document = ParseYaml(m_path, *text);
    CheckKeys(GetRoot(), {"name", "description", "devices", "links", "instances", "edges"});
}

void
InfraGraphFile::Refuse(const YamlValue& value, const std::string& text) const
{
    throw ConfigurationError(m_path + ":" + std::to_string(value.line) + ": " + text);
}

const YamlValue&
InfraGraphFile::GetRoot() const
{
    const YamlValue* inner = m_document.Find("infrastructure");
    return inner ? *inner : m_document;
}

const YamlValue&
InfraGraphFile::Get(const YamlValue& value, const std::string& key) const
{
    const YamlValue* member = value.Find(key);
    if (!member)
    {
        Refuse(value, "no " + key + " (allowed: as InfraGraph's schema)");
    }
    return *member;
}

const std::string&
InfraGraphFile::GetText(const YamlValue& value, const std::string& key) const
{
    const YamlValue& member = Get(value, key);
    if (member.kind != YamlValue::Kind::TEXT || member.text.empty())
    {
        Refuse(member, key + " (allowed: a text)");
    }
    return member.text;
}

const std::vector<YamlValue>&
InfraGraphFile::GetList(const YamlValue& value, const std::string& key) const
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
InfraGraphFile::GetCount(const YamlValue& value) const
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
InfraGraphFile::FindNamed(const YamlValue& owner,
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
InfraGraphFile::FindDevice(const std::string& name, const YamlValue& user) const
{
    return FindNamed(GetRoot(), "devices", name, user);
}

void
InfraGraphFile::CheckKeys(const YamlValue& value, const std::set<std::string>& known) const
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
InfraGraphFile::GetQuantity(const YamlValue& physical,
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

InfraGraphLink
InfraGraphFile::ReadLink(const YamlValue& owner, const YamlValue& edge) const
{
    const YamlValue& link = FindNamed(owner, "links", GetText(edge, "link"), Get(edge, "link"));
    InfraGraphLink result;
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

std::vector<uint32_t>
InfraGraphFile::ParseSlice(const std::string& element, uint32_t count, const YamlValue& where) const
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

std::vector<std::string>
InfraGraphFile::Expand(const YamlValue& device,
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

} // namespace ns3::training
