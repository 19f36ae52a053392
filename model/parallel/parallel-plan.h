/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PARALLEL_PLAN_H
#define DISTRIBUTED_TRAINING_PARALLEL_PLAN_H

#include "transformer-model.h"

#include "ns3/pipeline-schedule.h"
#include "ns3/task-graph.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 * What is computed again in the backward pass rather than kept.
 */
enum class Recompute : uint8_t
{
    NONE,      ///< nothing
    SELECTIVE, ///< the scores of attention
    FULL       ///< whole layers; collectives of the forward pass are repeated, too
};

/**
 * @ingroup distributed-training-parallel
 * How a transformer is trained on many ranks. Names are those of Megatron-LM and of DeepSpeed.
 */
struct ParallelOptions
{
    uint32_t tensor{1};   ///< ranks that share each layer
    uint32_t pipeline{1}; ///< ranks that share the layers
    uint32_t data{1};     ///< replicas
    uint32_t context{1};  ///< ranks that share a sequence
    uint32_t expert{1};   ///< ranks that share the experts of a layer, of `data` times `context`
    bool sequenceParallel{false}; ///< activations are divided between tensor-parallel layers, too
    /// 0: replicas have all; 1: divided optimizer; 2: and gradients; 3: and parameters (FSDP).
    uint32_t zero{0};
    uint64_t microBatch{1};               ///< samples of a replica that it computes together
    uint64_t globalBatch{1};              ///< samples of an iteration
    std::string schedule{"1f1b"};         ///< see MakePipelineSchedule()
    Recompute recompute{Recompute::NONE}; ///< what is computed again
    uint32_t gradientBytes{4};            ///< of a gradient on the network: 2 or 4
    uint32_t parameterBytes{2};           ///< of a parameter and of an activation on the network
    uint64_t bucket{64 << 20};     ///< gradients, and parameters, that go together, bytes at least
    bool overlapGradReduce{true};  ///< gradients are reduced during the last backward pass
    bool overlapParamGather{true}; ///< ZeRO 1, 2: parameters are gathered during the forward pass
    /// Names of the dimensions, the one whose ranks are neighbours first.
    std::string order{"tp-cp-dp-pp"};
};

/**
 * @ingroup distributed-training-parallel
 * Index of the groups of a ParallelPlan in TaskGraph::GetGroups().
 */
enum class PlanGroups : uint32_t
{
    TENSOR,      ///< parts of each layer
    DATA,        ///< replicas and parts of sequences: those that add up gradients
    CONTEXT,     ///< parts of a sequence
    EXPERT,      ///< ranks among which experts are divided
    EXPERT_DATA, ///< replicas of the same experts
    EMBEDDING    ///< first and last stage, which share the embedding
};

/// Number of groups of a plan.
constexpr uint32_t PLAN_GROUPS = 6;

/**
 * @ingroup distributed-training-parallel
 *
 * Who has which part of a model: validated options, the place of each rank, and the stages.
 */
class ParallelPlan
{
  public:
    /**
     * @param model the transformer
     * @param options how it is trained
     * @throw ConfigurationError if sizes do not divide each other
     */
    ParallelPlan(const TransformerModel& model, const ParallelOptions& options);

    /** @return the model */
    const TransformerModel& GetModel() const
    {
        return m_model;
    }

    /** @return how it is trained */
    const ParallelOptions& GetOptions() const
    {
        return m_options;
    }

    /** @return the schedule of each pipeline */
    const PipelineSchedule& GetSchedule() const
    {
        return m_schedule;
    }

    /** @return number of ranks: tensor x pipeline x data x context */
    uint32_t GetRanks() const;

    /** @return micro-batches of a replica in an iteration */
    uint32_t GetMicroBatches() const;

    /** @return stages of all ranks of a pipeline together */
    uint32_t GetStages() const
    {
        return m_schedule.GetStages();
    }

    /**
     * @param stage number of a stage
     * @return its first layer; that of the number of stages is the number of layers
     */
    uint32_t GetFirstLayer(uint32_t stage) const;

    /** @return place of a rank in its pipeline */
    uint32_t GetPipelineRank(uint32_t rank) const;

    /**
     * @param rank a rank
     * @param place of the other rank in the pipeline
     * @return the rank there, with the same place in all other dimensions
     */
    uint32_t GetRankOfStage(uint32_t rank, uint32_t place) const;

    /** @return the groups, by PlanGroups */
    const std::vector<TaskGroups>& GetGroups() const
    {
        return m_groups;
    }

    /** @return number of ranks in each group; 1: nothing is sent */
    uint32_t GetSize(PlanGroups groups) const;

    /** @return parameters at a rank of a layer, without its routed experts */
    uint64_t GetDenseParameters(uint32_t layer) const;

    /** @return parameters at a rank of the routed experts of a layer */
    uint64_t GetExpertParameters(uint32_t layer) const;

    /** @return parameters at a rank of embedding and output layer of a stage */
    uint64_t GetEdgeParameters(uint32_t stage) const;

    /** @return parameters at a rank, all of its stages */
    uint64_t GetParameters(uint32_t rank) const;

    /** @return activations of a micro-batch between layers, at a rank group: 2 b s h / c, bytes */
    uint64_t GetActivationBytes() const;

    /** @return message between stages at a rank, bytes */
    uint64_t GetStageBytes() const;

    /**
     * Memory that a rank needs: parameters, gradients and the state of Adam, divided as ZeRO says,
     * and the activations that its schedule keeps (Korthikanti et al., MLSys 2023).
     * @param rank the rank
     * @return bytes
     */
    uint64_t GetMemoryBytes(uint32_t rank) const;

  private:
    /// Dimensions of the ranks.
    enum Dimension : uint32_t
    {
        TENSOR,
        CONTEXT,
        DATA,
        PIPELINE,
        DIMENSIONS
    };

    using Coordinates = std::array<uint32_t, DIMENSIONS>;

    void Check() const;
    void ReadOrder();
    void MakeGroups();
    Coordinates GetCoordinates(uint32_t rank) const;
    uint32_t GetRank(const Coordinates& coordinates) const;
    double GetLayerActivationBytes() const;

    TransformerModel m_model;
    ParallelOptions m_options;
    Coordinates m_sizes;
    std::array<Dimension, DIMENSIONS> m_order; // the one whose ranks are neighbours first
    PipelineSchedule m_schedule;
    std::vector<TaskGroups> m_groups;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PARALLEL_PLAN_H
