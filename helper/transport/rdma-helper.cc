/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-helper.h"

#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

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
RdmaHelper::FindShortTimes() const
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
    return InstallNics(fabric, hosts, nics, [this](RdmaNic& nic) { RaiseTimeouts(nic); });
}

void
RdmaHelper::RaiseTimeouts(RdmaNic& nic) const
{
    const Time least = 4 * m_roundTrip;
    const auto mayRaise = [&](const std::string& name, const Time& timeout) {
        return timeout < least && !m_attributes.Has(RdmaNic::GetTypeId(), name);
    };
    if (mayRaise("RetransmissionTimeout", nic.GetSettings().timeout))
    {
        nic.SetAttribute("RetransmissionTimeout", TimeValue(least));
    }
    if (mayRaise("TimeoutLow", nic.GetSettings().timeoutLow))
    {
        if (!m_attributes.Has(RdmaNic::GetTypeId(), "TimeoutHigh"))
        {
            nic.SetAttribute("TimeoutHigh",
                             TimeValue(std::max(nic.GetSettings().timeoutHigh, 3 * least)));
        }
        nic.SetAttribute("TimeoutLow", TimeValue(least));
    }
}

} // namespace ns3::training
