/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ecn-marking.h"

#include "in-network-system.h"

#include "ns3/double.h"
#include "ns3/red-curve.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

/// Queue that a packet memory must admit for marks to have an effect: eight large frames, bytes.
constexpr double LEAST_QUEUE = 72000;

/** @return whether the user has set a threshold */
bool
AreSet(const AttributeList& attributes)
{
    const TypeId type = SwitchDevice::GetTypeId();
    const auto isSet = [&](const std::string& name) {
        return attributes.Has(type, name) || !IsDefaultUnchanged(type, name);
    };
    return isSet("EcnKminPerGbps") || isSet("EcnKmaxPerGbps");
}

/** @return rate of the fastest port in front of which a queue can form, bit/s; at least 1 */
uint64_t
GetFastestQueue(SwitchDevice& device)
{
    uint64_t sum = 0;
    for (uint16_t port = 0; port < device.GetNPorts(); port++)
    {
        sum += device.GetPort(port).GetRate();
    }
    uint64_t fastest = 1;
    for (uint16_t port = 0; port < device.GetNPorts(); port++)
    {
        const uint64_t rate = device.GetPort(port).GetRate();
        // All other ports together fill no port that is faster, as that of an NPU to its router.
        const bool queues = rate <= sum - rate || device.GetNPorts() == 1;
        fastest = std::max(fastest, queues ? rate : 1);
    }
    return fastest;
}

} // namespace

EcnMarking::EcnMarking(const ClusterOptions& options, const HostTransport& transport)
    : m_step(transport.GetEcnStep())
{
    const std::string name = KeyValues::Split(options.algorithm).GetName();
    const auto& systems = Registry<InNetworkSystem>::All();
    const auto system = systems.find(name);
    if (system != systems.end() && system->second.ecnStepPerGbps > 0)
    {
        m_user = name;
        m_step = system->second.ecnStepPerGbps;
    }
    else if (transport.UsesEcn())
    {
        m_user = KeyValues::Split(options.congestionControl).GetName();
    }
}

void
EcnMarking::SetUp(const AttributeList& attributes, FabricHelper& fabric) const
{
    if (m_step == 0 || AreSet(attributes))
    {
        return;
    }
    fabric.SetSwitchAttribute("EcnKminPerGbps", DoubleValue(m_step));
    fabric.SetSwitchAttribute("EcnKmaxPerGbps", DoubleValue(m_step));
}

void
EcnMarking::Limit(const AttributeList& attributes, const Fabric& fabric)
{
    if (AreSet(attributes))
    {
        return;
    }
    for (const auto& device : fabric.devicesOfSwitches)
    {
        const uint64_t fastest = GetFastestQueue(*device);
        const double limit = device->GetBuffer().GetQueueLimit();
        if (limit < LEAST_QUEUE) // all of it is headroom: it pauses before it could mark
        {
            continue;
        }
        DoubleValue kmin;
        DoubleValue kmax;
        device->GetAttribute("EcnKminPerGbps", kmin);
        device->GetAttribute("EcnKmaxPerGbps", kmax);
        RedCurve curve{kmin.Get(), kmax.Get(), 0};
        curve.Limit(limit / (static_cast<double>(fastest) * 1e-9));
        device->SetAttribute("EcnKminPerGbps", DoubleValue(curve.kminPerGbps));
        device->SetAttribute("EcnKmaxPerGbps", DoubleValue(curve.kmaxPerGbps));
    }
}

std::string
EcnMarking::Describe(const Fabric& fabric, DataRate rate) const
{
    if (m_user.empty() || fabric.devicesOfSwitches.empty())
    {
        return "";
    }
    const SwitchDevice& device = *fabric.devicesOfSwitches[0];
    const auto kilobytes = [&](const std::string& attribute) {
        DoubleValue perGbps;
        device.GetAttribute(attribute, perGbps);
        const double gbps = static_cast<double>(rate.GetBitRate()) * 1e-9;
        return FormatDouble(std::round(perGbps.Get() * gbps * 1e-3)) + " kB";
    };
    DoubleValue pmax;
    device.GetAttribute("EcnPmax", pmax);
    const std::string kmin = kilobytes("EcnKminPerGbps");
    const std::string kmax = kilobytes("EcnKmaxPerGbps");
    const std::string curve =
        kmin == kmax ? ""
                     : "from " + kmin + " on, up to " + FormatDouble(100 * pmax.Get()) + " %, ";
    return "ECN for " + m_user + ": switches mark " + curve + "all frames above " + kmax + " at " +
           FormatRate(rate);
}

} // namespace ns3::training
