/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/expert-exchange.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

namespace ns3::training
{

ExpertExchange::ExpertExchange(const ParallelPlan& plan, RankTasks& tasks, uint32_t rank)
    : m_plan(plan),
      m_tasks(tasks),
      m_place(plan.GetPlace(rank, PlanGroups::EXPERT))
{
}

double
ExpertExchange::GetLoad() const
{
    return m_plan.GetExpertShare(m_place) * static_cast<double>(m_plan.GetOptions().expert);
}

/** @return bytes from each rank to each, if experts are not equally popular */
ByteMatrix
ExpertExchange::MakeMatrix(uint64_t bytes, bool toExperts)
{
    ByteMatrix& matrix = m_matrices[{bytes, toExperts}];
    if (!matrix)
    {
        const auto ranks = static_cast<uint32_t>(m_plan.GetOptions().expert);
        std::vector<uint64_t> sizes;
        for (uint32_t source = 0; source < ranks; source++)
        {
            for (uint32_t target = 0; target < ranks; target++)
            {
                const double share = m_plan.GetExpertShare(toExperts ? target : source);
                // Whole numbers of 4 bytes, so that they can be sent as such.
                sizes.push_back(4 * static_cast<uint64_t>(
                                        std::llround(share * static_cast<double>(bytes) / 4)));
            }
        }
        matrix = std::make_shared<const std::vector<uint64_t>>(sizes);
    }
    return matrix;
}

uint64_t
ExpertExchange::Exchange(LayerTask name, bool toExperts)
{
    const TransformerModel& model = m_plan.GetModel();
    const ParallelOptions& options = m_plan.GetOptions();
    const uint64_t tokens = m_plan.GetTokens() / (options.sequenceParallel ? options.tensor : 1);
    const auto getBytes = [&](uint64_t copies) {
        const uint64_t numbers = tokens * copies * model.hidden;
        // A scale of 4 bytes for 128 numbers of 8 bits (DeepSeek-V3, section 3.3).
        return options.fp8Dispatch && toExperts ? numbers + numbers / 32
                                                : PARAMETER_BYTES * numbers;
    };
    const uint64_t bytes = getBytes(model.expertsPerToken);
    if (options.expertSkew > 0)
    {
        const ByteMatrix matrix = MakeMatrix(bytes, toExperts);
        const auto row = matrix->begin() + static_cast<int64_t>(m_place * options.expert);
        return m_tasks.Communicate(
            name,
            PlanGroups::EXPERT,
            RankTasks::EXPERT_STREAM,
            CollectiveOperation::ALL_TO_ALL_V,
            std::accumulate(row, row + static_cast<int64_t>(options.expert), uint64_t{0}),
            0,
            matrix);
    }
    if (options.expertNode == 0)
    {
        return m_tasks.Communicate(name,
                                   PlanGroups::EXPERT,
                                   RankTasks::EXPERT_STREAM,
                                   CollectiveOperation::ALL_TO_ALL,
                                   bytes);
    }
    // A token goes to a node once, and is copied there (DeepSeek-V3, section 3.2.2).
    const uint64_t nodes =
        options.nodesPerToken > 0 ? options.nodesPerToken : options.expert / options.expertNode;
    const uint64_t across = getBytes(std::min<uint64_t>(model.expertsPerToken, nodes));
    const auto first = toExperts ? PlanGroups::EXPERT_ACROSS : PlanGroups::EXPERT_NODE;
    const auto second = toExperts ? PlanGroups::EXPERT_NODE : PlanGroups::EXPERT_ACROSS;
    const auto exchange = [&](PlanGroups groups, uint64_t after) {
        const uint64_t id = m_tasks.Communicate(name,
                                                groups,
                                                RankTasks::EXPERT_STREAM,
                                                CollectiveOperation::ALL_TO_ALL,
                                                groups == PlanGroups::EXPERT_NODE ? bytes : across,
                                                after);
        return id > 0 ? id : after;
    };
    return exchange(second, exchange(first, 0));
}

} // namespace ns3::training
