/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/zero-quantization.h"

#include <utility>

namespace ns3::training
{

namespace
{

/// Bits of a quantized parameter.
constexpr uint32_t PARAMETER_BITS = 8;
/// Bits of a quantized gradient.
constexpr uint32_t GRADIENT_BITS = 4;
/// Bytes of a quantized parameter.
constexpr double QUANTIZED_PARAMETER = PARAMETER_BITS / 8.0;
/// Bytes of a quantized gradient.
constexpr double QUANTIZED_GRADIENT = GRADIENT_BITS / 8.0;
/// Parameters with one scale; of gradients, those of a row of a matrix have one.
constexpr uint64_t PARAMETERS_OF_SCALE = 8000;

/** @return size of the parts of a vector */
uint64_t
Divide(uint64_t numbers, uint64_t parts)
{
    return (numbers + parts - 1) / parts;
}

} // namespace

ZeroQuantization::ZeroQuantization(const ParallelPlan& plan, RankTasks& tasks)
    : m_plan(plan),
      m_tasks(tasks)
{
}

uint64_t
ZeroQuantization::Gather(PlanGroups groups, uint64_t parameters)
{
    const uint32_t ranks = m_plan.GetSize(groups);
    m_tasks.Move(LayerTask::QUANTIZATION,
                 (PARAMETER_BYTES + QUANTIZED_PARAMETER) * static_cast<double>(parameters) / ranks);
    auto code = std::make_shared<TaskCode>();
    code->bits = PARAMETER_BITS;
    code->block = PARAMETERS_OF_SCALE;
    code->count = Divide(parameters, ranks);
    const uint64_t bytes = ranks * code->GetPartBytes();
    return m_tasks.Communicate(LayerTask::PARAMETERS,
                               groups,
                               RankTasks::DATA_STREAM,
                               CollectiveOperation::ALL_GATHER,
                               bytes,
                               0,
                               nullptr,
                               0,
                               std::move(code));
}

void
ZeroQuantization::Restore(uint64_t parameters)
{
    m_tasks.Move(LayerTask::DEQUANTIZATION,
                 (QUANTIZED_PARAMETER + PARAMETER_BYTES) * static_cast<double>(parameters));
}

/** @return an all-to-all of gradients; 0 if the group has one rank */
uint64_t
ZeroQuantization::Exchange(PlanGroups groups,
                           const std::shared_ptr<const TaskCode>& code,
                           uint64_t after)
{
    return m_tasks.Communicate(LayerTask::GRADIENTS,
                               groups,
                               after > 0 ? RankTasks::REPLICA_STREAM : RankTasks::DATA_STREAM,
                               CollectiveOperation::ALL_TO_ALL,
                               m_plan.GetSize(groups) * code->GetPartBytes(),
                               after,
                               nullptr,
                               0,
                               code);
}

uint64_t
ZeroQuantization::Reduce(uint64_t gradients)
{
    const uint32_t ranks = m_plan.GetSize(PlanGroups::DATA);
    if (gradients == 0 || ranks == 1)
    {
        return 0;
    }
    const auto numbers = static_cast<double>(gradients);
    const auto gradient = static_cast<double>(m_plan.GetGradientBytes());
    const uint32_t near = m_plan.GetSize(PlanGroups::SHARD);
    const uint32_t nodes = m_plan.GetSize(PlanGroups::REPLICA);
    auto across = std::make_shared<TaskCode>();
    across->bits = GRADIENT_BITS;
    across->block = m_plan.GetModel().hidden;
    across->count = Divide(gradients, ranks);
    auto inside = std::make_shared<TaskCode>(*across);
    inside->count *= nodes;
    inside->isPassedOn = nodes > 1;
    m_tasks.Move(LayerTask::QUANTIZATION, (gradient + QUANTIZED_GRADIENT) * numbers);
    across->input = Exchange(PlanGroups::SHARD, inside, 0);
    const uint64_t added = m_tasks.Process(LayerTask::QUANTIZATION,
                                           QUANTIZED_GRADIENT * (1 + 1.0 / near) * numbers,
                                           across->input);
    const uint64_t exchanged = Exchange(PlanGroups::REPLICA, across, added);
    return m_tasks.Process(LayerTask::DEQUANTIZATION,
                           (QUANTIZED_GRADIENT + gradient) * numbers / near,
                           exchanged > 0 ? exchanged : added);
}

} // namespace ns3::training
