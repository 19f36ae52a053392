/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "red-curve.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

namespace ns3::training
{

void
RedCurve::Check(const std::string& prefix) const
{
    if (kminPerGbps > kmaxPerGbps)
    {
        throw ConfigurationError("ns3::training::SwitchDevice::" + prefix +
                                 "KminPerGbps=" + FormatDouble(kminPerGbps) + " (allowed: up to " +
                                 prefix + "KmaxPerGbps=" + FormatDouble(kmaxPerGbps) + ")");
    }
}

double
RedCurve::GetProbability(const FabricPort& port, uint8_t priority) const
{
    const double gbps = static_cast<double>(port.GetRate()) * 1e-9;
    const auto queue = static_cast<double>(port.GetQueueBytes(priority));
    const double kmin = kminPerGbps * gbps;
    const double kmax = kmaxPerGbps * gbps;
    return queue > kmax ? 1 : queue > kmin ? pmax * (queue - kmin) / (kmax - kmin) : 0;
}

} // namespace ns3::training
