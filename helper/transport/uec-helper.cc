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

/// Entropy values of a connection of MRC: "typically 128 to 256" (arXiv 2605.04333, section 2.1).
constexpr uint64_t MRC_PATHS = 256;

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
    Choose(congestionControl, m_isMrc ? "mrc" : "uec");
    if (m_isMrc && MakeControls().Create<UecCongestionControl>()->NeedsCredit())
    {
        throw ConfigurationError("congestion control",
                                 congestionControl,
                                 " (allowed with mrc: without credit of the receiver)");
    }
}

void
UecHelper::UseMrc(bool hasRoutes)
{
    m_isMrc = true;
    m_hasRoutes = hasRoutes;
}

void
UecHelper::SprayOverPorts()
{
    m_sprays = true;
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
    // With MRC a mark tells of a busy path, and paths differ before the last hop only.
    set("EcnLastHop",
        BooleanValue(!m_isMrc && !MakeControls().Create<UecCongestionControl>()->NeedsCredit()));
}

std::vector<std::vector<Ptr<UecNic>>>
UecHelper::Install(const Fabric& fabric, uint32_t hosts) const
{
    if (m_sprays && fabric.topology.shape.planes > 1 &&
        MakeControls().Create<UecCongestionControl>()->NeedsCredit())
    {
        throw ConfigurationError("port pairs",
                                 "spray",
                                 " with credit of the receiver (allowed: turns, stripe; or nscc, "
                                 "as credit is that of one port)");
    }
    ObjectFactory nics;
    nics.SetTypeId(UecNic::GetTypeId());
    nics.Set("Mtu", UintegerValue(m_mtu));
    nics.Set("BaseRoundTrip", TimeValue(m_roundTrip));
    nics.Set("Trimming", BooleanValue(IsTrimming()));
    nics.Set("Mrc", BooleanValue(m_isMrc));
    nics.Set("SourceRoutes", BooleanValue(m_hasRoutes));
    if (m_isMrc && IsDefaultUnchanged(UecNic::GetTypeId(), "Paths"))
    {
        nics.Set("Paths", UintegerValue(MRC_PATHS));
    }
    m_attributes.ApplyTo(nics);
    uint64_t number = 0;
    const auto installed = InstallNics(fabric, hosts, nics, [&number](UecNic& nic) {
        nic.AssignStreams(GetRandomStream(RandomUse::UEC_NICS, number++));
    });
    for (const auto& ofHost : installed)
    {
        for (std::size_t rail = 1; rail < ofHost.size() && m_sprays; rail++)
        {
            ofHost[rail]->SetMain(PeekPointer(ofHost.front()));
        }
    }
    return installed;
}

} // namespace ns3::training
