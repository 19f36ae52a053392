/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-helper.h"

#include "core/random-streams.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

namespace
{

// Marking thresholds, as fractions of a queue.
constexpr double KMIN = 0.2;
constexpr double KMAX = 0.8;

/** @return the value that an attribute of new objects has */
template <class VALUE>
VALUE
GetValue(const AttributeList& attributes, TypeId type, const std::string& name)
{
    return dynamic_cast<const VALUE&>(*attributes.Get(type, name));
}

} // namespace

UecHelper::UecHelper()
{
    SetCongestionControl("nscc");
}

void
UecHelper::SetCongestionControl(const std::string& congestionControl)
{
    Choose(congestionControl, "uec");
}

void
UecHelper::SetNetwork(uint32_t mtu, Time roundTrip)
{
    m_mtu = mtu;
    m_roundTrip = std::max(roundTrip, NanoSeconds(1));
}

bool
UecHelper::IsTrimming() const
{
    const TypeId type = SwitchDevice::GetTypeId();
    const bool isSet =
        m_attributes.Has(type, "TrimClasses") || !IsDefaultUnchanged(type, "TrimClasses");
    const auto priority =
        GetValue<UintegerValue>(m_attributes, UecNic::GetTypeId(), "DataPriority").Get();
    const auto classes = GetValue<UintegerValue>(m_attributes, type, "TrimClasses").Get();
    return !isSet || (classes >> priority & 1) != 0;
}

void
UecHelper::SetSwitches(FabricHelper& fabric) const
{
    const TypeId type = SwitchDevice::GetTypeId();
    const auto set = [&](const std::string& name, const AttributeValue& value) {
        if (!m_attributes.Has(type, name) && IsDefaultUnchanged(type, name))
        {
            fabric.SetSwitchAttribute(name, value);
        }
    };
    const TypeId nic = UecNic::GetTypeId();
    const auto data = GetValue<UintegerValue>(m_attributes, nic, "DataPriority").Get();
    const auto control = GetValue<UintegerValue>(m_attributes, nic, "ControlPriority").Get();
    const double queue = m_roundTrip.GetSeconds() * 1e9 / 8; // bytes per Gbit/s
    set("TrimClasses", UintegerValue(1 << data));
    set("TrimmedPriority", UintegerValue(control));
    set("TrimPerGbps", DoubleValue(queue));
    set("EcnPmax", DoubleValue(1));
    set("EcnKminPerGbps", DoubleValue(KMIN * queue));
    set("EcnKmaxPerGbps", DoubleValue(KMAX * queue));
    set("EcnLastHop", BooleanValue(!MakeControls().Create<UecCongestionControl>()->NeedsCredit()));
}

std::vector<std::vector<Ptr<UecNic>>>
UecHelper::Install(const Fabric& fabric, uint32_t hosts) const
{
    ObjectFactory nics;
    nics.SetTypeId(UecNic::GetTypeId());
    nics.Set("Mtu", UintegerValue(m_mtu));
    nics.Set("BaseRoundTrip", TimeValue(m_roundTrip));
    nics.Set("Trimming", BooleanValue(IsTrimming()));
    m_attributes.ApplyTo(nics);
    uint64_t number = 0;
    return InstallNics(fabric, hosts, nics, [&number](UecNic& nic) {
        nic.AssignStreams(GetRandomStream(RandomUse::UEC_NICS, number++));
    });
}

} // namespace ns3::training
