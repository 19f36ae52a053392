/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fault-plan.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-input-file.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFaultPlan");

namespace
{

/** @return the parts of a text between separators */
std::vector<std::string>
Split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::istringstream stream(text + separator); // so that an empty last part is kept
    std::string part;
    while (std::getline(stream, part, separator))
    {
        parts.push_back(part);
    }
    return parts;
}

/** @return the text without surrounding white space and trailing comment */
std::string
Strip(std::string text)
{
    text = text.substr(0, text.find('#'));
    const auto first = text.find_first_not_of(" \t\r");
    const auto last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/** @return whether the text is a probability; if so, stores it in `value` */
bool
ReadProbability(const std::string& text, double& value)
{
    const auto number = ParseDouble(text);
    value = number.value_or(0);
    return number && *number >= 0 && *number <= 1;
}

/** @return whether the text is a time; if so, stores it in `value` */
bool
ReadTime(const std::string& text, Time& value)
{
    const auto time = ParseTime(text);
    value = time.value_or(Time());
    return time.has_value();
}

constexpr const char* ITEMS =
    "loss=P, burst-loss=P/R or P/R/H, ber=P, duplicate=P, reorder=P/TIME with probabilities from 0 "
    "to 1; down; restart; receive-rate=RATE; from=TIME, until=TIME";

} // namespace

ConfigurationError
FaultPlan::Refuse(const Fault& fault, const std::string& rest)
{
    return fault.where.empty() ? ConfigurationError("fault", fault.text, rest)
                               : ConfigurationError(fault.where + fault.text + rest);
}

void
FaultPlan::Add(const std::string& text)
{
    if (!text.empty() && text[0] == '@')
    {
        AddFile(text.substr(1));
        return;
    }
    Add(text, "");
}

void
FaultPlan::AddLoss(const std::string& target, double probability)
{
    Fault fault;
    fault.text = target + ":loss=" + FormatDouble(probability);
    fault.target = target;
    fault.impairment.loss = probability;
    fault.impairs = true;
    m_faults.push_back(fault);
}

void
FaultPlan::Add(const std::string& text, const std::string& where)
{
    Fault fault;
    fault.text = text;
    fault.where = where;
    const auto colon = text.find(':');
    fault.target = text.substr(0, colon);
    const auto items = colon == std::string::npos ? std::vector<std::string>()
                                                  : Split(text.substr(colon + 1), ',');
    if (fault.target.empty() || items.empty())
    {
        throw Refuse(fault, std::string(" (allowed: TARGET:ITEM,ITEM with items ") + ITEMS + ")");
    }
    std::set<std::string> keys;
    for (const std::string& item : items)
    {
        ReadItem(item, fault);
        const std::string key = item.substr(0, item.find('='));
        if (!keys.insert(key).second)
        {
            throw Refuse(fault, ": a second '" + key + "' (allowed: each item once)");
        }
    }
    if (!fault.impairs && !fault.restart && fault.receiveRate.GetBitRate() == 0)
    {
        throw Refuse(fault, std::string(" names no fault (allowed: ") + ITEMS + ")");
    }
    if (fault.restart && fault.until == Time::Max())
    {
        fault.until = fault.from; // zero downtime: only the state is lost
    }
    if (fault.until < fault.from || (fault.until == fault.from && !fault.restart))
    {
        throw Refuse(fault,
                     ": until=" + FormatTime(fault.until) +
                         " (allowed: later than from=" + FormatTime(fault.from) + ")");
    }
    m_faults.push_back(fault);
}

void
FaultPlan::AddFile(const std::string& path)
{
    const auto text = ReadInputFile(path);
    if (!text)
    {
        throw ConfigurationError("fault",
                                 "@" + path,
                                 ": cannot read '" + path +
                                     "' (allowed: a file with a fault a line)");
    }
    std::istringstream file(*text);
    std::string line;
    for (uint32_t number = 1; std::getline(file, line); number++)
    {
        line = Strip(line);
        const std::string here = path + ":" + std::to_string(number) + ": ";
        if (!line.empty() && line[0] == '@')
        {
            throw ConfigurationError(here + line + " (allowed: TARGET:ITEM,ITEM, no other file)");
        }
        if (!line.empty())
        {
            Add(line, here);
        }
    }
}

void
FaultPlan::CheckDuplication(uint32_t links) const
{
    double copies = 1;
    for (const Fault& fault : m_faults)
    {
        const auto number = std::min<std::size_t>(links, fault.links.size());
        copies *= std::pow(1 + fault.impairment.duplicate, static_cast<double>(number));
        if (copies > MAX_COPIES)
        {
            throw Refuse(fault,
                         ": makes " + FormatDouble(std::round(copies)) +
                             " copies of a frame on a path of " + std::to_string(links) +
                             " links (allowed: up to " + FormatDouble(MAX_COPIES) + ")");
        }
    }
}

void
FaultPlan::ReadItem(const std::string& item, Fault& fault)
{
    const auto equals = item.find('=');
    const std::string key = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    const auto parts = Split(value, '/');
    auto& link = fault.impairment;
    bool right = false;
    bool impairs = true;
    if (key == "loss")
    {
        right = ReadProbability(value, link.loss);
    }
    else if (key == "burst-loss")
    {
        right = (parts.size() == 2 || parts.size() == 3) &&
                ReadProbability(parts[0], link.goodToBad) &&
                ReadProbability(parts[1], link.badToGood) &&
                (parts.size() == 2 || ReadProbability(parts[2], link.lossInBad));
    }
    else if (key == "ber")
    {
        right = ReadProbability(value, link.bitErrorRate);
    }
    else if (key == "duplicate")
    {
        right = ReadProbability(value, link.duplicate);
    }
    else if (key == "reorder")
    {
        right = parts.size() == 2 && ReadProbability(parts[0], link.reorder) &&
                ReadTime(parts[1], link.reorderDelay);
    }
    else if (key == "down")
    {
        link.down = true;
        right = equals == std::string::npos;
    }
    else
    {
        impairs = false;
        if (key == "restart")
        {
            fault.restart = true;
            right = equals == std::string::npos;
        }
        else if (key == "receive-rate")
        {
            const auto rate = ParseRate(value);
            fault.receiveRate = rate.value_or(DataRate(0));
            right = fault.receiveRate.GetBitRate() > 0;
        }
        else if (key == "from")
        {
            right = ReadTime(value, fault.from);
        }
        else if (key == "until")
        {
            right = ReadTime(value, fault.until);
        }
    }
    if (!right)
    {
        throw Refuse(fault, ": '" + item + "' (allowed: " + ITEMS + ")");
    }
    fault.impairs |= impairs;
}

void
FaultPlan::FindTarget(Fault& fault) const
{
    const TopologyGraph& topology = m_fabric->topology;
    const auto refuse = [&](const std::string& allowed) {
        return Refuse(fault, ": '" + fault.target + "' (allowed: " + allowed + ")");
    };
    const auto readNode = [&](const std::string& name) -> std::optional<uint32_t> {
        const bool host = name.rfind("host", 0) == 0;
        if (!host && name.rfind("switch", 0) != 0)
        {
            return std::nullopt;
        }
        const auto number = ParseUnsigned(name.substr(host ? 4 : 6));
        const uint32_t limit = host ? topology.hosts : topology.switches;
        return number && *number < limit
                   ? std::optional<uint32_t>((host ? 0 : topology.hosts) + *number)
                   : std::nullopt;
    };
    const auto names = Split(fault.target, '-');
    std::vector<uint32_t> nodes;
    for (const std::string& name : names)
    {
        const auto node = readNode(name);
        if (node)
        {
            nodes.push_back(*node);
        }
    }
    const bool all = fault.target == "*";
    if (!all && (nodes.size() != names.size() || names.empty() || names.size() > 2))
    {
        throw refuse("*, a node or a link such as host0, switch0, host0-switch0; hosts 0 to " +
                     std::to_string(topology.hosts - 1) + ", " + std::to_string(topology.switches) +
                     " switches from 0");
    }
    if (fault.restart && (nodes.size() != 1 || nodes[0] < topology.hosts))
    {
        throw refuse("a switch, to restart");
    }
    if (fault.receiveRate.GetBitRate() > 0 && (nodes.size() != 1 || nodes[0] >= topology.hosts))
    {
        throw refuse("a host, for receive-rate");
    }
    fault.node = nodes.empty() ? 0 : nodes[0];
    for (uint32_t i = 0; i < topology.links.size(); i++)
    {
        const auto& link = topology.links[i];
        if (std::all_of(nodes.begin(), nodes.end(), [&](uint32_t node) {
                return node == link.a || node == link.b;
            }))
        {
            fault.links.push_back(i);
        }
    }
    if (nodes.size() == 2 && (fault.links.empty() || nodes[0] == nodes[1]))
    {
        throw refuse("a link of topology '" + topology.name + "'");
    }
}

void
FaultPlan::Apply(Fabric& fabric, Time rerouteDelay)
{
    m_fabric = &fabric;
    m_rerouteDelay = rerouteDelay;
    int64_t stream = FIRST_STREAM;
    for (Fault& fault : m_faults)
    {
        FindTarget(fault);
        if (fault.receiveRate.GetBitRate() > 0)
        {
            DataRateValue usual;
            fabric.rails[fault.node][0]->GetAttribute("ReceiveRate", usual);
            fault.usualRate = usual.Get();
        }
        fault.impairment.down |= fault.restart;
        if (fault.impairs || fault.restart)
        {
            for (uint32_t link : fault.links)
            {
                const int64_t first = stream + 2 * int64_t{link};
                fault.impairments.push_back(
                    {std::make_shared<LinkImpairment>(fault.impairment, first),
                     std::make_shared<LinkImpairment>(fault.impairment, first + 1)});
            }
        }
        stream += 2 * static_cast<int64_t>(fabric.topology.links.size());
    }
    for (std::size_t i = 0; i < m_faults.size(); i++)
    {
        if (m_faults[i].from.IsZero())
        {
            Begin(i);
        }
        else
        {
            Simulator::Schedule(m_faults[i].from, &FaultPlan::Begin, this, i);
        }
        if (m_faults[i].until != Time::Max())
        {
            Simulator::Schedule(m_faults[i].until, &FaultPlan::End, this, i);
        }
    }
}

void
FaultPlan::Begin(std::size_t index)
{
    Fault& fault = m_faults[index];
    NS_LOG_INFO("fault begins: " << fault.text);
    fault.isActive = true;
    for (std::size_t i = 0; i < fault.impairments.size(); i++)
    {
        m_fabric->channels[fault.links[i]]->AddImpairments(fault.impairments[i]);
    }
    if (fault.restart)
    {
        m_fabric->devicesOfSwitches[fault.node - m_fabric->topology.hosts]->Restart();
    }
    if (fault.receiveRate.GetBitRate() > 0)
    {
        SetReceiveRate(fault);
    }
    if (fault.impairment.down)
    {
        ScheduleRoutes();
    }
}

void
FaultPlan::End(std::size_t index)
{
    Fault& fault = m_faults[index];
    NS_LOG_INFO("fault ends: " << fault.text);
    fault.isActive = false;
    for (std::size_t i = 0; i < fault.impairments.size(); i++)
    {
        m_fabric->channels[fault.links[i]]->RemoveImpairments(fault.impairments[i]);
    }
    if (fault.receiveRate.GetBitRate() > 0)
    {
        SetReceiveRate(fault);
    }
    if (fault.impairment.down)
    {
        ScheduleRoutes();
    }
}

void
FaultPlan::SetReceiveRate(const Fault& changed)
{
    // The slowest of all active faults applies; without active faults, the usual rate applies.
    DataRate slowest = changed.usualRate;
    for (const Fault& fault : m_faults)
    {
        if (fault.isActive && fault.node == changed.node && fault.receiveRate.GetBitRate() > 0 &&
            (slowest.GetBitRate() == 0 || fault.receiveRate < slowest))
        {
            slowest = fault.receiveRate;
        }
    }
    for (const auto& device : m_fabric->rails[changed.node])
    {
        device->SetReceiveRate(slowest);
    }
}

void
FaultPlan::ScheduleRoutes()
{
    if (m_rerouteDelay.IsZero() || Simulator::Now().IsZero())
    {
        m_fabric->UpdateRoutes();
    }
    else
    {
        Simulator::Schedule(m_rerouteDelay, &Fabric::UpdateRoutes, m_fabric);
    }
}

} // namespace ns3::training
