/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-transport.h"
#include "nic-connections.h"
#include "rdma-helper.h"

#include "ns3/path-choice.h"
#include "ns3/rdma-loss-recovery.h"
#include "ns3/rdma-transport.h"
#include "ns3/roce-wire-format.h"
#include "ns3/string.h"
#include "ns3/switch-device.h"
#include "ns3/uinteger.h"

namespace ns3::training
{

namespace
{

/// Largest path MTU that the InfiniBand specification encodes, bytes.
constexpr uint32_t MAX_ROCE_MTU = 4096;
/// RoCE pads the payload of a packet to a multiple of it, bytes.
constexpr uint32_t ROCE_MULTIPLE = 4;

/** Queue pairs of RoCE. */
class RdmaHostTransport : public HostTransport
{
  public:
    using HostTransport::HostTransport;

    PacketSize GetPacketSize() const override
    {
        return PacketSize::OfRdma(m_options.GetMtu());
    }

    FlowHeaders GetFlowHeaders() const override
    {
        return {RETH_BYTES, ROCE_MULTIPLE};
    }

    bool UsesEcn() const override
    {
        return m_helper.UsesEcn();
    }

    double GetEcnStep() const override
    {
        return m_helper.GetEcnStep();
    }

    ConnectionNumbers GetNumbers() const override
    {
        return {FIRST_QUEUE_PAIR, PSN_MODULUS};
    }

    void SetUp(FabricHelper& fabric, Time) override
    {
        m_helper.SetCongestionControl(m_options.congestionControl);
        m_helper.SetAttributes(m_attributes);
        m_helper.SetMarking(fabric);
    }

    void Install(const TransportHosts& hosts) override
    {
        m_helper.SetAttribute("Mtu", UintegerValue(m_options.GetMtu()));
        m_helper.SetAttribute("LossRecovery", StringValue(m_options.GetRecovery()));
        m_helper.SetAttribute("PathHops", UintegerValue(hosts.longest.links));
        m_helper.SetAttribute("LosslessClasses",
                              *m_attributes.Get(SwitchDevice::GetTypeId(), "LosslessClasses"));
        // With data in both directions, an acknowledgement meets a full packet at each link.
        const PacketSize packet = GetPacketSize();
        const double bits = 8.0 * (packet.payload + packet.headers);
        m_helper.SetRoundTrip(hosts.roundTrip, Seconds(bits * hosts.longest.secondsPerBit));
        m_nics = m_helper.Install(hosts.fabric, hosts.count);
        if (!m_nics.empty() && !m_nics[0].empty())
        {
            m_usualPriority = m_nics[0][0]->GetSettings().dataPriority;
        }
    }

    Ptr<MultiPortTransport> Make(const TransportEnd& end) override
    {
        return MakeOnNics<RdmaTransport>(m_attributes, end, m_nics[end.host]);
    }

    void SetPriority(uint32_t host,
                     std::optional<uint32_t> priority,
                     MultiPortTransport& messages) override
    {
        for (const auto& nic : m_nics[host])
        {
            nic->SetAttribute("DataPriority", UintegerValue(priority.value_or(m_usualPriority)));
        }
        // Those that are open already.
        dynamic_cast<RdmaTransport&>(messages).RenewPriorities();
    }

    std::vector<HostConnection> ListConnections(uint32_t host,
                                                const MultiPortTransport&) const override
    {
        return ListOnNics(
            m_nics[host],
            [](const RdmaNic& nic) -> const auto& { return nic.GetQueuePairs(); });
    }

    std::string DescribeLimit(uint32_t host, uint32_t rail, uint32_t number) const override
    {
        return m_nics[host][rail]
            ->GetQueuePairs()
            .at(number)
            ->GetCongestionControl()
            ->DescribeLimit();
    }

    std::vector<std::string> GetWarnings() const override
    {
        std::vector<std::string> warnings = m_helper.FindDoubts();
        if (m_options.GetMtu() > MAX_ROCE_MTU)
        {
            warnings.push_back("RoCE carries at most " + std::to_string(MAX_ROCE_MTU) +
                               " bytes a packet, not " + std::to_string(m_options.GetMtu()) +
                               " (see --mtu)");
        }
        if (!GetPathChoice(m_options.path).sprays)
        {
            return warnings;
        }
        if (!GetLossRecovery(m_options.GetRecovery()).takesReordering)
        {
            warnings.push_back("path choice " + m_options.path +
                               " reorders packets, which recovery " + m_options.GetRecovery() +
                               " takes for losses: each is sent again (see --recovery)");
        }
        return warnings;
    }

  private:
    RdmaHelper m_helper;
    std::vector<std::vector<Ptr<RdmaNic>>> m_nics; // by host and rail
    uint32_t m_usualPriority{0};
};

TransportEntry
DescribeRdma()
{
    TransportEntry entry;
    entry.help = "RDMA WRITEs of RoCE v2";
    entry.congestionControl = "dcqcn";
    entry.make = &MakeHostTransport<RdmaHostTransport>;
    entry.ownAttributes = {{"ns3::training::RdmaNic::BaseRoundTrip", ""},
                           {"ns3::training::RdmaNic::CongestionControl", "congestion control"},
                           {"ns3::training::RdmaNic::LosslessClasses", ""},
                           {"ns3::training::RdmaNic::LossRecovery", "recovery"},
                           {"ns3::training::RdmaNic::Mtu", "mtu"},
                           {"ns3::training::RdmaNic::PathHops", ""}};
    entry.hasQueuePairs = true;
    entry.hasPriorities = true;
    entry.repeats = true;
    entry.forgets = true;
    entry.countsPackets = true;
    return entry;
}

const Registry<TransportEntry>::Entry g_rdma("rdma", DescribeRdma());

} // namespace

} // namespace ns3::training
