/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/transformer-graph.h"

#include "parallel/gradient-reduction.h"
#include "parallel/layer-tasks.h"
#include "parallel/operator-times.h"
#include "parallel/sample-plans.h"
#include "parallel/stage-messages.h"
#include "parallel/zero-quantization.h"

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
                      std::shared_ptr<const LayerTimes> times,
                      std::shared_ptr<const SamplePlans> samples,
                      double memory,
                      uint32_t rank,
                      uint32_t iterations);

  private:
    std::deque<GraphTask>& GetQueue() override
    {
        return m_tasks.GetWriter().GetTasks();
    }

    bool Write() override;

    bool HasStage(uint32_t stage) const
    {
        return m_plan->GetSchedule().rankOfStage[stage] == m_place;
    }

    void TakeSamples(uint32_t rank);
    void BeginSample(std::size_t index);
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
    void Update(uint32_t unit);
    void ReduceBuckets();
    void EndIteration();
    void GatherParameters();

    std::shared_ptr<const ParallelPlan> m_plan;
    std::shared_ptr<const LayerTimes> m_times;
    std::shared_ptr<const SamplePlans> m_plans; // null: all samples are alike
    RankTasks m_tasks;
    LayerTasks m_own;                                        // of samples that are alike
    std::map<const SamplePlan*, LayerTasks> m_layersOfPlans; // of others
    LayerTasks* m_layers;                                    // of this action
    StageMessages m_messages;
    ZeroQuantization m_quantization;
    GradientReduction m_gradients;
    uint32_t m_rank;
    uint32_t m_place; // in the pipeline
    uint32_t m_iterations;
    uint32_t m_iteration{0};
    std::vector<PipelineAction> m_actions;
    std::vector<RankSample> m_samples;      // each has two actions
    std::size_t m_next{0};                  // action
    std::vector<std::size_t> m_lastOfStage; // by stage, the action that completes its gradients
    // Units of parameters: the embedding is 0, layer k is k + 1, the output layer comes last.
    std::map<uint32_t, GatheredUnit> m_gathered; // not awaited yet
    std::set<uint32_t> m_kept;                   // units whose parameters were not dropped
    uint64_t m_barriers{0};                      // of the iteration, so far
};

TransformerSource::TransformerSource(std::shared_ptr<const ParallelPlan> plan,
                                     std::shared_ptr<const LayerTimes> times,
                                     std::shared_ptr<const SamplePlans> samples,
                                     double memory,
                                     uint32_t rank,
                                     uint32_t iterations)
    : m_plan(std::move(plan)),
      m_times(std::move(times)),
      m_plans(std::move(samples)),
      m_tasks(*m_plan, memory),
      m_own(*m_plan, *m_times, m_tasks, rank),
      m_layers(&m_own),
      m_messages(*m_plan, m_tasks, rank),
      m_quantization(*m_plan, m_tasks),
      m_gradients(*m_plan, m_tasks, m_quantization),
      m_rank(rank),
      m_place(m_plan->GetPipelineRank(rank)),
      m_iterations(iterations),
      m_actions(m_plan->GetSchedule().actions[m_place]),
      m_lastOfStage(m_plan->GetStages())
{
    if (m_plans)
    {
        TakeSamples(rank);
    }
    for (std::size_t index = 0; index < m_actions.size(); index++)
    {
        const PipelineAction& action = m_actions[index];
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
    if (m_next < m_actions.size())
    {
        Do(m_next++);
        return true;
    }
    EndIteration();
    m_next = 0;
    m_iteration++;
    return true;
}

/** Passes through the samples of this rank, one after the other. */
void
TransformerSource::TakeSamples(uint32_t rank)
{
    m_samples = m_plans->Get(rank);
    m_actions.clear();
    for (const RankSample& each : m_samples)
    {
        m_layersOfPlans.try_emplace(each.plan, *each.plan->plan, *each.plan->times, m_tasks, rank);
        for (PipelineWork work : {PipelineWork::FORWARD, PipelineWork::BACKWARD})
        {
            PipelineAction action{};
            action.work = work;
            action.microBatch = each.sample;
            m_actions.push_back(action);
        }
    }
}

/** Before new groups all ranks wait for each other (hybrid_context_parallel_forward_backward). */
void
TransformerSource::BeginSample(std::size_t index)
{
    constexpr uint64_t BARRIER_BYTES = 4;
    /// More than the collectives of a round.
    constexpr uint64_t ROUND = 1U << 20;
    const RankSample& sample = m_samples[index / 2];
    m_layers = &m_layersOfPlans.at(sample.plan);
    if (index % 2 == 0 && sample.awaitsOthers)
    {
        m_tasks.CountFrom(++m_barriers * ROUND);
        m_tasks.GetWriter().Await(m_tasks.Communicate(LayerTask::BARRIER,
                                                      PlanGroups::DATA,
                                                      RankTasks::DATA_STREAM,
                                                      Operation::ALL_REDUCE,
                                                      BARRIER_BYTES));
    }
    if (index + 1 == m_actions.size() && m_plan->GetOptions().hybridContext > 0)
    {
        m_tasks.CountFrom(++m_barriers * ROUND); // gradients are those of all ranks
        m_barriers = 0;
    }
}

void
TransformerSource::Do(std::size_t index)
{
    const PipelineAction& action = m_actions[index];
    const bool isLast = m_lastOfStage[action.stage] == index;
    m_plans ? BeginSample(index) : m_messages.Begin(index);
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
        m_layers->ForwardEmbedding();
    }
    const uint32_t end = m_plan->GetFirstLayer(action.stage + 1);
    for (uint32_t layer = m_plan->GetFirstLayer(action.stage); layer < end; layer++)
    {
        Unshard(action.stage, layer + 1, true);
        m_layers->Forward(layer);
    }
    if (action.stage + 1 == m_plan->GetStages())
    {
        Unshard(action.stage, end + 1, true);
        m_layers->ForwardOutput();
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
        m_layers->BackwardOutput();
    }
    const uint32_t end = m_plan->GetFirstLayer(action.stage + 1);
    if (withWeights && action.stage + 1 == m_plan->GetStages())
    {
        AddGradients(end + 1, isLast);
    }
    for (uint32_t layer = end; layer-- > m_plan->GetFirstLayer(action.stage);)
    {
        Unshard(action.stage, layer + 1, false);
        m_layers->Backward(layer, withWeights);
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
        m_layers->WeightGradients(layer);
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
                                                 RankTasks::DATA_STREAM,
                                                 Operation::ALL_GATHER,
                                                 m_plan->GetParameterBytes(parameters)));
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

/** By layer: the optimizer's step of a unit, when its gradients have been reduced. */
void
TransformerSource::Update(uint32_t unit)
{
    if (m_gradients.Await(unit))
    {
        m_tasks.Move(LayerTask::UPDATE,
                     UPDATE_BYTES *
                         static_cast<double>(GetDenseParameters(unit) + GetExpertParameters(unit)));
    }
}

void
TransformerSource::AddGradients(uint32_t unit, bool isLast)
{
    m_gradients.Add(unit, GetDenseParameters(unit), GetExpertParameters(unit), isLast);
}

/** Reduces what is left of a stage. */
void
TransformerSource::ReduceBuckets()
{
    if (m_plan->GetOptions().overlapGradReduce)
    {
        m_gradients.ReduceRest();
    }
}

void
TransformerSource::EndIteration()
{
    const ParallelOptions& options = m_plan->GetOptions();
    if (!m_plans)
    {
        m_messages.Begin(m_actions.size());
    }
    m_tasks.GetWriter().SetMicroBatch(-1);
    m_gradients.ReduceRest();
    const TransformerModel& model = m_plan->GetModel();
    const auto& places = m_plan->GetEmbeddingPlaces();
    if (places.size() > 1 && places.count(m_place) > 0)
    {
        const uint64_t id = m_tasks.Communicate(LayerTask::EMBEDDING_GRADIENT,
                                                PlanGroups::EMBEDDING,
                                                RankTasks::DATA_STREAM,
                                                Operation::ALL_REDUCE,
                                                m_plan->GetGradientBytes() * model.vocabulary *
                                                    model.hidden / options.tensor);
        if (options.byLayer)
        {
            const bool isOutput = model.tiesEmbeddings && HasStage(m_plan->GetStages() - 1);
            const uint32_t behind = isOutput ? 0 : model.predictionLayers;
            m_gradients.AddReduction(HasStage(0) ? 0 : model.layers - behind + 1, id);
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
    m_gradients.Await();
    const auto getUpdated = [&](uint64_t parameters, PlanGroups groups) {
        return static_cast<double>(parameters) / (options.zero >= 1 ? m_plan->GetSize(groups) : 1);
    };
    m_tasks.Move(
        LayerTask::UPDATE,
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
      m_times(std::make_shared<const LayerTimes>(m_plan, rates)),
      m_samples(m_plan->GetOptions().sampleLengths.empty()
                    ? nullptr
                    : std::make_shared<const SamplePlans>(*m_plan, rates)),
      m_memory(rates.memory)
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
    return std::make_unique<TransformerSource>(m_plan,
                                               m_times,
                                               m_samples,
                                               m_memory,
                                               rank,
                                               iterations);
}

} // namespace ns3::training
