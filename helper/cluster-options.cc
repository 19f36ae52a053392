/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster-options.h"

#include "in-network-system.h"

#include "ns3/fault-plan.h"
#include "ns3/host-model.h"
#include "ns3/multi-port-transport.h"
#include "ns3/path-choice.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-jitter.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/transport-entry.h"

#include <cmath>
#include <set>

namespace ns3::training
{

namespace
{

/// Maximum latency of posting a message, s.
constexpr double MAX_HOST_LATENCY = 1;

} // namespace

void
ClusterOptions::Check() const
{
    const bool hasQueuePairs = GetTransport().hasQueuePairs;
    if (!hasQueuePairs && recovery != "auto")
    {
        throw ConfigurationError("recovery",
                                 recovery,
                                 " with transport " + transport + " (allowed with rdma)");
    }
    if (hostLatency.IsStrictlyNegative() || hostLatency.GetSeconds() > MAX_HOST_LATENCY)
    {
        throw ConfigurationError("host latency",
                                 FormatTime(hostLatency),
                                 " (allowed: 0 to " + FormatDouble(MAX_HOST_LATENCY) + " s)");
    }
    if (hostLatency.IsZero() && MakeJitter(hostJitter))
    {
        throw ConfigurationError("host jitter",
                                 hostJitter,
                                 " without host latency (allowed: with a host latency above 0)");
    }
    if (queuePairs == 0 || queuePairs > MultiPortTransport::MAX_QUEUE_PAIRS)
    {
        throw ConfigurationError("queue pairs",
                                 std::to_string(queuePairs),
                                 " (allowed: 1 to " +
                                     std::to_string(MultiPortTransport::MAX_QUEUE_PAIRS) + ")");
    }
    if (!hasQueuePairs && queuePairs > 1)
    {
        throw ConfigurationError("queue pairs",
                                 std::to_string(queuePairs),
                                 " with transport " + transport + " (allowed with rdma)");
    }
    if (split && queuePairs == 1)
    {
        throw ConfigurationError("split",
                                 "true",
                                 " with one queue pair (allowed: with 2 queue pairs or more)");
    }
    const auto all = GetOwnAttributes();
    for (const auto& [name, value] : attributes)
    {
        const auto own = all.find(name);
        if (own != all.end())
        {
            throw ConfigurationError(
                "attribute " + name + "=" + value + ": the cluster sets it (allowed: " +
                (own->second.empty() ? "what follows from other fields" : own->second) + ")");
        }
    }
    if (loss < 0 || loss > 1 || std::isnan(loss))
    {
        throw ConfigurationError("loss", FormatDouble(loss), " (allowed: 0 to 1)");
    }
    if (mtu != 0 && (mtu < MIN_MTU || mtu > MAX_MTU))
    {
        throw ConfigurationError("mtu",
                                 std::to_string(mtu),
                                 " (allowed: " + std::to_string(MIN_MTU) + " to " +
                                     std::to_string(MAX_MTU) + " bytes; 0: automatic)");
    }
    if (buffer != 0 && buffer < MIN_BUFFER)
    {
        throw ConfigurationError("buffer",
                                 FormatBytes(buffer),
                                 " (allowed: " + FormatBytes(MIN_BUFFER) +
                                     " and more; 0: automatic)");
    }
    if (portPairs == "spray" && GetTransport().sprays == TransportEntry::Sprays::NEVER)
    {
        throw ConfigurationError("port pairs",
                                 portPairs,
                                 " with transport " + transport + " (allowed: turns, stripe)");
    }
    CheckStorage();
}

void
ClusterOptions::CheckStorage() const
{
    if (storageHosts == 0)
    {
        return;
    }
    const std::string hosts = std::to_string(storageHosts);
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("storage hosts",
                                 hosts,
                                 " with " + std::to_string(Processes::GetCount()) +
                                     " processes (allowed: one process)");
    }
    if (GetPathChoice(path).isPinned)
    {
        throw ConfigurationError("storage hosts",
                                 hosts,
                                 " with path " + path +
                                     " (allowed: paths that are not pinned to a schedule)");
    }
}

std::map<std::string, std::string>
ClusterOptions::GetOwnAttributes()
{
    std::map<std::string, std::string> own{
        {"ns3::training::CodecEngine::Codec", "nic"},
        {"ns3::training::HostDevice::Mtu", "mtu"},
        {"ns3::training::SwitchDevice::Path", "path"},
    };
    for (const auto& [name, entry] : Registry<TransportEntry>::All())
    {
        own.insert(entry.ownAttributes.begin(), entry.ownAttributes.end());
    }
    return own;
}

std::string
ClusterOptions::FindVariation() const
{
    if (hostJitter != "none")
    {
        return "times of hosts are drawn at random";
    }
    if (!Choose<HostModelEntry>(hostModel).entry->repeats)
    {
        return "host model " + hostModel + " is not known to repeat itself";
    }
    if (background != "none")
    {
        return "other traffic uses the network";
    }
    if (nic != "none" || codec != "none")
    {
        return "engines and codecs count what they do";
    }
    const auto& controls = Registry<CongestionControlEntry>::All();
    const auto control = controls.find(KeyValues::Split(GetCongestionControl()).GetName());
    if (control != controls.end() && !control->second.repeats)
    {
        return "congestion control " + control->first + " is not known to repeat itself";
    }
    const auto& systems = Registry<InNetworkSystem>::All();
    const auto system = systems.find(KeyValues::Split(algorithm).GetName());
    if (system != systems.end() && !system->second.repeats)
    {
        return system->first + " is not known to repeat itself";
    }
    return pcap.empty() ? "" : "--pcap records all packets";
}

std::string
ClusterOptions::DescribeHosts() const
{
    const bool isFree = hostModel == "none" && hostLatency.IsZero();
    const std::string text =
        (machine.empty() ? "" : "machine " + machine + "; ") + "host model " + hostModel +
        (isFree ? " (hosts take no time for a message, so small messages are too fast)" : "");
    return hostLatency.IsZero()
               ? text
               : text + "; host latency " + FormatTime(hostLatency) + ", jitter " + hostJitter;
}

const TransportEntry&
ClusterOptions::GetTransport() const
{
    const auto& all = Registry<TransportEntry>::All();
    const auto found = all.find(transport);
    if (found == all.end())
    {
        throw ConfigurationError("transport",
                                 transport,
                                 " (allowed: " + Registry<TransportEntry>::Names() + ")");
    }
    return found->second;
}

std::string
ClusterOptions::GetCongestionControl() const
{
    const TransportEntry& entry = GetTransport();
    const std::string given =
        congestionControl != "auto" ? congestionControl : entry.congestionControl;
    return entry.getControl ? entry.getControl(given) : given;
}

std::optional<std::string>
ClusterOptions::FindRdmaControl() const
{
    return transport == "rdma" ? std::make_optional(congestionControl) : std::nullopt;
}

std::string
ClusterOptions::GetRecovery() const
{
    return recovery != "auto"           ? recovery
           : GetPathChoice(path).sprays ? "out-of-order"
                                        : "go-back-n";
}

std::string
ClusterOptions::GetPortPairs() const
{
    return portPairs != "auto"                                       ? portPairs
           : GetTransport().sprays == TransportEntry::Sprays::ALWAYS ? "spray"
                                                                     : "turns";
}

Time
ClusterOptions::GetRerouteDelay() const
{
    return GetPathChoice(path).isStatic ? Time::Max() : rerouteDelay;
}

uint32_t
ClusterOptions::GetMtu() const
{
    return mtu != 0 ? static_cast<uint32_t>(mtu) : GetTransport().mtu;
}

std::shared_ptr<const TopologyGraph>
ClusterOptions::GetTopology(uint32_t hosts) const
{
    return m_topology.Get(topology, hosts, rate, delay);
}

std::shared_ptr<const TopologyGraph>
ClusterOptions::GetTopology() const
{
    try
    {
        return GetTopology(static_cast<uint32_t>(ranks + storageHosts));
    }
    catch (const ConfigurationError&)
    {
        if (storageHosts == 0)
        {
            throw;
        }
        // Or what is wrong without storage hosts.
        const uint32_t hosts = GetTopology(static_cast<uint32_t>(ranks))->hosts;
        if (hosts >= ranks + storageHosts)
        {
            throw;
        }
        throw ConfigurationError("storage hosts",
                                 std::to_string(storageHosts),
                                 " behind " + std::to_string(ranks) + " ranks on topology '" +
                                     topology + "' (allowed: up to " +
                                     std::to_string(hosts - ranks) + ", as it has " +
                                     std::to_string(hosts) + " hosts)");
    }
}

FaultPlan
ClusterOptions::MakeFaults(const TopologyGraph& network) const
{
    FaultPlan plan;
    for (const std::string& fault : faults)
    {
        plan.Add(fault);
    }
    if (loss > 0)
    {
        plan.AddLoss("*", loss);
    }
    std::set<std::string> lossy; // parallel links share a name
    for (const auto& link : network.links)
    {
        const std::string name = network.GetName(link.a) + "-" + network.GetName(link.b);
        if (link.loss > 0 && lossy.insert(name).second)
        {
            plan.AddLoss(name, link.loss);
        }
    }
    return plan;
}

std::optional<uint32_t>
ClusterOptions::FindHosts() const
{
    const auto hosts = static_cast<uint32_t>(ranks + storageHosts);
    return m_topology.FindHosts(topology, hosts, rate, delay);
}

} // namespace ns3::training
