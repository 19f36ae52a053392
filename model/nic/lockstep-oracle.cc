/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "lockstep-oracle.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3::training
{

LockstepOracle::LockstepOracle(const CollectiveSchedule& schedule)
{
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        for (uint32_t i = 0; i < schedule.GetStoredActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            if (action.kind == ScheduleAction::Kind::SEND)
            {
                if (m_left.size() <= action.step)
                {
                    m_left.resize(action.step + 1);
                }
                m_left[action.step]++;
            }
        }
    }
    TakeOffSteps();
}

void
LockstepOracle::TakeOffSteps()
{
    while (m_step < m_left.size() && m_left[m_step] == 0)
    {
        m_step++;
    }
}

void
LockstepOracle::OnSent(uint32_t step)
{
    m_left[step]--;
    const uint32_t before = m_step;
    TakeOffSteps();
    if (m_step == before)
    {
        return;
    }
    for (const auto& node : m_nodes)
    {
        if (node)
        {
            Simulator::ScheduleNow(&LockstepOracle::Tell,
                                   std::weak_ptr<std::function<void()>>(node));
        }
    }
}

void
LockstepOracle::Tell(std::weak_ptr<std::function<void()>> onStep)
{
    if (const auto node = onStep.lock())
    {
        (*node)();
    }
}

uint32_t
LockstepOracle::Attach(std::function<void()> onStep)
{
    m_nodes.push_back(std::make_shared<std::function<void()>>(std::move(onStep)));
    return static_cast<uint32_t>(m_nodes.size() - 1);
}

void
LockstepOracle::Detach(uint32_t node)
{
    m_nodes[node].reset();
}

std::shared_ptr<LockstepOracle>
LockstepOracles::Enter(uint64_t collective, const CollectiveSchedule& schedule)
{
    Entry& entry = m_oracles[collective];
    if (!entry.oracle)
    {
        entry.oracle = std::make_shared<LockstepOracle>(schedule);
    }
    const auto oracle = entry.oracle;
    if (++entry.entered == m_nodes)
    {
        m_oracles.erase(collective);
    }
    return oracle;
}

} // namespace ns3::training
