/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FAILURE_SEQUENCE_H
#define DISTRIBUTED_TRAINING_FAILURE_SEQUENCE_H

#include "failure-model.h"

#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-life
 * A failure of a node.
 */
struct Failure
{
    LifeTime time{LifeTime::max()}; ///< since the start of the job; max(): there are no more
    uint32_t node{0};               ///< the node
    uint32_t cause{0};              ///< index in FailureModel::causes
};

/**
 * @ingroup distributed-training-life
 *
 * Failures of the nodes of a job, in the order of time. A node that has failed is renewed at once:
 * another one has its place. The same run (RngRun) has the same failures.
 */
class FailureSequence
{
  public:
    /**
     * @param model of the failures
     * @param nodes of the job, at least 1
     * @param stream of random numbers; it uses this one and the next
     */
    FailureSequence(FailureModel model, uint32_t nodes, int64_t stream);

    /** @return the next failure */
    Failure Next();

  private:
    LifeTime DrawTime();
    uint32_t DrawCause();

    /** A node and its next failure. */
    using Place = std::pair<LifeTime, uint32_t>;

    FailureModel m_model;
    double m_scale; // of Weibull's distribution, s
    Ptr<WeibullRandomVariable> m_times;
    Ptr<UniformRandomVariable> m_causes;
    std::priority_queue<Place, std::vector<Place>, std::greater<>> m_next; // of each node
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FAILURE_SEQUENCE_H
