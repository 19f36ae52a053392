/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster-transports.h"

#include "background-helper.h"

#include "ns3/boolean.h"
#include "ns3/rdma-transport.h"
#include "ns3/roce-wire-format.h"
#include "ns3/string.h"
#include "ns3/tcp-transport.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uec-transport.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <string>

namespace ns3::training
{

namespace
{

/// First random stream of hosts; each rank uses one.
constexpr int64_t FIRST_STREAM = 1LL << 33;
/// First random stream of the messages from and to storage hosts; each host uses one.
constexpr int64_t FIRST_STORAGE_STREAM = FIRST_STREAM + (1LL << 32);
/// TCP ports of ranks, background and storage, before ranks and storage go on to the next ones.
constexpr uint32_t TCP_PORTS = 3;
/// Transmit queue of a host that TCP cannot fill, bytes.
constexpr uint64_t UNLIMITED_QUEUE = 1ULL << 60;

} // namespace

ClusterTransports::ClusterTransports(const ClusterOptions& options, const AttributeList& attributes)
    : m_options(options),
      m_attributes(attributes)
{
}

PacketSize
ClusterTransports::GetPacketSize() const
{
    const uint32_t mtu = m_options.GetMtu();
    return m_options.IsRdma()  ? PacketSize::OfRdma(mtu)
           : m_options.IsUec() ? PacketSize::OfUec(mtu)
                               : PacketSize::OfTcp(mtu);
}

bool
ClusterTransports::UsesEcn() const
{
    // With Ultra Ethernet, SetUp() sets the marks that it needs.
    return m_options.IsRdma() ? m_rdma.UsesEcn() : !m_options.IsUec() && m_tcp.UsesEcn();
}

double
ClusterTransports::GetEcnStep() const
{
    return m_options.IsRdma() ? m_rdma.GetEcnStep() : m_options.IsUec() ? 0 : m_tcp.GetEcnStep();
}

void
ClusterTransports::SetUp(FabricHelper& fabric, Time roundTrip)
{
    if (m_options.IsRdma())
    {
        m_rdma.SetCongestionControl(m_options.congestionControl);
        m_rdma.SetAttributes(m_attributes);
        m_rdma.SetMarking(fabric);
        return;
    }
    if (m_options.IsUec())
    {
        m_uec.SetCongestionControl(m_options.congestionControl);
        m_uec.SetAttributes(m_attributes);
        m_uec.SetNetwork(m_options.GetMtu(), roundTrip);
        m_uec.SetSwitches(fabric);
        return;
    }
    m_tcp.SetCongestionControl(m_options.congestionControl);
    m_tcp.SetAttributes(m_attributes);
    fabric.SetHostAttribute("Mtu", UintegerValue(m_options.GetMtu()));
    if (IsDefaultUnchanged(HostDevice::GetTypeId(), "IpQueueLimit"))
    {
        // Linux holds packets back in their sockets, and does not drop them before the line.
        fabric.SetHostAttribute("IpQueueLimit", UintegerValue(UNLIMITED_QUEUE));
    }
}

void
ClusterTransports::PairPorts(const Fabric& fabric, bool hasBackground, uint32_t hosts)
{
    m_fabric = &fabric;
    m_hosts = hosts;
    const auto pair = [&](Use use, uint64_t count) {
        m_portPairs[static_cast<std::size_t>(use)] =
            std::make_shared<FabricPortPairs>(fabric, static_cast<uint32_t>(count));
    };
    pair(Use::RANKS, m_options.ranks);
    if (hasBackground)
    {
        pair(Use::BACKGROUND, hosts);
    }
    if (m_options.storageHosts > 0)
    {
        pair(Use::STORAGE, m_options.ranks + m_options.storageHosts);
    }
}

void
ClusterTransports::Install(const ShortestPaths::Path& longest, Time roundTrip, double gain)
{
    const uint32_t mtu = m_options.GetMtu();
    if (m_options.IsRdma())
    {
        CheckQueuePairNumbers();
        m_rdma.SetAttribute("Mtu", UintegerValue(mtu));
        m_rdma.SetAttribute("LossRecovery", StringValue(m_options.GetRecovery()));
        m_rdma.SetAttribute("PathHops", UintegerValue(longest.links));
        m_rdma.SetRoundTrip(roundTrip);
        m_nics = m_rdma.Install(*m_fabric, m_hosts);
        return;
    }
    if (m_options.IsUec())
    {
        m_uecNics = m_uec.Install(*m_fabric, m_hosts);
        return;
    }
    // Buffers hold what is not coded yet.
    m_tcp.SetNetwork(mtu,
                     roundTrip,
                     static_cast<uint64_t>(static_cast<double>(longest.rate) * gain));
    // The pairs of the most hosts, which are those of background, then of storage.
    std::shared_ptr<FabricPortPairs> all;
    for (const Use use : {Use::BACKGROUND, Use::STORAGE, Use::RANKS})
    {
        all = all ? all : m_portPairs[static_cast<std::size_t>(use)];
    }
    m_socketAttributes = m_tcp.Install(*m_fabric, m_hosts, all);
}

uint64_t
ClusterTransports::GetConnections(uint64_t hosts) const
{
    std::size_t ports = 1;
    for (const auto& rails : m_fabric->rails)
    {
        ports = std::max(ports, rails.size());
    }
    return hosts * ports;
}

uint64_t
ClusterTransports::GetFirstNumber() const
{
    return m_options.IsRdma() ? FIRST_QUEUE_PAIR : 0;
}

uint64_t
ClusterTransports::GetEndOfNumbers() const
{
    const bool hasBackground = m_portPairs[static_cast<std::size_t>(Use::BACKGROUND)] != nullptr;
    return hasBackground ? BackgroundHelper::FIRST_CONNECTION : PSN_MODULUS;
}

uint64_t
ClusterTransports::GetNumbersOfRun() const
{
    const uint64_t hosts =
        m_options.storageHosts > 0 ? m_options.ranks + m_options.storageHosts : 0;
    return GetConnections(m_options.ranks + hosts) * m_options.queuePairs;
}

void
ClusterTransports::CheckQueuePairNumbers() const
{
    const uint64_t most =
        (GetEndOfNumbers() - FIRST_QUEUE_PAIR) / (GetNumbersOfRun() / m_options.queuePairs);
    if (m_options.queuePairs > most)
    {
        throw ConfigurationError("queue pairs",
                                 std::to_string(m_options.queuePairs),
                                 " with " + std::to_string(m_options.ranks) + " ranks of " +
                                     std::to_string(GetConnections(1)) + " ports (allowed: up to " +
                                     std::to_string(most) + ", as numbers have 24 bits)");
    }
}

Ptr<MultiPortTransport>
ClusterTransports::MakeConnections(uint32_t host, Use use) const
{
    const auto& portPairs = m_portPairs[static_cast<std::size_t>(use)];
    const uint64_t ofRanks = GetConnections(m_options.ranks) * m_options.queuePairs;
    const auto first = static_cast<uint32_t>(
        use == Use::BACKGROUND ? BackgroundHelper::FIRST_CONNECTION
                               : GetFirstNumber() + (use == Use::STORAGE ? ofRanks : 0));
    if (m_options.IsRdma())
    {
        auto rdma = m_attributes.Create<RdmaTransport>();
        rdma->SetPortPairs(host, portPairs);
        rdma->SetFirst(first);
        rdma->SetNics(m_nics[host]);
        return rdma;
    }
    if (m_options.IsUec())
    {
        auto uec = m_attributes.Create<UecTransport>();
        uec->SetPortPairs(host, portPairs);
        uec->SetFirst(first);
        uec->SetNics(m_uecNics[host]);
        return uec;
    }
    auto tcp = m_attributes.Create<TcpTransport>();
    tcp->SetPortPairs(host, portPairs);
    UintegerValue port;
    tcp->GetAttribute("Port", port);
    const uint64_t other = port.Get() + static_cast<uint64_t>(use);
    tcp->SetAttribute("Port", UintegerValue(other <= UINT16_MAX ? other : other - UINT16_MAX));
    tcp->SetSocketAttributes(m_socketAttributes);
    tcp->SetNode(m_fabric->hosts.Get(host));
    return tcp;
}

Ptr<MultiPortTransport>
ClusterTransports::Make(uint32_t host, Use use)
{
    const Ptr<MultiPortTransport> transport = MakeConnections(host, use);
    if (use == Use::BACKGROUND)
    {
        return transport; // options of messages are those of the job
    }
    if (m_options.portPairs == "stripe")
    {
        transport->SetAttribute("Stripe", BooleanValue(true));
    }
    if (m_options.hostLatency.IsStrictlyPositive())
    {
        transport->SetAttribute("PostLatency", TimeValue(m_options.hostLatency));
        transport->SetAttribute("PostJitter", StringValue(m_options.hostJitter));
    }
    transport->AssignStreams((use == Use::STORAGE ? FIRST_STORAGE_STREAM : FIRST_STREAM) + host);
    if (m_options.queuePairs > 1)
    {
        transport->SetAttribute("QueuePairs", UintegerValue(m_options.queuePairs));
        transport->SetAttribute("Split", BooleanValue(m_options.split));
    }
    m_transports[static_cast<std::size_t>(use)].push_back(transport);
    return transport;
}

Ptr<MultiPortTransport>
ClusterTransports::Get(uint32_t host) const
{
    return m_transports[static_cast<std::size_t>(Use::RANKS)].at(host);
}

void
ClusterTransports::Restart()
{
    const bool isTcp = !m_options.IsRdma() && !m_options.IsUec();
    const auto numbers = static_cast<uint32_t>(isTcp ? TCP_PORTS : GetNumbersOfRun());
    for (const auto& transports : m_transports)
    {
        for (const auto& transport : transports)
        {
            transport->Restart(numbers);
        }
    }
}

uint64_t
ClusterTransports::GetMostRestarts() const
{
    if (!m_options.IsRdma() && !m_options.IsUec())
    {
        UintegerValue port;
        Get(0)->GetAttribute("Port", port);
        return (UINT16_MAX - port.Get()) / TCP_PORTS;
    }
    return (GetEndOfNumbers() - GetFirstNumber()) / GetNumbersOfRun() - 1;
}

FabricPortPairs&
ClusterTransports::GetPortPairs() const
{
    return *m_portPairs[static_cast<std::size_t>(Use::RANKS)];
}

const std::vector<Ptr<RdmaNic>>&
ClusterTransports::GetNics(uint32_t host) const
{
    return m_nics.at(host);
}

const std::vector<Ptr<UecNic>>&
ClusterTransports::GetUecNics(uint32_t host) const
{
    return m_uecNics.at(host);
}

const AttributeList&
ClusterTransports::GetSocketAttributes() const
{
    return m_socketAttributes;
}

} // namespace ns3::training
