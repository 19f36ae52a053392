/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fault-plan.h"

#include "core/input-file.h"
#include "core/random-streams.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <boost/algorithm/string/split.hpp>
#include <cmath>
#include <functional>
#include <optional>
#include <sstream>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFaultPlan");

namespace
{

/** @return the text without surrounding white space and trailing comment */
std::string
Strip(std::string text)
{
    text = text.substr(0, text.find('#'));
    const auto first = text.find_first_not_of(" \t\r");
    const auto last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/** @return the numbers of a text such as 0.1/0.2, each 0 to 1; empty if it is malformed */
std::vector<double>
ReadProbabilities(const std::string& text)
{
    std::vector<std::string> parts;
    boost::split(parts, text, [](char character) { return character == '/'; });
    std::vector<double> numbers;
    for (const std::string& part : parts)
    {
        numbers.push_back(ParseDouble(part).value_or(-1));
        if (!(numbers.back() >= 0 && numbers.back() <= 1))
        {
            return {};
        }
    }
    return numbers;
}

/** A frame is delayed. */
struct Reordering
{
    double probability;
    Time delay;
};

/** @return a text such as 0.1/3us; none if it is malformed */
std::optional<Reordering>
ReadReordering(const std::string& text)
{
    const auto slash = text.find('/');
    const auto numbers = ReadProbabilities(text.substr(0, slash));
    const auto delay =
        slash == std::string::npos ? std::nullopt : ParseTime(text.substr(slash + 1));
    return numbers.size() == 1 && delay ? std::optional(Reordering{numbers[0], *delay})
                                        : std::nullopt;
}

/** @return a key of a text, of a form */
Key
MakeFormKey(const std::string& name,
            const std::string& form,
            const std::string& help,
            const std::function<bool(const std::string&)>& accepts)
{
    Key key = Key::Of(name, Key::Type::TEXT, "", help);
    key.range = form;
    key.accepts = accepts;
    return key;
}

/** @return a key of a probability, which is none by default */
Key
MakeProbabilityKey(const std::string& name, const std::string& help)
{
    Key key = Key::Number(name, 0, 0, 1, help);
    key.initial = "";
    return key;
}

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

const std::vector<Key>&
FaultPlan::GetKeys()
{
    static const std::vector<Key> keys{
        MakeProbabilityKey("loss", "probability that a frame is lost"),
        MakeFormKey("burst-loss",
                    "P/R or P/R/H, each 0 to 1",
                    "Gilbert-Elliott: for each frame the link turns bad with probability P and "
                    "good again with R; a bad link loses a frame with probability H, 1 by default",
                    [](const std::string& text) {
                        const auto numbers = ReadProbabilities(text);
                        return numbers.size() == 2 || numbers.size() == 3;
                    }),
        MakeProbabilityKey("ber", "probability that a bit is wrong; its frame is lost"),
        MakeProbabilityKey("duplicate", "probability that a frame arrives twice"),
        MakeFormKey("reorder",
                    "P/TIME with P 0 to 1",
                    "with probability P a frame is delayed by TIME, and others overtake it",
                    [](const std::string& text) { return ReadReordering(text).has_value(); }),
        Key::Of("retry",
                Key::Type::TIME,
                "",
                "the link sends lost frames again (link-level retry, LLR): time from the end of "
                "such a frame to the request for it; with loss, burst-loss or ber"),
        Key::Of("down", Key::Type::BOOLEAN, "", "no frame gets through"),
        Key::Of("restart",
                Key::Type::BOOLEAN,
                "",
                "a switch is down, and comes back without its state; without until it only loses "
                "its state"),
        [] {
            Key key = Key::Of("receive-rate",
                              Key::Type::RATE,
                              "",
                              "a host accepts received data at most at this rate; the lowest of "
                              "several counts");
            key.accepts = [](const std::string& text) {
                const auto rate = ParseRate(text);
                return rate && rate->GetBitRate() > 0;
            };
            return key;
        }(),
        Key::Of("from", Key::Type::TIME, "0s", "start"),
        Key::Of("until", Key::Type::TIME, "", "end; by default that of the run")};
    return keys;
}

void
FaultPlan::Add(const std::string& text, const std::string& where)
{
    Fault fault;
    fault.text = text;
    fault.where = where;
    KeyValues values = KeyValues::Split(text);
    fault.target = values.GetName();
    const std::string refusal = values.Read(GetKeys());
    if (!refusal.empty())
    {
        throw Refuse(fault, refusal);
    }
    const auto getProbability = [&](const std::string& key) {
        return values.Has(key) ? values.GetNumber(key) : 0;
    };
    auto& link = fault.impairment;
    link.loss = getProbability("loss");
    link.bitErrorRate = getProbability("ber");
    link.duplicate = getProbability("duplicate");
    link.down = values.Has("down") && values.GetBoolean("down");
    fault.impairs = values.Has("loss") || values.Has("ber") || values.Has("duplicate") || link.down;
    if (values.Has("burst-loss"))
    {
        const auto numbers = ReadProbabilities(values.GetText("burst-loss"));
        link.goodToBad = numbers[0];
        link.badToGood = numbers[1];
        link.lossInBad = numbers.size() == 3 ? numbers[2] : link.lossInBad;
        fault.impairs = true;
    }
    if (values.Has("reorder"))
    {
        const Reordering reordering = *ReadReordering(values.GetText("reorder"));
        link.reorder = reordering.probability;
        link.reorderDelay = reordering.delay;
        fault.impairs = true;
    }
    link.retries = values.Has("retry");
    link.retryResponse = link.retries ? values.GetTime("retry") : Time(0);
    if (link.retries && !values.Has("loss") && !values.Has("burst-loss") && !values.Has("ber"))
    {
        throw Refuse(fault, ": retry (allowed: with loss, burst-loss or ber)");
    }
    fault.restart = values.Has("restart") && values.GetBoolean("restart");
    fault.receiveRate = values.Has("receive-rate") ? values.GetRate("receive-rate") : DataRate(0);
    if (fault.target.empty() ||
        (!fault.impairs && !fault.restart && fault.receiveRate.GetBitRate() == 0))
    {
        throw Refuse(fault,
                     " (allowed: TARGET:KEY=VALUE,... with a target *, host3, switch1 or "
                     "host3-switch1, and a fault such as loss=0.01; see --help=fault)");
    }
    fault.from = values.GetTime("from");
    fault.until = values.Has("until") ? values.GetTime("until")
                  : fault.restart     ? fault.from // zero downtime: only the state is lost
                                      : Time::Max();
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
            throw ConfigurationError(here + line +
                                     " (allowed: TARGET:KEY=VALUE,..., no other file)");
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
FaultPlan::FindTarget(Fault& fault) const
{
    const TopologyGraph& topology = m_fabric->topology;
    const auto refuse = [&](const std::string& allowed) {
        return Refuse(fault, ": '" + fault.target + "' (allowed: " + allowed + ")");
    };
    const auto node = topology.FindNode(fault.target);
    fault.node = node.value_or(0);
    fault.links = topology.FindLinks(fault.target);
    if (!node && fault.links.empty() && fault.target != "*")
    {
        const uint32_t planes = topology.shape.planes;
        throw refuse(std::string("*, a node or a link such as host0, switch0, host0-switch0") +
                     (planes > 1 ? ", plane0, host0-plane0, plane0.switch0" : "") +
                     "; hosts 0 to " + std::to_string(topology.hosts - 1) + ", " +
                     std::to_string(topology.switches) + " switches from 0" +
                     (planes > 1 ? " in " + std::to_string(planes) + " planes" : "") +
                     ", links of topology '" + topology.name + "'");
    }
    if (fault.restart && (!node || *node < topology.hosts))
    {
        throw refuse("a switch, to restart");
    }
    if (fault.receiveRate.GetBitRate() > 0 && (!node || *node >= topology.hosts))
    {
        throw refuse("a host, for receive-rate");
    }
}

void
FaultPlan::Apply(Fabric& fabric, Time rerouteDelay)
{
    m_fabric = &fabric;
    m_rerouteDelay = rerouteDelay;
    uint64_t index = 0; // of a random stream
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
                const auto make = [&](uint64_t end) {
                    const uint64_t number = index + 2 * uint64_t{link} + end;
                    return std::make_shared<LinkImpairment>(
                        fault.impairment,
                        GetRandomStream(RandomUse::FAULTS, number));
                };
                fault.impairments.push_back({make(0), make(1)});
            }
        }
        index += 2 * fabric.topology.links.size();
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
    if (m_rerouteDelay == Time::Max())
    {
        return; // static routes
    }
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
