/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster-options.h"

#include "ns3/multi-port-transport.h"
#include "ns3/path-choice.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-jitter.h"
#include "ns3/training-quantity.h"

#include <cmath>

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
    if (!IsRdma() && !IsUec() && transport != "tcp")
    {
        throw ConfigurationError("transport", transport, " (allowed: rdma, tcp, uec)");
    }
    if (!IsRdma() && recovery != "auto")
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
    if (!IsRdma() && queuePairs > 1)
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
    for (const auto& [name, value] : attributes)
    {
        const auto own = GetOwnAttributes().find(name);
        if (own != GetOwnAttributes().end())
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
}

const std::map<std::string, std::string>&
ClusterOptions::GetOwnAttributes()
{
    static const std::map<std::string, std::string> own{
        {"ns3::TcpL4Protocol::SocketType", "congestion control"},
        {"ns3::training::CodecEngine::Codec", "nic"},
        {"ns3::training::HostDevice::Mtu", "mtu"},
        {"ns3::training::RdmaNic::BaseRoundTrip", ""},
        {"ns3::training::RdmaNic::CongestionControl", "congestion control"},
        {"ns3::training::RdmaNic::LossRecovery", "recovery"},
        {"ns3::training::RdmaNic::Mtu", "mtu"},
        {"ns3::training::RdmaNic::PathHops", ""},
        {"ns3::training::SwitchDevice::Path", "path"},
        {"ns3::training::UecNic::BaseRoundTrip", ""},
        {"ns3::training::UecNic::CongestionControl", "congestion control"},
        {"ns3::training::UecNic::Mtu", "mtu"},
        {"ns3::training::UecNic::Trimming", ""},
    };
    return own;
}

std::string
ClusterOptions::DescribeHosts() const
{
    const bool isFree = hostModel == "none" && hostLatency.IsZero();
    const std::string text =
        "host model " + hostModel +
        (isFree ? " (hosts take no time for a message, so small messages are too fast)" : "");
    return hostLatency.IsZero()
               ? text
               : text + "; host latency " + FormatTime(hostLatency) + ", jitter " + hostJitter;
}

bool
ClusterOptions::IsRdma() const
{
    return transport == "rdma";
}

bool
ClusterOptions::IsUec() const
{
    return transport == "uec";
}

std::string
ClusterOptions::GetCongestionControl() const
{
    return congestionControl != "auto" ? congestionControl
           : IsRdma()                  ? "dcqcn"
           : IsUec()                   ? "nscc"
                                       : "ns3::TcpCubic";
}

std::string
ClusterOptions::GetRecovery() const
{
    return recovery != "auto"           ? recovery
           : GetPathChoice(path).sprays ? "out-of-order"
                                        : "go-back-n";
}

uint32_t
ClusterOptions::GetMtu() const
{
    return mtu != 0 ? static_cast<uint32_t>(mtu) : IsRdma() || IsUec() ? 4096 : 9000;
}

std::shared_ptr<const TopologyGraph>
ClusterOptions::GetTopology(uint32_t hosts) const
{
    return m_topology.Get(topology, hosts, rate, delay);
}

std::optional<uint32_t>
ClusterOptions::FindHosts() const
{
    const auto hosts = static_cast<uint32_t>(ranks + storageHosts);
    return m_topology.FindHosts(topology, hosts, rate, delay);
}

} // namespace ns3::training
