/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/chakra-order.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace ns3::training
{

namespace
{

/// Most cycles of a trace that are broken.
constexpr uint32_t MAX_CYCLES = 1000;

/** @return the first nodes of a cycle, and the last one, as text */
std::string
DescribeCycle(const std::vector<ChakraNode>& nodes, const TaskSorter::Cycle& cycle)
{
    constexpr std::size_t MOST = 8;
    std::string text = "node ";
    for (std::size_t i = 0; i < std::min(cycle.size(), MOST); i++)
    {
        text += std::to_string(nodes[cycle[i]].id) + " waits for ";
    }
    if (cycle.size() > MOST)
    {
        text += "... (" + std::to_string(cycle.size()) + " nodes) ";
    }
    return text + std::to_string(nodes[cycle.front()].id);
}

} // namespace

void
OrderChakraNodes(const std::vector<ChakraNode>& nodes,
                 const KeyValues& values,
                 bool lenient,
                 const std::string& path,
                 TaskSorter& sorter,
                 FormatProblems& problems)
{
    std::unordered_map<uint64_t, std::size_t> places;
    places.reserve(nodes.size());
    for (std::size_t place = 0; place < nodes.size(); place++)
    {
        if (!places.emplace(nodes[place].id, place).second)
        {
            throw ConfigurationError(path + ": node " + std::to_string(nodes[place].id) +
                                     " twice (allowed: numbers of one node each)");
        }
    }
    const auto getWhere = [&](std::size_t place) {
        return path + ": node " + std::to_string(nodes[place].id);
    };
    const auto require = [&](std::size_t place, const std::vector<uint64_t>& earlier) {
        bool isWhole = true;
        for (uint64_t id : earlier)
        {
            const auto found = places.find(id);
            if (found == places.end() || found->second == place)
            {
                isWhole = false;
                continue;
            }
            sorter.Require(place, found->second);
        }
        return isWhole;
    };
    for (std::size_t place = 0; place < nodes.size(); place++)
    {
        if (!require(place, nodes[place].dataDependencies))
        {
            if (values.GetText("missing-parent") == "error")
            {
                throw ConfigurationError(getWhere(place) +
                                         ": waits for a node that the trace does not have "
                                         "(allowed: nodes of the trace, or missing-parent=ignore)");
            }
            problems.Add("waits for a node that the trace does not have, which is left out",
                         getWhere(place));
        }
    }
    const std::string policy = values.GetText("dependencies");
    if (policy != "data")
    {
        std::string broken;
        for (std::size_t place = 0; place < nodes.size(); place++)
        {
            if (!require(place, nodes[place].controlDependencies) && broken.empty())
            {
                broken = getWhere(place);
            }
        }
        const auto cycle = sorter.FindCycle();
        if (broken.empty() && !cycle.empty())
        {
            broken = getWhere(cycle.front());
        }
        if (policy == "auto" && !broken.empty())
        {
            problems.Add("control dependencies are incomplete or a cycle, so only data "
                         "dependencies count",
                         broken);
            sorter.ClearWaits();
            for (std::size_t place = 0; place < nodes.size(); place++)
            {
                require(place, nodes[place].dataDependencies);
            }
        }
    }
    uint32_t cycles = 0;
    sorter.BreakCycles([&](const TaskSorter::Cycle& cycle) {
        if (!lenient || cycles++ == MAX_CYCLES)
        {
            throw ConfigurationError(
                path + ": a cycle: " + DescribeCycle(nodes, cycle) +
                (lenient ? " (allowed: up to " + std::to_string(MAX_CYCLES) + " cycles in a trace)"
                         : " (allowed: no cycles, or --lenient)"));
        }
        const std::size_t youngest = *std::max_element(cycle.begin(), cycle.end());
        problems.Add("a cycle of waits, in which its youngest node waits for nobody",
                     getWhere(youngest));
    });
}

} // namespace ns3::training
