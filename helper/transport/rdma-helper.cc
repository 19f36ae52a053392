/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-helper.h"

#include "ns3/roce-wire-format.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

/// A timeout is longer than the time between two acknowledgements of so many flows on one line.
constexpr double FLOWS = 48;
/// Packets in flight up to which TimeoutLow applies.
constexpr double FEW_PACKETS = 3;
/// Headers, preamble and gap of a packet in the middle of a message.
constexpr uint32_t PACKET_BYTES =
    ROCE_BYTES + Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;

/** Adds the attributes of a preset to a list, except those whose defaults the user has changed. */
void
AddUnlessChanged(AttributeList& list, const CongestionControlEntry::Preset& preset)
{
    for (const auto& [name, value] : preset.attributes)
    {
        const std::size_t end = name.rfind("::");
        if (IsDefaultUnchanged(TypeId::LookupByName(name.substr(0, end)), name.substr(end + 2)))
        {
            list.Set(name, value);
        }
    }
}

} // namespace

RdmaHelper::RdmaHelper()
{
    m_nic.SetTypeId(RdmaNic::GetTypeId());
    SetCongestionControl("dcqcn");
}

void
RdmaHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_nic.Set(name, value);
}

void
RdmaHelper::SetCongestionControl(const std::string& congestionControl)
{
    const KeyValues values = Choose(congestionControl, "rdma");
    AttributeList keys;
    for (const CongestionControlEntry::Preset& preset : m_congestionControl->presets)
    {
        if (preset.name == values.GetText("preset"))
        {
            AddUnlessChanged(keys, preset);
        }
    }
    keys.Add(m_keys);
    m_keys = keys;
}

void
RdmaHelper::SetRoundTrip(Time roundTrip, Time ackWait)
{
    m_roundTrip = roundTrip;
    m_nic.Set("BaseRoundTrip", TimeValue(std::max(roundTrip + ackWait, NanoSeconds(1))));
}

void
RdmaHelper::SetMarking(FabricHelper& fabric) const
{
    const TypeId type = SwitchDevice::GetTypeId();
    for (const std::string name : {"EcnKminPerGbps", "EcnKmaxPerGbps", "EcnPmax"})
    {
        if (m_keys.Has(type, name) && !m_attributes.Has(type, name) &&
            IsDefaultUnchanged(type, name))
        {
            fabric.SetSwitchAttribute(name, *m_keys.Get(type, name));
        }
    }
}

std::vector<std::string>
RdmaHelper::FindDoubts() const
{
    std::vector<std::string> lines;
    const auto control = MakeControls().Create<RdmaCongestionControl>();
    for (const std::string name : {"BaseTarget", "LowThreshold", "HighThreshold"})
    {
        TimeValue time;
        if (control->GetAttributeFailSafe(name, time) && time.Get() > Time(0) &&
            time.Get() < m_roundTrip)
        {
            lines.push_back(m_congestionControl->getTypeId().GetName() + "::" + name + "=" +
                            FormatTime(time.Get()) +
                            " is below the round trip of the idle network, " +
                            FormatDouble(std::round(m_roundTrip.GetSeconds() * 1e7) / 10) + " us" +
                            ", so flows may stand still (0, the default, follows the round trip)");
        }
    }
    TypeId::AttributeInformation interval;
    RdmaNic::GetTypeId().LookupAttributeByName("AckInterval", &interval);
    const auto write = [&interval](const AttributeValue& value) {
        return value.SerializeToString(interval.checker);
    };
    if (control->GetNeeds().ackPerPacket &&
        write(*interval.initialValue) != write(*interval.originalInitialValue))
    {
        lines.push_back("ns3::training::RdmaNic::AckInterval=" + write(*interval.initialValue) +
                        " has no effect, as " + m_congestionControl->getTypeId().GetName() +
                        " has every packet acknowledged (see --congestion-control)");
    }
    return lines;
}

bool
RdmaHelper::UsesEcn() const
{
    ObjectFactory factory;
    factory.SetTypeId(m_congestionControl->getTypeId());
    return GetEcnStep() > 0 || factory.Create<RdmaCongestionControl>()->GetNeeds().cnp;
}

double
RdmaHelper::GetEcnStep() const
{
    return m_congestionControl->ecnStepPerGbps;
}

std::vector<std::vector<Ptr<RdmaNic>>>
RdmaHelper::Install(const Fabric& fabric, uint32_t hosts) const
{
    ObjectFactory nics = m_nic;
    m_keys.ApplyTo(nics);
    m_attributes.ApplyTo(nics);
    uint64_t rate = std::numeric_limits<uint64_t>::max();
    for (uint32_t host = 0; host < hosts; host++)
    {
        for (const auto& device : fabric.rails[host])
        {
            rate = std::min(rate, device->GetPort().GetRate());
        }
    }
    return InstallNics(fabric, hosts, nics, [this, rate](RdmaNic& nic) {
        RaiseTimeouts(nic, rate);
    });
}

void
RdmaHelper::RaiseTimeouts(RdmaNic& nic, uint64_t rate) const
{
    const RdmaSettings& settings = nic.GetSettings();
    const double packet = 8. * (settings.mtu + PACKET_BYTES) / static_cast<double>(rate);
    const auto raise = [&](const std::string& name, const Time& timeout, const Time& least) {
        if (timeout < least && !m_attributes.Has(RdmaNic::GetTypeId(), name))
        {
            nic.SetAttribute(name, TimeValue(least));
        }
    };
    const Time few = std::max(4 * m_roundTrip, Seconds(FLOWS * FEW_PACKETS * packet));
    const Time many = std::max(4 * m_roundTrip, Seconds(FLOWS * settings.ackInterval * packet));
    const bool isLong = settings.timeoutLow < 4 * m_roundTrip;
    raise("TimeoutHigh", settings.timeoutHigh, isLong ? std::max(12 * m_roundTrip, many) : many);
    raise("TimeoutLow", settings.timeoutLow, few);
    raise("RetransmissionTimeout", settings.timeout, many);
}

} // namespace ns3::training
