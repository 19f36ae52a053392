/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PIPELINE_SCHEDULE_H
#define DISTRIBUTED_TRAINING_PIPELINE_SCHEDULE_H

#include <cstdint>
#include <string>
#include <vector>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-pipeline Pipeline schedules
 *
 * The order in which the ranks of a pipeline compute micro-batches.
 */

namespace ns3::training
{

/**
 * @ingroup distributed-training-pipeline
 * Work of a rank on a micro-batch in a stage.
 */
enum class PipelineWork : uint8_t
{
    FORWARD,         ///< activations of the stage; F in a schedule file
    BACKWARD,        ///< gradients of inputs and of weights; B
    INPUT_GRADIENT,  ///< gradients of the inputs, which the previous stage waits for; I
    WEIGHT_GRADIENT, ///< gradients of the weights, for which nobody waits; W
    UNSHARD,         ///< gathers the parameters of the stage, of no micro-batch
    RESHARD,         ///< frees the parameters of the stage, of no micro-batch
    REDUCE_GRADIENT  ///< reduces the gradients of the stage, of no micro-batch
};

/// Number of kinds of work.
constexpr uint32_t PIPELINE_WORKS = 7;

/**
 * @ingroup distributed-training-pipeline
 * @param work kind of work
 * @return its name in a schedule file: F, B, I, W, UNSHARD, RESHARD, REDUCE_GRAD
 */
const char* GetName(PipelineWork work);

/**
 * @ingroup distributed-training-pipeline
 * @param work kind of work
 * @return whether the work is that of a micro-batch
 */
inline bool
IsCompute(PipelineWork work)
{
    return work <= PipelineWork::WEIGHT_GRADIENT;
}

/**
 * @ingroup distributed-training-pipeline
 * One piece of work of a rank.
 */
struct PipelineAction
{
    PipelineWork work{PipelineWork::FORWARD}; ///< its kind
    uint32_t stage{0};                        ///< number of the stage, from 0
    uint32_t microBatch{0};                   ///< number of the micro-batch, from 0; or 0
    bool joinsNext{false};                    ///< runs together with the next action of the rank
    /// With batches of messages: one follows this action. Otherwise its output waits for the batch
    /// behind the next action.
    bool endsBatch{true};

    /** @return as in a schedule file: 3F12 is the forward pass of micro-batch 12 in stage 3 */
    std::string ToString() const;
};

/**
 * @ingroup distributed-training-pipeline
 * Whether a rank computes while it exchanges messages with other stages.
 */
enum class PipelineOverlap : uint8_t
{
    ALWAYS, ///< it waits for the inputs of its next action only
    NEVER,  ///< it exchanges messages in batches, and waits for all of a batch
    CHOSEN  ///< as the job says
};

/**
 * @ingroup distributed-training-pipeline
 *
 * What each rank of a pipeline does in an iteration. Stage s gets activations from stage s - 1 and
 * gradients from stage s + 1. A rank may have several stages.
 */
struct PipelineSchedule
{
    uint32_t microBatches{0};                         ///< of an iteration
    std::vector<uint32_t> rankOfStage;                ///< by stage
    std::vector<std::vector<PipelineAction>> actions; ///< by rank, in order
    PipelineOverlap overlap{PipelineOverlap::ALWAYS}; ///< of messages with its actions

    /** @return number of ranks */
    uint32_t GetRanks() const
    {
        return static_cast<uint32_t>(actions.size());
    }

    /** @return number of stages */
    uint32_t GetStages() const
    {
        return static_cast<uint32_t>(rankOfStage.size());
    }

    /**
     * @param rank the rank
     * @return the most micro-batches whose activations it keeps at a time, each counted for each of
     *         its stages: from the forward pass to the gradients of the inputs
     */
    uint32_t GetMostActivations(uint32_t rank) const;

    /** Lets every action run on its own, rather than some together with the next one. */
    void SeparateActions();

    /**
     * Checks that every micro-batch passes every stage forward and backward once, on the rank of
     * the stage.
     * @return what is wrong, one line; empty if it is complete
     */
    std::string FindGap() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PIPELINE_SCHEDULE_H
