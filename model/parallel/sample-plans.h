/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SAMPLE_PLANS_H
#define DISTRIBUTED_TRAINING_SAMPLE_PLANS_H

#include "parallel/operator-times.h"
#include "parallel/sample-schedule.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::training
{

/// Tokens of a sample, and ranks that share it.
using SampleKind = std::pair<uint64_t, uint32_t>;

/** A plan for samples of one length that as many ranks share, and its computations. */
struct SamplePlan
{
    std::shared_ptr<const ParallelPlan> plan; ///< whose context parallelism is these ranks
    std::shared_ptr<const LayerTimes> times;  ///< of computations
};

/** A sample that a rank computes. */
struct RankSample
{
    uint32_t sample;        ///< its place in ParallelOptions::sampleLengths
    const SamplePlan* plan; ///< that of its length and ranks
    bool awaitsOthers;      ///< whether ranks first wait for each other, as their groups change
};

/**
 * Plans for the samples of an iteration that have lengths of their own. Groups of ranks are
 * neighbours, so each of them is a group of context parallelism in a plan of its own.
 */
class SamplePlans
{
  public:
    /**
     * @param plan whose options have lengths of samples
     * @param rates how fast a rank computes
     */
    SamplePlans(const ParallelPlan& plan, const TransformerRates& rates);

    /** @param rank a rank @return its samples in order */
    std::vector<RankSample> Get(uint32_t rank) const;

  private:
    SampleSchedule m_schedule;
    uint32_t m_tensor; // ranks of a place
    std::map<SampleKind, SamplePlan> m_plans;
};

/**
 * @param plan whose options have lengths of samples
 * @return a plan for each kind of its samples
 */
std::map<SampleKind, std::shared_ptr<const ParallelPlan>> MakeSamplePlans(const ParallelPlan& plan);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SAMPLE_PLANS_H
