/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/sample-plans.h"

namespace ns3::training
{

namespace
{

/** @return the plan of a sample's group; its length is padded until all ranks have the same part */
std::shared_ptr<const ParallelPlan>
MakeSamplePlan(const ParallelPlan& plan, const PlacedSample& sample)
{
    TransformerModel model = plan.GetModel();
    model.positions = model.positions > 0 ? model.positions : model.sequence;
    ParallelOptions options = plan.GetOptions();
    const uint64_t parts = sample.ranks * (options.sequenceParallel ? options.tensor : 1);
    model.sequence = (sample.tokens + parts - 1) / parts * parts;
    options.data = options.data * options.context / sample.ranks;
    options.context = sample.ranks;
    options.globalBatch = options.data;
    options.sampleLengths.clear();
    options.hybridContext = 0;
    options.mtpLayers = 0; // the model has them already
    return std::make_shared<const ParallelPlan>(model, options);
}

} // namespace

SamplePlans::SamplePlans(const ParallelPlan& plan, const TransformerRates& rates)
    : m_schedule(plan.GetOptions()),
      m_tensor(static_cast<uint32_t>(plan.GetOptions().tensor))
{
    for (const auto& [kind, made] : MakeSamplePlans(plan))
    {
        m_plans[kind] = {made, std::make_shared<const LayerTimes>(made, rates)};
    }
}

std::vector<RankSample>
SamplePlans::Get(uint32_t rank) const
{
    const uint32_t place = rank / m_tensor;
    std::vector<RankSample> samples;
    for (std::size_t round = 0; round < m_schedule.GetRounds().size(); round++)
    {
        bool awaitsOthers = !m_schedule.KeepsGroups(round);
        for (const PlacedSample& each : m_schedule.GetRounds()[round])
        {
            if (place >= each.first && place < each.first + each.ranks)
            {
                samples.push_back(
                    {each.sample, &m_plans.at({each.tokens, each.ranks}), awaitsOthers});
                awaitsOthers = false;
            }
        }
    }
    return samples;
}

std::map<SampleKind, std::shared_ptr<const ParallelPlan>>
MakeSamplePlans(const ParallelPlan& plan)
{
    std::map<SampleKind, std::shared_ptr<const ParallelPlan>> all;
    const SampleSchedule schedule(plan.GetOptions());
    for (const auto& round : schedule.GetRounds())
    {
        for (const PlacedSample& each : round)
        {
            const auto [made, isNew] = all.try_emplace({each.tokens, each.ranks});
            if (isNew)
            {
                made->second = MakeSamplePlan(plan, each);
            }
        }
    }
    return all;
}

} // namespace ns3::training
