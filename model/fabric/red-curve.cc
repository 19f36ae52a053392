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

void
RedCurve::Limit(double most)
{
    if (kmaxPerGbps > most)
    {
        kminPerGbps *= most / kmaxPerGbps;
        kmaxPerGbps = most;
    }
}

} // namespace ns3::training
