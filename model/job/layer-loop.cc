/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layer-loop.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

namespace ns3::training
{

namespace
{

/// Maximum number of ranks that share a model.
constexpr uint32_t MAX_GROUP = 1 << 16;
/// Maximum size of an all-to-all of embeddings, bytes.
constexpr uint64_t MAX_EXCHANGE_BYTES = uint64_t{1} << 40;

constexpr std::array<const char*, LAYER_PASSES> PASS_NAMES{"forward",
                                                           "input gradient",
                                                           "weight gradient"};

uint32_t
GetIndex(LayerPass pass)
{
    return static_cast<uint32_t>(pass);
}

/** One action of a rank in an iteration. */
struct LoopStep
{
    TaskStep::Kind kind;
    LayerPass pass;
    uint32_t layer;
};

/** Lists the steps of an iteration. */
class LoopSteps
{
  public:
    explicit LoopSteps(const LayerLoop& loop)
        : m_loop(loop),
          m_isEmbedding(loop.order == LayerLoop::Order::EMBEDDING)
    {
        AddForward();
        if (loop.order == LayerLoop::Order::MODEL)
        {
            AddInputsFirst();
        }
        else
        {
            AddWeightsFirst();
        }
        if (!loop.layers.empty())
        {
            Wait(LayerPass::WEIGHT_GRADIENT, 0); // the next iteration begins with these weights
        }
    }

    const std::vector<LoopStep>& Get() const
    {
        return m_steps;
    }

  private:
    void AddForward()
    {
        for (uint32_t layer = 0; layer < m_loop.layers.size(); layer++)
        {
            if (layer > 0)
            {
                Wait(LayerPass::WEIGHT_GRADIENT, layer); // of the previous iteration
            }
            Compute(LayerPass::FORWARD, layer);
            Start(LayerPass::FORWARD, layer);
            if (!m_isEmbedding || layer > 0)
            {
                Wait(LayerPass::FORWARD, layer);
            }
            if (m_isEmbedding && layer == m_loop.lastBottom)
            {
                Wait(LayerPass::FORWARD, 0);
            }
        }
    }

    /** Adds the backward pass with gradients of weights first. */
    void AddWeightsFirst()
    {
        for (auto layer = static_cast<uint32_t>(m_loop.layers.size()); layer-- > 0;)
        {
            Compute(LayerPass::WEIGHT_GRADIENT, layer);
            Start(LayerPass::WEIGHT_GRADIENT, layer);
            if (layer == 0)
            {
                break; // the input data need no gradients
            }
            Compute(LayerPass::INPUT_GRADIENT, layer);
            if (m_isEmbedding && layer == m_loop.lastBottom + 1)
            {
                Start(LayerPass::INPUT_GRADIENT, 0);
            }
        }
        if (m_isEmbedding)
        {
            Wait(LayerPass::INPUT_GRADIENT, 0);
        }
    }

    /** Adds the backward pass with gradients of inputs first. */
    void AddInputsFirst()
    {
        for (auto layer = static_cast<uint32_t>(m_loop.layers.size()); layer-- > 0;)
        {
            Compute(LayerPass::INPUT_GRADIENT, layer);
            if (layer > 0)
            {
                Start(LayerPass::INPUT_GRADIENT, layer);
            }
            Compute(LayerPass::WEIGHT_GRADIENT, layer);
            Start(LayerPass::WEIGHT_GRADIENT, layer);
            if (layer > 0)
            {
                Wait(LayerPass::INPUT_GRADIENT, layer);
            }
        }
    }

    void Compute(LayerPass pass, uint32_t layer)
    {
        m_steps.push_back({TaskStep::Kind::COMPUTE, pass, layer});
    }

    void Start(LayerPass pass, uint32_t layer)
    {
        AddIfAny(TaskStep::Kind::START, pass, layer);
    }

    void Wait(LayerPass pass, uint32_t layer)
    {
        AddIfAny(TaskStep::Kind::WAIT, pass, layer);
    }

    void AddIfAny(TaskStep::Kind kind, LayerPass pass, uint32_t layer)
    {
        if (m_loop.layers[layer].works[GetIndex(pass)].bytes > 0)
        {
            m_steps.push_back({kind, pass, layer});
        }
    }

    const LayerLoop& m_loop;
    bool m_isEmbedding;
    std::vector<LoopStep> m_steps;
};

/** @return the groups of a scope */
TaskCommunicator
MakeCommunicator(LayerLoop::Scope scope, uint32_t ranks, uint32_t groupRanks)
{
    using Scope = LayerLoop::Scope;
    TaskCommunicator communicator;
    communicator.exchanges = scope == Scope::EXCHANGE;
    const bool isWithin = scope == Scope::WITHIN;
    const uint32_t groups = scope == Scope::EXCHANGE ? 1
                            : isWithin               ? ranks / groupRanks
                                                     : groupRanks;
    communicator.groups.resize(groups);
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        const uint32_t group = scope == Scope::EXCHANGE ? 0
                               : isWithin               ? rank / groupRanks
                                                        : rank % groupRanks;
        communicator.groups[group].push_back(rank);
    }
    return communicator;
}

/** @return why a pass communicates */
Parallelism
GetParallelism(LayerLoop::Scope scope, LayerPass pass)
{
    if (pass == LayerPass::WEIGHT_GRADIENT)
    {
        return Parallelism::DATA;
    }
    return scope == LayerLoop::Scope::EXCHANGE ? Parallelism::NONE : Parallelism::TENSOR;
}

/** @return whether groups of ranks share a model */
bool
HasGroups(const LayerLoop& loop)
{
    return std::any_of(loop.scopes.begin(), loop.scopes.end(), [](LayerLoop::Scope scope) {
        return scope == LayerLoop::Scope::WITHIN || scope == LayerLoop::Scope::BETWEEN;
    });
}

/** @return number of ranks that share a model: the given number, or the ranks of a server */
uint32_t
GetGroupRanks(const WorkloadRequest& request)
{
    const bool isGiven = request.values.Has("group");
    const uint64_t size = isGiven                   ? request.values.GetCount("group")
                          : request.serverRanks > 1 ? request.serverRanks
                                                    : request.ranks;
    if (request.ranks % size != 0)
    {
        throw ConfigurationError("workload",
                                 request.values.GetSpelling(),
                                 " with " + std::to_string(request.ranks) + " ranks in groups of " +
                                     std::to_string(size) +
                                     " (allowed: groups that divide the ranks, by the key group)");
    }
    return static_cast<uint32_t>(size);
}

/** Refuses options that only data-parallel training supports. */
void
RefuseDataParallel(const WorkloadRequest& request)
{
    const WorkloadRequest usual;
    if (request.batch != usual.batch || request.bucket != usual.bucket ||
        request.overlap != usual.overlap || request.gpu != usual.gpu)
    {
        throw ConfigurationError(
            "workload",
            request.values.GetSpelling(),
            " with batch, bucket, overlap or gpu (allowed: with models that are "
            "trained data parallel)");
    }
}

/** @return the loop with scaled times */
LayerLoop
Scale(LayerLoop loop, double scale)
{
    if (scale != 1)
    {
        for (LoopLayer& layer : loop.layers)
        {
            layer.update = RoundToPicoseconds(layer.update.GetSeconds() * scale);
            for (LayerWork& work : layer.works)
            {
                work.compute = RoundToPicoseconds(work.compute.GetSeconds() * scale);
            }
        }
    }
    return loop;
}

} // namespace

TrainingTask
MakeLayerLoopTask(const LayerLoop& loop, uint32_t ranks, uint32_t groupRanks)
{
    TrainingTask task;
    task.name = loop.name;
    std::map<LayerLoop::Scope, uint32_t> communicators{{LayerLoop::Scope::ALL, 0}};
    for (LayerLoop::Scope scope : loop.scopes)
    {
        const auto number = static_cast<uint32_t>(task.communicators.size());
        if (communicators.emplace(scope, number).second)
        {
            task.communicators.push_back(MakeCommunicator(scope, ranks, groupRanks));
        }
    }
    const LoopSteps list(loop);
    // Waits in the forward pass belong to collectives that the backward pass starts.
    std::map<std::pair<LayerPass, uint32_t>, uint32_t> numbers;
    for (const LoopStep& step : list.Get())
    {
        if (step.kind == TaskStep::Kind::START)
        {
            numbers.emplace(std::make_pair(step.pass, step.layer),
                            static_cast<uint32_t>(numbers.size()));
        }
    }
    for (const LoopStep& step : list.Get())
    {
        const LoopLayer& layer = loop.layers[step.layer];
        const LayerWork& work = layer.works[GetIndex(step.pass)];
        const auto number = numbers.find({step.pass, step.layer});
        if (step.kind == TaskStep::Kind::COMPUTE)
        {
            task.Compute(work.compute,
                         std::string(PASS_NAMES[GetIndex(step.pass)]) + " " + layer.name);
        }
        else if (step.kind == TaskStep::Kind::START)
        {
            TaskCollective collective;
            collective.operation = work.operation;
            collective.communicator = communicators.at(loop.scopes[GetIndex(step.pass)]);
            collective.bytes = work.bytes;
            if (work.operation == CollectiveOperation::ALL_GATHER)
            {
                collective.bytes *= task.GetGroupSize(collective.communicator, ranks);
            }
            collective.update = layer.update;
            collective.parallelism = GetParallelism(loop.scopes[GetIndex(step.pass)], step.pass);
            task.Start(collective);
        }
        else if (number != numbers.end())
        {
            task.Wait(number->second);
        }
    }
    return task;
}

WorkloadEntry
MakeLayerLoopWorkload(const std::string& help, const std::function<LayerLoop()>& make)
{
    const LayerLoop usual = make();
    const bool hasGroups = HasGroups(usual);
    const bool hasEmbedding = usual.order == LayerLoop::Order::EMBEDDING;
    WorkloadEntry entry;
    entry.help = help;
    if (hasEmbedding)
    {
        entry.keys = {Key::Count("exchange",
                                 usual.layers[0].works[0].bytes,
                                 1,
                                 MAX_EXCHANGE_BYTES,
                                 "size of each all-to-all of embeddings at a rank, bytes")};
    }
    if (hasGroups)
    {
        entry.keys = {Key::OptionalCount(
            "group",
            1,
            MAX_GROUP,
            "consecutive ranks that share a model; default: those of a server or package of the "
            "topology, or all if it has none")};
    }
    entry.task = [make, hasGroups, hasEmbedding](const WorkloadRequest& request) {
        RefuseDataParallel(request);
        LayerLoop loop = make();
        if (hasEmbedding)
        {
            for (LayerWork& work : loop.layers[0].works)
            {
                work.bytes = work.bytes > 0 ? request.values.GetCount("exchange") : 0;
            }
        }
        const uint32_t groupRanks = hasGroups ? GetGroupRanks(request) : 1;
        const Time compute = MakeLayerLoopTask(loop, request.ranks, groupRanks).GetComputeTime();
        CheckComputeTime(request.values.GetName(), compute.GetSeconds(), request.computeScale);
        TrainingTask task =
            MakeLayerLoopTask(Scale(loop, request.computeScale), request.ranks, groupRanks);
        task.name = request.values.GetName();
        task.times = "ASTRA-sim 1.0's layer file";
        std::array<char, 80> text{};
        std::snprintf(text.data(),
                      text.size(),
                      " (%zu layers, %zu collectives, %.1f us of compute)",
                      loop.layers.size(),
                      task.collectives.size(),
                      task.GetComputeTime().GetSeconds() * 1e6);
        task.description = task.name + text.data();
        return task;
    };
    return entry;
}

LoopLayer
MakeLoopLayer(const std::string& name,
              const std::array<int64_t, LAYER_PASSES>& nanoseconds,
              const std::array<CollectiveOperation, LAYER_PASSES>& operations,
              uint64_t bytes,
              int64_t update)
{
    LoopLayer layer;
    layer.name = name;
    layer.update = NanoSeconds(update);
    for (uint32_t i = 0; i < LAYER_PASSES; i++)
    {
        const bool isNone = operations[i] == CollectiveOperation::BARRIER;
        layer.works[i] = {NanoSeconds(nanoseconds[i]), operations[i], isNone ? 0 : bytes};
    }
    return layer;
}

} // namespace ns3::training
