/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/rdma-telemetry.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaTelemetry");

const std::vector<LinkLoad>&
TelemetryHistory::Update(const TelemetryStack& now)
{
    m_loads.clear();
    bool comparable = now.size() == m_previous.size();
    for (std::size_t i = 0; i < now.size() && comparable; i++)
    {
        const HopTelemetry& before = m_previous[i];
        const HopTelemetry& after = now[i];
        comparable = before.rate == after.rate && before.time < after.time &&
                     before.sentBytes < after.sentBytes;
        if (comparable)
        {
            const int64_t interval = after.time - before.time;
            m_loads.push_back({static_cast<double>(after.rate),
                               static_cast<double>(after.sentBytes - before.sentBytes) * 8e12 /
                                   static_cast<double>(interval),
                               static_cast<double>(before.queueBytes),
                               static_cast<double>(after.queueBytes),
                               interval});
        }
    }
    if (!comparable)
    {
        NS_LOG_LOGIC("telemetry of another path");
        m_loads.clear();
    }
    m_previous = now;
    return m_loads;
}

} // namespace ns3::training
