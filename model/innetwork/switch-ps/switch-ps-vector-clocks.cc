/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-vector-clocks.h"

#include <algorithm>

namespace ns3::training
{

void
SwitchPsVectorClocks::Configure(uint32_t workers, uint32_t staleness)
{
    m_workers = workers;
    m_staleness = staleness;
    Clear();
}

uint32_t
SwitchPsVectorClocks::GetSteps(uint32_t range, uint32_t worker) const
{
    const bool isUsed = range < m_clocks.size() && !m_clocks[range].progress.empty();
    return isUsed ? m_clocks[range].progress[worker].steps : 0;
}

std::vector<uint32_t>
SwitchPsVectorClocks::GetSteps(uint32_t range) const
{
    std::vector<uint32_t> steps;
    for (uint32_t worker = 0; worker < m_workers; worker++)
    {
        steps.push_back(GetSteps(range, worker));
    }
    return steps;
}

uint64_t
SwitchPsVectorClocks::Advance(uint32_t range, uint32_t worker, uint32_t packet)
{
    if (range >= m_clocks.size())
    {
        m_clocks.resize(range + 1);
    }
    Clock& clock = m_clocks[range];
    if (clock.progress.empty())
    {
        clock.progress.resize(m_workers);
        clock.slowest = m_workers;
    }
    Progress& mine = clock.progress[worker];
    const bool wasSlowest = mine.steps++ == clock.least;
    mine.packet = packet;
    uint64_t unblocked = 0;
    if (wasSlowest && --clock.slowest == 0)
    {
        clock.least++;
        clock.slowest = static_cast<uint32_t>(
            std::count_if(clock.progress.begin(), clock.progress.end(), [&](const Progress& p) {
                return p.steps == clock.least;
            }));
        unblocked = Unblock(clock);
    }
    if (mine.steps - clock.least > m_staleness)
    {
        clock.blocked |= uint64_t{1} << worker;
    }
    return unblocked;
}

uint64_t
SwitchPsVectorClocks::Unblock(Clock& clock) const
{
    uint64_t unblocked = 0;
    for (uint32_t worker = 0; worker < m_workers; worker++)
    {
        const uint64_t bit = uint64_t{1} << worker;
        if (clock.blocked & bit && clock.progress[worker].steps - clock.least <= m_staleness)
        {
            unblocked |= bit;
        }
    }
    clock.blocked &= ~unblocked;
    return unblocked;
}

} // namespace ns3::training
