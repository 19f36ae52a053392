/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "port-pair-table.h"

#include <algorithm>

namespace ns3::training
{

SinglePortPairs::SinglePortPairs(std::vector<uint32_t> endpoints)
    : m_endpoints(std::move(endpoints))
{
}

uint32_t
SinglePortPairs::GetRanks() const
{
    return static_cast<uint32_t>(m_endpoints.size());
}

std::vector<PortPair>
SinglePortPairs::GetPortPairs(uint32_t rank, uint32_t peer)
{
    return {{0, m_endpoints.at(rank), m_endpoints.at(peer), 0, 0}};
}

uint32_t
SinglePortPairs::GetRank(uint32_t endpoint) const
{
    const auto found = std::find(m_endpoints.begin(), m_endpoints.end(), endpoint);
    return static_cast<uint32_t>(found - m_endpoints.begin());
}

} // namespace ns3::training
