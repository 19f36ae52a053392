/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/gradient-reduction.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

GradientReduction::GradientReduction(const ParallelPlan& plan,
                                     RankTasks& tasks,
                                     ZeroQuantization& quantization)
    : m_plan(plan),
      m_tasks(tasks),
      m_quantization(quantization)
{
}

void
GradientReduction::Add(uint32_t unit, uint64_t dense, uint64_t experts, bool isLast)
{
    const ParallelOptions& options = m_plan.GetOptions();
    if (!isLast && options.zero < 2)
    {
        return; // added up in memory
    }
    m_buckets[PlanGroups::DATA] += dense;
    m_buckets[PlanGroups::EXPERT_DATA] += experts;
    if (options.byLayer)
    {
        m_unitsOfBucket[PlanGroups::DATA].push_back(unit);
        m_unitsOfBucket[PlanGroups::EXPERT_DATA].push_back(unit);
    }
    for (const auto& [groups, parameters] : m_buckets)
    {
        const bool isFull = parameters * m_plan.GetGradientBytes() >= options.bucket;
        if ((isFull && options.overlapGradReduce) || options.zero == 3)
        {
            ReduceBucket(groups);
        }
    }
}

/** @return a step of the reduction of gradients; the one before it if it is none */
uint64_t
GradientReduction::Start(PlanGroups groups,
                         CollectiveOperation operation,
                         uint64_t bytes,
                         uint64_t after)
{
    const auto stream = after > 0 ? RankTasks::REPLICA_STREAM : RankTasks::DATA_STREAM;
    const uint64_t id =
        m_tasks.Communicate(LayerTask::GRADIENTS, groups, stream, operation, bytes, after);
    return id > 0 ? id : after;
}

/**
 * @param groups DATA, or EXPERT_DATA for experts
 * @param parameters whose gradients are reduced
 * @return the last step of the reduction; 0: there is none
 */
uint64_t
GradientReduction::Reduce(PlanGroups groups, uint64_t parameters)
{
    const ParallelOptions& options = m_plan.GetOptions();
    const bool isDense = groups == PlanGroups::DATA;
    const uint64_t bytes = parameters * m_plan.GetGradientBytes();
    if (isDense && options.quantizedGradients)
    {
        return m_quantization.Reduce(parameters);
    }
    if (options.shard > 0)
    {
        const PlanGroups near = isDense ? m_plan.GetShards() : m_plan.GetExpertShards();
        const uint64_t inside = Start(near, CollectiveOperation::REDUCE_SCATTER, bytes, 0);
        return Start(isDense ? PlanGroups::REPLICA : PlanGroups::EXPERT_REPLICA,
                     CollectiveOperation::ALL_REDUCE,
                     bytes / m_plan.GetSize(near),
                     inside);
    }
    return Start(groups,
                 options.zero == 0 ? CollectiveOperation::ALL_REDUCE
                                   : CollectiveOperation::REDUCE_SCATTER,
                 bytes,
                 0);
}

void
GradientReduction::ReduceBucket(PlanGroups groups)
{
    const uint64_t parameters = std::exchange(m_buckets[groups], 0);
    if (m_plan.GetOptions().byLayer)
    {
        ReduceByLayer(groups, parameters);
        return;
    }
    const uint64_t id = Reduce(groups, parameters);
    if (id > 0)
    {
        m_reductions.push_back(id);
    }
}

/** Reduces a bucket, whose first unit is needed first; each of its units waits for it. */
void
GradientReduction::ReduceByLayer(PlanGroups groups, uint64_t parameters)
{
    const auto units = std::exchange(m_unitsOfBucket[groups], {});
    if (units.empty())
    {
        return;
    }
    const auto first = static_cast<int32_t>(*std::min_element(units.begin(), units.end()));
    const uint64_t id = m_tasks.Communicate(LayerTask::GRADIENTS,
                                            groups,
                                            RankTasks::FREE_STREAM,
                                            CollectiveOperation::ALL_REDUCE,
                                            parameters * m_plan.GetGradientBytes(),
                                            0,
                                            nullptr,
                                            -first);
    for (uint32_t unit : units)
    {
        m_reduced[unit].push_back(id);
    }
}

void
GradientReduction::ReduceRest()
{
    ReduceBucket(PlanGroups::DATA);
    ReduceBucket(PlanGroups::EXPERT_DATA);
}

void
GradientReduction::Await()
{
    for (uint64_t id : std::exchange(m_reductions, {}))
    {
        m_tasks.GetWriter().Await(id);
    }
}

bool
GradientReduction::Await(uint32_t unit)
{
    const auto reduced = m_reduced.extract(unit);
    if (reduced.empty())
    {
        return false;
    }
    for (uint64_t id : reduced.mapped())
    {
        m_tasks.GetWriter().Await(id);
    }
    return true;
}

} // namespace ns3::training
