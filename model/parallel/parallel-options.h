/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PARALLEL_OPTIONS_H
#define DISTRIBUTED_TRAINING_PARALLEL_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 * How a transformer is trained on many ranks. Names are those of Megatron-LM and of DeepSpeed.
 */
struct ParallelOptions
{
    uint64_t tensor{1};       ///< ranks that share each layer
    uint64_t pipeline{1};     ///< ranks that share the layers
    uint64_t data{1};         ///< replicas
    uint64_t context{1};      ///< ranks that share a sequence
    uint64_t expert{1};       ///< ranks among which the experts of a layer are divided
    uint64_t expertTensor{0}; ///< ranks that share each expert; 0: `tensor`
    /// Names of the dimensions, the one whose ranks are neighbours first.
    std::string order{"tp-cp-dp-pp"};

    bool sequenceParallel{false}; ///< activations are divided between tensor-parallel layers, too
    /// Parts of a matrix product whose gather or reduction runs during other parts; 1: none.
    uint64_t tpCommOverlap{1};

    /// How ranks that share a sequence see all keys: p2p is a ring (Ring Attention), a2a exchanges
    /// sequences for heads (Ulysses), all_gather collects keys and values (Llama 3).
    std::string cpCommType{"p2p"};

    /// Tokens of each sample of an iteration; empty: all have those of the model.
    std::vector<uint64_t> sampleLengths{};
    /// Most tokens of a sample at a rank: a sample has as few of the ranks of data and context
    /// parallelism as its length needs. 0: each has those of context parallelism.
    uint64_t hybridContext{0};

    uint64_t microBatch{1};       ///< samples of a replica that it computes together
    uint64_t globalBatch{1};      ///< samples of an iteration
    std::string schedule{"1f1b"}; ///< see MakePipelineSchedule()
    /// Whether ranks compute during messages between stages: true, false, or auto as in Megatron-LM
    std::string overlapP2p{"auto"};
    std::optional<uint64_t> firstLayers; ///< layers of the first stage; none: as many as others
    std::optional<uint64_t> lastLayers;  ///< layers of the last stage; none: as many as others
    std::string layout;     ///< layers of all stages, see ReadStageLayout(); empty: equal stages
    uint64_t mtpLayers{0};  ///< more layers in the last stage that predict one more token each
    bool delayWgrad{false}; ///< gradients of weights are computed when those of inputs left
    /// What is computed again in the backward pass: none, full (whole layers, with the collectives
    /// of their forward pass), or selective:modules=NAME+NAME, by default core-attention (scores).
    /// Names are core-attention, layernorm, mla-up-projection, mlp, moe, moe-activation and
    /// shared-experts: --recompute-modules of Megatron-LM.
    std::string recompute{"none"};
    /// How scores of attention are computed: flash (FlashAttention), which keeps none, or unfused.
    std::string attention{"flash"};

    /// 0: replicas have all; 1: divided optimizer; 2: and gradients; 3: and parameters (FSDP).
    uint64_t zero{0};
    uint64_t shard{0};              ///< HSDP: ranks among which ZeRO divides; 0: all replicas
    bool reshard{true};             ///< ZeRO 3: parameters are dropped after the forward pass
    uint64_t prefetch{1};           ///< ZeRO 3: layers gathered ahead
    bool quantizedWeights{false};   ///< ZeRO++: parameters are gathered with 8 bits
    bool quantizedGradients{false}; ///< ZeRO++: gradients are exchanged with 4 bits
    /// ZeRO++: ranks with a copy of all parameters among them, for the backward pass; 0: none
    uint64_t hpzPartition{0};
    /// Number format of parameters that layers compute with, in which ZeRO gathers them: bf16, fp8
    /// (a byte), or fp4 (4 bits, and 8 of a scale for each 16 numbers, as NVFP4).
    std::string paramGather{"bf16"};
    uint64_t gradientBytes{0}; ///< of a gradient on the network; 0: 4, with ZeRO 3 2
    uint64_t bucket{64 << 20}; ///< gradients that go together, bytes at least
    /// Layers wait for the sums of their own gradients, which go first; otherwise the update waits
    /// for all sums.
    bool byLayer{false};
    bool overlapGradReduce{true};  ///< gradients are reduced during the last backward pass
    bool overlapParamGather{true}; ///< ZeRO 1, 2: parameters are gathered during the forward pass

    bool sharedExpertOverlap{false}; ///< shared experts compute during exchanges of tokens
    bool fp8Dispatch{false};         ///< tokens go to experts with 8 bits, and come back with 16
    uint64_t expertNode{0};          ///< ranks of a node that share experts; 0: not looked at
    uint64_t nodesPerToken{0};       ///< nodes to which a token may go; 0: as many as it likes
    double expertSkew{0}; ///< popularity of expert k falls as 1 / k^skew; 0: all equally popular

    /** @return number of ranks that share each expert */
    uint64_t GetExpertTensor() const
    {
        return expertTensor > 0 ? expertTensor : tensor;
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PARALLEL_OPTIONS_H
