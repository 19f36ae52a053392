/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/layer-tasks.h"

#include <algorithm>

namespace ns3::training
{

LayerTasks::LayerTasks(const ParallelPlan& plan,
                       const LayerTimes& times,
                       RankTasks& tasks,
                       uint32_t rank)
    : m_plan(plan),
      m_times(times),
      m_tasks(tasks),
      m_writer(tasks.GetWriter()),
      m_experts(plan, tasks, rank),
      m_again(plan.GetOptions().recompute),
      m_rank(rank)
{
}

/** @return time of the feed-forward network of a layer, or of its routed experts */
Time
LayerTasks::GetNetworkTime(uint32_t layer, LayerPass pass, uint64_t pieces) const
{
    const bool hasExperts = m_plan.GetModel().HasExperts(layer);
    const double load = hasExperts ? m_experts.GetLoad() : 1;
    return pass == LayerPass::INPUT_GRADIENT
               ? GetBackwardTime(LayerPart::NETWORK, layer, load, pieces)
               : m_times.Get(LayerPart::NETWORK, pass, layer, load, pieces);
}

/** @return time of the gradients of inputs, and of operators that are computed again for them */
Time
LayerTasks::GetBackwardTime(LayerPart part, uint32_t layer, double load, uint64_t pieces) const
{
    const Time length = m_times.Get(part, LayerPass::INPUT_GRADIENT, layer, load, pieces);
    const bool isOfNetwork = part == LayerPart::NETWORK || part == LayerPart::SHARED_EXPERTS;
    return isOfNetwork && m_again.HasNetwork(m_plan.GetModel().HasExperts(layer))
               ? length // Backward() writes the whole network apart
               : length + m_times.Get(part, LayerPass::REPEATED, layer, load, pieces);
}

void
LayerTasks::Compute(LayerTask name, LayerPart part, LayerPass pass, uint32_t layer)
{
    m_tasks.Compute(name, m_times.Get(part, pass, layer));
}

void
LayerTasks::Await(const std::vector<uint64_t>& ids)
{
    for (uint64_t id : ids)
    {
        m_writer.Await(id);
    }
}

LayerTasks::Activations
LayerTasks::GetActivations() const
{
    return {PlanGroups::TENSOR, m_plan.GetActivationBytes(), m_plan.GetOptions().sequenceParallel};
}

/** @return what the products of a block take in */
LayerTasks::Activations
LayerTasks::GetActivations(uint32_t layer, Block block) const
{
    const PlanGroups parts = m_plan.GetExpertParts();
    const bool hasExperts = block == Block::FEED_FORWARD && m_plan.GetModel().HasExperts(layer);
    if (!hasExperts || (parts == PlanGroups::TENSOR && !m_plan.GetOptions().sequenceParallel))
    {
        return GetActivations();
    }
    // Each part of an expert sees all tokens that were sent to it (Megatron-LM,
    // MoEAlltoAllTokenDispatcher).
    const double copies = m_plan.GetModel().expertsPerToken * m_experts.GetLoad();
    const auto slices = static_cast<double>(m_plan.GetOptions().GetExpertTensor());
    const auto tensor = static_cast<double>(m_plan.GetOptions().tensor);
    return {parts,
            static_cast<uint64_t>(static_cast<double>(m_plan.GetActivationBytes()) * copies *
                                  slices / tensor),
            true};
}

uint64_t
LayerTasks::Gather(const Activations& activations, uint64_t bytes)
{
    if (!activations.isDivided)
    {
        return 0;
    }
    return m_tasks.Communicate(LayerTask::ACTIVATIONS,
                               activations.groups,
                               RankTasks::TENSOR_STREAM,
                               CollectiveOperation::ALL_GATHER,
                               bytes);
}

uint64_t
LayerTasks::Gather(uint64_t inputs)
{
    return Gather(GetActivations(), inputs * m_plan.GetActivationBytes());
}

uint64_t
LayerTasks::Reduce(const Activations& activations, uint64_t bytes)
{
    return m_tasks.Communicate(LayerTask::ACTIVATIONS,
                               activations.groups,
                               RankTasks::TENSOR_STREAM,
                               activations.isDivided ? CollectiveOperation::REDUCE_SCATTER
                                                     : CollectiveOperation::ALL_REDUCE,
                               bytes);
}

uint64_t
LayerTasks::Reduce(uint64_t inputs)
{
    return Reduce(GetActivations(), inputs * m_plan.GetActivationBytes());
}

/** @return gathers of the parts of a product's input, in order */
std::vector<uint64_t>
LayerTasks::GatherParts(const Activations& activations)
{
    std::vector<uint64_t> inputs;
    for (uint64_t part = 0; part < GetProductPieces(m_plan); part++)
    {
        inputs.push_back(Gather(activations, GetPartBytes(activations.bytes, part)));
    }
    return inputs;
}

uint64_t
LayerTasks::GetPartBytes(uint64_t bytes, uint64_t part) const
{
    return bytes * (part + 1) / GetProductPieces(m_plan) - bytes * part / GetProductPieces(m_plan);
}

/**
 * A product in parts of a length each, which wait for their own input.
 * @return the reductions of parts
 */
std::vector<uint64_t>
LayerTasks::Multiply(LayerTask name,
                     Time length,
                     const std::vector<uint64_t>& inputs,
                     const Activations* reduced)
{
    std::vector<uint64_t> outputs;
    for (uint64_t part = 0; part < GetProductPieces(m_plan); part++)
    {
        m_writer.Await(inputs.empty() ? 0 : inputs[part]);
        m_tasks.Compute(name, length);
        outputs.push_back(reduced ? Reduce(*reduced, GetPartBytes(reduced->bytes, part)) : 0);
    }
    return outputs;
}

/** Scores of attention, in a ring of the ranks that share the sequence. */
void
LayerTasks::AttendInRing(Time length, uint64_t bytes, LayerTask name)
{
    const auto parts = static_cast<uint32_t>(m_plan.GetOptions().context);
    const uint32_t next = m_plan.GetRankOfPart(m_rank, 1);
    const uint32_t previous = m_plan.GetRankOfPart(m_rank, parts - 1);
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
        m_tasks.Compute(name, length);
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
    const uint64_t pieces = GetScorePieces(m_plan);
    const Time length = isForward
                            ? m_times.Get(LayerPart::SCORES, LayerPass::FORWARD, layer, 1, pieces)
                            : GetBackwardTime(LayerPart::SCORES, layer, 1, pieces);
    const TransformerModel& model = m_plan.GetModel();
    const LayerTask name = isForward ? LayerTask::SCORES : LayerTask::INPUT_GRADIENT;
    const uint64_t keyValues = m_plan.GetKeyValueBytes(layer);
    if (options.context == 1)
    {
        m_tasks.Compute(name, length);
    }
    else if (pieces > 1)
    {
        AttendInRing(length, (isForward ? 1 : 2) * keyValues, name);
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
        m_tasks.Compute(name, length);
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
        m_tasks.Compute(name, length);
        if (!isForward)
        {
            collect(CollectiveOperation::REDUCE_SCATTER);
        }
    }
}

/** A block forward, or what the backward pass computes again of its network. */
void
LayerTasks::ForwardBlock(uint32_t layer, Block block, LayerPass pass)
{
    const TransformerModel& model = m_plan.GetModel();
    const auto get = [&](LayerPart part) {
        return m_times.Get(part, LayerPass::FORWARD, layer, 1, GetProductPieces(m_plan));
    };
    const Activations activations = GetActivations(layer, block);
    if (block == Block::ATTENTION)
    {
        Multiply(LayerTask::ATTENTION, get(LayerPart::INPUTS), GatherParts(activations), nullptr);
        Attend(layer, true);
        Await(Multiply(LayerTask::PROJECTION, get(LayerPart::PROJECTION), {}, &activations));
        return;
    }
    const Time length = GetNetworkTime(layer, pass, GetProductPieces(m_plan));
    if (!model.HasExperts(layer))
    {
        Await(Multiply(LayerTask::FEED_FORWARD, length, GatherParts(activations), &activations));
        return;
    }
    const auto share = [&] {
        if (model.sharedExperts > 0)
        {
            Compute(LayerTask::SHARED_EXPERTS, LayerPart::SHARED_EXPERTS, pass, layer);
        }
    };
    const bool overlaps = m_plan.GetOptions().sharedExpertOverlap;
    const uint64_t there = m_experts.Exchange(LayerTask::DISPATCH, true);
    if (overlaps)
    {
        share();
    }
    m_writer.Await(there);
    Await(Multiply(LayerTask::EXPERTS, length, GatherParts(activations), &activations));
    m_writer.Await(m_experts.Exchange(LayerTask::COMBINE, false));
    if (!overlaps)
    {
        share();
    }
}

void
LayerTasks::Forward(uint32_t layer)
{
    m_writer.SetLayer(static_cast<int32_t>(layer));
    if (m_plan.GetModel().IsPrediction(layer))
    {
        ForwardPrediction(layer);
    }
    ForwardBlock(layer, Block::ATTENTION);
    ForwardBlock(layer, Block::FEED_FORWARD);
}

/**
 * Joins the input of a prediction with the embedding of the next token (Megatron-LM,
 * MultiTokenPredictionLayer): ranks have columns of the matrix, and gather its results.
 */
void
LayerTasks::ForwardPrediction(uint32_t layer)
{
    Compute(LayerTask::EMBEDDING, LayerPart::EMBEDDING, LayerPass::FORWARD, layer);
    m_writer.Await(Reduce());
    m_writer.Await(Gather(2));
    Compute(LayerTask::PREDICTION, LayerPart::PREDICTION, LayerPass::FORWARD, layer);
    const uint64_t results = m_plan.GetActivationBytes();
    m_writer.Await(Gather({PlanGroups::TENSOR, results, true}, results));
}

void
LayerTasks::BackwardPrediction(uint32_t layer, bool withWeights)
{
    const uint64_t inputs = withWeights ? Gather(2) : 0;
    Compute(LayerTask::INPUT_GRADIENT, LayerPart::PREDICTION, LayerPass::INPUT_GRADIENT, layer);
    const uint64_t reduced = Reduce(2);
    if (withWeights)
    {
        PredictionWeights(layer, inputs);
    }
    m_writer.Await(reduced);
}

/** Gradients of the weights of the matrix, when its inputs have been gathered again. */
void
LayerTasks::PredictionWeights(uint32_t layer, uint64_t inputs)
{
    m_writer.Await(inputs);
    Compute(LayerTask::WEIGHT_GRADIENT, LayerPart::PREDICTION, LayerPass::WEIGHT_GRADIENT, layer);
}

/** @return the gather of a block's inputs for gradients of weights; 0: ranks have kept them */
uint64_t
LayerTasks::GatherInputs(uint32_t layer, Block block)
{
    return block == Block::FEED_FORWARD && m_plan.GetModel().HasExperts(layer) ? 0 : Gather();
}

/** Gradients of a block. @return the reductions of those of its inputs */
std::vector<uint64_t>
LayerTasks::BackwardBlock(uint32_t layer, Block block, bool withWeights)
{
    const Activations activations = GetActivations(layer, block);
    const std::vector<uint64_t> gradients = GatherParts(activations);
    const uint64_t inputs = withWeights ? GatherInputs(layer, block) : 0;
    const auto get = [&](LayerPart part) {
        return GetBackwardTime(part, layer, 1, GetProductPieces(m_plan));
    };
    std::vector<uint64_t> reduced;
    if (block == Block::FEED_FORWARD)
    {
        reduced =
            Multiply(LayerTask::INPUT_GRADIENT,
                     GetNetworkTime(layer, LayerPass::INPUT_GRADIENT, GetProductPieces(m_plan)),
                     gradients,
                     &activations);
    }
    else
    {
        Multiply(LayerTask::INPUT_GRADIENT, get(LayerPart::PROJECTION), gradients, nullptr);
        Attend(layer, false);
        reduced = Multiply(LayerTask::INPUT_GRADIENT, get(LayerPart::INPUTS), {}, &activations);
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
    if (m_again.IsFull())
    {
        Forward(layer);
    }
    const auto share = [&] {
        if (model.GetSharedParameters() > 0)
        {
            m_tasks.Compute(LayerTask::INPUT_GRADIENT,
                            GetBackwardTime(LayerPart::SHARED_EXPERTS, layer));
        }
    };
    for (Block block : {Block::FEED_FORWARD, Block::ATTENTION})
    {
        const bool exchanges = block == Block::FEED_FORWARD && model.HasExperts(layer);
        if (block == Block::FEED_FORWARD && m_again.HasNetwork(exchanges))
        {
            ForwardBlock(layer, block, LayerPass::REPEATED);
        }
        if (exchanges)
        {
            const uint64_t there = m_experts.Exchange(LayerTask::COMBINE, true);
            if (options.sharedExpertOverlap)
            {
                share();
            }
            m_writer.Await(there);
        }
        Await(BackwardBlock(layer, block, withWeights));
        if (exchanges)
        {
            m_writer.Await(m_experts.Exchange(LayerTask::DISPATCH, false));
            if (!options.sharedExpertOverlap)
            {
                share();
            }
        }
    }
    if (model.IsPrediction(layer))
    {
        BackwardPrediction(layer, withWeights);
    }
}

/** Gradients of the weights of a block, when its inputs have been gathered again. */
void
LayerTasks::WeightGradients(uint32_t layer, Block block, uint64_t inputs)
{
    m_writer.Await(inputs);
    const auto get = [&](LayerPart part) {
        return m_times.Get(part, LayerPass::WEIGHT_GRADIENT, layer);
    };
    m_tasks.Compute(LayerTask::WEIGHT_GRADIENT,
                    block == Block::ATTENTION ? get(LayerPart::INPUTS) + get(LayerPart::PROJECTION)
                                              : GetNetworkTime(layer, LayerPass::WEIGHT_GRADIENT) +
                                                    get(LayerPart::SHARED_EXPERTS));
}

void
LayerTasks::WeightGradients(uint32_t layer)
{
    m_writer.SetLayer(static_cast<int32_t>(layer));
    for (Block block : {Block::FEED_FORWARD, Block::ATTENTION})
    {
        WeightGradients(layer, block, GatherInputs(layer, block));
    }
    if (m_plan.GetModel().IsPrediction(layer))
    {
        PredictionWeights(layer, Gather(2));
    }
}

void
LayerTasks::ForwardEmbedding()
{
    m_writer.SetLayer(-1);
    Compute(LayerTask::EMBEDDING, LayerPart::EMBEDDING, LayerPass::FORWARD, 0);
    m_writer.Await(Reduce());
}

void
LayerTasks::ForwardOutput()
{
    m_writer.SetLayer(-1);
    for (uint32_t token = 0; token <= m_plan.GetModel().predictionLayers; token++)
    {
        m_writer.Await(Gather());
        Compute(LayerTask::OUTPUT, LayerPart::OUTPUT, LayerPass::FORWARD, 0);
    }
}

void
LayerTasks::BackwardOutput()
{
    m_writer.SetLayer(-1);
    for (uint32_t token = 0; token <= m_plan.GetModel().predictionLayers; token++)
    {
        Compute(LayerTask::INPUT_GRADIENT, LayerPart::OUTPUT, LayerPass::INPUT_GRADIENT, 0);
        const uint64_t reduced = Reduce(); // while gradients of weights are computed
        Compute(LayerTask::WEIGHT_GRADIENT, LayerPart::OUTPUT, LayerPass::WEIGHT_GRADIENT, 0);
        m_writer.Await(reduced);
    }
}

} // namespace ns3::training
