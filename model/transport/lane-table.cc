/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "lane-table.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingLaneTable");

SingleLanes::SingleLanes(std::vector<uint32_t> endpoints)
    : m_endpoints(std::move(endpoints))
{
}

uint32_t
SingleLanes::GetRanks() const
{
    return static_cast<uint32_t>(m_endpoints.size());
}

std::vector<Lane>
SingleLanes::GetLanes(uint32_t rank, uint32_t peer)
{
    return {{0, m_endpoints.at(rank), m_endpoints.at(peer), 0}};
}

uint32_t
SingleLanes::GetRank(uint32_t endpoint) const
{
    const auto found = std::find(m_endpoints.begin(), m_endpoints.end(), endpoint);
    return static_cast<uint32_t>(found - m_endpoints.begin());
}

} // namespace ns3::training
