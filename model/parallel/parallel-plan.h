/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PARALLEL_PLAN_H
#define DISTRIBUTED_TRAINING_PARALLEL_PLAN_H

#include "parallel-options.h"
#include "transformer-model.h"

#include "ns3/pipeline-schedule.h"
#include "ns3/task-graph.h"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 * Index of the groups of a ParallelPlan in TaskGraph::GetGroups().
 */
enum class PlanGroups : uint32_t
{
    TENSOR,         ///< parts of each layer
    DATA,           ///< replicas and parts of sequences: those that add up gradients
    SHARD,          ///< neighbours of DATA: HSDP divides among them, ZeRO++ keeps a copy
    REPLICA,        ///< those of DATA that have the same place in SHARD
    CONTEXT,        ///< parts of a sequence
    EXPERT,         ///< ranks among which experts are divided
    EXPERT_NODE,    ///< those of EXPERT in a node
    EXPERT_ACROSS,  ///< those of EXPERT that have the same place in their nodes
    EXPERT_DATA,    ///< replicas of the same experts
    EMBEDDING,      ///< first and last stage, which share the embedding
    EXPERT_SHARD,   ///< neighbours of EXPERT_DATA: HSDP divides among them
    EXPERT_REPLICA, ///< those of EXPERT_DATA that have the same place in EXPERT_SHARD
    EXPERT_TENSOR   ///< parts of each expert
};

/// Bytes of a parameter and of an activation on the network. @ingroup distributed-training-parallel
constexpr uint64_t PARAMETER_BYTES = 2;

/// Number of groups of a plan.
constexpr uint32_t PLAN_GROUPS = 13;

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

    /** @return whether messages between stages are exchanged in batches that a rank waits for */
    bool BatchesMessages() const
    {
        return m_batchesMessages;
    }

    /** @return number of ranks: tensor x pipeline x data x context */
    uint32_t GetRanks() const;

    /** @return micro-batches of a replica in an iteration */
    uint32_t GetMicroBatches() const;

    /** @return tokens of a micro-batch at a rank */
    uint64_t GetTokens() const
    {
        return m_options.microBatch * m_model.sequence / m_options.context;
    }

    /** @return stages of all ranks of a pipeline together */
    uint32_t GetStages() const
    {
        return m_schedule.GetStages();
    }

    /**
     * @param stage number of a stage
     * @return its first layer; that of the number of stages is the number of layers
     */
    uint32_t GetFirstLayer(uint32_t stage) const
    {
        return m_firstLayers[stage];
    }

    /** @return places in a pipeline that have the embedding, or a copy of it */
    const std::set<uint32_t>& GetEmbeddingPlaces() const
    {
        return m_embeddingPlaces;
    }

    /** @param rank a rank @return place of a rank in its pipeline */
    uint32_t GetPipelineRank(uint32_t rank) const;

    /**
     * @param rank a rank
     * @param place of the other rank in the pipeline
     * @return the rank there, with the same place in all other dimensions
     */
    uint32_t GetRankOfStage(uint32_t rank, uint32_t place) const;

    /**
     * @param rank a rank
     * @param steps number of parts of a sequence
     * @return the rank so many parts further in the ring of parts
     */
    uint32_t GetRankOfPart(uint32_t rank, uint32_t steps) const;

    /** @return the groups, by PlanGroups */
    const std::vector<TaskGroups>& GetGroups() const
    {
        return m_groups;
    }

    /** @param groups kind of groups @return number of ranks in each group; 1: nothing is sent */
    uint32_t GetSize(PlanGroups groups) const;

    /** @return the ranks among which ZeRO divides dense layers: SHARD with HSDP, otherwise DATA */
    PlanGroups GetShards() const
    {
        return m_options.shard > 0 ? PlanGroups::SHARD : PlanGroups::DATA;
    }

    /** @return those among which it divides experts: EXPERT_SHARD with HSDP, otherwise EXPERT_DATA
     */
    PlanGroups GetExpertShards() const
    {
        return m_options.shard > 0 ? PlanGroups::EXPERT_SHARD : PlanGroups::EXPERT_DATA;
    }

    /** @return the ranks that share each expert: TENSOR if they also share the other parts of a
     * layer */
    PlanGroups GetExpertParts() const
    {
        return m_options.GetExpertTensor() == m_options.tensor ? PlanGroups::TENSOR
                                                               : PlanGroups::EXPERT_TENSOR;
    }

    /**
     * @param parameters that layers compute with
     * @return their bytes in memory, and in a gather of ZeRO
     */
    uint64_t GetParameterBytes(uint64_t parameters) const;

    /** @return bytes of a gradient on the network */
    uint64_t GetGradientBytes() const;

    /**
     * @param place of a rank in its group of EXPERT
     * @return part of all routed tokens that goes to its experts
     */
    double GetExpertShare(uint32_t place) const;

    /**
     * @param rank a rank
     * @param groups of the rank
     * @return its place in its group
     */
    uint32_t GetPlace(uint32_t rank, PlanGroups groups) const;

    /**
     * With more tensor-parallel ranks than heads of keys and values, each has a copy of one, as in
     * Megatron-LM.
     * @param layer number of the layer, from 0
     * @return parameters at a rank beyond its part of these heads
     */
    uint64_t GetKeyValueCopies(uint32_t layer) const;

    /**
     * @param layer number of the layer, from 0
     * @return parameters at a rank of the copy of the embedding that predictions have, if the layer
     *         is the first of them and the rank has no other
     */
    uint64_t GetEmbeddingCopy(uint32_t layer) const;

    /**
     * @param layer number of the layer, from 0
     * @return parameters at a rank of a layer, without its routed experts
     */
    uint64_t GetDenseParameters(uint32_t layer) const;

    /**
     * @param layer number of the layer, from 0
     * @return parameters at a rank of the routed experts of a layer
     */
    uint64_t GetExpertParameters(uint32_t layer) const;

    /**
     * @param stage number of the stage, from 0
     * @return parameters at a rank of the embedding, if the stage has it
     */
    uint64_t GetEmbeddingParameters(uint32_t stage) const;

    /**
     * @param stage number of the stage, from 0
     * @return parameters at a rank of the output layer, if the stage has it
     */
    uint64_t GetOutputParameters(uint32_t stage) const;

    /** @param rank a rank @return parameters at a rank without routed experts, all of its stages */
    uint64_t GetDenseParametersOfRank(uint32_t rank) const;

    /** @param rank a rank @return parameters at a rank of routed experts, all of its stages */
    uint64_t GetExpertParametersOfRank(uint32_t rank) const;

    /** @param rank a rank @return parameters at a rank, all of its stages */
    uint64_t GetParameters(uint32_t rank) const;

    /** @return activations of a micro-batch between layers, at a rank group: 2 b s h / c, bytes */
    uint64_t GetActivationBytes() const;

    /**
     * @param layer number of the layer, from 0
     * @return keys and values of a micro-batch in a layer at a rank, bytes
     */
    uint64_t GetKeyValueBytes(uint32_t layer) const;

    /**
     * @param stage number of a stage, not of the last one
     * @return message between it and the next one at a rank, bytes
     */
    uint64_t GetStageBytes(uint32_t stage) const;

    /**
     * @param place of a rank in its pipeline
     * @param stage number of the stage
     * @return whether the rank has the stage
     */
    bool HasStage(uint32_t place, uint32_t stage) const;

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

    void ReadOrder();
    void DivideLayers();
    void TakeLayout();
    void FindEmbeddings();
    void MakeGroups();
    Coordinates GetCoordinates(uint32_t rank) const;
    uint32_t GetRank(const Coordinates& coordinates) const;

    TransformerModel m_model;
    ParallelOptions m_options;
    Coordinates m_sizes;
    std::array<Dimension, DIMENSIONS> m_order; // the one whose ranks are neighbours first
    PipelineSchedule m_schedule;
    bool m_batchesMessages{false};
    std::vector<uint32_t> m_firstLayers; // by stage, and the number of layers
    std::set<uint32_t> m_embeddingPlaces;
    std::vector<double> m_expertShares; // by place in EXPERT
    std::vector<TaskGroups> m_groups;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PARALLEL_PLAN_H
