/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel-plan.h"

#include "ns3/pipeline-choice.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <map>
#include <utility>

namespace ns3::training
{

namespace
{

/**
 * @param what name of the number
 * @param number must divide `whole`
 * @param of name of `whole`
 */
void
CheckDivides(const std::string& what, uint64_t number, const std::string& of, uint64_t whole)
{
    if (number == 0 || whole % number != 0)
    {
        throw ConfigurationError(what,
                                 std::to_string(number),
                                 " (allowed: divisors of " + std::to_string(whole) + ", the " + of +
                                     ")");
    }
}

} // namespace

ParallelPlan::ParallelPlan(const TransformerModel& model, const ParallelOptions& options)
    : m_model(model),
      m_options(options),
      m_sizes{options.tensor, options.context, options.data, options.pipeline}
{
    Check();
    ReadOrder();
    m_schedule = MakePipelineSchedule(options.schedule, options.pipeline, GetMicroBatches());
    if (m_schedule.GetStages() > model.layers)
    {
        throw ConfigurationError("schedule",
                                 options.schedule,
                                 " has " + std::to_string(m_schedule.GetStages()) +
                                     " stages (allowed: at most " + std::to_string(model.layers) +
                                     ", the layers of the model)");
    }
    MakeGroups();
}

void
ParallelPlan::Check() const
{
    CheckDivides("tensor", m_options.tensor, "heads of attention", m_model.heads);
    CheckDivides("tensor", m_options.tensor, "inner size", m_model.feedForward);
    CheckDivides("context", m_options.context, "tokens of a sequence", m_model.sequence);
    for (const auto& [name, size] : {std::make_pair("pipeline", m_options.pipeline),
                                     std::make_pair("data", m_options.data),
                                     std::make_pair("expert", m_options.expert)})
    {
        if (size == 0)
        {
            throw ConfigurationError(name, "0", " (allowed: whole numbers from 1)");
        }
    }
    if (m_options.sequenceParallel)
    {
        CheckDivides("tensor",
                     m_options.tensor,
                     "tokens of a rank, with sequence parallelism",
                     m_model.sequence / m_options.context);
    }
    if (m_options.expert > 1)
    {
        CheckDivides("expert", m_options.expert, "experts of a layer", m_model.experts);
        CheckDivides("expert",
                     m_options.expert,
                     "ranks of data and context parallelism",
                     uint64_t{m_options.data} * m_options.context);
    }
    if (m_options.zero > 3)
    {
        throw ConfigurationError("zero", std::to_string(m_options.zero), " (allowed: 0 to 3)");
    }
    const uint64_t replicas = m_options.microBatch * m_options.data;
    CheckDivides("micro batch times data", replicas, "global batch", m_options.globalBatch);
    if (m_options.globalBatch / replicas > 1U << 20)
    {
        throw ConfigurationError("global batch",
                                 std::to_string(m_options.globalBatch),
                                 " (allowed: at most 2^20 micro-batches of a replica)");
    }
    constexpr uint64_t MAX_RANKS = 1U << 20;
    uint64_t ranks = 1;
    for (uint32_t size : m_sizes)
    {
        ranks = std::min(MAX_RANKS + 1, ranks * size);
    }
    if (ranks > MAX_RANKS)
    {
        throw ConfigurationError("data",
                                 std::to_string(m_options.data),
                                 " (allowed: at most " + std::to_string(MAX_RANKS) +
                                     " ranks altogether)");
    }
}

void
ParallelPlan::ReadOrder()
{
    const std::map<std::string, Dimension> names{
        {"tp", TENSOR},
        {"cp", CONTEXT},
        {"dp", DATA},
        {"pp", PIPELINE},
    };
    std::vector<std::string> words;
    boost::split(words, m_options.order, boost::is_any_of("-"));
    auto sorted = words;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != std::vector<std::string>{"cp", "dp", "pp", "tp"})
    {
        throw ConfigurationError("order",
                                 m_options.order,
                                 " (allowed: tp, cp, dp and pp in any order, joined by -)");
    }
    std::transform(words.begin(), words.end(), m_order.begin(), [&names](const auto& word) {
        return names.at(word);
    });
}

ParallelPlan::Coordinates
ParallelPlan::GetCoordinates(uint32_t rank) const
{
    Coordinates coordinates{};
    for (Dimension dimension : m_order)
    {
        coordinates[dimension] = rank % m_sizes[dimension];
        rank /= m_sizes[dimension];
    }
    return coordinates;
}

uint32_t
ParallelPlan::GetRank(const Coordinates& coordinates) const
{
    uint32_t rank = 0;
    for (auto dimension = m_order.rbegin(); dimension != m_order.rend(); ++dimension)
    {
        rank = rank * m_sizes[*dimension] + coordinates[*dimension];
    }
    return rank;
}

void
ParallelPlan::MakeGroups()
{
    m_groups.resize(PLAN_GROUPS);
    const uint32_t first = 0;
    const uint32_t last = m_sizes[PIPELINE] - 1;
    // By groups, what the ranks of a group have in common, and its ranks in order.
    std::array<std::map<std::array<uint32_t, 4>, std::map<uint32_t, uint32_t>>, PLAN_GROUPS> byKey;
    for (uint32_t rank = 0; rank < GetRanks(); rank++)
    {
        const Coordinates at = GetCoordinates(rank);
        const uint32_t replica = at[DATA] * m_sizes[CONTEXT] + at[CONTEXT];
        const auto add = [&](PlanGroups groups, std::array<uint32_t, 4> key, uint32_t place) {
            byKey[static_cast<uint32_t>(groups)][key][place] = rank;
        };
        add(PlanGroups::TENSOR, {at[CONTEXT], at[DATA], at[PIPELINE], 0}, at[TENSOR]);
        add(PlanGroups::CONTEXT, {at[TENSOR], at[DATA], at[PIPELINE], 0}, at[CONTEXT]);
        add(PlanGroups::DATA, {at[TENSOR], at[PIPELINE], 0, 0}, replica);
        add(PlanGroups::EXPERT,
            {at[TENSOR], at[PIPELINE], replica / m_options.expert, 0},
            replica % m_options.expert);
        add(PlanGroups::EXPERT_DATA,
            {at[TENSOR], at[PIPELINE], replica % m_options.expert, 0},
            replica / m_options.expert);
        if (at[PIPELINE] == first || at[PIPELINE] == last)
        {
            add(PlanGroups::EMBEDDING, {at[TENSOR], at[CONTEXT], at[DATA], 0}, at[PIPELINE]);
        }
    }
    constexpr Parallelism KINDS[PLAN_GROUPS] = {Parallelism::TENSOR,
                                                Parallelism::DATA,
                                                Parallelism::CONTEXT,
                                                Parallelism::EXPERT,
                                                Parallelism::DATA,
                                                Parallelism::PIPELINE};
    for (uint32_t groups = 0; groups < PLAN_GROUPS; groups++)
    {
        m_groups[groups].parallelism = KINDS[groups];
        m_groups[groups].exchanges = groups == static_cast<uint32_t>(PlanGroups::EXPERT);
        for (const auto& [key, places] : byKey[groups])
        {
            std::vector<uint32_t> ranks;
            for (const auto& [place, rank] : places)
            {
                ranks.push_back(rank);
            }
            m_groups[groups].groups.push_back(ranks);
        }
    }
}

uint32_t
ParallelPlan::GetRanks() const
{
    return m_sizes[TENSOR] * m_sizes[CONTEXT] * m_sizes[DATA] * m_sizes[PIPELINE];
}

uint32_t
ParallelPlan::GetMicroBatches() const
{
    return static_cast<uint32_t>(m_options.globalBatch / (m_options.microBatch * m_options.data));
}

uint32_t
ParallelPlan::GetFirstLayer(uint32_t stage) const
{
    // The first stages have one layer more where they do not divide.
    const uint32_t each = m_model.layers / GetStages();
    return stage * each + std::min(stage, m_model.layers % GetStages());
}

uint32_t
ParallelPlan::GetPipelineRank(uint32_t rank) const
{
    return GetCoordinates(rank)[PIPELINE];
}

uint32_t
ParallelPlan::GetRankOfStage(uint32_t rank, uint32_t place) const
{
    Coordinates coordinates = GetCoordinates(rank);
    coordinates[PIPELINE] = place;
    return GetRank(coordinates);
}

uint32_t
ParallelPlan::GetSize(PlanGroups groups) const
{
    return static_cast<uint32_t>(m_groups[static_cast<uint32_t>(groups)].groups[0].size());
}

uint64_t
ParallelPlan::GetDenseParameters(uint32_t layer) const
{
    return (m_model.GetLayerParameters(layer) - m_model.GetExpertParameters(layer)) /
           m_options.tensor;
}

uint64_t
ParallelPlan::GetExpertParameters(uint32_t layer) const
{
    return m_model.GetExpertParameters(layer) / m_options.tensor / m_options.expert;
}

uint64_t
ParallelPlan::GetEdgeParameters(uint32_t stage) const
{
    uint64_t sum = stage == 0 ? m_model.GetEmbeddingParameters() : 0;
    if (stage + 1 == GetStages())
    {
        sum += m_model.GetOutputParameters();
        // On its own rank the output layer has a copy of the embedding.
        const bool isCopy =
            m_model.tiesEmbeddings && m_schedule.rankOfStage[stage] != m_schedule.rankOfStage[0];
        sum += isCopy ? m_model.vocabulary * m_model.hidden : 0;
    }
    return sum / m_options.tensor;
}

uint64_t
ParallelPlan::GetParameters(uint32_t rank) const
{
    const uint32_t place = GetPipelineRank(rank);
    uint64_t sum = 0;
    for (uint32_t stage = 0; stage < GetStages(); stage++)
    {
        if (m_schedule.rankOfStage[stage] != place)
        {
            continue;
        }
        sum += GetEdgeParameters(stage);
        for (uint32_t layer = GetFirstLayer(stage); layer < GetFirstLayer(stage + 1); layer++)
        {
            sum += GetDenseParameters(layer) + GetExpertParameters(layer);
        }
    }
    return sum;
}

uint64_t
ParallelPlan::GetActivationBytes() const
{
    return m_options.parameterBytes * m_options.microBatch * m_model.sequence / m_options.context *
           m_model.hidden;
}

uint64_t
ParallelPlan::GetStageBytes() const
{
    return m_options.sequenceParallel ? GetActivationBytes() / m_options.tensor
                                      : GetActivationBytes();
}

double
ParallelPlan::GetLayerActivationBytes() const
{
    // Korthikanti et al., equations 1, 2 and 4 and table 2; 2-byte activations.
    const auto tokens =
        static_cast<double>(m_options.microBatch * m_model.sequence) / m_options.context;
    const double numbers = tokens * static_cast<double>(m_model.hidden);
    const double parts = m_options.tensor;
    if (m_options.recompute == Recompute::FULL)
    {
        return 2 * numbers / (m_options.sequenceParallel ? parts : 1);
    }
    const double divided = 24 * numbers / parts;
    const double whole = 10 * numbers / (m_options.sequenceParallel ? parts : 1);
    const double scores =
        m_options.recompute == Recompute::SELECTIVE
            ? 0
            : 5 * tokens * static_cast<double>(m_model.sequence) * m_model.heads / parts;
    return divided + whole + scores;
}

uint64_t
ParallelPlan::GetMemoryBytes(uint32_t rank) const
{
    const uint32_t place = GetPipelineRank(rank);
    uint64_t dense = 0;
    uint64_t experts = 0;
    double layers = 0;
    uint32_t stages = 0;
    for (uint32_t stage = 0; stage < GetStages(); stage++)
    {
        if (m_schedule.rankOfStage[stage] != place)
        {
            continue;
        }
        stages++;
        dense += GetEdgeParameters(stage);
        for (uint32_t layer = GetFirstLayer(stage); layer < GetFirstLayer(stage + 1); layer++)
        {
            layers++;
            dense += GetDenseParameters(layer);
            experts += GetExpertParameters(layer);
        }
    }
    // Adam keeps a copy, a mean and a variance of 4 bytes each.
    constexpr double ADAM = 12;
    const auto getState = [this](uint64_t parameters, PlanGroups groups) {
        const double parts = GetSize(groups);
        return static_cast<double>(parameters) *
               (m_options.parameterBytes / (m_options.zero >= 3 ? parts : 1) +
                m_options.gradientBytes / (m_options.zero >= 2 ? parts : 1) +
                ADAM / (m_options.zero >= 1 ? parts : 1));
    };
    const double kept = m_schedule.GetMostActivations(place) * layers / std::max(1U, stages);
    return static_cast<uint64_t>(getState(dense, PlanGroups::DATA) +
                                 getState(experts, PlanGroups::EXPERT_DATA) +
                                 kept * GetLayerActivationBytes());
}

} // namespace ns3::training
