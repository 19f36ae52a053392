/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-pacing.h"

#include "ns3/state-visitor.h"

#include <cstring>
#include <limits>

namespace ns3::training
{

bool
RdmaPacing::IsEndless() const
{
    return m_grant == std::numeric_limits<int64_t>::max();
}

void
RdmaPacing::Visit(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(RdmaPacing), 48),
                  "a new member: visit it unless it stays, then correct the size");
    visitor.Time(m_start);
    visitor.Time(m_holdUntil);
    uint64_t rate;
    std::memcpy(&rate, &m_picosecondsPerByte, sizeof(rate));
    visitor.Same({rate, m_lastBytes});
    auto quota = static_cast<uint64_t>(m_quota);
    visitor.CountIf(IsEndless(), quota);
    m_quota = static_cast<int64_t>(quota);
}

} // namespace ns3::training
