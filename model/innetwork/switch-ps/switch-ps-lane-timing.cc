/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-lane-timing.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

void
SwitchPsLaneTiming::Reset()
{
    m_lanesFree = 0;
    m_memoryFree = 0;
}

int64_t
SwitchPsLaneTiming::ReserveLanes(int64_t now)
{
    m_lanesFree = std::max(m_lanesFree, now) + m_laneTime;
    return m_lanesFree;
}

int64_t
SwitchPsLaneTiming::ReserveMemory(int64_t ready, uint32_t accesses)
{
    m_memoryFree = std::max(m_memoryFree, ready) + accesses * m_memoryTime;
    return m_memoryFree;
}

} // namespace ns3::training
