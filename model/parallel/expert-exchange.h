/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_EXPERT_EXCHANGE_H
#define DISTRIBUTED_TRAINING_EXPERT_EXCHANGE_H

#include "rank-tasks.h"

#include <cstdint>
#include <map>
#include <utility>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 *
 * Writes the collectives that bring tokens of a rank to their experts and back.
 */
class ExpertExchange
{
  public:
    /**
     * @param plan who has which part; outlives this object
     * @param tasks where collectives are written; outlives this object
     * @param rank this one
     */
    ExpertExchange(const ParallelPlan& plan, RankTasks& tasks, uint32_t rank);

    /** @return work of this rank's experts, 1 if all are equally popular */
    double GetLoad() const;

    /**
     * Tokens, or gradients, go to the experts of a layer or come back.
     * @param name of the task
     * @param toExperts whether they go there
     * @return what to wait for
     */
    uint64_t Exchange(LayerTask name, bool toExperts);

  private:
    ByteMatrix MakeMatrix(uint64_t bytes, bool toExperts);

    const ParallelPlan& m_plan;
    RankTasks& m_tasks;
    uint32_t m_place;                                           // in its group of EXPERT
    std::map<std::pair<uint64_t, bool>, ByteMatrix> m_matrices; // by bytes and direction
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_EXPERT_EXCHANGE_H
