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
    uint64_t window;        ///< tokens that a token looks at; 0: all
    uint64_t mixer;         ///< parameters of what takes the place of attention; 0: attention
};

/**
 * @ingroup distributed-training-parallel
 * A transformer: what its computations and its messages depend on.
 */
struct TransformerModel
{
    /** What a model has; each name is a bit. */
    enum Trait : uint32_t
    {
        GATED = 1U << 0,               ///< three matrices in a feed-forward network, not two
        INPUT_BIASES = 1U << 1,        ///< in the matrices of queries, keys and values
        OUTPUT_BIASES = 1U << 2,       ///< in the last matrix of attention
        FORWARD_BIASES = 1U << 3,      ///< in feed-forward networks
        NORM_BIASES = 1U << 4,         ///< in norms
        ROUTER_BIASES = 1U << 5,       ///< a number of each expert, as in DeepSeek-V3
        HEAD_BIASES = 1U << 6,         ///< in the output layer
        EMPTY_NORMS = 1U << 7,         ///< norms have no parameters
        ONE_NORM = 1U << 8,            ///< a layer has one norm, not two
        FOUR_NORMS = 1U << 9,          ///< a layer has four norms
        HEAD_NORMS = 1U << 10,         ///< queries and keys have a norm of a head's size
        WHOLE_NORMS = 1U << 11,        ///< queries and keys have a norm of the size of all heads
        QUERY_GATE = 1U << 12,         ///< attention has a gate of the size of queries
        SINKS = 1U << 13,              ///< heads have a number that takes a part of the scores
        SHARED_GATE = 1U << 14,        ///< shared experts have a gate
        MULTI_QUERY = 1U << 15,        ///< all heads share their keys and values
        POSITIONS = 1U << 16,          ///< a learned vector for each position
        TWO_MORE_POSITIONS = 1U << 17, ///< two more of these vectors
        EMBEDDING_NORM = 1U << 18,     ///< a norm of embeddings
        MASKED_HEAD = 1U << 19,        ///< a layer in place of the last norm, as in BERT
    };

    static constexpr const char* KIND = "transformer"; ///< for messages
    std::string help;                                  ///< one line, with the source

    uint32_t layers{0};        ///< blocks of attention and feed-forward network
    uint64_t hidden{0};        ///< numbers of a token between layers
    uint32_t heads{0};         ///< of attention
    uint32_t keyValueHeads{0}; ///< of keys and values; fewer than `heads`: grouped queries
    uint64_t feedForward{0};   ///< inner size of a dense feed-forward network
    uint64_t vocabulary{0};    ///< number of tokens
    uint64_t sequence{0};      ///< tokens of a sample

    uint32_t traits{GATED};     ///< what the model has, of Trait
    uint64_t positions{0};      ///< learned positions; 0: those of the sequence
    uint64_t tokenTypes{0};     ///< learned types of tokens
    bool tiesEmbeddings{false}; ///< the output layer uses the weights of the input embedding
    uint64_t window{0};         ///< tokens that a token looks at; 0: all

    uint32_t experts{0};           ///< of a layer; 0: dense layers only
    uint32_t expertsPerToken{0};   ///< routed experts of a token
    uint32_t sharedExperts{0};     ///< experts of every token, beside the routed ones
    uint64_t expertFeedForward{0}; ///< inner size of an expert
    uint64_t sharedFeedForward{0}; ///< of all shared experts together; 0: of as many experts
    uint32_t denseLayers{0};       ///< first layers, which have no experts

    uint64_t queryRank{0};    ///< multi-head latent attention: size of compressed queries; 0: none
    uint64_t keyValueRank{0}; ///< likewise of compressed keys and values
    uint64_t headSize{0};     ///< numbers of a head's query and key; 0: hidden / heads
    uint64_t rotarySize{0};   ///< latent attention: more numbers of it, with positions
    uint64_t valueSize{0};    ///< numbers of a head's value; 0: those of its key
    uint64_t indexSize{0};    ///< numbers of a head of the index that selects tokens; 0: none
    uint64_t indexHeads{0};   ///< heads of that index

    /// Last layers, each of which predicts one more token: multi-token prediction (DeepSeek-V3,
    /// section 2.2). A matrix joins its input with the embedding of the next token.
    uint32_t predictionLayers{0};

    std::vector<TransformerLayer> listed; ///< each layer; empty: they follow from the numbers above

    /** @param trait one or more @return whether the model has one of them */
    bool Has(uint32_t trait) const
    {
        return (traits & trait) != 0;
    }

    /** @param number of layers behind all others, like the last one, that predict more tokens */
    void AddPredictions(uint32_t number);

    /** @param layer number of the layer, from 0 @return whether it predicts one more token */
    bool IsPrediction(uint32_t layer) const
    {
        return layer + predictionLayers >= layers;
    }

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

    /**
     * @param layer number of the layer, from 0
     * @return parameters of its keys and values that heads share, within GetAttentionParameters()
     */
    uint64_t GetKeyValueParameters(uint32_t layer) const;

    /** @return parameters of the shared experts of a layer, with their gate */
    uint64_t GetSharedParameters() const;

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
     * @return parameters of a layer, all experts included, and the matrix of a prediction
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

    /**
     * @param layer number of the layer, from 0
     * @return tokens that a token looks at; 0: the layer has no attention
     */
    uint64_t GetSpan(uint32_t layer) const;

  private:
    uint64_t GetNorms(bool isAttention) const;
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
 * Reads a model from a JSON object. Its keys are those of Hugging Face's `config.json`.
 * `model_type` names the family, see TransformerFamily; without it `gated`, `biases`, `positions`
 * and `tie_word_embeddings` say what the model has. Other keys are ignored, which InputManifest
 * counts. `layers` may be a list of objects instead of a number, each with the keys in which the
 * layer differs from the model: num_attention_heads, num_key_value_heads, intermediate_size,
 * experts (true or false), and repeat, the number of such layers in a row. There other keys are
 * refused.
 * @param path the file
 * @return the model
 * @throw ConfigurationError with the file and the key if one is missing or wrong
 */
TransformerModel ReadTransformerFile(const std::string& path);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRANSFORMER_MODEL_H
