/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "pipeline/pipeline-choice.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <string>

namespace ns3::training
{

namespace
{

/** All forward passes, then all backward passes (Huang et al., GPipe, NeurIPS 2019). */
PipelineSchedule
MakeGpipe(uint32_t ranks, uint32_t microBatches, const KeyValues& /* values */)
{
    PipelineSchedule schedule{microBatches, PlaceStagesInLoop(ranks, 1), {}};
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        std::vector<PipelineAction> actions;
        for (uint32_t i = 0; i < microBatches; i++)
        {
            actions.push_back({PipelineWork::FORWARD, rank, i});
        }
        for (uint32_t i = 0; i < microBatches; i++)
        {
            actions.push_back({PipelineWork::BACKWARD, rank, i});
        }
        schedule.actions.push_back(actions);
    }
    return schedule;
}

/** Forward passes of every stage of a rank before the next stage's (Lamy-Poirier, 2022). */
PipelineSchedule
MakeLoopedBfs(uint32_t ranks, uint32_t microBatches, const KeyValues& values)
{
    const auto chunks = static_cast<uint32_t>(values.GetCount("v"));
    PipelineSchedule schedule{microBatches, PlaceStagesInLoop(ranks, chunks), {}};
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        std::vector<PipelineAction> actions;
        for (uint32_t i = 0; i < chunks * microBatches; i++)
        {
            const uint32_t stage = i / microBatches * ranks + rank;
            actions.push_back({PipelineWork::FORWARD, stage, i % microBatches});
        }
        for (uint32_t i = 0; i < chunks * microBatches; i++)
        {
            const uint32_t stage = (chunks - 1 - i / microBatches) * ranks + rank;
            actions.push_back({PipelineWork::BACKWARD, stage, i % microBatches});
        }
        schedule.actions.push_back(actions);
    }
    return schedule;
}

/**
 * The steady state of one forward and one backward pass in turn, by the rules of Megatron-LM
 * (Narayanan et al., SC 2021) as PyTorch generalizes them to any number of micro-batches.
 */
class OneForwardOneBackward
{
  public:
    /**
     * @param name of the schedule, for messages
     * @param ranks of the pipeline
     * @param microBatches of an iteration
     * @param chunks stages of each rank
     * @param lead forward passes that a rank has more than the next rank before its first backward
     *        pass
     * @param splits whether gradients of weights are computed apart from those of inputs
     */
    OneForwardOneBackward(const std::string& name,
                          uint32_t ranks,
                          uint32_t microBatches,
                          uint32_t chunks,
                          uint32_t lead,
                          bool splits)
        : m_ranks(ranks),
          m_microBatches(microBatches),
          m_chunks(chunks),
          m_lead(lead),
          m_splits(splits)
    {
        const uint32_t rounds = std::max(1U, microBatches / ranks);
        if (microBatches % rounds != 0)
        {
            throw ConfigurationError("micro-batches " + std::to_string(microBatches) +
                                     " with schedule " + name + " of " + std::to_string(ranks) +
                                     " ranks (allowed: multiples of " + std::to_string(rounds) +
                                     ", the number of rounds)");
        }
        m_perRound = microBatches / rounds;
    }

    PipelineSchedule Make() const;

  private:
    std::vector<PipelineAction> MakeActions(uint32_t rank) const;

    /** @return the pass that a rank does as its number `index` in its direction */
    PipelineAction GetPass(PipelineWork work, uint32_t rank, uint32_t index) const
    {
        const uint32_t turn = index / m_perRound;
        const uint32_t chunk = turn % m_chunks;
        const uint32_t place = work == PipelineWork::FORWARD ? chunk : m_chunks - 1 - chunk;
        return {work, place * m_ranks + rank, turn / m_chunks * m_perRound + index % m_perRound};
    }

    uint32_t m_ranks;
    uint32_t m_microBatches;
    uint32_t m_chunks;
    uint32_t m_lead;
    bool m_splits;
    uint32_t m_perRound; // micro-batches that pass a stage before the rank turns to its next stage
};

PipelineSchedule
OneForwardOneBackward::Make() const
{
    PipelineSchedule schedule{m_microBatches, PlaceStagesInLoop(m_ranks, m_chunks), {}};
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        schedule.actions.push_back(MakeActions(rank));
    }
    return schedule;
}

std::vector<PipelineAction>
OneForwardOneBackward::MakeActions(uint32_t rank) const
{
    const uint32_t passes = m_chunks * m_microBatches; // in each direction
    const uint32_t warmup =
        std::min(passes, (m_chunks - 1) * m_perRound + m_lead * (m_ranks - 1 - rank));
    const PipelineWork backward = m_splits ? PipelineWork::INPUT_GRADIENT : PipelineWork::BACKWARD;
    std::vector<PipelineAction> actions;
    for (uint32_t i = 0; i < warmup; i++)
    {
        actions.push_back(GetPass(PipelineWork::FORWARD, rank, i));
    }
    uint32_t weights = 0; // gradients of weights so far
    for (uint32_t i = 0; i < passes; i++)
    {
        if (warmup + i < passes)
        {
            actions.push_back(GetPass(PipelineWork::FORWARD, rank, warmup + i));
            actions.back().endsBatch = false; // that of both passes comes behind the second
        }
        actions.push_back(GetPass(backward, rank, i));
        if (m_splits && i >= rank)
        {
            // Later ranks keep more gradients of weights for the bubble at the end.
            actions.push_back(GetPass(PipelineWork::WEIGHT_GRADIENT, rank, weights++));
        }
    }
    while (m_splits && weights < passes)
    {
        actions.push_back(GetPass(PipelineWork::WEIGHT_GRADIENT, rank, weights++));
    }
    return actions;
}

PipelineSchedule
MakeOneForwardOneBackward(uint32_t ranks, uint32_t microBatches, const KeyValues& values)
{
    // One stage per rank: a turn may have any number of micro-batches.
    PipelineSchedule schedule{microBatches, PlaceStagesInLoop(ranks, 1), {}};
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        const uint32_t warmup = std::min(microBatches, ranks - 1 - rank);
        std::vector<PipelineAction> actions;
        for (uint32_t i = 0; i < microBatches + warmup; i++)
        {
            if (i < microBatches)
            {
                actions.push_back({PipelineWork::FORWARD, rank, i});
            }
            if (i >= warmup)
            {
                actions.push_back({PipelineWork::BACKWARD, rank, i - warmup});
            }
        }
        schedule.actions.push_back(actions);
    }
    schedule.overlap =
        values.GetText("messages") == "batched" ? PipelineOverlap::NEVER : PipelineOverlap::ALWAYS;
    return schedule;
}

PipelineSchedule
MakeInterleaved(uint32_t ranks, uint32_t microBatches, const KeyValues& values)
{
    const auto chunks = static_cast<uint32_t>(values.GetCount("v"));
    PipelineSchedule schedule =
        OneForwardOneBackward("interleaved", ranks, microBatches, chunks, 2, false).Make();
    schedule.overlap = PipelineOverlap::CHOSEN;
    return schedule;
}

PipelineSchedule
MakeZeroBubble(uint32_t ranks, uint32_t microBatches, const KeyValues& values)
{
    const auto chunks = static_cast<uint32_t>(values.GetCount("v"));
    return OneForwardOneBackward("zb1p", ranks, microBatches, chunks, 1, true).Make();
}

/** @return key of the number of stages of a rank */
Key
MakeChunks(uint64_t initial)
{
    return Key::Count("v", initial, 1, 1024, "stages of each rank, its virtual pipeline size");
}

const Registry<PipelineScheduleEntry>::Entry g_gpipe(
    "gpipe",
    {"all forward passes, then all backward passes (GPipe, NeurIPS 2019)", &MakeGpipe});

const Registry<PipelineScheduleEntry>::Entry g_loopedBfs(
    "looped-bfs",
    {"several stages a rank, all micro-batches through a stage before the next (Lamy-Poirier 2022)",
     &MakeLoopedBfs,
     {MakeChunks(2)}});

const Registry<PipelineScheduleEntry>::Entry g_oneForwardOneBackward(
    "1f1b",
    {"forward and backward passes in turn (PipeDream-Flush, Megatron-LM)",
     &MakeOneForwardOneBackward,
     {Key::Word("messages",
                "batched",
                {"asynchronous", "batched"},
                "between stages: batches that a rank waits for as in Megatron-LM, or asynchronous "
                "sends beside computations")}});

const Registry<PipelineScheduleEntry>::Entry g_interleaved(
    "interleaved",
    {"likewise, with several stages a rank (Megatron-LM, SC 2021)",
     &MakeInterleaved,
     {MakeChunks(2)}});

const Registry<PipelineScheduleEntry>::Entry g_zeroBubble(
    "zb1p",
    {"gradients of weights fill the bubble, with the memory of 1f1b (Zero Bubble, ICLR 2024)",
     &MakeZeroBubble,
     {MakeChunks(1)}});

} // namespace

} // namespace ns3::training
