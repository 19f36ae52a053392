/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel-plan.h"

#include "parallel/parallel-checks.h"
#include "parallel/stage-layout.h"
#include "pipeline/pipeline-choice.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <map>
#include <utility>

namespace ns3::training
{

ParallelPlan::ParallelPlan(const TransformerModel& model, const ParallelOptions& options)
    : m_model(model),
      m_options(options)
{
    m_model.AddPredictions(static_cast<uint32_t>(options.mtpLayers));
    const ParallelChecks checks(m_model, m_options);
    checks.CheckAll();
    m_sizes = {static_cast<uint32_t>(options.tensor),
               static_cast<uint32_t>(options.context),
               static_cast<uint32_t>(options.data),
               static_cast<uint32_t>(options.pipeline)};
    ReadOrder();
    m_schedule = MakePipelineSchedule(options.schedule, m_sizes[PIPELINE], GetMicroBatches());
    m_batchesMessages = checks.ChooseOverlap(m_schedule.overlap);
    m_options.layout.empty() ? DivideLayers() : TakeLayout();
    FindEmbeddings();
    MakeGroups();
}

void
ParallelPlan::DivideLayers()
{
    const uint32_t stages = GetStages();
    const uint64_t first = m_options.firstLayers.value_or(0);
    const uint64_t last = m_options.lastLayers.value_or(0);
    const uint64_t unequal = m_options.firstLayers.has_value() + m_options.lastLayers.has_value();
    const uint64_t equal = stages - unequal;
    const uint64_t layers = m_model.layers - m_model.predictionLayers;
    if (equal > layers || unequal > stages)
    {
        throw ConfigurationError("schedule",
                                 m_options.schedule,
                                 " has " + std::to_string(stages) + " stages (allowed: at most " +
                                     std::to_string(layers) +
                                     ", the layers of the model, beside those of --first-layers "
                                     "and --last-layers)");
    }
    const uint64_t rest = layers - std::min(layers, first + last);
    if ((equal == 0 && first + last != layers) || (equal > 0 && (rest == 0 || rest % equal != 0)))
    {
        throw ConfigurationError("pipeline",
                                 std::to_string(m_options.pipeline),
                                 ": " + std::to_string(layers) + " layers do not divide by " +
                                     std::to_string(stages) +
                                     " stages (allowed: divisors of the layers, or "
                                     "--first-layers and --last-layers of the outer stages)");
    }
    uint64_t next = 0;
    for (uint32_t stage = 0; stage < stages; stage++)
    {
        m_firstLayers.push_back(static_cast<uint32_t>(next));
        const bool isLast = stage + 1 == stages;
        next += stage == 0 && m_options.firstLayers ? first
                : isLast && m_options.lastLayers    ? last
                                                    : rest / equal;
    }
    m_firstLayers.push_back(m_model.layers);
}

void
ParallelPlan::TakeLayout()
{
    const std::vector<uint32_t> layers =
        ReadStageLayout(m_options.layout, m_model.predictionLayers);
    const auto check = [this](uint64_t number, const std::string& what, uint64_t expected) {
        if (number != expected)
        {
            throw ConfigurationError("pipeline layout",
                                     m_options.layout,
                                     " has " + std::to_string(number) + " " + what +
                                         " (allowed: " + std::to_string(expected) + ")");
        }
    };
    check(layers.size(), "stages with schedule " + m_options.schedule, GetStages());
    check(m_options.firstLayers.has_value() + m_options.lastLayers.has_value(),
          "of first and last layers beside it",
          0);
    m_firstLayers.push_back(0);
    for (uint32_t number : layers)
    {
        m_firstLayers.push_back(m_firstLayers.back() + number);
    }
    check(m_firstLayers.back(), "layers", m_model.layers);
}

/** Finds who needs the embedding: the first stage, a tied output, and predictions. */
void
ParallelPlan::FindEmbeddings()
{
    for (uint32_t stage = 0; stage < GetStages(); stage++)
    {
        const uint32_t end = GetFirstLayer(stage + 1);
        if (stage == 0 || (m_model.tiesEmbeddings && stage + 1 == GetStages()) ||
            (end > GetFirstLayer(stage) && m_model.IsPrediction(end - 1)))
        {
            m_embeddingPlaces.insert(m_schedule.rankOfStage[stage]);
        }
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
    const auto expert = static_cast<uint32_t>(m_options.expert);
    const auto node = static_cast<uint32_t>(std::max<uint64_t>(1, m_options.expertNode));
    const auto shard =
        static_cast<uint32_t>(std::max({uint64_t{1}, m_options.shard, m_options.hpzPartition}));
    const auto slices = static_cast<uint32_t>(m_options.GetExpertTensor()); // of an expert
    const auto expertShard = static_cast<uint32_t>(
        std::max<uint64_t>(1, m_options.shard * m_options.tensor / (slices * m_options.expert)));
    // By groups, what the ranks of a group have in common, and its ranks in order.
    std::array<std::map<std::array<uint32_t, 4>, std::map<uint32_t, uint32_t>>, PLAN_GROUPS> byKey;
    for (uint32_t rank = 0; rank < GetRanks(); rank++)
    {
        const Coordinates at = GetCoordinates(rank);
        const uint32_t replica = at[DATA] * m_sizes[CONTEXT] + at[CONTEXT];
        // Those that share experts are neighbours, whatever shares the other parts of a layer.
        const uint32_t number = replica * m_sizes[TENSOR] + at[TENSOR];
        const uint32_t slice = number % slices;
        const uint32_t block = number / slices;
        const auto add = [&](PlanGroups groups, std::array<uint32_t, 4> key, uint32_t place) {
            byKey[static_cast<uint32_t>(groups)][key][place] = rank;
        };
        /** Neighbours of a number in all, and those that have the same place among theirs. */
        const auto divide = [&](PlanGroups inside,
                                PlanGroups across,
                                const std::array<uint32_t, 2>& common,
                                uint32_t all,
                                uint32_t neighbours) {
            add(inside, {common[0], at[PIPELINE], common[1], all / neighbours}, all % neighbours);
            add(across, {common[0], at[PIPELINE], common[1], all % neighbours}, all / neighbours);
        };
        add(PlanGroups::TENSOR, {at[CONTEXT], at[DATA], at[PIPELINE], 0}, at[TENSOR]);
        add(PlanGroups::CONTEXT, {at[TENSOR], at[DATA], at[PIPELINE], 0}, at[CONTEXT]);
        add(PlanGroups::DATA, {at[TENSOR], at[PIPELINE], 0, 0}, replica);
        divide(PlanGroups::SHARD, PlanGroups::REPLICA, {at[TENSOR], 0}, replica, shard);
        divide(PlanGroups::EXPERT, PlanGroups::EXPERT_DATA, {slice, 0}, block, expert);
        const uint32_t place = block % expert; // which the rank's experts have
        const uint32_t copy = block / expert;
        divide(PlanGroups::EXPERT_NODE, PlanGroups::EXPERT_ACROSS, {slice, copy}, place, node);
        divide(PlanGroups::EXPERT_SHARD,
               PlanGroups::EXPERT_REPLICA,
               {slice, place},
               copy,
               expertShard);
        add(PlanGroups::EXPERT_TENSOR, {at[PIPELINE], block, 0, 0}, slice);
        if (m_embeddingPlaces.count(at[PIPELINE]) > 0)
        {
            add(PlanGroups::EMBEDDING, {at[TENSOR], at[CONTEXT], at[DATA], 0}, at[PIPELINE]);
        }
    }
    constexpr Parallelism KINDS[PLAN_GROUPS] = {Parallelism::TENSOR,
                                                Parallelism::DATA,
                                                Parallelism::DATA,
                                                Parallelism::DATA,
                                                Parallelism::CONTEXT,
                                                Parallelism::EXPERT,
                                                Parallelism::EXPERT,
                                                Parallelism::EXPERT,
                                                Parallelism::DATA,
                                                Parallelism::DATA,
                                                Parallelism::DATA,
                                                Parallelism::DATA,
                                                Parallelism::TENSOR};
    for (uint32_t groups = 0; groups < PLAN_GROUPS; groups++)
    {
        m_groups[groups].parallelism = KINDS[groups];
        m_groups[groups].exchanges = KINDS[groups] == Parallelism::EXPERT;
        const bool isReplicas = groups == static_cast<uint32_t>(PlanGroups::DATA) ||
                                groups == static_cast<uint32_t>(PlanGroups::EXPERT_DATA);
        m_groups[groups].byPriority = m_options.byLayer && isReplicas;
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
    double sum = 0;
    const uint64_t each = m_model.experts / expert; // experts of a rank
    for (uint32_t index = 0; index < std::max(1U, m_model.experts); index++)
    {
        if (index % std::max<uint64_t>(1, each) == 0)
        {
            m_expertShares.push_back(0);
        }
        const double share = std::pow(index + 1.0, -m_options.expertSkew);
        m_expertShares.back() += share;
        sum += share;
    }
    for (double& share : m_expertShares)
    {
        share /= sum;
    }
}

double
ParallelPlan::GetExpertShare(uint32_t place) const
{
    return m_expertShares[place];
}

uint32_t
ParallelPlan::GetPlace(uint32_t rank, PlanGroups groups) const
{
    for (const auto& group : m_groups[static_cast<uint32_t>(groups)].groups)
    {
        const auto found = std::find(group.begin(), group.end(), rank);
        if (found != group.end())
        {
            return static_cast<uint32_t>(found - group.begin());
        }
    }
    return 0;
}

uint32_t
ParallelPlan::GetRanks() const
{
    return m_sizes[TENSOR] * m_sizes[CONTEXT] * m_sizes[DATA] * m_sizes[PIPELINE];
}

uint32_t
ParallelPlan::GetMicroBatches() const
{
    const uint64_t replicas = m_options.microBatch * m_options.data;
    return static_cast<uint32_t>(std::max<uint64_t>(1, m_options.globalBatch / replicas));
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
ParallelPlan::GetRankOfPart(uint32_t rank, uint32_t steps) const
{
    Coordinates coordinates = GetCoordinates(rank);
    coordinates[CONTEXT] = (coordinates[CONTEXT] + steps) % m_sizes[CONTEXT];
    return GetRank(coordinates);
}

uint32_t
ParallelPlan::GetSize(PlanGroups groups) const
{
    return static_cast<uint32_t>(m_groups[static_cast<uint32_t>(groups)].groups[0].size());
}

} // namespace ns3::training
