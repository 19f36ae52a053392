/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "circuit-changes.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

CircuitChanges::CircuitChanges(Cluster& cluster,
                               std::shared_ptr<const CircuitGraph> graph,
                               const std::vector<Ptr<TrainingApplication>>& applications)
    : m_cluster(cluster),
      m_graph(std::move(graph)),
      m_circuits(cluster.GetTopology().GetCircuits()),
      m_waits(cluster.GetRanks())
{
    for (const auto& application : applications)
    {
        application->TraceConnectWithoutContext("TaskEnd",
                                                MakeCallback(&CircuitChanges::OnTaskEnd, this));
    }
}

void
CircuitChanges::OnTaskEnd(uint32_t rank, const GraphTask& task)
{
    m_barriers += m_graph->IsBarrier(task);
    if (m_graph->IsChange(task))
    {
        m_waited = std::max(m_waited, ++m_waits[rank]);
    }
    if (m_waited > m_changes && m_barriers == uint64_t{m_changes + 1} * m_cluster.GetRanks())
    {
        m_changes++;
        m_cluster.SetCircuit(m_changes % m_circuits);
    }
}

} // namespace ns3::training
