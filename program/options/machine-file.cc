/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/machine-file.h"

#include "options/configuration-file.h"
#include "options/value-suggestion.h"

#include "ns3/machine-entry.h"
#include "ns3/training-configuration-error.h"

#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <map>
#include <set>

namespace ns3::training
{

namespace
{

/** @return the defaults of a registered machine */
std::vector<ProgramOptions::Value>
FindMachine(const std::string& text)
{
    const std::string name = KeyValues::Split(text).GetName();
    std::vector<std::string> names;
    for (const auto& [other, unused] : Registry<MachineEntry>::All())
    {
        names.push_back(other);
    }
    if (Registry<MachineEntry>::All().count(name) == 0)
    {
        throw ConfigurationError("--machine=" + text + SuggestNearest(name, names) + " (allowed: " +
                                 boost::join(names, ", ") + ", or the path of a TOML file)");
    }
    const auto machine = Choose<MachineEntry>(text);
    std::vector<ProgramOptions::Value> defaults;
    for (const auto& one : machine.entry->GetDefaults(machine.values))
    {
        defaults.push_back({one.option, one.value});
    }
    return defaults;
}

/** @return what a file of a machine may set: the options of all machines, and those of their links
 */
std::set<std::string>
ListOptions()
{
    std::set<std::string> options{"delay", "mtu"};
    for (const auto& [name, machine] : Registry<MachineEntry>::All())
    {
        for (const auto& one : machine.defaults)
        {
            options.insert(one.option);
        }
    }
    return options;
}

} // namespace

std::vector<ProgramOptions::Value>
ReadMachine(const std::string& text)
{
    if (!boost::ends_with(text, ".toml"))
    {
        return FindMachine(text);
    }
    const std::set<std::string> options = ListOptions();
    std::vector<ProgramOptions::Value> defaults;
    std::map<std::string, std::string> changed;
    for (const auto& [argument, place] : ReadConfiguration(text, "machine"))
    {
        const auto end = argument.find('=');
        const std::string name = argument.substr(2, end - 2);
        const std::string value = argument.substr(end + 1);
        if (name == "machine")
        {
            try
            {
                defaults = FindMachine(value);
            }
            catch (const ConfigurationError& error)
            {
                throw ConfigurationError(place + ": " + error.what());
            }
        }
        else if (options.count(name) == 0 || !changed.emplace(name, value).second)
        {
            throw ConfigurationError(place + ": " + name + " (allowed, once: machine, " +
                                     boost::join(options, ", ") + ")");
        }
    }
    if (defaults.empty())
    {
        throw ConfigurationError(
            "--machine=" + text +
            ": no machine (allowed: with machine = \"NAME\", which it changes)");
    }
    for (ProgramOptions::Value& one : defaults)
    {
        const auto found = changed.find(one.name);
        if (found != changed.end())
        {
            one.text = found->second;
            changed.erase(found);
        }
    }
    for (const auto& [name, value] : changed)
    {
        defaults.push_back({name, value});
    }
    return defaults;
}

JsonValue
DescribeMachines()
{
    auto all = JsonValue::Object();
    for (const auto& [name, machine] : Registry<MachineEntry>::All())
    {
        auto defaults = JsonValue::Object();
        for (const auto& one : machine.defaults)
        {
            defaults.Set(one.option, one.value);
        }
        auto row = JsonValue::Object();
        row.Set("gpus", machine.gpus).Set("defaults", defaults);
        all.Set(name, row);
    }
    return all;
}

} // namespace ns3::training
