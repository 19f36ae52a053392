/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transformer-graph.h"

#include "layer-tasks.h"

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

    uint64_t GetTag(bool isForward, uint32_t sender, uint32_t microBatch) const;
    void Do(std::size_t index);
    uint64_t ReceiveInput(const PipelineAction& action);
    void AwaitInput(const PipelineAction& action);
    void PassOutput(const PipelineAction& action);
    void SendOutput(const PipelineAction& action);
    void ExchangeBatch(std::size_t next);
    void Forward(const PipelineAction& action);
    void Backward(const PipelineAction& action, bool isLast);
    void WeightGradients(const PipelineAction& action, bool isLast);
    uint32_t GetFirstUnit(uint32_t stage) const;
    uint64_t GetDenseParameters(uint32_t unit) const;
    uint64_t GetExpertParameters(uint32_t unit) const;
    void GatherUnit(uint32_t unit, bool isForward);
    void Unshard(uint32_t stage, uint32_t unit, bool isForward);
    void AddGradients(uint32_t unit, bool isLast);
    void ReduceBucket(PlanGroups groups);
    void ReduceByLayer(PlanGroups groups, uint64_t parameters);
    void Update(uint32_t unit);
    uint64_t ReduceGradients(PlanGroups groups, uint64_t parameters);
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
    std::vector<PipelineAction> m_unsent;     // whose results go with the next batch
    std::vector<uint64_t> m_batch;            // messages of the next batch that are written
    std::map<PlanGroups, uint64_t> m_buckets; // parameters whose gradients wait for more
    std::vector<uint64_t> m_reductions;       // of this iteration, awaited by the update
    // Units of parameters: the embedding is 0, layer k is k + 1, the output layer comes last.
    std::map<uint32_t, std::vector<uint64_t>> m_gathered; // by unit, all-gathers of parameters
    std::set<uint32_t> m_kept;                            // units whose parameters were not dropped
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
    if (m_plan->BatchesMessages() && (index == 0 || GetActions()[index - 1].endsBatch))
    {
        ExchangeBatch(index);
    }
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

/** @param sender stage that sends the message */
uint64_t
TransformerSource::GetTag(bool isForward, uint32_t sender, uint32_t microBatch) const
{
    // Of the stages of a rank, and of its micro-batches: schedules may reorder them.
    const auto& places = m_plan->GetSchedule().rankOfStage;
    const auto chunk =
        static_cast<uint64_t>(std::count(places.begin(), places.begin() + sender, places[sender]));
    const uint64_t number =
        (chunk * 2 + (isForward ? 1 : 0)) * m_plan->GetMicroBatches() + microBatch;
    return number % (MAX_MESSAGE_TAG + 1); // those of a tag are far apart, and match in order
}

/** Receives what the stage before or behind sends for an action. @return the task; 0: none */
uint64_t
TransformerSource::ReceiveInput(const PipelineAction& action)
{
    const bool isForward = action.work == PipelineWork::FORWARD;
    const bool isOuter = isForward ? action.stage == 0 : action.stage + 1 == m_plan->GetStages();
    if (isOuter || action.work >= PipelineWork::WEIGHT_GRADIENT)
    {
        return 0;
    }
    const uint32_t sender = isForward ? action.stage - 1 : action.stage + 1;
    if (HasStage(sender))
    {
        return 0;
    }
    const uint32_t place = m_plan->GetSchedule().rankOfStage[sender];
    return m_tasks.Receive(isForward ? LayerTask::ACTIVATIONS : LayerTask::GRADIENTS,
                           Parallelism::PIPELINE,
                           m_plan->GetRankOfStage(m_rank, place),
                           GetTag(isForward, sender, action.microBatch),
                           m_plan->GetStageBytes());
}

/** Awaits the activations or gradients that an action begins with. */
void
TransformerSource::AwaitInput(const PipelineAction& action)
{
    const bool isForward = action.work == PipelineWork::FORWARD;
    // Of another stage of this rank; the first and the last one find nothing.
    const auto handed = m_handed.find(
        {isForward, {isForward ? action.stage - 1 : action.stage + 1, action.microBatch}});
    if (handed != m_handed.end())
    {
        for (uint64_t id : handed->second)
        {
            m_tasks.GetWriter().Await(id);
        }
        m_handed.erase(handed);
    }
    else if (!m_plan->BatchesMessages())
    {
        m_tasks.GetWriter().Await(ReceiveInput(action));
    }
}

/** Passes the result of an action to the stage behind or before. */
void
TransformerSource::PassOutput(const PipelineAction& action)
{
    const bool isForward = action.work == PipelineWork::FORWARD;
    const uint32_t receiver = isForward ? action.stage + 1 : action.stage - 1;
    if (HasStage(receiver))
    {
        m_handed[{isForward, {action.stage, action.microBatch}}] = m_tasks.GetWriter().GetAwaited();
    }
    else if (m_plan->BatchesMessages() && !action.endsBatch)
    {
        m_unsent.push_back(action);
    }
    else
    {
        SendOutput(action);
    }
}

void
TransformerSource::SendOutput(const PipelineAction& action)
{
    const bool isForward = action.work == PipelineWork::FORWARD;
    const uint32_t receiver = isForward ? action.stage + 1 : action.stage - 1;
    const uint32_t place = m_plan->GetSchedule().rankOfStage[receiver];
    m_tasks.GetWriter().SetMicroBatch(static_cast<int32_t>(action.microBatch));
    const uint64_t id = m_tasks.Send(isForward ? LayerTask::ACTIVATIONS : LayerTask::GRADIENTS,
                                     Parallelism::PIPELINE,
                                     m_plan->GetRankOfStage(m_rank, place),
                                     GetTag(isForward, action.stage, action.microBatch),
                                     m_plan->GetStageBytes(),
                                     m_plan->BatchesMessages());
    if (m_plan->BatchesMessages())
    {
        m_batch.push_back(id);
    }
}

/**
 * Awaits a batch of messages: the results so far, and the inputs of actions until the next batch.
 * @param next the first of these actions
 */
void
TransformerSource::ExchangeBatch(std::size_t next)
{
    for (const PipelineAction& action : std::exchange(m_unsent, {}))
    {
        SendOutput(action);
    }
    for (bool isOpen = true; isOpen && next < GetActions().size(); next++)
    {
        const PipelineAction& action = GetActions()[next];
        m_tasks.GetWriter().SetMicroBatch(static_cast<int32_t>(action.microBatch));
        m_batch.push_back(ReceiveInput(action));
        isOpen = !action.endsBatch;
    }
    for (uint64_t id : std::exchange(m_batch, {}))
    {
        m_tasks.GetWriter().Await(id);
    }
}

void
TransformerSource::Forward(const PipelineAction& action)
{
    AwaitInput(action);
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
    PassOutput(action);
}

void
TransformerSource::Backward(const PipelineAction& action, bool isLast)
{
    const bool isWhole = action.work == PipelineWork::BACKWARD;
    const bool withWeights = isWhole && !m_plan->GetOptions().delayWgrad;
    AwaitInput(action);
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
        PassOutput(action);
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
    const ParallelOptions& options = m_plan->GetOptions();
    const uint64_t bytes = options.quantizedWeights ? 1 : PARAMETER_BYTES;
    // The copy for the backward pass is near.
    const bool isNear = options.hpzPartition > 0 && !isForward;
    auto& gathered = m_gathered[unit];
    gathered.push_back(m_tasks.Communicate(LayerTask::PARAMETERS,
                                           isNear ? PlanGroups::SHARD : m_plan->GetShards(),
                                           LayerTasks::DATA_STREAM,
                                           Operation::ALL_GATHER,
                                           bytes * GetDenseParameters(unit)));
    gathered.push_back(m_tasks.Communicate(LayerTask::PARAMETERS,
                                           m_plan->GetExpertShards(),
                                           LayerTasks::DATA_STREAM,
                                           Operation::ALL_GATHER,
                                           bytes * GetExpertParameters(unit)));
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
        for (uint64_t id : gathered->second)
        {
            m_tasks.GetWriter().Await(id);
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
    const auto start =
        [this](PlanGroups members, Operation operation, uint64_t sent, uint64_t after) {
            const auto stream = after > 0 ? LayerTasks::REPLICA_STREAM : LayerTasks::DATA_STREAM;
            const uint64_t id =
                m_tasks.Communicate(LayerTask::GRADIENTS, members, stream, operation, sent, after);
            return id > 0 ? id : after;
        };
    if (isDense && options.quantizedGradients)
    {
        // Half a byte each, inside a node and then across.
        const uint64_t quarter = parameters / 2;
        const uint64_t inside = start(PlanGroups::SHARD, Operation::ALL_TO_ALL, quarter, 0);
        return start(PlanGroups::REPLICA,
                     Operation::ALL_TO_ALL,
                     quarter / m_plan->GetSize(PlanGroups::SHARD),
                     inside);
    }
    if (options.shard > 0)
    {
        const PlanGroups near = isDense ? m_plan->GetShards() : m_plan->GetExpertShards();
        const uint64_t inside = start(near, Operation::REDUCE_SCATTER, bytes, 0);
        return start(isDense ? PlanGroups::REPLICA : PlanGroups::EXPERT_REPLICA,
                     Operation::ALL_REDUCE,
                     bytes / m_plan->GetSize(near),
                     inside);
    }
    return start(groups,
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
    ExchangeBatch(GetActions().size());
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
