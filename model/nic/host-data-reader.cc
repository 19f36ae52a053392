/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-data-reader.h"

#include "ns3/collective-schedule.h"

#include <algorithm>

namespace ns3::training
{

HostDataReader::HostDataReader(const HostDataPlan& plan,
                               const ChunkLayout& layout,
                               uint32_t rank,
                               const Settings& settings,
                               BusyUnit& unit,
                               std::function<void(uint32_t)> onData)
    : m_plan(plan),
      m_layout(layout),
      m_settings(settings),
      m_unit(unit),
      m_onData(std::move(onData)),
      m_actions(layout.GetSchedule().GetStoredActions(rank)),
      m_here(uint64_t{m_actions} * layout.GetSchedule().segments)
{
    const auto& readers = m_plan.GetReaders();
    for (uint32_t i = 0; i < readers.size(); i++)
    {
        const auto getStep = [&](uint32_t reader) {
            return layout.GetSchedule().Get(rank, readers[reader]).step;
        };
        if (i == 0 || getStep(i) != getStep(i - 1))
        {
            m_groups.push_back(i);
        }
    }
    m_groups.push_back(static_cast<uint32_t>(readers.size()));
}

uint64_t
HostDataReader::GetBytes(uint32_t index) const
{
    return m_plan.GetReadBytes(m_layout, index % m_actions, index / m_actions);
}

void
HostDataReader::Advance()
{
    if (m_groups[m_group] + ++m_position < m_groups[m_group + 1])
    {
        return;
    }
    m_position = 0;
    if (++m_segment == m_layout.GetSchedule().segments)
    {
        m_segment = 0;
        m_group++;
    }
}

void
HostDataReader::Run()
{
    while (m_group + 1 < m_groups.size())
    {
        const uint32_t action = m_plan.GetReaders()[m_groups[m_group] + m_position];
        const uint32_t index = m_segment * m_actions + action;
        const uint64_t bytes = GetBytes(index);
        if (m_settings.bufferBytes > 0 && m_held > 0 && m_held + bytes > m_settings.bufferBytes)
        {
            return;
        }
        Advance();
        if (bytes == 0)
        {
            m_here[index] = true; // without an event, as its action does not wait for it
            continue;
        }
        m_held += bytes;
        const Time wait =
            m_unit.Reserve(Seconds(m_settings.secondsPerByte * static_cast<double>(bytes))) +
            m_settings.latency;
        if (wait.IsZero() && m_waiting.count(index) == 0)
        {
            m_here[index] = true;
        }
        else
        {
            Simulator::Schedule(wait, &HostDataReader::OnRead, this, index);
        }
    }
}

void
HostDataReader::OnRead(uint32_t index)
{
    m_here[index] = true;
    const auto [first, last] = m_waiting.equal_range(index);
    std::vector<uint32_t> ready;
    std::for_each(first, last, [&](const auto& waiting) { ready.push_back(waiting.second); });
    m_waiting.erase(first, last);
    for (uint32_t waiting : ready)
    {
        if (HasData(waiting))
        {
            m_onData(waiting);
        }
        else
        {
            WaitFor(waiting);
        }
    }
}

bool
HostDataReader::HasData(uint32_t index) const
{
    const auto& sources = m_plan.GetSources(index % m_actions);
    const uint32_t begin = index / m_actions * m_actions;
    return std::all_of(sources.begin(), sources.end(), [&](uint32_t source) {
        return m_here[begin + source];
    });
}

void
HostDataReader::WaitFor(uint32_t index)
{
    const uint32_t begin = index / m_actions * m_actions;
    for (uint32_t source : m_plan.GetSources(index % m_actions))
    {
        if (!m_here[begin + source])
        {
            m_waiting.emplace(begin + source, index);
            return;
        }
    }
}

void
HostDataReader::Release(uint32_t index)
{
    const uint64_t bytes = GetBytes(index);
    if (bytes > 0)
    {
        m_held -= bytes;
        Run();
    }
}

} // namespace ns3::training
