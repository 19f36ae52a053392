/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layer-tasks.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

/** @return a duration, rounded to whole picoseconds */
Time
MakeTime(double seconds)
{
    return PicoSeconds(std::llround(seconds * 1e12));
}

} // namespace

const std::vector<std::string>&
GetLayerTaskNames()
{
    static const std::vector<std::string> names{
        "embedding",
        "attention",
        "scores",
        "feed-forward",
        "experts",
        "output",
        "input gradient",
        "weight gradient",
        "update",
        "activations",
        "gradients",
        "keys and values",
        "dispatch",
        "combine",
        "parameters",
        "embedding gradient",
        "end of iteration",
    };
    return names;
}

LayerTasks::LayerTasks(const ParallelPlan& plan, const TransformerRates& rates, uint32_t rank)
    : m_plan(plan),
      m_rates(rates),
      m_rank(rank),
      m_tokens(static_cast<double>(plan.GetOptions().microBatch * plan.GetModel().sequence) /
               plan.GetOptions().context)
{
}

uint64_t
LayerTasks::Compute(LayerTask name, double operations, double bytes)
{
    return m_writer.Compute(
        static_cast<uint32_t>(name),
        MakeTime(std::max(operations / m_rates.operations, bytes / m_rates.memory)));
}

uint64_t
LayerTasks::Communicate(LayerTask name,
                        PlanGroups groups,
                        Stream stream,
                        CollectiveOperation operation,
                        uint64_t bytes)
{
    if (m_plan.GetSize(groups) == 1 || bytes == 0)
    {
        return 0;
    }
    GraphTask task;
    task.kind = TaskKind::COLLECTIVE;
    task.name = static_cast<uint32_t>(name);
    task.groups = static_cast<uint32_t>(groups);
    task.parallelism = m_plan.GetGroups()[task.groups].parallelism;
    task.stream = stream;
    task.operation = operation;
    task.bytes = bytes;
    return m_writer.Start(task);
}

void
LayerTasks::Send(LayerTask name,
                 Parallelism parallelism,
                 uint32_t peer,
                 uint64_t tag,
                 uint64_t bytes)
{
    GraphTask task;
    task.kind = TaskKind::SEND;
    task.name = static_cast<uint32_t>(name);
    task.parallelism = parallelism;
    task.stream = NO_STREAM;
    task.peer = peer;
    task.tag = tag;
    task.bytes = bytes;
    m_writer.Start(task);
}

uint64_t
LayerTasks::Receive(LayerTask name,
                    Parallelism parallelism,
                    uint32_t peer,
                    uint64_t tag,
                    uint64_t bytes)
{
    GraphTask task;
    task.kind = TaskKind::RECEIVE;
    task.name = static_cast<uint32_t>(name);
    task.parallelism = parallelism;
    task.stream = NO_STREAM;
    task.peer = peer;
    task.tag = tag;
    task.bytes = bytes;
    return m_writer.Post(task);
}

void
LayerTasks::Mark()
{
    m_writer.Mark(static_cast<uint32_t>(LayerTask::END_OF_ITERATION));
}

double
LayerTasks::GetMatrixOperations(uint32_t layer, Block block) const
{
    const TransformerModel& model = m_plan.GetModel();
    const double operations = block == Block::ATTENTION
                                  ? 2 * static_cast<double>(model.GetAttentionParameters())
                                  : model.GetFeedForwardOperations(layer);
    return operations * m_tokens / m_plan.GetOptions().tensor;
}

double
LayerTasks::GetScoreOperations() const
{
    const TransformerModel& model = m_plan.GetModel();
    const double operations =
        model.GetAttentionOperations() - 2 * static_cast<double>(model.GetAttentionParameters());
    return operations * m_tokens / m_plan.GetOptions().tensor;
}

double
LayerTasks::GetMatrixBytes(uint32_t layer, Block block) const
{
    const TransformerModel& model = m_plan.GetModel();
    const double attention =
        static_cast<double>(model.GetAttentionParameters()) / m_plan.GetOptions().tensor;
    const double weights = block == Block::ATTENTION
                               ? attention
                               : static_cast<double>(m_plan.GetDenseParameters(layer)) - attention +
                                     static_cast<double>(m_plan.GetExpertParameters(layer));
    return m_plan.GetOptions().parameterBytes * weights +
           2 * static_cast<double>(m_plan.GetActivationBytes());
}

void
LayerTasks::Gather()
{
    if (m_plan.GetOptions().sequenceParallel)
    {
        m_writer.Await(Communicate(LayerTask::ACTIVATIONS,
                                   PlanGroups::TENSOR,
                                   TENSOR_STREAM,
                                   CollectiveOperation::ALL_GATHER,
                                   m_plan.GetActivationBytes()));
    }
}

uint64_t
LayerTasks::Reduce()
{
    return Communicate(LayerTask::ACTIVATIONS,
                       PlanGroups::TENSOR,
                       TENSOR_STREAM,
                       m_plan.GetOptions().sequenceParallel ? CollectiveOperation::REDUCE_SCATTER
                                                            : CollectiveOperation::ALL_REDUCE,
                       m_plan.GetActivationBytes());
}

/** Scores of attention, in a ring of the ranks that share the sequence. */
void
LayerTasks::Attend(double operations, uint64_t bytes, LayerTask name)
{
    const uint32_t parts = m_plan.GetOptions().context;
    if (parts == 1)
    {
        Compute(name, operations, 0);
        return;
    }
    const auto& groups = m_plan.GetGroups()[static_cast<uint32_t>(PlanGroups::CONTEXT)].groups;
    const auto group = std::find_if(groups.begin(), groups.end(), [this](const auto& ranks) {
        return std::find(ranks.begin(), ranks.end(), m_rank) != ranks.end();
    });
    const auto place =
        static_cast<uint32_t>(std::find(group->begin(), group->end(), m_rank) - group->begin());
    const uint32_t next = (*group)[(place + 1) % parts];
    const uint32_t previous = (*group)[(place + parts - 1) % parts];
    for (uint32_t part = 0; part < parts; part++)
    {
        uint64_t received = 0;
        if (part + 1 < parts)
        {
            Send(LayerTask::KEYS_AND_VALUES, Parallelism::CONTEXT, next, 0, bytes);
            received =
                Receive(LayerTask::KEYS_AND_VALUES, Parallelism::CONTEXT, previous, 0, bytes);
        }
        Compute(name, operations / parts, 0);
        m_writer.Await(received);
    }
}

void
LayerTasks::Exchange(LayerTask name, uint32_t layer)
{
    const TransformerModel& model = m_plan.GetModel();
    if (!model.HasExperts(layer))
    {
        return;
    }
    const ParallelOptions& options = m_plan.GetOptions();
    const double tokens = m_tokens / (options.sequenceParallel ? options.tensor : 1);
    m_writer.Await(Communicate(
        name,
        PlanGroups::EXPERT,
        EXPERT_STREAM,
        CollectiveOperation::ALL_TO_ALL,
        static_cast<uint64_t>(tokens * model.expertsPerToken * static_cast<double>(model.hidden)) *
            options.parameterBytes));
}

void
LayerTasks::ForwardBlock(uint32_t layer, Block block)
{
    const TransformerModel& model = m_plan.GetModel();
    const double operations = GetMatrixOperations(layer, block);
    const double bytes = GetMatrixBytes(layer, block);
    if (block == Block::ATTENTION)
    {
        Gather();
        Compute(LayerTask::ATTENTION, operations, bytes);
        const uint64_t keyValues = m_plan.GetActivationBytes() / model.hidden *
                                   model.GetKeyValueSize() / m_plan.GetOptions().tensor;
        Attend(GetScoreOperations(), keyValues, LayerTask::SCORES);
        m_writer.Await(Reduce());
        return;
    }
    if (!model.HasExperts(layer))
    {
        Gather();
        Compute(LayerTask::FEED_FORWARD, operations, bytes);
        m_writer.Await(Reduce());
        return;
    }
    Exchange(LayerTask::DISPATCH, layer);
    Gather();
    Compute(LayerTask::EXPERTS, operations, bytes);
    m_writer.Await(Reduce());
    Exchange(LayerTask::COMBINE, layer);
}

void
LayerTasks::Forward(uint32_t layer)
{
    m_writer.SetLayer(static_cast<int32_t>(layer));
    ForwardBlock(layer, Block::ATTENTION);
    ForwardBlock(layer, Block::FEED_FORWARD);
}

void
LayerTasks::Backward(uint32_t layer, bool withWeights)
{
    m_writer.SetLayer(static_cast<int32_t>(layer));
    const ParallelOptions& options = m_plan.GetOptions();
    const TransformerModel& model = m_plan.GetModel();
    if (options.recompute == Recompute::FULL)
    {
        Forward(layer);
    }
    for (Block block : {Block::FEED_FORWARD, Block::ATTENTION})
    {
        const bool exchanges = block == Block::FEED_FORWARD && model.HasExperts(layer);
        const double operations = GetMatrixOperations(layer, block);
        const double bytes = GetMatrixBytes(layer, block);
        if (exchanges)
        {
            Exchange(LayerTask::COMBINE, layer);
        }
        Gather();
        uint64_t inputs = 0; // gathered again for the gradients of the weights
        if (withWeights && options.sequenceParallel)
        {
            inputs = Communicate(LayerTask::ACTIVATIONS,
                                 PlanGroups::TENSOR,
                                 TENSOR_STREAM,
                                 CollectiveOperation::ALL_GATHER,
                                 m_plan.GetActivationBytes());
        }
        if (block == Block::ATTENTION)
        {
            const double times = options.recompute == Recompute::SELECTIVE ? 3 : 2;
            const uint64_t keyValues = m_plan.GetActivationBytes() / model.hidden *
                                       model.GetKeyValueSize() / options.tensor;
            Attend(times * GetScoreOperations(), 2 * keyValues, LayerTask::INPUT_GRADIENT);
        }
        Compute(LayerTask::INPUT_GRADIENT, operations, bytes);
        const uint64_t reduced = Reduce();
        if (withWeights)
        {
            m_writer.Await(inputs);
            Compute(LayerTask::WEIGHT_GRADIENT, operations, bytes);
        }
        m_writer.Await(reduced);
        if (exchanges)
        {
            Exchange(LayerTask::DISPATCH, layer);
        }
    }
}

void
LayerTasks::WeightGradients(uint32_t layer)
{
    m_writer.SetLayer(static_cast<int32_t>(layer));
    for (Block block : {Block::FEED_FORWARD, Block::ATTENTION})
    {
        Compute(LayerTask::WEIGHT_GRADIENT,
                GetMatrixOperations(layer, block),
                GetMatrixBytes(layer, block));
    }
}

void
LayerTasks::ForwardEmbedding()
{
    m_writer.SetLayer(-1);
    Compute(LayerTask::EMBEDDING, 0, 2 * static_cast<double>(m_plan.GetActivationBytes()));
    m_writer.Await(Reduce());
}

void
LayerTasks::ForwardOutput()
{
    m_writer.SetLayer(-1);
    Gather();
    const double operations =
        m_plan.GetModel().GetOutputOperations() * m_tokens / m_plan.GetOptions().tensor;
    Compute(LayerTask::OUTPUT, operations, 0);
}

void
LayerTasks::BackwardOutput()
{
    m_writer.SetLayer(-1);
    const double operations =
        m_plan.GetModel().GetOutputOperations() * m_tokens / m_plan.GetOptions().tensor;
    Compute(LayerTask::INPUT_GRADIENT, operations, 0);
    const uint64_t reduced = Reduce(); // while gradients of weights are computed
    Compute(LayerTask::WEIGHT_GRADIENT, operations, 0);
    m_writer.Await(reduced);
}

} // namespace ns3::training
