/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/rdma-telemetry.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaTelemetry");

namespace
{

/// Paths of a flow that are remembered.
constexpr std::size_t MAX_PATHS = 64;

} // namespace

TelemetryStack&
TelemetryHistory::FindPath(const TelemetryStack& now)
{
    const auto isSameLink = [](const HopTelemetry& a, const HopTelemetry& b) {
        return a.link == b.link;
    };
    const auto isSame = [&](const TelemetryStack& path) {
        return std::equal(path.begin(), path.end(), now.begin(), now.end(), isSameLink);
    };
    auto path = std::find_if(m_paths.begin(), m_paths.end(), isSame);
    if (path == m_paths.end())
    {
        if (m_paths.size() < MAX_PATHS)
        {
            m_paths.emplace_back();
        }
        path = m_paths.end() - 1;
        path->clear();
    }
    std::swap(*path, m_paths.front());
    return m_paths.front();
}

const std::vector<LinkLoad>&
TelemetryHistory::Update(const TelemetryStack& now)
{
    m_loads.clear();
    TelemetryStack& previous = FindPath(now);
    bool comparable = now.size() == previous.size();
    for (std::size_t i = 0; i < now.size() && comparable; i++)
    {
        const HopTelemetry& before = previous[i];
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
        NS_LOG_LOGIC("the first telemetry of a path, or in another order");
        m_loads.clear();
    }
    previous = now;
    return m_loads;
}

} // namespace ns3::training
