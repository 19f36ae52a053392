/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/layer-tasks.h"

#include <algorithm>

namespace ns3::training
{

LayerTasks::LayerTasks(const ParallelPlan& plan, RankTasks& tasks, uint32_t rank)
    : m_plan(plan),
      m_tasks(tasks),
      m_writer(tasks.GetWriter()),
      m_experts(plan, tasks, rank),
      m_rank(rank),
      m_tokens(static_cast<double>(plan.GetTokens()))
{
}

LayerTasks::Product
LayerTasks::GetProduct(uint32_t layer, Block block) const
{
    const TransformerModel& model = m_plan.GetModel();
    const auto parts = static_cast<double>(m_plan.GetOptions().tensor);
    const double attention = static_cast<double>(model.GetAttentionParameters(layer)) / parts +
                             static_cast<double>(m_plan.GetKeyValueCopies(layer));
    const double activations = 2 * static_cast<double>(m_plan.GetActivationBytes());
    if (block == Block::ATTENTION)
    {
        return {2 * attention * m_tokens, PARAMETER_BYTES * attention + activations};
    }
    const double weights = static_cast<double>(m_plan.GetDenseParameters(layer)) - attention +
                           static_cast<double>(m_plan.GetExpertParameters(layer));
    return {model.GetFeedForwardOperations(layer) * m_tokens / parts,
            PARAMETER_BYTES * weights + activations};
}

/** The last matrix of attention. */
LayerTasks::Product
LayerTasks::GetProjection(uint32_t layer) const
{
    const TransformerModel& model = m_plan.GetModel();
    const double weights =
        static_cast<double>(model.GetLayer(layer).heads * model.GetValueSize() * model.hidden) /
        static_cast<double>(m_plan.GetOptions().tensor);
    return {2 * weights * m_tokens,
            PARAMETER_BYTES * weights + static_cast<double>(m_plan.GetActivationBytes())};
}

LayerTasks::Product
LayerTasks::GetSharedExperts(uint32_t layer) const
{
    const TransformerModel& model = m_plan.GetModel();
    if (!model.HasExperts(layer))
    {
        return {0, 0};
    }
    const double weights = static_cast<double>(model.GetSharedParameters()) /
                           static_cast<double>(m_plan.GetOptions().tensor);
    return {2 * weights * m_tokens, PARAMETER_BYTES * weights};
}

double
LayerTasks::GetScoreOperations(uint32_t layer) const
{
    const TransformerModel& model = m_plan.GetModel();
    const double operations = model.GetAttentionOperations(layer) -
                              2 * static_cast<double>(model.GetAttentionParameters(layer));
    return operations * m_tokens / static_cast<double>(m_plan.GetOptions().tensor);
}

void
LayerTasks::Await(const std::vector<uint64_t>& ids)
{
    for (uint64_t id : ids)
    {
        m_writer.Await(id);
    }
}

uint64_t
LayerTasks::Gather(uint64_t bytes)
{
    if (!m_plan.GetOptions().sequenceParallel)
    {
        return 0;
    }
    return m_tasks.Communicate(LayerTask::ACTIVATIONS,
                               PlanGroups::TENSOR,
                               RankTasks::TENSOR_STREAM,
                               CollectiveOperation::ALL_GATHER,
                               bytes);
}

uint64_t
LayerTasks::Reduce(uint64_t bytes)
{
    return m_tasks.Communicate(LayerTask::ACTIVATIONS,
                               PlanGroups::TENSOR,
                               RankTasks::TENSOR_STREAM,
                               m_plan.GetOptions().sequenceParallel
                                   ? CollectiveOperation::REDUCE_SCATTER
                                   : CollectiveOperation::ALL_REDUCE,
                               bytes);
}

/** @return gathers of the parts of a product's input, in order */
std::vector<uint64_t>
LayerTasks::GatherParts()
{
    std::vector<uint64_t> inputs;
    for (uint64_t part = 0; part < GetParts(); part++)
    {
        inputs.push_back(Gather(GetPartBytes(part)));
    }
    return inputs;
}

uint64_t
LayerTasks::GetParts() const
{
    return m_plan.GetOptions().tensor > 1 ? m_plan.GetOptions().tpCommOverlap : 1;
}

uint64_t
LayerTasks::GetPartBytes(uint64_t part) const
{
    const uint64_t bytes = m_plan.GetActivationBytes();
    return bytes * (part + 1) / GetParts() - bytes * part / GetParts();
}

/** A product in parts, each of which waits for its own input. @return the reductions of parts */
std::vector<uint64_t>
LayerTasks::Multiply(LayerTask name,
                     const Product& product,
                     const std::vector<uint64_t>& inputs,
                     bool reduces)
{
    const auto parts = static_cast<double>(GetParts());
    std::vector<uint64_t> outputs;
    for (uint64_t part = 0; part < GetParts(); part++)
    {
        m_writer.Await(inputs.empty() ? 0 : inputs[part]);
        m_tasks.Compute(name, product.operations / parts, product.bytes / parts);
        outputs.push_back(reduces ? Reduce(GetPartBytes(part)) : 0);
    }
    return outputs;
}

/** Scores of attention, in a ring of the ranks that share the sequence. */
void
LayerTasks::AttendInRing(double operations, uint64_t bytes, LayerTask name)
{
    const auto parts = static_cast<uint32_t>(m_plan.GetOptions().context);
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
            m_tasks.Send(LayerTask::KEYS_AND_VALUES, Parallelism::CONTEXT, next, 0, bytes);
            received = m_tasks.Receive(LayerTask::KEYS_AND_VALUES,
                                       Parallelism::CONTEXT,
                                       previous,
                                       0,
                                       bytes);
        }
        m_tasks.Compute(name, operations / parts, 0);
        m_writer.Await(received);
    }
}

/** Exchanges parts of a sequence for heads, or back; sizes in bytes at a rank. */
void
LayerTasks::ExchangeHeads(uint64_t first, uint64_t second, uint64_t third)
{
    std::vector<uint64_t> ids;
    for (uint64_t bytes : {first, second, third})
    {
        ids.push_back(m_tasks.Communicate(LayerTask::HEADS,
                                          PlanGroups::CONTEXT,
                                          RankTasks::CONTEXT_STREAM,
                                          CollectiveOperation::ALL_TO_ALL,
                                          bytes));
    }
    Await(ids);
}

void
LayerTasks::Attend(uint32_t layer, bool isForward)
{
    const ParallelOptions& options = m_plan.GetOptions();
    const double times = isForward ? 1 : options.recompute == "selective" ? 3 : 2;
    const double operations = times * GetScoreOperations(layer);
    const TransformerModel& model = m_plan.GetModel();
    const LayerTask name = isForward ? LayerTask::SCORES : LayerTask::INPUT_GRADIENT;
    const uint64_t keyValues = m_plan.GetKeyValueBytes(layer);
    if (options.context == 1)
    {
        m_tasks.Compute(name, operations, 0);
    }
    else if (options.cpCommType == "p2p")
    {
        AttendInRing(operations, (isForward ? 1 : 2) * keyValues, name);
    }
    else if (options.cpCommType == "a2a")
    {
        const auto getBytes = [&](uint64_t heads, uint64_t size) {
            return PARAMETER_BYTES * m_plan.GetTokens() * heads * size / options.tensor;
        };
        const uint64_t size = model.GetHeadSize() + (model.keyValueRank > 0 ? model.rotarySize : 0);
        const TransformerLayer sizes = model.GetLayer(layer);
        const uint64_t query = getBytes(sizes.heads, size);
        // With more ranks than such heads, each rank has a copy of one.
        const uint64_t shared = std::max<uint64_t>(sizes.keyValueHeads, options.tensor);
        const uint64_t key = getBytes(shared, size);
        const uint64_t value = getBytes(shared, model.GetValueSize());
        const uint64_t output = getBytes(sizes.heads, model.GetValueSize());
        // Backward, gradients take the opposite way.
        isForward ? ExchangeHeads(query, key, value) : ExchangeHeads(output, 0);
        m_tasks.Compute(name, operations, 0);
        isForward ? ExchangeHeads(output, 0) : ExchangeHeads(query, key, value);
    }
    else
    {
        const auto collect = [&](CollectiveOperation operation) {
            m_writer.Await(m_tasks.Communicate(LayerTask::KEYS_AND_VALUES,
                                               PlanGroups::CONTEXT,
                                               RankTasks::CONTEXT_STREAM,
                                               operation,
                                               keyValues * options.context));
        };
        collect(CollectiveOperation::ALL_GATHER);
        m_tasks.Compute(name, operations, 0);
        if (!isForward)
        {
            collect(CollectiveOperation::REDUCE_SCATTER);
        }
    }
}

void
LayerTasks::ForwardBlock(uint32_t layer, Block block)
{
    const TransformerModel& model = m_plan.GetModel();
    Product product = GetProduct(layer, block);
    if (block == Block::ATTENTION)
    {
        const Product last = GetProjection(layer);
        product.operations -= last.operations;
        product.bytes -= last.bytes;
        Multiply(LayerTask::ATTENTION, product, GatherParts(), false);
        Attend(layer, true);
        Await(Multiply(LayerTask::PROJECTION, last, {}, true));
        return;
    }
    if (!model.HasExperts(layer))
    {
        Await(Multiply(LayerTask::FEED_FORWARD, product, GatherParts(), true));
        return;
    }
    const Product shared = GetSharedExperts(layer);
    product.operations -= shared.operations;
    product.bytes -= shared.bytes;
    product.operations *= m_experts.GetLoad();
    const bool overlaps = m_plan.GetOptions().sharedExpertOverlap;
    const uint64_t there = m_experts.Exchange(LayerTask::DISPATCH, true);
    if (overlaps && model.sharedExperts > 0)
    {
        m_tasks.Compute(LayerTask::SHARED_EXPERTS, shared.operations, shared.bytes);
    }
    m_writer.Await(there);
    Await(Multiply(LayerTask::EXPERTS, product, GatherParts(), true));
    m_writer.Await(m_experts.Exchange(LayerTask::COMBINE, false));
    if (!overlaps && model.sharedExperts > 0)
    {
        m_tasks.Compute(LayerTask::SHARED_EXPERTS, shared.operations, shared.bytes);
    }
}

void
LayerTasks::Forward(uint32_t layer)
{
    m_writer.SetLayer(static_cast<int32_t>(layer));
    ForwardBlock(layer, Block::ATTENTION);
    ForwardBlock(layer, Block::FEED_FORWARD);
}

/** Gradients of a block. @return the reductions of those of its inputs */
std::vector<uint64_t>
LayerTasks::BackwardBlock(uint32_t layer, Block block, bool withWeights)
{
    const std::vector<uint64_t> gradients = GatherParts();
    const uint64_t inputs = withWeights ? Gather(m_plan.GetActivationBytes()) : 0;
    Product product = GetProduct(layer, block);
    std::vector<uint64_t> reduced;
    if (block == Block::FEED_FORWARD)
    {
        if (m_plan.GetModel().HasExperts(layer))
        {
            const Product shared = GetSharedExperts(layer);
            product.operations -= shared.operations;
            product.bytes -= shared.bytes;
            product.operations *= m_experts.GetLoad();
        }
        reduced = Multiply(LayerTask::INPUT_GRADIENT, product, gradients, true);
    }
    else
    {
        const Product last = GetProjection(layer);
        product.operations -= last.operations;
        product.bytes -= last.bytes;
        Multiply(LayerTask::INPUT_GRADIENT, last, gradients, false);
        Attend(layer, false);
        reduced = Multiply(LayerTask::INPUT_GRADIENT, product, {}, true);
    }
    if (withWeights)
    {
        WeightGradients(layer, block, inputs);
    }
    return reduced;
}

void
LayerTasks::Backward(uint32_t layer, bool withWeights)
{
    m_writer.SetLayer(static_cast<int32_t>(layer));
    const ParallelOptions& options = m_plan.GetOptions();
    const TransformerModel& model = m_plan.GetModel();
    if (options.recompute == "full")
    {
        Forward(layer);
    }
    const Product shared = GetSharedExperts(layer);
    const bool hasShared = shared.operations > 0;
    for (Block block : {Block::FEED_FORWARD, Block::ATTENTION})
    {
        const bool exchanges = block == Block::FEED_FORWARD && model.HasExperts(layer);
        if (exchanges)
        {
            const uint64_t there = m_experts.Exchange(LayerTask::COMBINE, true);
            if (options.sharedExpertOverlap && hasShared)
            {
                m_tasks.Compute(LayerTask::INPUT_GRADIENT, shared.operations, shared.bytes);
            }
            m_writer.Await(there);
        }
        Await(BackwardBlock(layer, block, withWeights));
        if (exchanges)
        {
            m_writer.Await(m_experts.Exchange(LayerTask::DISPATCH, false));
            if (!options.sharedExpertOverlap && hasShared)
            {
                m_tasks.Compute(LayerTask::INPUT_GRADIENT, shared.operations, shared.bytes);
            }
        }
    }
}

/** Gradients of the weights of a block, when its inputs have been gathered again. */
void
LayerTasks::WeightGradients(uint32_t layer, Block block, uint64_t inputs)
{
    m_writer.Await(inputs);
    Product product = GetProduct(layer, block);
    if (block == Block::FEED_FORWARD && m_plan.GetModel().HasExperts(layer))
    {
        const double shared = GetSharedExperts(layer).operations;
        product.operations = shared + (product.operations - shared) * m_experts.GetLoad();
    }
    m_tasks.Compute(LayerTask::WEIGHT_GRADIENT, product.operations, product.bytes);
}

void
LayerTasks::WeightGradients(uint32_t layer)
{
    m_writer.SetLayer(static_cast<int32_t>(layer));
    for (Block block : {Block::FEED_FORWARD, Block::ATTENTION})
    {
        WeightGradients(layer, block, Gather(m_plan.GetActivationBytes()));
    }
}

void
LayerTasks::ForwardEmbedding()
{
    m_writer.SetLayer(-1);
    m_tasks.Compute(LayerTask::EMBEDDING, 0, 2 * static_cast<double>(m_plan.GetActivationBytes()));
    m_writer.Await(Reduce(m_plan.GetActivationBytes()));
}

void
LayerTasks::ForwardOutput()
{
    m_writer.SetLayer(-1);
    m_writer.Await(Gather(m_plan.GetActivationBytes()));
    const double operations = m_plan.GetModel().GetOutputOperations() * m_tokens /
                              static_cast<double>(m_plan.GetOptions().tensor);
    m_tasks.Compute(LayerTask::OUTPUT, operations, 0);
}

void
LayerTasks::BackwardOutput()
{
    m_writer.SetLayer(-1);
    const double operations = m_plan.GetModel().GetOutputOperations() * m_tokens /
                              static_cast<double>(m_plan.GetOptions().tensor);
    m_tasks.Compute(LayerTask::INPUT_GRADIENT, operations, 0);
    const uint64_t reduced =
        Reduce(m_plan.GetActivationBytes()); // while gradients of weights are computed
    m_tasks.Compute(LayerTask::WEIGHT_GRADIENT, operations, 0);
    m_writer.Await(reduced);
}

} // namespace ns3::training
