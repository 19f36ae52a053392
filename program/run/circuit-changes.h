/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CIRCUIT_CHANGES_H
#define DISTRIBUTED_TRAINING_CIRCUIT_CHANGES_H

#include "ns3/circuit-graph.h"
#include "ns3/training-application.h"
#include "ns3/training-cluster.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Changes the circuits of a network when all ranks are behind the barrier and the first one begins
 * the next iteration: iteration i has configuration i modulo their number. Outlives the simulation
 * of its applications.
 */
class CircuitChanges
{
  public:
    /**
     * @param cluster whose network has circuits
     * @param graph of the ranks
     * @param applications of the ranks
     */
    CircuitChanges(Cluster& cluster,
                   std::shared_ptr<const CircuitGraph> graph,
                   const std::vector<Ptr<TrainingApplication>>& applications);

  private:
    void OnTaskEnd(uint32_t rank, const GraphTask& task);

    Cluster& m_cluster;
    std::shared_ptr<const CircuitGraph> m_graph;
    uint32_t m_circuits;
    uint64_t m_barriers{0};        // that have ended, of all ranks
    std::vector<uint32_t> m_waits; // by rank: changes it has waited for
    uint32_t m_waited{0};          // the most of them
    uint32_t m_changes{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CIRCUIT_CHANGES_H
