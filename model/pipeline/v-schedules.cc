/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "pipeline/pipeline-choice.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string>

namespace ns3::training
{

namespace
{

/**
 * Actions of a rank that has two stages, one on the way down the ranks and one on the way up.
 * Micro-batches of a stage come in order.
 */
class VActions
{
  public:
    /**
     * @param ranks of the pipeline
     * @param rank this one
     * @param microBatches of an iteration; later ones are left out
     */
    VActions(uint32_t ranks, uint32_t rank, uint32_t microBatches)
        : m_stages{rank, 2 * ranks - 1 - rank},
          m_microBatches(microBatches)
    {
    }

    /**
     * Does the next micro-batch.
     * @param work its kind
     * @param way 0: down, 1: up
     */
    void Do(PipelineWork work, uint32_t way)
    {
        Add(work, way, m_done[static_cast<uint32_t>(GetCounter(work))][way]++);
        if (work == PipelineWork::INPUT_GRADIENT)
        {
            m_weights.emplace_back(way, GetDone(work, way) - 1);
        }
    }

    /** Does a forward and a backward pass at the same time. */
    void DoTogether(uint32_t forward, uint32_t backward)
    {
        const std::size_t before = m_actions.size();
        Do(PipelineWork::FORWARD, forward);
        const bool joins = m_actions.size() > before;
        Do(PipelineWork::BACKWARD, backward);
        if (joins && m_actions.size() > before + 1)
        {
            m_actions[before].joinsNext = true;
        }
    }

    /** Does the oldest gradients of weights that are left, if any. */
    void DoOldestWeights()
    {
        if (!m_weights.empty())
        {
            const auto [way, microBatch] = m_weights.front();
            m_weights.pop_front();
            Add(PipelineWork::WEIGHT_GRADIENT, way, microBatch);
        }
    }

    /** Does the oldest gradients of weights of a stage that are left, if any. */
    bool DoOldestWeights(uint32_t way)
    {
        const auto oldest = std::find_if(m_weights.begin(),
                                         m_weights.end(),
                                         [way](const auto& left) { return left.first == way; });
        if (oldest == m_weights.end())
        {
            return false;
        }
        const uint32_t microBatch = oldest->second;
        m_weights.erase(oldest);
        Add(PipelineWork::WEIGHT_GRADIENT, way, microBatch);
        return true;
    }

    /** @return micro-batches done so far */
    uint32_t GetDone(PipelineWork work, uint32_t way) const
    {
        return m_done[static_cast<uint32_t>(GetCounter(work))][way];
    }

    /** @return the actions */
    const std::vector<PipelineAction>& Get() const
    {
        return m_actions;
    }

  private:
    /** @return FORWARD or INPUT_GRADIENT: what counts the micro-batches */
    static PipelineWork GetCounter(PipelineWork work)
    {
        return work == PipelineWork::FORWARD ? work : PipelineWork::INPUT_GRADIENT;
    }

    void Add(PipelineWork work, uint32_t way, uint32_t microBatch)
    {
        if (microBatch < m_microBatches)
        {
            m_actions.push_back({work, m_stages[way], microBatch});
        }
    }

    std::array<uint32_t, 2> m_stages; // by way
    uint32_t m_microBatches;
    std::array<std::array<uint32_t, 2>, PIPELINE_WORKS> m_done{}; // by counter and way
    std::deque<std::pair<uint32_t, uint32_t>> m_weights; // way and micro-batch of those left
    std::vector<PipelineAction> m_actions;
};

/** The V schedule of Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, section 6. */
PipelineSchedule
MakeZbv(uint32_t ranks, uint32_t microBatches, const KeyValues& /* values */)
{
    using Work = PipelineWork;
    PipelineSchedule schedule{microBatches, PlaceStagesInV(ranks), {}};
    const uint32_t count = std::max(2 * ranks - 1, microBatches);
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        VActions actions(ranks, rank, microBatches);
        const auto backward = [&actions](uint32_t way) {
            actions.Do(Work::INPUT_GRADIENT, way);
            actions.DoOldestWeights(way);
        };
        for (uint32_t i = 0; i < 2 * (ranks - rank) - 1; i++)
        {
            actions.Do(Work::FORWARD, 0);
        }
        for (uint32_t i = 0; i < rank; i++)
        {
            actions.Do(Work::FORWARD, 1);
            actions.Do(Work::FORWARD, 0);
        }
        for (uint32_t i = 0; i < ranks - rank; i++)
        {
            actions.Do(Work::FORWARD, 1);
            backward(1);
        }
        while (actions.GetDone(Work::FORWARD, 1) < count)
        {
            if (actions.GetDone(Work::FORWARD, 0) < count)
            {
                actions.Do(Work::FORWARD, 0);
            }
            backward(0);
            actions.Do(Work::FORWARD, 1);
            backward(1);
        }
        for (uint32_t i = 0; i < rank; i++)
        {
            actions.Do(Work::INPUT_GRADIENT, 0);
            actions.Do(Work::INPUT_GRADIENT, 1);
        }
        for (uint32_t i = 0; i < ranks - rank; i++)
        {
            backward(0);
        }
        while (actions.DoOldestWeights(1) || actions.DoOldestWeights(0))
        {
        }
        schedule.actions.push_back(actions.Get());
    }
    return schedule;
}

/** DualPipeV (DeepSeek, 2025), after DualPipe of the technical report on DeepSeek-V3. */
PipelineSchedule
MakeDualPipeV(uint32_t ranks, uint32_t microBatches, const KeyValues& /* values */)
{
    using Work = PipelineWork;
    if (microBatches < 2 * ranks)
    {
        throw ConfigurationError("micro-batches " + std::to_string(microBatches) +
                                 " with schedule dualpipev of " + std::to_string(ranks) +
                                 " ranks (allowed: at least " + std::to_string(2 * ranks) +
                                 ", the number of stages)");
    }
    PipelineSchedule schedule{microBatches, PlaceStagesInV(ranks), {}};
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        VActions actions(ranks, rank, microBatches);
        const uint32_t later = ranks - 1 - rank; // ranks behind this one
        for (uint32_t i = 0; i < 2 * later; i++)
        {
            actions.Do(Work::FORWARD, 0);
        }
        for (uint32_t i = 0; i <= rank; i++)
        {
            actions.Do(Work::FORWARD, 0);
            actions.Do(Work::FORWARD, 1);
        }
        for (uint32_t i = 0; i < later; i++)
        {
            actions.Do(Work::INPUT_GRADIENT, 1);
            actions.DoOldestWeights();
            actions.Do(Work::FORWARD, 1);
        }
        for (uint32_t i = 0; i < microBatches - 2 * ranks + rank + 1; i++)
        {
            if (i == 0 && later == 0)
            {
                actions.Do(Work::FORWARD, 0); // apart: a smaller bubble
                actions.Do(Work::BACKWARD, 1);
            }
            else
            {
                actions.DoTogether(0, 1);
            }
            actions.DoTogether(1, 0);
        }
        for (uint32_t i = 0; i < later; i++)
        {
            actions.Do(Work::BACKWARD, 1);
            actions.DoTogether(1, 0);
        }
        // The second half of these leaves gradients of weights for the end.
        bool splits = false;
        const auto getBackward = [&splits] {
            return splits ? Work::INPUT_GRADIENT : Work::BACKWARD;
        };
        for (uint32_t i = 0; i <= rank; i++)
        {
            splits = splits || (i == (rank + 1) / 2 && rank % 2 == 1);
            actions.Do(getBackward(), 1);
            splits = splits || (i == (rank + 1) / 2 && rank % 2 == 0);
            actions.Do(getBackward(), 0);
        }
        for (uint32_t i = 0; i < later; i++)
        {
            actions.DoOldestWeights();
            actions.Do(getBackward(), 0);
        }
        for (uint32_t i = 0; i <= rank; i++)
        {
            actions.DoOldestWeights();
        }
        schedule.actions.push_back(actions.Get());
    }
    return schedule;
}

const Registry<PipelineScheduleEntry>::Entry g_zbv(
    "zbv",
    {"two stages a rank in a V, no bubble if all passes take as long (Zero Bubble, ICLR 2024)",
     &MakeZbv});

const Registry<PipelineScheduleEntry>::Entry g_dualPipeV(
    "dualpipev",
    {"two stages a rank in a V, forward and backward passes together (DeepSeek, 2025)",
     &MakeDualPipeV});

} // namespace

} // namespace ns3::training
