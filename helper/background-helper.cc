/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "background-helper.h"

#include "ns3/path-choice.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <set>

namespace ns3::training
{

namespace
{

/// Name of the field, for messages.
constexpr const char* FIELD = "background";

/** @return the rate of all ports of a host, bit/s */
uint64_t
GetRate(const Fabric& fabric, uint32_t host)
{
    uint64_t rate = 0;
    for (const auto& link : fabric.topology.links)
    {
        rate += link.a == host || link.b == host ? link.rate.GetBitRate() : 0;
    }
    return rate;
}

/** @return the pattern that values choose, with its keys */
Choice<FlowPatternEntry>
ChoosePattern(const std::string& text, const KeyValues& values)
{
    const std::string name = values.GetText("pattern");
    const FlowPatternEntry& chosen = Registry<FlowPatternEntry>::Find(name);
    std::string pattern = name;
    for (const auto& [other, entry] : Registry<FlowPatternEntry>::All())
    {
        for (const Key& key : entry.keys)
        {
            if (!values.IsGiven(key.name))
            {
                continue;
            }
            if (&entry != &chosen)
            {
                throw ConfigurationError(FIELD,
                                         text,
                                         ": " + key.name + " with pattern=" + name +
                                             " (allowed: with pattern=" + other + ")");
            }
            pattern += (pattern == name ? ":" : ",") + key.name + "=" + values.GetText(key.name);
        }
    }
    return Choose<FlowPatternEntry>(pattern);
}

} // namespace

BackgroundHelper::BackgroundHelper(const ClusterOptions& options)
    : m_text(options.background),
      m_ranks(static_cast<uint32_t>(options.ranks))
{
    if (m_text == NONE)
    {
        return;
    }
    KeyValues values = KeyValues::Split(m_text);
    const auto& all = Registry<FlowSizesEntry>::All();
    const auto found = all.find(values.GetName());
    if (found == all.end())
    {
        throw ConfigurationError(FIELD,
                                 m_text,
                                 std::string(" (allowed: ") + NONE +
                                     ", or flow sizes: " + Registry<FlowSizesEntry>::Names() + ")");
    }
    std::vector<Key> keys = found->second.keys;
    const std::vector<Key> own = GetKeys();
    keys.insert(keys.end(), own.begin(), own.end());
    values.Check(FIELD, keys);
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError(FIELD,
                                 m_text,
                                 " with " + std::to_string(Processes::GetCount()) +
                                     " processes (allowed: one process)");
    }
    if (GetPathChoice(options.path).isPinned)
    {
        throw ConfigurationError(FIELD,
                                 m_text,
                                 " with path " + options.path +
                                     " (allowed: paths that are not pinned to a schedule)");
    }
    const Time stop = values.Has("stop") ? values.GetTime("stop") : Time::Max();
    m_settings.emplace(BackgroundSettings{found->second.make(values),
                                          values.GetNumber("load"),
                                          ChoosePattern(m_text, values),
                                          values.GetText("hosts"),
                                          values.GetTime("start"),
                                          stop});
}

bool
BackgroundHelper::IsInstalled() const
{
    return m_settings.has_value();
}

bool
BackgroundHelper::UsesAllHosts() const
{
    return m_settings && m_settings->hosts != "ranks";
}

std::vector<Key>
BackgroundHelper::GetKeys()
{
    std::vector<std::string> patterns;
    std::vector<Key> keys{
        Key::Number("load", 0.3, 0.001, 0.95, "payload, part of the rate of hosts' ports")};
    for (const auto& [name, entry] : Registry<FlowPatternEntry>::All())
    {
        patterns.push_back(name);
    }
    keys.push_back(Key::Word("pattern", "random", patterns, "between which hosts flows run"));
    for (const auto& [name, entry] : Registry<FlowPatternEntry>::All())
    {
        for (Key key : entry.keys)
        {
            key.help = "pattern " + name + ": " + key.help;
            keys.push_back(key);
        }
    }
    keys.push_back(Key::Word("hosts",
                             "all",
                             {"all", "ranks", "others"},
                             "hosts that take part: all, those with ranks, or those without"));
    keys.push_back(Key::Of("start", Key::Type::TIME, "0s", "when flows begin to arrive"));
    keys.push_back(
        Key::Of("stop", Key::Type::TIME, "", "when no more flows arrive; otherwise never"));
    return keys;
}

std::unique_ptr<BackgroundTraffic>
BackgroundHelper::Install(const Fabric& fabric,
                          std::unique_ptr<IdlePaths> idle,
                          const std::function<Ptr<MultiPortTransport>(uint32_t)>& connect) const
{
    const uint32_t first = m_settings->hosts == "others" ? m_ranks : 0;
    const uint32_t end = UsesAllHosts() ? fabric.topology.hosts : m_ranks;
    if (end < first + 2)
    {
        throw ConfigurationError(FIELD,
                                 m_text,
                                 " on " + std::to_string(end - first) +
                                     " hosts (allowed: 2 and more)");
    }
    std::vector<uint32_t> hosts;
    std::vector<Ptr<MessageTransport>> transports;
    uint64_t rate = std::numeric_limits<uint64_t>::max();
    std::size_t ports = 1;
    for (uint32_t host = first; host < end; host++)
    {
        rate = std::min(rate, GetRate(fabric, host));
        ports = std::max(ports, fabric.rails[host].size());
    }
    const uint64_t numbers = FIRST_CONNECTION / (uint64_t{fabric.topology.hosts} * ports);
    for (uint32_t host = first; host < end; host++)
    {
        const auto transport = connect(host);
        transport->UsePool();
        transport->SetAttribute("QueuePairs",
                                UintegerValue(std::clamp<uint64_t>(numbers, 1, MAX_CONNECTIONS)));
        hosts.push_back(host);
        transports.push_back(transport);
    }
    return std::make_unique<BackgroundTraffic>(*m_settings,
                                               std::move(hosts),
                                               std::move(transports),
                                               rate,
                                               std::move(idle));
}

std::string
BackgroundHelper::Describe(const BackgroundTraffic& traffic) const
{
    return "background traffic: " + m_text + ", flows of " +
           FormatDouble(m_settings->sizes.GetMean()) + " bytes on average, " +
           FormatDouble(100 * m_settings->load) + " % of the ports of " +
           std::to_string(traffic.GetLoadedHosts()) + " hosts";
}

} // namespace ns3::training
