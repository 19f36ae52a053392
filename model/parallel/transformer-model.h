/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRANSFORMER_MODEL_H
#define DISTRIBUTED_TRAINING_TRANSFORMER_MODEL_H

#include "ns3/training-registry.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-parallel Parallel training
 *
 * Models that are divided among ranks: by layers, within layers, by experts, by sequences.
 */

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 * What the layers of a transformer may differ in.
 */
struct TransformerLayer
{
    uint32_t heads;         ///< of attention
    uint32_t keyValueHeads; ///< of keys and values
    uint64_t feedForward;   ///< inner size of its feed-forward network, unless it has experts
    bool hasExperts;        ///< whether experts take the place of that network
};

/**
 * @ingroup distributed-training-parallel
 * A transformer: what its computations and its messages depend on.
 */
struct TransformerModel
{
    static constexpr const char* KIND = "transformer"; ///< for messages
    std::string help;                                  ///< one line, with the source

    uint32_t layers{0};        ///< blocks of attention and feed-forward network
    uint64_t hidden{0};        ///< numbers of a token between layers
    uint32_t heads{0};         ///< of attention
    uint32_t keyValueHeads{0}; ///< of keys and values; fewer than `heads`: grouped queries
    uint64_t feedForward{0};   ///< inner size of a dense feed-forward network
    uint64_t vocabulary{0};    ///< number of tokens
    uint64_t sequence{0};      ///< tokens of a sample

    bool isGated{true};         ///< three matrices in a feed-forward network rather than two
    bool hasBiases{false};      ///< biases in matrices and norms, as GPT-2 has
    bool hasPositions{false};   ///< a learned vector for each position of the sequence
    bool tiesEmbeddings{false}; ///< the output layer uses the weights of the input embedding

    uint32_t experts{0};           ///< of a layer; 0: dense layers only
    uint32_t expertsPerToken{0};   ///< routed experts of a token
    uint32_t sharedExperts{0};     ///< experts of every token, beside the routed ones
    uint64_t expertFeedForward{0}; ///< inner size of an expert
    uint32_t denseLayers{0};       ///< first layers, which have no experts

    uint64_t queryRank{0};    ///< multi-head latent attention: size of compressed queries; 0: none
    uint64_t keyValueRank{0}; ///< likewise of compressed keys and values
    uint64_t headSize{0};     ///< numbers of a head's query and key; 0: hidden / heads
    uint64_t rotarySize{0};   ///< latent attention: more numbers of it, with positions
    uint64_t valueSize{0};    ///< numbers of a head's value; 0: those of its key

    std::vector<TransformerLayer> listed; ///< each layer; empty: they follow from the numbers above

    /** @param layer number of the layer, from 0 @return the sizes of a layer, from 0 */
    TransformerLayer GetLayer(uint32_t layer) const;

    /** @return numbers of a head's query and key, without those of positions */
    uint64_t GetHeadSize() const;

    /** @return numbers of a head's value */
    uint64_t GetValueSize() const;

    /**
     * @param layer number of the layer, from 0
     * @return numbers of the keys and values of a token in a layer
     */
    uint64_t GetKeyValueSize(uint32_t layer) const;

    /**
     * @param layer number of the layer, from 0
     * @return parameters of the attention of a layer, with its norm
     */
    uint64_t GetAttentionParameters(uint32_t layer) const;

    /** @param inner its inner size @return parameters of a feed-forward network */
    uint64_t GetFeedForwardParameters(uint64_t inner) const;

    /**
     * @param layer number of the layer, from 0
     * @return parameters of the norm before a feed-forward network, and of the router
     */
    uint64_t GetRouterParameters(uint32_t layer) const;

    /** @param layer number of the layer, from 0 @return whether a layer, from 0, has experts */
    bool HasExperts(uint32_t layer) const
    {
        return GetLayer(layer).hasExperts;
    }

    /**
     * @param layer number of the layer, from 0
     * @return parameters of a layer, all experts included
     */
    uint64_t GetLayerParameters(uint32_t layer) const;

    /**
     * @param layer number of the layer, from 0
     * @return parameters of the routed experts of a layer
     */
    uint64_t GetExpertParameters(uint32_t layer) const;

    /** @return parameters of the input embedding, with positions */
    uint64_t GetEmbeddingParameters() const;

    /** @return parameters of the output layer and of the norm before it */
    uint64_t GetOutputParameters() const;

    /** @return all parameters */
    uint64_t GetParameters() const;

    /**
     * @param layer number of the layer, from 0
     * @return floating-point operations of the attention of a layer in a forward pass, by token
     */
    double GetAttentionOperations(uint32_t layer) const;

    /**
     * @param layer number of the layer
     * @return floating-point operations of the feed-forward networks that a token passes in a
     *         forward pass
     */
    double GetFeedForwardOperations(uint32_t layer) const;

    /** @return floating-point operations of the output layer in a forward pass, by token */
    double GetOutputOperations() const;
};

/**
 * @ingroup distributed-training-parallel
 * @param text name of a built-in model, or path of a JSON file, see ReadTransformerFile()
 * @return the model
 * @throw ConfigurationError if there is no such model, or the file is wrong
 */
TransformerModel FindTransformer(const std::string& text);

/**
 * @ingroup distributed-training-parallel
 * Reads a model from a JSON object. Its keys are those that `config.json` of Hugging Face has
 * (num_hidden_layers, hidden_size, num_attention_heads, num_key_value_heads, intermediate_size,
 * vocab_size, max_position_embeddings or sequence, tie_word_embeddings, num_experts or
 * n_routed_experts or num_local_experts, num_experts_per_tok, n_shared_experts,
 * moe_intermediate_size, first_k_dense_replace, q_lora_rank, kv_lora_rank, qk_nope_head_dim or
 * head_dim, qk_rope_head_dim, v_head_dim, hidden_act). Others are not used. `layers` may be a list
 * of objects instead of a number, each with the keys in which the layer differs from the model:
 * num_attention_heads, num_key_value_heads, intermediate_size, experts (true or false), and repeat,
 * the number of such layers in a row. There other keys are refused.
 * @param path the file
 * @return the model
 * @throw ConfigurationError with the file and the key if one is missing or wrong
 */
TransformerModel ReadTransformerFile(const std::string& path);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRANSFORMER_MODEL_H
