/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transformer-graph.h"

#include "layer-tasks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

/// Bytes that Adam reads and writes for a parameter: gradient, copy, mean and variance of 4 bytes
/// each, of which all but the gradient are written, and a parameter of 2 bytes.
constexpr double UPDATE_BYTES = 30;

/** The tasks of a rank: the actions of its pipeline schedule, one after the other. */
class TransformerSource : public TaskSource
{
  public:
    TransformerSource(std::shared_ptr<const ParallelPlan> plan,
                      const TransformerRates& rates,
                      uint32_t rank,
                      uint32_t iterations);

    bool Next(GraphTask& task) override;

  private:
    const std::vector<PipelineAction>& GetActions() const
    {
        return m_plan->GetSchedule().actions[m_place];
    }

    bool HasStage(uint32_t stage) const
    {
        return m_plan->GetSchedule().rankOfStage[stage] == m_place;
    }

    uint64_t GetTag(bool isForward, const PipelineAction& action, uint32_t sender) const;
    void Do(std::size_t index);
    void BeginForward(const PipelineAction& action);
    void BeginBackward(const PipelineAction& action);
    void Forward(const PipelineAction& action);
    void Backward(const PipelineAction& action, bool isLast);
    void WeightGradients(const PipelineAction& action, bool isLast);
    void GatherLayer(uint32_t layer);
    void Unshard(uint32_t stage, uint32_t layer, bool isForward);
    void AddGradients(uint32_t layer, bool isLast);
    void AddEdgeGradients(uint32_t stage, bool isLast);
    void ReduceBucket(PlanGroups groups);
    void ReduceBuckets();
    void EndIteration();
    void GatherParameters();

    std::shared_ptr<const ParallelPlan> m_plan;
    LayerTasks m_tasks;
    uint32_t m_rank;
    uint32_t m_place; // in the pipeline
    uint32_t m_iterations;
    uint32_t m_iteration{0};
    std::size_t m_next{0};                  // action
    std::vector<std::size_t> m_lastOfStage; // by stage, the action that completes its gradients
    std::map<std::pair<bool, std::pair<uint32_t, uint32_t>>, std::vector<uint64_t>>
        m_handed; // forward, stage and micro-batch: what the next stage of this rank waits for
    std::map<PlanGroups, uint64_t> m_buckets; // parameters whose gradients wait for more
    std::vector<uint64_t> m_reductions;       // of this iteration, awaited by the update
    std::map<uint32_t, std::vector<uint64_t>> m_gathered; // by layer, all-gathers of parameters
};

TransformerSource::TransformerSource(std::shared_ptr<const ParallelPlan> plan,
                                     const TransformerRates& rates,
                                     uint32_t rank,
                                     uint32_t iterations)
    : m_plan(std::move(plan)),
      m_tasks(*m_plan, rates, rank),
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
TransformerSource::Next(GraphTask& task)
{
    auto& tasks = m_tasks.GetWriter().GetTasks();
    while (tasks.empty())
    {
        if (m_iteration == m_iterations)
        {
            return false;
        }
        if (m_next < GetActions().size())
        {
            Do(m_next++);
            continue;
        }
        EndIteration();
        m_next = 0;
        m_iteration++;
    }
    task = std::move(tasks.front());
    tasks.pop_front();
    return true;
}

void
TransformerSource::Do(std::size_t index)
{
    const PipelineAction& action = GetActions()[index];
    const bool isLast = m_lastOfStage[action.stage] == index;
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

uint64_t
TransformerSource::GetTag(bool isForward, const PipelineAction& action, uint32_t sender) const
{
    // Of the stages of a rank, and of its micro-batches: schedules may reorder them.
    const auto& places = m_plan->GetSchedule().rankOfStage;
    const auto chunk =
        static_cast<uint64_t>(std::count(places.begin(), places.begin() + sender, places[sender]));
    return (chunk * 2 + (isForward ? 1 : 0)) * m_plan->GetMicroBatches() + action.microBatch;
}

/** Awaits the activations of the stage before. */
void
TransformerSource::BeginForward(const PipelineAction& action)
{
    if (action.stage == 0)
    {
        return;
    }
    const uint32_t sender = action.stage - 1;
    if (HasStage(sender))
    {
        for (uint64_t id : m_handed[{true, {sender, action.microBatch}}])
        {
            m_tasks.GetWriter().Await(id);
        }
        m_handed.erase({true, {sender, action.microBatch}});
        return;
    }
    const uint32_t place = m_plan->GetSchedule().rankOfStage[sender];
    m_tasks.GetWriter().Await(m_tasks.Receive(LayerTask::ACTIVATIONS,
                                              Parallelism::PIPELINE,
                                              m_plan->GetRankOfStage(m_rank, place),
                                              GetTag(true, action, sender),
                                              m_plan->GetStageBytes()));
}

void
TransformerSource::Forward(const PipelineAction& action)
{
    BeginForward(action);
    if (action.stage == 0)
    {
        m_tasks.ForwardEmbedding();
    }
    const uint32_t end = m_plan->GetFirstLayer(action.stage + 1);
    for (uint32_t layer = m_plan->GetFirstLayer(action.stage); layer < end; layer++)
    {
        Unshard(action.stage, layer, true);
        m_tasks.Forward(layer);
    }
    if (action.stage + 1 == m_plan->GetStages())
    {
        m_tasks.ForwardOutput();
        return;
    }
    const uint32_t place = m_plan->GetSchedule().rankOfStage[action.stage + 1];
    if (place == m_place)
    {
        m_handed[{true, {action.stage, action.microBatch}}] = m_tasks.GetWriter().GetAwaited();
        return;
    }
    m_tasks.Send(LayerTask::ACTIVATIONS,
                 Parallelism::PIPELINE,
                 m_plan->GetRankOfStage(m_rank, place),
                 GetTag(true, action, action.stage),
                 m_plan->GetStageBytes());
}

/** Awaits the gradients of the stage behind. */
void
TransformerSource::BeginBackward(const PipelineAction& action)
{
    const uint32_t sender = action.stage + 1;
    if (sender == m_plan->GetStages())
    {
        m_tasks.BackwardOutput();
        return;
    }
    if (HasStage(sender))
    {
        for (uint64_t id : m_handed[{false, {sender, action.microBatch}}])
        {
            m_tasks.GetWriter().Await(id);
        }
        m_handed.erase({false, {sender, action.microBatch}});
        return;
    }
    const uint32_t place = m_plan->GetSchedule().rankOfStage[sender];
    m_tasks.GetWriter().Await(m_tasks.Receive(LayerTask::GRADIENTS,
                                              Parallelism::PIPELINE,
                                              m_plan->GetRankOfStage(m_rank, place),
                                              GetTag(false, action, sender),
                                              m_plan->GetStageBytes()));
}

void
TransformerSource::Backward(const PipelineAction& action, bool isLast)
{
    const bool withWeights = action.work == PipelineWork::BACKWARD;
    BeginBackward(action);
    if (withWeights && action.stage > 0)
    {
        AddEdgeGradients(action.stage, isLast);
    }
    const uint32_t begin = m_plan->GetFirstLayer(action.stage);
    for (uint32_t layer = m_plan->GetFirstLayer(action.stage + 1); layer-- > begin;)
    {
        Unshard(action.stage, layer, false);
        m_tasks.Backward(layer, withWeights);
        if (withWeights)
        {
            AddGradients(layer, isLast);
        }
    }
    if (action.stage > 0)
    {
        const uint32_t place = m_plan->GetSchedule().rankOfStage[action.stage - 1];
        if (place == m_place)
        {
            m_handed[{false, {action.stage, action.microBatch}}] = m_tasks.GetWriter().GetAwaited();
        }
        else
        {
            m_tasks.Send(LayerTask::GRADIENTS,
                         Parallelism::PIPELINE,
                         m_plan->GetRankOfStage(m_rank, place),
                         GetTag(false, action, action.stage),
                         m_plan->GetStageBytes());
        }
    }
    else if (withWeights)
    {
        AddEdgeGradients(action.stage, isLast);
    }
    if (isLast)
    {
        ReduceBuckets();
    }
}

void
TransformerSource::WeightGradients(const PipelineAction& action, bool isLast)
{
    if (action.stage > 0)
    {
        AddEdgeGradients(action.stage, isLast);
    }
    const uint32_t begin = m_plan->GetFirstLayer(action.stage);
    for (uint32_t layer = m_plan->GetFirstLayer(action.stage + 1); layer-- > begin;)
    {
        m_tasks.WeightGradients(layer);
        AddGradients(layer, isLast);
    }
    if (action.stage == 0)
    {
        AddEdgeGradients(action.stage, isLast);
    }
    if (isLast)
    {
        ReduceBuckets();
    }
}

/** All-gathers of the parameters of a layer, for ZeRO. */
void
TransformerSource::GatherLayer(uint32_t layer)
{
    const uint64_t bytes = m_plan->GetOptions().parameterBytes;
    auto& gathered = m_gathered[layer];
    gathered.push_back(m_tasks.Communicate(LayerTask::PARAMETERS,
                                           PlanGroups::DATA,
                                           LayerTasks::DATA_STREAM,
                                           Operation::ALL_GATHER,
                                           bytes * m_plan->GetDenseParameters(layer)));
    gathered.push_back(m_tasks.Communicate(LayerTask::PARAMETERS,
                                           PlanGroups::EXPERT_DATA,
                                           LayerTasks::DATA_STREAM,
                                           Operation::ALL_GATHER,
                                           bytes * m_plan->GetExpertParameters(layer)));
}

/** Awaits the parameters of a layer, and with ZeRO 3 gathers those of the next one. */
void
TransformerSource::Unshard(uint32_t stage, uint32_t layer, bool isForward)
{
    if (m_plan->GetOptions().zero == 3)
    {
        if (m_gathered.count(layer) == 0)
        {
            GatherLayer(layer); // the first one of a pass
        }
        const uint32_t next = isForward ? layer + 1 : layer - 1;
        if (next >= m_plan->GetFirstLayer(stage) && next < m_plan->GetFirstLayer(stage + 1))
        {
            GatherLayer(next); // while this one is computed
        }
    }
    const auto gathered = m_gathered.find(layer);
    if (gathered != m_gathered.end())
    {
        for (uint64_t id : gathered->second)
        {
            m_tasks.GetWriter().Await(id);
        }
        m_gathered.erase(gathered);
    }
}

void
TransformerSource::AddGradients(uint32_t layer, bool isLast)
{
    const ParallelOptions& options = m_plan->GetOptions();
    if (!isLast && options.zero < 2)
    {
        return; // added up in memory
    }
    m_buckets[PlanGroups::DATA] += m_plan->GetDenseParameters(layer);
    m_buckets[PlanGroups::EXPERT_DATA] += m_plan->GetExpertParameters(layer);
    for (const auto& [groups, parameters] : m_buckets)
    {
        const bool isFull = parameters * options.gradientBytes >= options.bucket;
        if ((isFull && options.overlapGradReduce) || options.zero == 3)
        {
            ReduceBucket(groups);
        }
    }
}

/** Gradients of the embedding, or of the output layer, if the stage has one. */
void
TransformerSource::AddEdgeGradients(uint32_t stage, bool isLast)
{
    if (isLast || m_plan->GetOptions().zero >= 2)
    {
        m_buckets[PlanGroups::DATA] += m_plan->GetEdgeParameters(stage);
    }
}

void
TransformerSource::ReduceBucket(PlanGroups groups)
{
    const ParallelOptions& options = m_plan->GetOptions();
    const uint64_t parameters = std::exchange(m_buckets[groups], 0);
    const uint64_t id =
        m_tasks.Communicate(LayerTask::GRADIENTS,
                            groups,
                            LayerTasks::DATA_STREAM,
                            options.zero == 0 ? Operation::ALL_REDUCE : Operation::REDUCE_SCATTER,
                            parameters * options.gradientBytes);
    if (id > 0)
    {
        m_reductions.push_back(id);
    }
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
    m_tasks.GetWriter().SetMicroBatch(-1);
    ReduceBucket(PlanGroups::DATA);
    ReduceBucket(PlanGroups::EXPERT_DATA);
    const TransformerModel& model = m_plan->GetModel();
    if (model.tiesEmbeddings && options.pipeline > 1 &&
        (HasStage(0) != HasStage(m_plan->GetStages() - 1)))
    {
        m_tasks.GetWriter().Await(m_tasks.Communicate(LayerTask::EMBEDDING_GRADIENT,
                                                      PlanGroups::EMBEDDING,
                                                      LayerTasks::DATA_STREAM,
                                                      Operation::ALL_REDUCE,
                                                      options.gradientBytes * model.vocabulary *
                                                          model.hidden / options.tensor));
    }
    for (uint64_t id : m_reductions)
    {
        m_tasks.GetWriter().Await(id);
    }
    m_reductions.clear();
    const double parts = options.zero >= 1 ? m_plan->GetSize(PlanGroups::DATA) : 1;
    m_tasks.Compute(LayerTask::UPDATE,
                    0,
                    UPDATE_BYTES * static_cast<double>(m_plan->GetParameters(m_rank)) / parts);
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
        const uint32_t end = m_plan->GetFirstLayer(stage + 1);
        for (uint32_t layer = m_plan->GetFirstLayer(stage); layer < end; layer++)
        {
            GatherLayer(layer);
        }
    }
    if (m_plan->GetOptions().overlapParamGather)
    {
        return;
    }
    for (const auto& [layer, gathered] : m_gathered)
    {
        for (uint64_t id : gathered)
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
