/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-transport.h"
#include "tcp-helper.h"

#include "ns3/path-choice.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-transport.h"
#include "ns3/uinteger.h"

namespace ns3::training
{

namespace
{

/// Ports of ranks, background and storage, before ranks and storage go on to the next ones.
constexpr uint32_t TCP_PORTS = 3;
/// Transmit queue of a host that sockets cannot fill, bytes.
constexpr uint64_t UNLIMITED_QUEUE = 1ULL << 60;

/** Sockets of ns-3's internet stack. */
class TcpHostTransport : public HostTransport
{
  public:
    using HostTransport::HostTransport;

    PacketSize GetPacketSize() const override
    {
        return PacketSize::OfTcp(m_options.GetMtu());
    }

    bool UsesEcn() const override
    {
        return m_helper.UsesEcn();
    }

    double GetEcnStep() const override
    {
        return m_helper.GetEcnStep();
    }

    uint64_t GetSegmentBytes() const override
    {
        const auto bytes = m_socketAttributes.Get(TcpSocketBase::GetTypeId(), "SegmentSize");
        return DynamicCast<const UintegerValue>(bytes)->Get();
    }

    ConnectionNumbers GetNumbers() const override
    {
        const auto port = m_attributes.Get(TcpTransport::GetTypeId(), "Port");
        return {DynamicCast<const UintegerValue>(port)->Get(), UINT16_MAX + TCP_PORTS, TCP_PORTS};
    }

    void SetUp(FabricHelper& fabric, Time) override
    {
        m_helper.SetCongestionControl(m_options.congestionControl);
        m_helper.SetAttributes(m_attributes);
        fabric.SetHostAttribute("Mtu", UintegerValue(m_options.GetMtu()));
        if (IsDefaultUnchanged(HostDevice::GetTypeId(), "IpQueueLimit"))
        {
            // Linux holds packets back in their sockets, and does not drop them before the line.
            fabric.SetHostAttribute("IpQueueLimit", UintegerValue(UNLIMITED_QUEUE));
        }
    }

    void Install(const TransportHosts& hosts) override
    {
        m_hosts = hosts.fabric.hosts;
        // Buffers hold what is not coded yet.
        const double rate = static_cast<double>(hosts.longest.rate) * hosts.gain;
        m_helper.SetNetwork(m_options.GetMtu(), hosts.roundTrip, static_cast<uint64_t>(rate));
        m_socketAttributes = m_helper.Install(hosts.fabric, hosts.count, hosts.portPairs);
    }

    Ptr<MultiPortTransport> Make(const TransportEnd& end) override
    {
        auto transport = m_attributes.Create<TcpTransport>();
        transport->SetPortPairs(end.host, end.portPairs);
        const uint32_t port = end.first <= UINT16_MAX ? end.first : end.first - UINT16_MAX;
        transport->SetAttribute("Port", UintegerValue(port));
        transport->SetSocketAttributes(m_socketAttributes);
        transport->SetNode(m_hosts.Get(end.host));
        return transport;
    }

    void WatchConnections(MultiPortTransport& messages) const override
    {
        dynamic_cast<TcpTransport&>(messages).WatchWindows();
    }

    std::vector<HostConnection> ListConnections(uint32_t,
                                                const MultiPortTransport& messages) const override
    {
        std::vector<HostConnection> all;
        for (const auto& window : dynamic_cast<const TcpTransport&>(messages).GetWindows())
        {
            all.push_back({window.rail, window.number, std::nullopt, window.bytes, window.remote});
        }
        return all;
    }

    std::vector<OpenFlow> ListOpenFlows(uint32_t, const MultiPortTransport& messages) const override
    {
        std::vector<OpenFlow> flows;
        for (const auto& window : dynamic_cast<const TcpTransport&>(messages).GetWindows())
        {
            if (window.isOpen)
            {
                flows.push_back(
                    {window.rail,
                     window.number,
                     window.remote,
                     0,
                     window.acknowledged,
                     window.bytes > 0 ? std::make_optional<uint64_t>(window.bytes) : std::nullopt});
            }
        }
        return flows;
    }

    std::string DescribeLimit(uint32_t, uint32_t, uint32_t) const override
    {
        return TcpHelper::IsOriginal(m_options.congestionControl)
                   ? "which this module has a corrected class of (see --congestion-control, "
                     "without "
                     ":original)"
                   : "";
    }

    HostTraffic GetTraffic(uint32_t, const MultiPortTransport& messages) const override
    {
        const auto& transport = dynamic_cast<const TcpTransport&>(messages);
        const uint64_t sent = transport.GetSentBytes();
        const uint64_t received = transport.GetReceivedBytes();
        return {sent + received,
                static_cast<int64_t>(sent) - static_cast<int64_t>(received),
                static_cast<double>(received)};
    }

    std::vector<std::string> GetWarnings() const override
    {
        if (GetPathChoice(m_options.path).sprays)
        {
            return {"path choice " + m_options.path +
                    " reorders segments, which TCP takes for losses"};
        }
        return {};
    }

  private:
    TcpHelper m_helper;
    NodeContainer m_hosts;
    AttributeList m_socketAttributes;
};

TransportEntry
DescribeTcp()
{
    TransportEntry entry;
    entry.help = "TCP sockets of ns-3";
    entry.congestionControl = "ns3::TcpCubic";
    entry.mtu = 9000;
    entry.make = &MakeHostTransport<TcpHostTransport>;
    entry.ownAttributes = {{"ns3::TcpL4Protocol::SocketType", "congestion control"}};
    entry.isStream = true;
    entry.hopsPerSecond = 0.25e6;
    entry.getControl = &TcpHelper::GetControl;
    return entry;
}

const Registry<TransportEntry>::Entry g_tcp("tcp", DescribeTcp());

} // namespace

} // namespace ns3::training
