/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/transformer-graph.h"

#include "layer-tasks.h"
#include "parallel/stage-messages.h"
#include "parallel/zero-quantization.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

/// Bytes that Adam reads and writes for a parameter: gradient, copy, mean and variance of 4 bytes
/// each, of which all but the gradient are written, and a parameter of 2 bytes.
constexpr double UPDATE_BYTES = 30;

/** All-gathers of the parameters of a unit. */
struct GatheredUnit
{
    std::vector<uint64_t> tasks;
    uint64_t quantized{0}; // parameters that arrive quantized
};

/** The tasks of a rank: the actions of its pipeline schedule, one after the other. */
class TransformerSource : public QueuedSource
{
  public:
    TransformerSource(std::shared_ptr<const ParallelPlan> plan,
                      const TransformerRates& rates,
                      uint32_t rank,
                      uint32_t iterations);

  private:
    std::deque<GraphTask>& GetQueue() override
    {
        return m_tasks.GetWriter().GetTasks();
    }

    bool Write() override;

    const std::vector<PipelineAction>& GetActions() const
    {
        return m_plan->GetSchedule().actions[m_place];
    }

    bool HasStage(uint32_t stage) const
    {
        return m_plan->GetSchedule().rankOfStage[stage] == m_place;
    }

    void Do(std::size_t index);
    void Forward(const PipelineAction& action);
    void Backward(const PipelineAction& action, bool isLast);
    void WeightGradients(const PipelineAction& action, bool isLast);
    uint32_t GetFirstUnit(uint32_t stage) const;
    uint64_t GetDenseParameters(uint32_t unit) const;
    uint64_t GetExpertParameters(uint32_t unit) const;
    void GatherUnit(uint32_t unit, bool isForward);
    void Gather(uint32_t unit, PlanGroups groups, uint64_t parameters);
    void Unshard(uint32_t stage, uint32_t unit, bool isForward);
    void AddGradients(uint32_t unit, bool isLast);
    void ReduceBucket(PlanGroups groups);
    void ReduceByLayer(PlanGroups groups, uint64_t parameters);
    void Update(uint32_t unit);
    uint64_t StartReduction(PlanGroups groups,
                            CollectiveOperation operation,
                            uint64_t bytes,
                            uint64_t after);
    uint64_t ReduceGradients(PlanGroups groups, uint64_t parameters);
    void ReduceBuckets();
    void EndIteration();
    void GatherParameters();

    std::shared_ptr<const ParallelPlan> m_plan;
    LayerTasks m_tasks;
    StageMessages m_messages;
    ZeroQuantization m_quantization;
    uint32_t m_rank;
    uint32_t m_place; // in the pipeline
    uint32_t m_iterations;
    uint32_t m_iteration{0};
    std::size_t m_next{0};                    // action
    std::vector<std::size_t> m_lastOfStage;   // by stage, the action that completes its gradients
    std::map<PlanGroups, uint64_t> m_buckets; // parameters whose gradients wait for more
    std::vector<uint64_t> m_reductions;       // of this iteration, awaited by the update
    // Units of parameters: the embedding is 0, layer k is k + 1, the output layer comes last.
    std::map<uint32_t, GatheredUnit> m_gathered; // not awaited yet
    std::set<uint32_t> m_kept;                   // units whose parameters were not dropped
    // By layer: units with gradients in a bucket, and by unit what its next update waits for.
    std::map<PlanGroups, std::vector<uint32_t>> m_unitsOfBucket;
    std::map<uint32_t, std::vector<uint64_t>> m_reduced;
};

TransformerSource::TransformerSource(std::shared_ptr<const ParallelPlan> plan,
                                     const TransformerRates& rates,
                                     uint32_t rank,
                                     uint32_t iterations)
    : m_plan(std::move(plan)),
      m_tasks(*m_plan, rates, rank),
      m_messages(*m_plan, m_tasks, rank),
      m_quantization(*m_plan, m_tasks),
      m_rank(rank),
      m_place(m_plan->GetPipelineRank(rank)),
      m_iterations(iterations),
      m_lastOfStage(m_plan->GetStages())
{
    for (std::size_t index = 0; index < GetActions().size(); index++)
    {
        const PipelineAction& action = GetActions()[index];
        if (action.work == PipelineWork::BACKWARD || action.work == PipelineWork::WEIGHT_GRADIENT)
        {
            m_lastOfStage[action.stage] = index;
        }
    }
}

bool
TransformerSource::Write()
{
    if (m_iteration == m_iterations)
    {
        return false;
    }
    if (m_next < GetActions().size())
    {
        Do(m_next++);
        return true;
    }
    EndIteration();
    m_next = 0;
    m_iteration++;
    return true;
}

void
TransformerSource::Do(std::size_t index)
{
    const PipelineAction& action = GetActions()[index];
    const bool isLast = m_lastOfStage[action.stage] == index;
    m_messages.Begin(index);
    m_tasks.GetWriter().SetMicroBatch(static_cast<int32_t>(action.microBatch));
    switch (action.work)
    {
    case PipelineWork::FORWARD:
        Forward(action);
        break;
    case PipelineWork::BACKWARD:
    case PipelineWork::INPUT_GRADIENT:
        Backward(action, isLast);
        break;
    case PipelineWork::WEIGHT_GRADIENT:
        WeightGradients(action, isLast);
        break;
    case PipelineWork::UNSHARD:
    case PipelineWork::RESHARD:
    case PipelineWork::REDUCE_GRADIENT:
        break; // follow from ZeRO
    }
}

void
TransformerSource::Forward(const PipelineAction& action)
{
    m_messages.AwaitInput(action);
    if (action.stage == 0)
    {
        Unshard(0, 0, true);
        m_tasks.ForwardEmbedding();
    }
    const uint32_t end = m_plan->GetFirstLayer(action.stage + 1);
    for (uint32_t layer = m_plan->GetFirstLayer(action.stage); layer < end; layer++)
    {
        Unshard(action.stage, layer + 1, true);
        m_tasks.Forward(layer);
    }
    if (action.stage + 1 == m_plan->GetStages())
    {
        Unshard(action.stage, end + 1, true);
        m_tasks.ForwardOutput();
        return;
    }
    m_messages.PassOutput(action);
}

void
TransformerSource::Backward(const PipelineAction& action, bool isLast)
{
    const bool isWhole = action.work == PipelineWork::BACKWARD;
    const bool withWeights = isWhole && !m_plan->GetOptions().delayWgrad;
    m_messages.AwaitInput(action);
    if (action.stage + 1 == m_plan->GetStages())
    {
        Unshard(action.stage, m_plan->GetModel().layers + 1, false);
        m_tasks.BackwardOutput();
    }
    const uint32_t end = m_plan->GetFirstLayer(action.stage + 1);
    if (withWeights && action.stage + 1 == m_plan->GetStages())
    {
        AddGradients(end + 1, isLast);
    }
    for (uint32_t layer = end; layer-- > m_plan->GetFirstLayer(action.stage);)
    {
        Unshard(action.stage, layer + 1, false);
        m_tasks.Backward(layer, withWeights);
        if (withWeights)
        {
            AddGradients(layer + 1, isLast);
        }
    }
    if (action.stage > 0)
    {
        m_messages.PassOutput(action);
    }
    else
    {
        Unshard(0, 0, false);
    }
    if (isWhole && !withWeights)
    {
        WeightGradients(action, isLast);
        return;
    }
    if (withWeights && action.stage == 0)
    {
        AddGradients(0, isLast);
    }
    if (isLast)
    {
        ReduceBuckets();
    }
}

void
TransformerSource::WeightGradients(const PipelineAction& action, bool isLast)
{
    const uint32_t end = m_plan->GetFirstLayer(action.stage + 1);
    if (action.stage + 1 == m_plan->GetStages())
    {
        AddGradients(end + 1, isLast);
    }
    for (uint32_t layer = end; layer-- > m_plan->GetFirstLayer(action.stage);)
    {
        m_tasks.WeightGradients(layer);
        AddGradients(layer + 1, isLast);
    }
    if (action.stage == 0)
    {
        AddGradients(0, isLast);
    }
    if (isLast)
    {
        ReduceBuckets();
    }
}

/** @return the first unit of a stage; that of the number of stages is the number of units */
uint32_t
TransformerSource::GetFirstUnit(uint32_t stage) const
{
    return stage == 0                     ? 0
           : stage == m_plan->GetStages() ? m_plan->GetModel().layers + 2
                                          : m_plan->GetFirstLayer(stage) + 1;
}

uint64_t
TransformerSource::GetDenseParameters(uint32_t unit) const
{
    return unit == 0                          ? m_plan->GetEmbeddingParameters(0)
           : unit > m_plan->GetModel().layers ? m_plan->GetOutputParameters(m_plan->GetStages() - 1)
                                              : m_plan->GetDenseParameters(unit - 1);
}

uint64_t
TransformerSource::GetExpertParameters(uint32_t unit) const
{
    const bool isLayer = unit > 0 && unit <= m_plan->GetModel().layers;
    return isLayer ? m_plan->GetExpertParameters(unit - 1) : 0;
}

/** All-gathers of the parameters of a unit, for ZeRO. */
void
TransformerSource::GatherUnit(uint32_t unit, bool isForward)
{
    // The copy for the backward pass is near.
    const bool isNear = m_plan->GetOptions().hpzPartition > 0 && !isForward;
    Gather(unit, isNear ? PlanGroups::SHARD : m_plan->GetShards(), GetDenseParameters(unit));
    Gather(unit, m_plan->GetExpertShards(), GetExpertParameters(unit));
}

/** An all-gather of parameters, in code with ZeRO++. */
void
TransformerSource::Gather(uint32_t unit, PlanGroups groups, uint64_t parameters)
{
    GatheredUnit& gathered = m_gathered[unit];
    if (m_plan->GetOptions().quantizedWeights && m_plan->GetSize(groups) > 1 && parameters > 0)
    {
        gathered.quantized += parameters;
        gathered.tasks.push_back(m_quantization.Gather(groups, parameters));
        return;
    }
    gathered.tasks.push_back(m_tasks.Communicate(LayerTask::PARAMETERS,
                                                 groups,
                                                 LayerTasks::DATA_STREAM,
                                                 Operation::ALL_GATHER,
                                                 PARAMETER_BYTES * parameters));
}

/** Awaits the parameters of a unit, and with ZeRO 3 gathers those of the next ones. */
void
TransformerSource::Unshard(uint32_t stage, uint32_t unit, bool isForward)
{
    const ParallelOptions& options = m_plan->GetOptions();
    if (options.zero == 3)
    {
        for (uint64_t ahead = 0; ahead <= options.prefetch; ahead++)
        {
            // Before the first unit the number wraps.
            const auto next = static_cast<uint32_t>(isForward ? unit + ahead : unit - ahead);
            if (next >= GetFirstUnit(stage) && next < GetFirstUnit(stage + 1) &&
                m_gathered.count(next) == 0 && m_kept.count(next) == 0)
            {
                GatherUnit(next, isForward);
            }
        }
        if (isForward && !options.reshard)
        {
            m_kept.insert(unit);
        }
        else if (!isForward)
        {
            m_kept.erase(unit);
        }
    }
    Update(unit);
    const auto gathered = m_gathered.find(unit);
    if (gathered != m_gathered.end())
    {
        for (uint64_t id : gathered->second.tasks)
        {
            m_tasks.GetWriter().Await(id);
        }
        if (gathered->second.quantized > 0)
        {
            m_quantization.Restore(gathered->second.quantized);
        }
        m_gathered.erase(gathered);
    }
}

void
TransformerSource::AddGradients(uint32_t unit, bool isLast)
{
    const ParallelOptions& options = m_plan->GetOptions();
    if (!isLast && options.zero < 2)
    {
        return; // added up in memory
    }
    m_buckets[PlanGroups::DATA] += GetDenseParameters(unit);
    m_buckets[PlanGroups::EXPERT_DATA] += GetExpertParameters(unit);
    if (options.byLayer)
    {
        m_unitsOfBucket[PlanGroups::DATA].push_back(unit);
        m_unitsOfBucket[PlanGroups::EXPERT_DATA].push_back(unit);
    }
    for (const auto& [groups, parameters] : m_buckets)
    {
        const bool isFull = parameters * m_plan->GetGradientBytes() >= options.bucket;
        if ((isFull && options.overlapGradReduce) || options.zero == 3)
        {
            ReduceBucket(groups);
        }
    }
}

/** @return a step of the reduction of gradients; the one before it if it is none */
uint64_t
TransformerSource::StartReduction(PlanGroups groups,
                                  CollectiveOperation operation,
                                  uint64_t bytes,
                                  uint64_t after)
{
    const auto stream = after > 0 ? LayerTasks::REPLICA_STREAM : LayerTasks::DATA_STREAM;
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
TransformerSource::ReduceGradients(PlanGroups groups, uint64_t parameters)
{
    const ParallelOptions& options = m_plan->GetOptions();
    const bool isDense = groups == PlanGroups::DATA;
    const uint64_t bytes = parameters * m_plan->GetGradientBytes();
    if (isDense && options.quantizedGradients)
    {
        return m_quantization.Reduce(parameters);
    }
    if (options.shard > 0)
    {
        const PlanGroups near = isDense ? m_plan->GetShards() : m_plan->GetExpertShards();
        const uint64_t inside = StartReduction(near, Operation::REDUCE_SCATTER, bytes, 0);
        return StartReduction(isDense ? PlanGroups::REPLICA : PlanGroups::EXPERT_REPLICA,
                              Operation::ALL_REDUCE,
                              bytes / m_plan->GetSize(near),
                              inside);
    }
    return StartReduction(groups,
                          options.zero == 0 ? Operation::ALL_REDUCE : Operation::REDUCE_SCATTER,
                          bytes,
                          0);
}

void
TransformerSource::ReduceBucket(PlanGroups groups)
{
    const uint64_t parameters = std::exchange(m_buckets[groups], 0);
    if (m_plan->GetOptions().byLayer)
    {
        ReduceByLayer(groups, parameters);
        return;
    }
    const uint64_t id = ReduceGradients(groups, parameters);
    if (id > 0)
    {
        m_reductions.push_back(id);
    }
}

/** Reduces a bucket, whose first unit is needed first; each of its units waits for it. */
void
TransformerSource::ReduceByLayer(PlanGroups groups, uint64_t parameters)
{
    const auto units = std::exchange(m_unitsOfBucket[groups], {});
    if (units.empty())
    {
        return;
    }
    const auto first = static_cast<int32_t>(*std::min_element(units.begin(), units.end()));
    const uint64_t id = m_tasks.Communicate(LayerTask::GRADIENTS,
                                            groups,
                                            LayerTasks::FREE_STREAM,
                                            Operation::ALL_REDUCE,
                                            parameters * m_plan->GetGradientBytes(),
                                            0,
                                            nullptr,
                                            -first);
    for (uint32_t unit : units)
    {
        m_reduced[unit].push_back(id);
    }
}

/** By layer: the optimizer's step of a unit, when its gradients have been reduced. */
void
TransformerSource::Update(uint32_t unit)
{
    const auto reduced = m_reduced.find(unit);
    if (reduced == m_reduced.end())
    {
        return;
    }
    for (uint64_t id : reduced->second)
    {
        m_tasks.GetWriter().Await(id);
    }
    m_reduced.erase(reduced);
    m_tasks.Compute(LayerTask::UPDATE,
                    0,
                    UPDATE_BYTES *
                        static_cast<double>(GetDenseParameters(unit) + GetExpertParameters(unit)));
}

/** Reduces what is left of a stage. */
void
TransformerSource::ReduceBuckets()
{
    if (m_plan->GetOptions().overlapGradReduce)
    {
        ReduceBucket(PlanGroups::DATA);
        ReduceBucket(PlanGroups::EXPERT_DATA);
    }
}

void
TransformerSource::EndIteration()
{
    const ParallelOptions& options = m_plan->GetOptions();
    m_messages.Begin(GetActions().size());
    m_tasks.GetWriter().SetMicroBatch(-1);
    ReduceBucket(PlanGroups::DATA);
    ReduceBucket(PlanGroups::EXPERT_DATA);
    const TransformerModel& model = m_plan->GetModel();
    if (model.tiesEmbeddings && options.pipeline > 1 &&
        (HasStage(0) != HasStage(m_plan->GetStages() - 1)))
    {
        const uint64_t id = m_tasks.Communicate(LayerTask::EMBEDDING_GRADIENT,
                                                PlanGroups::EMBEDDING,
                                                LayerTasks::DATA_STREAM,
                                                Operation::ALL_REDUCE,
                                                m_plan->GetGradientBytes() * model.vocabulary *
                                                    model.hidden / options.tensor);
        if (options.byLayer)
        {
            m_reduced[HasStage(0) ? 0 : model.layers + 1].push_back(id);
        }
        else
        {
            m_tasks.GetWriter().Await(id);
        }
    }
    if (options.byLayer)
    {
        m_tasks.Mark();
        return;
    }
    for (uint64_t id : m_reductions)
    {
        m_tasks.GetWriter().Await(id);
    }
    m_reductions.clear();
    const auto getUpdated = [&](uint64_t parameters, PlanGroups groups) {
        return static_cast<double>(parameters) / (options.zero >= 1 ? m_plan->GetSize(groups) : 1);
    };
    m_tasks.Compute(
        LayerTask::UPDATE,
        0,
        UPDATE_BYTES *
            (getUpdated(m_plan->GetDenseParametersOfRank(m_rank), m_plan->GetShards()) +
             getUpdated(m_plan->GetExpertParametersOfRank(m_rank), m_plan->GetExpertShards())));
    if (options.zero == 1 || options.zero == 2)
    {
        GatherParameters();
    }
    m_tasks.Mark();
}

/** All-gathers of the updated parameters, in the order of the next forward pass. */
void
TransformerSource::GatherParameters()
{
    for (uint32_t stage = 0; stage < m_plan->GetStages(); stage++)
    {
        if (!HasStage(stage))
        {
            continue;
        }
        for (uint32_t unit = GetFirstUnit(stage); unit < GetFirstUnit(stage + 1); unit++)
        {
            GatherUnit(unit, true);
        }
    }
    if (m_plan->GetOptions().overlapParamGather)
    {
        return;
    }
    for (const auto& [unit, gathered] : m_gathered)
    {
        for (uint64_t id : gathered.tasks)
        {
            m_tasks.GetWriter().Await(id);
        }
    }
    m_gathered.clear();
}

} // namespace

TransformerGraph::TransformerGraph(std::shared_ptr<const ParallelPlan> plan,
                                   const TransformerRates& rates)
    : m_plan(std::move(plan)),
      m_rates(rates)
{
}

uint32_t
TransformerGraph::GetRanks() const
{
    return m_plan->GetRanks();
}

const std::vector<TaskGroups>&
TransformerGraph::GetGroups() const
{
    return m_plan->GetGroups();
}

const std::vector<std::string>&
TransformerGraph::GetNames() const
{
    return GetLayerTaskNames();
}

std::unique_ptr<TaskSource>
TransformerGraph::MakeSource(uint32_t rank, uint32_t iterations) const
{
    return std::make_unique<TransformerSource>(m_plan, m_rates, rank, iterations);
}

} // namespace ns3::training
