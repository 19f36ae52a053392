/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LOCKSTEP_ORACLE_H
#define DISTRIBUTED_TRAINING_LOCKSTEP_ORACLE_H

#include "ns3/collective-schedule.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-nic
 *
 * The ideal lockstep of MULTITREE's public simulator for one collective: a step begins when the
 * messages of all nodes in the steps before have left. Every node knows at once, which no hardware
 * can; so it is what estimated times are compared with.
 */
class LockstepOracle
{
  public:
    /** @param schedule of the collective */
    explicit LockstepOracle(const CollectiveSchedule& schedule);

    /** @return the step whose messages may leave; the number of steps at the end */
    uint32_t GetStep() const
    {
        return m_step;
    }

    /**
     * A message has left.
     * @param step of the message
     */
    void OnSent(uint32_t step);

    /**
     * Registers a node.
     * @param onStep called, from an event, when the step has changed
     * @return number of the node
     */
    uint32_t Attach(std::function<void()> onStep);

    /** @param node number of a node that ends */
    void Detach(uint32_t node);

  private:
    void TakeOffSteps();
    static void Tell(std::weak_ptr<std::function<void()>> onStep);

    std::vector<uint64_t> m_left; // messages, by step
    uint32_t m_step{0};
    std::vector<std::shared_ptr<std::function<void()>>> m_nodes; // null: detached
};

/** The oracles of the collectives of a cluster, all of whose nodes are in one process. */
class LockstepOracles
{
  public:
    /** @param nodes number of nodes */
    explicit LockstepOracles(uint32_t nodes)
        : m_nodes(nodes)
    {
    }

    /**
     * A node enters a collective. Each node must enter each collective once.
     * @param collective number of the collective
     * @param schedule of the collective
     * @return its oracle
     */
    std::shared_ptr<LockstepOracle> Enter(uint64_t collective, const CollectiveSchedule& schedule);

  private:
    /** A collective that not all nodes have entered. */
    struct Entry
    {
        std::shared_ptr<LockstepOracle> oracle;
        uint32_t entered{0};
    };

    uint32_t m_nodes;
    std::map<uint64_t, Entry> m_oracles; // by number of the collective
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LOCKSTEP_ORACLE_H
