/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guard/run-warnings.h"

#include "options/repeated-runs.h"
#include "options/run-title.h"
#include "options/warning-names.h"

#include "ns3/atp-communicator.h"
#include "ns3/in-network-system.h"
#include "ns3/ns3-arguments.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <boost/format.hpp>
#include <iomanip>
#include <set>
#include <sstream>

namespace ns3::training
{

namespace
{

/// Ports named in warnings; the others are only counted.
constexpr std::size_t MAX_NAMED_PORTS = 3;

/// Share of results without a slot that is worth a warning.
constexpr double MANY_COLLISIONS = 0.01;

/// Bytes of the busiest of equal links over their mean that are worth a warning.
constexpr double UNEVEN = 1.5;

/// Destinations of which the routes of a switch are looked at.
constexpr std::size_t MAX_LOOKED_AT = 256;

/// Shares of packets sent again, and of timeouts, that are worth a warning.
constexpr double MANY_REPEATS = 0.05;
constexpr double MANY_TIMEOUTS = 1e-3;

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

/** What the ports of a switch sent that are equally good for some destinations. */
struct EqualPorts
{
    std::size_t ports{0};               ///< number of ports
    double most{0};                     ///< time for which the busiest port sent, s
    double mean{0};                     ///< likewise, of all
    const FabricPort* busiest{nullptr}; ///< that port
};

/** @return time for which a port sent, s */
double
GetBusySeconds(const FabricPort& port)
{
    return 8.0 * static_cast<double>(port.GetCounters().transmittedBytes) /
           static_cast<double>(port.GetRate());
}

/** @return the busiest equal-cost ports that ECMP filled unevenly; no ports: there are none */
EqualPorts
FindUnevenPorts(const Fabric& fabric)
{
    EqualPorts found;
    const std::size_t endpoints = fabric.hostOfEndpoint.size();
    const std::size_t step = std::max<std::size_t>(1, endpoints / MAX_LOOKED_AT);
    const std::set<uint32_t> gateways = fabric.topology.GetGateways();
    for (uint32_t number = 0; number < fabric.devicesOfSwitches.size(); number++)
    {
        if (gateways.count(number) > 0)
        {
            continue; // its sender has chosen the way
        }
        const Ptr<SwitchDevice>& device = fabric.devicesOfSwitches[number];
        const ForwardingTable& table = device->GetTable();
        std::set<const uint16_t*> seen;
        for (std::size_t endpoint = 0; endpoint < endpoints; endpoint += step)
        {
            const auto group = table.Get(static_cast<uint32_t>(endpoint));
            if (group.size() < 2 || !seen.insert(group.begin()).second)
            {
                continue;
            }
            EqualPorts equal;
            equal.ports = group.size();
            for (uint16_t index : group)
            {
                const FabricPort* port = &device->GetPort(index);
                const double time = GetBusySeconds(*port);
                equal.mean += time / static_cast<double>(group.size());
                if (time > equal.most)
                {
                    equal.most = time;
                    equal.busiest = port;
                }
            }
            if (equal.most >= UNEVEN * equal.mean && equal.most > found.most)
            {
                found = equal;
            }
        }
    }
    return found;
}

/** Adds what ECMP cost, if one of uneven equal-cost links was busier than those of all hosts. */
void
AddUnevenPaths(std::vector<std::string>& warnings, const Cluster& cluster)
{
    const Fabric& fabric = cluster.GetFabric();
    if (cluster.GetOptions().path != "ecmp")
    {
        return;
    }
    const EqualPorts uneven = FindUnevenPorts(fabric);
    double ofHosts = 0;
    std::string name;
    for (uint32_t link = 0; uneven.ports > 0 && link < fabric.channels.size(); link++)
    {
        const TopologyGraph::Link& ends = fabric.topology.links[link];
        const bool isOfHost = std::min(ends.a, ends.b) < fabric.topology.hosts;
        for (uint32_t end = 0; end < 2; end++)
        {
            const FabricPort& port = fabric.channels[link]->GetPort(end);
            ofHosts = isOfHost ? std::max(ofHosts, GetBusySeconds(port)) : ofHosts;
            if (&port == uneven.busiest)
            {
                name = fabric.GetEndName(link, end) + " -> " + fabric.GetEndName(link, 1 - end);
            }
        }
    }
    if (uneven.most > ofHosts)
    {
        warnings.push_back(
            (boost::format("flows collide by ecmp: %s, one of %d equal links, carries %.1f times "
                           "their mean (see --path=adaptive and --path=spray)") %
             name % uneven.ports % (uneven.most / uneven.mean))
                .str());
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

/** Adds what repeated packets have cost, if they are many and nothing else explains them. */
void
AddRepeats(std::vector<std::string>& warnings, const Cluster& cluster)
{
    const ClusterOptions& options = cluster.GetOptions();
    const bool hasRecovery = options.GetTransport().hasQueuePairs;
    if (IsInNetwork(options.algorithm) || !options.GetTransport().countsPackets)
    {
        return;
    }
    QueuePairCounters mine;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        for (const HostConnection& connection : cluster.GetTransports().ListConnections(rank))
        {
            const QueuePairCounters counters = connection.counters.value_or(QueuePairCounters());
            mine.sentPackets += counters.sentPackets;
            mine.retransmittedPackets += counters.retransmittedPackets;
            mine.receivedNaks += counters.receivedNaks;
            mine.timeouts += counters.timeouts;
        }
    }
    ByteWriter writer;
    writer(mine.sentPackets, mine.retransmittedPackets, mine.receivedNaks, mine.timeouts);
    QueuePairCounters all;
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        ByteReader reader(bytes.data(), bytes.size());
        all.sentPackets += reader.Next<uint64_t>();
        all.retransmittedPackets += reader.Next<uint64_t>();
        all.receivedNaks += reader.Next<uint64_t>();
        all.timeouts += reader.Next<uint64_t>();
    }
    // Ultra Ethernet has NAKs for trimmed packets, whose repeats are part of its rules.
    const uint64_t usual = hasRecovery ? 0 : std::min(all.receivedNaks, all.retransmittedPackets);
    const auto sent = static_cast<double>(all.sentPackets);
    const auto again = static_cast<double>(all.retransmittedPackets - usual);
    const bool isMuch =
        again > MANY_REPEATS * sent || static_cast<double>(all.timeouts) > MANY_TIMEOUTS * sent;
    if (isMuch && warnings.empty())
    {
        std::ostringstream text;
        text << "hosts sent " << std::setprecision(2) << 100 * again / sent
             << " % of the packets again, after " << all.receivedNaks << " NAKs and "
             << all.timeouts << " timeouts (see "
             << (hasRecovery ? "--recovery=" + options.GetRecovery() + " and " : "")
             << "--congestion-control)";
        warnings.push_back(text.str());
    }
}

/** Adds attributes of classes of which this run has no object. */
void
AddIdleAttributes(std::vector<std::string>& warnings)
{
    const auto uses = Ns3Arguments::ListUses();
    std::string mine;
    for (const auto& [name, isTaken] : uses)
    {
        mine += isTaken ? '1' : '0';
    }
    const std::vector<std::string> all = Processes::Gather(mine);
    for (std::size_t i = 0; i < uses.size(); i++)
    {
        if (std::all_of(all.begin(), all.end(), [i](const std::string& bits) {
                return i >= bits.size() || bits[i] == '0';
            }))
        {
            const std::string& name = uses[i].first;
            warnings.push_back(name + " has no effect, as this run has no " +
                               name.substr(0, name.rfind("::", name.find('='))) +
                               " (see --transport, --congestion-control and --collective)");
        }
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
    AddUnevenPaths(warnings, cluster);
    AddInNetworkLimit(warnings, cluster);
    AddCollisions(warnings, cluster);
    const std::vector<std::string> ofTransport =
        cluster.GetTransports().GetTransport().GetWarnings();
    warnings.insert(warnings.end(), ofTransport.begin(), ofTransport.end());
    AddRepeats(warnings, cluster);
    AddIdleAttributes(warnings);
    const std::string option = RepeatedRuns::GetOptionOfOne();
    if (!option.empty() && HasRandomLosses(cluster.GetOptions()))
    {
        warnings.push_back("losses are random, and this is one seed of them (see " + option + ")");
    }
    MergeWarnings(warnings, cluster.GetWarnings());
    return warnings;
}

std::string
FormatWarnings(const std::vector<std::string>& warnings)
{
    std::string text;
    for (const std::string& warning : warnings)
    {
        if (!WarningNames::IsSilenced(warning))
        {
            text += "warning: " + warning + " (--silence=" + WarningNames::Get(warning) + ")\n";
        }
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
        if (!WarningNames::IsSilenced(warning))
        {
            all.Append(warning);
        }
    }
    document.Set("warnings", all);
}

} // namespace ns3::training
