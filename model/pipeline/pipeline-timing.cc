/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "pipeline/pipeline-timing.h"

#include <algorithm>
#include <optional>

namespace ns3::training
{

namespace
{

/** Runs a schedule rank by rank, as far as inputs are there. */
class PipelineRun
{
  public:
    PipelineRun(const PipelineSchedule& schedule, const PipelineDurations& durations)
        : m_schedule(schedule),
          m_durations(durations),
          m_next(schedule.GetRanks()),
          m_free(schedule.GetRanks()),
          m_activations(std::size_t{schedule.GetStages()} * schedule.microBatches),
          m_gradients(m_activations.size())
    {
        m_timing.start.resize(schedule.GetRanks());
    }

    PipelineTiming Run();

  private:
    using Moments = std::vector<std::optional<double>>; // by stage and micro-batch

    bool Advance(uint32_t rank);
    std::optional<PipelineAction> GetInput(const PipelineAction& action) const;
    std::optional<double> GetReady(uint32_t rank, const PipelineAction& action) const;
    std::string DescribeDeadlock() const;

    std::optional<double>& At(Moments& moments, const PipelineAction& action) const
    {
        return moments[std::size_t{action.stage} * m_schedule.microBatches + action.microBatch];
    }

    const PipelineSchedule& m_schedule;
    const PipelineDurations& m_durations;
    std::vector<std::size_t> m_next; // by rank, its next action
    std::vector<double> m_free;      // by rank, end of its work so far
    mutable Moments m_activations;   // end of forward passes
    mutable Moments m_gradients;     // end of the gradients of the inputs
    PipelineTiming m_timing;
};

std::optional<PipelineAction>
PipelineRun::GetInput(const PipelineAction& action) const
{
    PipelineAction input = action;
    if (action.work >= PipelineWork::WEIGHT_GRADIENT)
    {
        return std::nullopt; // made by this rank before, or none
    }
    if (action.work == PipelineWork::FORWARD)
    {
        if (action.stage == 0)
        {
            return std::nullopt;
        }
        input.stage--;
        return input;
    }
    if (action.stage + 1 == m_schedule.GetStages())
    {
        return std::nullopt; // the loss
    }
    input.stage++;
    return input;
}

std::optional<double>
PipelineRun::GetReady(uint32_t rank, const PipelineAction& action) const
{
    const auto input = GetInput(action);
    if (!input)
    {
        return 0;
    }
    const auto end = At(action.work == PipelineWork::FORWARD ? m_activations : m_gradients, *input);
    if (!end)
    {
        return std::nullopt;
    }
    return *end + (m_schedule.rankOfStage[input->stage] == rank ? 0 : m_durations.message);
}

bool
PipelineRun::Advance(uint32_t rank)
{
    const auto& actions = m_schedule.actions[rank];
    const std::size_t first = m_next[rank];
    if (first == actions.size())
    {
        return false;
    }
    std::size_t last = first;
    while (actions[last].joinsNext && last + 1 < actions.size())
    {
        last++;
    }
    double start = m_free[rank];
    double length = 0;
    for (std::size_t i = first; i <= last; i++)
    {
        const auto ready = GetReady(rank, actions[i]);
        if (!ready)
        {
            return false;
        }
        start = std::max(start, *ready);
        length += m_durations.Get(actions[i].work);
    }
    m_free[rank] = start + length;
    for (std::size_t i = first; i <= last; i++)
    {
        m_timing.start[rank].push_back(start);
        if (actions[i].work == PipelineWork::FORWARD)
        {
            At(m_activations, actions[i]) = m_free[rank];
        }
        else if (actions[i].work < PipelineWork::WEIGHT_GRADIENT)
        {
            At(m_gradients, actions[i]) = m_free[rank];
        }
    }
    m_next[rank] = last + 1;
    return true;
}

std::string
PipelineRun::DescribeDeadlock() const
{
    uint32_t rank = 0;
    while (m_next[rank] == m_schedule.actions[rank].size())
    {
        rank++;
    }
    // Every rank that waits waits for one that waits, so after as many steps as there are ranks
    // this is one of the cycle.
    const auto getWait = [this](uint32_t waiting) {
        for (std::size_t i = m_next[waiting];; i++)
        {
            const PipelineAction& action = m_schedule.actions[waiting][i];
            if (!GetReady(waiting, action))
            {
                return std::make_pair(action, *GetInput(action));
            }
        }
    };
    for (uint32_t i = 0; i < m_schedule.GetRanks(); i++)
    {
        rank = m_schedule.rankOfStage[getWait(rank).second.stage];
    }
    std::string text = "deadlock: ";
    const uint32_t first = rank;
    do
    {
        const auto [action, input] = getWait(rank);
        const uint32_t other = m_schedule.rankOfStage[input.stage];
        text += (rank == first ? "rank " : "; rank ") + std::to_string(rank) + " waits with " +
                action.ToString() + " for " + input.ToString() + " of rank " +
                std::to_string(other);
        rank = other;
    } while (rank != first);
    return text;
}

PipelineTiming
PipelineRun::Run()
{
    for (bool moves = true; moves;)
    {
        moves = false;
        for (uint32_t rank = 0; rank < m_schedule.GetRanks(); rank++)
        {
            while (Advance(rank))
            {
                moves = true;
            }
        }
    }
    double most = 0;
    for (uint32_t rank = 0; rank < m_schedule.GetRanks(); rank++)
    {
        if (m_next[rank] < m_schedule.actions[rank].size())
        {
            m_timing.deadlock = DescribeDeadlock();
            return m_timing;
        }
        double work = 0;
        for (const PipelineAction& action : m_schedule.actions[rank])
        {
            work += m_durations.Get(action.work);
        }
        most = std::max(most, work);
        m_timing.end = std::max(m_timing.end, m_free[rank]);
    }
    m_timing.bubble = m_timing.end - most;
    return m_timing;
}

} // namespace

double
PipelineDurations::Get(PipelineWork work) const
{
    switch (work)
    {
    case PipelineWork::FORWARD:
        return forward;
    case PipelineWork::BACKWARD:
        return inputGradient + weightGradient;
    case PipelineWork::INPUT_GRADIENT:
        return inputGradient;
    case PipelineWork::WEIGHT_GRADIENT:
        return weightGradient;
    case PipelineWork::UNSHARD:
    case PipelineWork::RESHARD:
    case PipelineWork::REDUCE_GRADIENT:
        break;
    }
    return 0;
}

PipelineTiming
TimePipeline(const PipelineSchedule& schedule, const PipelineDurations& durations)
{
    return PipelineRun(schedule, durations).Run();
}

} // namespace ns3::training
