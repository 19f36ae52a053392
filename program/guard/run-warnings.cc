/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guard/run-warnings.h"

#include "ns3/atp-communicator.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Ports named in warnings; the others are only counted.
constexpr std::size_t MAX_NAMED_PORTS = 3;

/// Share of results without a slot that is worth a warning.
constexpr double MANY_COLLISIONS = 0.01;

/** A counter by port and class of what should not happen. */
struct Mishap
{
    uint32_t PriorityCounters::*counts;
    std::string before; ///< words before the number
    std::string after;  ///< words between number and class
    std::string end;    ///< words after the class
};

/** Adds the ports that had a mishap. */
void
AddMishaps(std::vector<std::string>& warnings, const Fabric& fabric, const Mishap& mishap)
{
    std::size_t ports = 0;
    uint64_t others = 0;
    for (uint32_t link = 0; link < fabric.channels.size(); link++)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            const FabricPort& port = fabric.channels[link]->GetPort(end);
            for (uint8_t priority = 0; priority < PRIORITIES; priority++)
            {
                const uint32_t count = port.GetCounters().byPriority[priority].*mishap.counts;
                if (count > 0 && ports++ < MAX_NAMED_PORTS)
                {
                    warnings.push_back(fabric.GetEndName(link, end) + " port " +
                                       std::to_string(port.GetIndex()) + " " + mishap.before + " " +
                                       std::to_string(count) + " " + mishap.after + " class " +
                                       std::to_string(priority) + mishap.end);
                }
                else
                {
                    others += count;
                }
            }
        }
    }
    if (ports > MAX_NAMED_PORTS)
    {
        warnings.push_back(std::to_string(ports - MAX_NAMED_PORTS) + " other ports " +
                           mishap.before + " " + std::to_string(others) + " " + mishap.after +
                           " classes");
    }
}

/** Adds the limit of an in-network system that kept its fastest rank from filling the line. */
void
AddInNetworkLimit(std::vector<std::string>& warnings, const Cluster& cluster)
{
    const auto& workers = cluster.GetInNetworkCommunicators();
    const auto fastest =
        std::max_element(workers.begin(), workers.end(), [](const auto& one, const auto& other) {
            return one->GetLineUse() < other->GetLineUse();
        });
    // A fault may be the limit.
    if (fastest == workers.end() || !cluster.GetOptions().faults.empty())
    {
        return;
    }
    const std::string limit = (*fastest)->DescribeLimit();
    if (!limit.empty())
    {
        warnings.push_back(limit);
    }
}

/** Adds how many results ATP's switches left to servers for lack of slots. */
void
AddCollisions(std::vector<std::string>& warnings, const Cluster& cluster)
{
    uint64_t collisions = 0;
    uint64_t results = 0;
    for (const auto& worker : cluster.GetInNetworkCommunicators())
    {
        if (const auto atp = DynamicCast<AtpCommunicator>(worker))
        {
            collisions += atp->GetCollisions();
            results += atp->GetResults();
        }
    }
    if (cluster.GetOptions().faults.empty() &&
        collisions > MANY_COLLISIONS * static_cast<double>(results))
    {
        warnings.push_back("servers made " + std::to_string(100 * collisions / results) +
                           " % of the results of atp, as slots of the switches were taken (see its "
                           "keys slots and window)");
    }
}

} // namespace

std::vector<std::string>
GetWarnings(const Cluster& cluster)
{
    std::vector<std::string> warnings;
    AddMishaps(warnings,
               cluster.GetFabric(),
               {&PriorityCounters::losslessDrops,
                "dropped",
                "frames of lossless",
                " for lack of buffer space"});
    AddMishaps(warnings,
               cluster.GetFabric(),
               {&PriorityCounters::pauseStorms,
                "had",
                "pause storms in lossless",
                ", in which the watchdog ignored its pauses"});
    AddInNetworkLimit(warnings, cluster);
    AddCollisions(warnings, cluster);
    const std::vector<std::string> ofTransport =
        cluster.GetTransports().GetTransport().GetWarnings();
    warnings.insert(warnings.end(), ofTransport.begin(), ofTransport.end());
    MergeWarnings(warnings, cluster.GetWarnings());
    return warnings;
}

std::string
FormatWarnings(const std::vector<std::string>& warnings)
{
    std::string text;
    for (const std::string& warning : warnings)
    {
        text += "warning: " + warning + "\n";
    }
    return text;
}

void
MergeWarnings(std::vector<std::string>& all, const std::vector<std::string>& more)
{
    for (const std::string& warning : more)
    {
        if (std::find(all.begin(), all.end(), warning) == all.end())
        {
            all.push_back(warning);
        }
    }
}

void
AddWarnings(JsonValue& document, const std::vector<std::string>& warnings)
{
    auto all = JsonValue::Array();
    for (const std::string& warning : warnings)
    {
        all.Append(warning);
    }
    document.Set("warnings", all);
}

} // namespace ns3::training
