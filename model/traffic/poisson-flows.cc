/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "poisson-flows.h"

#include "ns3/double.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

PoissonFlows::PoissonFlows(const FlowSizes& sizes,
                           std::unique_ptr<FlowPattern> pattern,
                           double meanGap,
                           int64_t stream,
                           Starter start)
    : m_pattern(std::move(pattern)),
      m_start(std::move(start)),
      m_gap(CreateObject<ExponentialRandomVariable>()),
      m_size(sizes.MakeVariable()),
      m_choice(CreateObject<UniformRandomVariable>())
{
    m_gap->SetAttribute("Mean", DoubleValue(meanGap));
    m_gap->SetStream(stream);
    m_size->SetStream(stream + 1);
    m_choice->SetStream(stream + 2);
}

void
PoissonFlows::Run(Time begin, Time end)
{
    m_end = end;
    for (uint32_t process = 0; process < m_pattern->GetProcesses(); process++)
    {
        ScheduleEvent(process, begin);
    }
}

void
PoissonFlows::ScheduleEvent(uint32_t process, Time delay)
{
    Simulator::Schedule(delay + Seconds(m_gap->GetValue()), &PoissonFlows::OnEvent, this, process);
}

void
PoissonFlows::OnEvent(uint32_t process)
{
    if (Simulator::Now() >= m_end)
    {
        return;
    }
    ScheduleEvent(process, Time(0));
    m_pattern->Draw(process, *m_choice, m_ends);
    for (const HostPair& ends : m_ends)
    {
        m_flows++;
        m_start(ends, std::max<uint64_t>(1, static_cast<uint64_t>(m_size->GetValue())));
    }
}

} // namespace ns3::training
