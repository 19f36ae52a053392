/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-transport.h"
#include "nic-connections.h"
#include "transport/uec-transport.h"
#include "uec-helper.h"

namespace ns3::training
{

namespace
{

/** Ultra Ethernet. */
class UecHostTransport : public HostTransport
{
  public:
    using HostTransport::HostTransport;

    PacketSize GetPacketSize() const override
    {
        return PacketSize::OfUec(m_options.GetMtu());
    }

    /** Also sets the marks that it needs. */
    void SetUp(FabricHelper& fabric, Time roundTrip) override
    {
        m_helper.SetCongestionControl(m_options.congestionControl);
        m_helper.SetAttributes(m_attributes);
        m_helper.SetNetwork(m_options.GetMtu(), roundTrip);
        m_helper.SetSwitches(fabric);
    }

    void Install(const TransportHosts& hosts) override
    {
        m_nics = m_helper.Install(hosts.fabric, hosts.count);
    }

    Ptr<MultiPortTransport> Make(const TransportEnd& end) override
    {
        return MakeOnNics<UecTransport>(m_attributes, end, m_nics[end.host]);
    }

    std::vector<HostConnection> ListConnections(uint32_t host,
                                                const MultiPortTransport&) const override
    {
        return ListOnNics(
            m_nics[host],
            [](const UecNic& nic) -> const auto& { return nic.GetConnections(); });
    }

  private:
    UecHelper m_helper;
    std::vector<std::vector<Ptr<UecNic>>> m_nics; // by host and rail
};

TransportEntry
DescribeUec()
{
    TransportEntry entry;
    entry.help = "Ultra Ethernet";
    entry.congestionControl = "nscc";
    entry.make = &MakeHostTransport<UecHostTransport>;
    entry.ownAttributes = {{"ns3::training::UecNic::BaseRoundTrip", ""},
                           {"ns3::training::UecNic::CongestionControl", "congestion control"},
                           {"ns3::training::UecNic::Mtu", "mtu"},
                           {"ns3::training::UecNic::Trimming", ""}};
    entry.forgets = true;
    entry.countsPackets = true;
    return entry;
}

const Registry<TransportEntry>::Entry g_uec("uec", DescribeUec());

} // namespace

} // namespace ns3::training
