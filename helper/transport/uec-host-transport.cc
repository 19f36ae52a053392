/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-host-transport.h"

#include "nic-connections.h"
#include "transport/uec-transport.h"

namespace ns3::training
{

PacketSize
UecHostTransport::GetPacketSize() const
{
    return PacketSize::OfUec(m_options.GetMtu());
}

void
UecHostTransport::SetUp(FabricHelper& fabric, Time roundTrip)
{
    m_helper.SetCongestionControl(m_options.congestionControl);
    m_helper.SetAttributes(m_attributes);
    m_helper.SetNetwork(m_options.GetMtu(), roundTrip);
    m_helper.SetSwitches(fabric);
    if (m_options.GetPortPairs() == "spray")
    {
        m_helper.SprayOverPorts();
    }
}

void
UecHostTransport::Install(const TransportHosts& hosts)
{
    m_nics = m_helper.Install(hosts.fabric, hosts.count);
}

Ptr<MultiPortTransport>
UecHostTransport::Make(const TransportEnd& end)
{
    return MakeOnNics<UecTransport>(m_attributes, end, m_nics[end.host]);
}

std::vector<HostConnection>
UecHostTransport::ListConnections(uint32_t host, const MultiPortTransport&) const
{
    return ListOnNics(
        m_nics[host],
        [](const UecNic& nic) -> const auto& { return nic.GetConnections(); });
}

TransportEntry
UecHostTransport::Describe()
{
    TransportEntry entry;
    entry.congestionControl = "nscc";
    entry.ownAttributes = {{"ns3::training::UecNic::BaseRoundTrip", ""},
                           {"ns3::training::UecNic::CongestionControl", "congestion control"},
                           {"ns3::training::UecNic::Mrc", "transport"},
                           {"ns3::training::UecNic::Mtu", "mtu"},
                           {"ns3::training::UecNic::SourceRoutes", "path"},
                           {"ns3::training::UecNic::Trimming", ""}};
    entry.countsPackets = true;
    return entry;
}

namespace
{

TransportEntry
DescribeUec()
{
    TransportEntry entry = UecHostTransport::Describe();
    entry.help = "Ultra Ethernet";
    entry.make = &MakeHostTransport<UecHostTransport>;
    entry.forgets = true;
    entry.sprays = TransportEntry::Sprays::CAN;
    entry.hopsPerSecond = 3.6e6;
    return entry;
}

const Registry<TransportEntry>::Entry g_uec("uec", DescribeUec());

} // namespace

} // namespace ns3::training
