/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ecn-marking.h"

#include "in-network-system.h"

#include "ns3/double.h"
#include "ns3/training-quantity.h"

namespace ns3::training
{

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
    const TypeId type = SwitchDevice::GetTypeId();
    for (const std::string name : {"EcnKminPerGbps", "EcnKmaxPerGbps"})
    {
        if (m_step == 0 || attributes.Has(type, name) || !IsDefaultUnchanged(type, name))
        {
            return;
        }
    }
    fabric.SetSwitchAttribute("EcnKminPerGbps", DoubleValue(m_step));
    fabric.SetSwitchAttribute("EcnKmaxPerGbps", DoubleValue(m_step));
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
        return FormatDouble(perGbps.Get() * gbps * 1e-3) + " kB";
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
