/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/warning-names.h"

#include "options/value-suggestion.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace ns3::training
{

namespace
{

/** A kind of warning. */
struct NamedWarning
{
    const char* name; ///< for --silence
    const char* part; ///< of its text
};

/// In the order in which they are compared; the last one is all others.
constexpr NamedWarning NAMED_WARNINGS[]{{"memory", "GB of memory"},
                                        {"parameters", " G expected"},
                                        {"tensor", "tensor groups of"},
                                        {"algorithm", "times its lower bound"},
                                        {"ecmp", "flows collide by ecmp"},
                                        {"attribute", " has no effect"},
                                        {"seed", "this is one seed"},
                                        {"slow", "while no link was busy"},
                                        {"repeats", "of the packets again"},
                                        {"drops", "for lack of buffer space"},
                                        {"drops", " dropped "},
                                        {"storms", "pause storms"},
                                        {"slots", "slots of the switches were taken"},
                                        {"window", " of the line ("},
                                        {"path", "path choice"},
                                        {"mtu", "bytes a packet"},
                                        {"target", "round trip of the idle network"},
                                        {"overload", "overload: "},
                                        {"other", ""}};

/** @return the names in --silence */
std::vector<std::string>
ListSilenced()
{
    std::vector<std::string> names;
    std::istringstream list(WarningNames::silenced);
    for (std::string name; std::getline(list, name, ',');)
    {
        names.push_back(name);
    }
    return names;
}

} // namespace

std::string
WarningNames::Get(const std::string& warning)
{
    return std::find_if(std::begin(NAMED_WARNINGS),
                        std::end(NAMED_WARNINGS),
                        [&warning](const NamedWarning& each) {
                            return warning.find(each.part) != std::string::npos;
                        })
        ->name;
}

bool
WarningNames::IsSilenced(const std::string& warning)
{
    const std::vector<std::string> names = ListSilenced();
    return std::find(names.begin(), names.end(), Get(warning)) != names.end();
}

void
WarningNames::Check()
{
    std::vector<std::string> known;
    std::string allowed;
    for (const NamedWarning& each : NAMED_WARNINGS)
    {
        if (known.empty() || known.back() != each.name)
        {
            known.emplace_back(each.name);
            allowed += (allowed.empty() ? "" : ", ") + known.back();
        }
    }
    for (const std::string& name : ListSilenced())
    {
        if (std::find(known.begin(), known.end(), name) == known.end())
        {
            throw ConfigurationError("silence",
                                     name,
                                     SuggestNearest(name, known) + " (allowed: " + allowed + ")");
        }
    }
}

} // namespace ns3::training
