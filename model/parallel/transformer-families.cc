/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * Families of models, as the classes of Hugging Face's transformers define them. Defaults are those
 * of a family's configuration class, of the keys that published files leave out.
 */

#include "parallel/transformer-families.h"

#include "core/input-file.h"
#include "transformer-model.h"

#include "ns3/training-configuration-error.h"

#include <sstream>

namespace ns3::training
{

namespace
{

/** Mamba with norms of its inner steps (Lieber et al., Jamba, 2024). */
uint64_t
CountMamba(const TransformerConfig& config)
{
    const uint64_t hidden = config.Get({"hidden_size"}, 1, TransformerConfig::MAX_SIZE);
    const uint64_t inner = hidden * config.Get({"mamba_expand"}, 1, TransformerConfig::MAX_LAYERS);
    const uint64_t state = config.Get({"mamba_d_state"}, 1, TransformerConfig::MAX_SIZE);
    const uint64_t kernel = config.Get({"mamba_d_conv"}, 1, TransformerConfig::MAX_SIZE);
    const uint64_t rank =
        config.Find({"mamba_dt_rank"}, 1, TransformerConfig::MAX_SIZE).value_or((hidden + 15) / 16);
    const uint64_t convolution = inner * (kernel + 1);
    const uint64_t steps = inner * (rank + 2 * state) + (rank + 1) * inner + rank + 2 * state;
    return 3 * hidden * inner + convolution + steps + inner * (state + 1);
}

/** Lightning attention: queries, keys, values, a gate, and a norm (MiniMax-01, 2025). */
uint64_t
CountLightning(const TransformerConfig& config)
{
    const uint64_t hidden = config.Get({"hidden_size"}, 1, TransformerConfig::MAX_SIZE);
    const uint64_t heads = config.Get({"num_attention_heads"}, 1, TransformerConfig::MAX_LAYERS);
    const uint64_t all =
        config.Find({"head_dim"}, 1, TransformerConfig::MAX_SIZE).value_or(hidden / heads) * heads;
    return 5 * hidden * all + all;
}

/** Gated DeltaNet (Yang et al., ICLR 2025). */
uint64_t
CountDeltaNet(const TransformerConfig& config)
{
    const auto get = [&config](const char* key) {
        return config.Get({key}, 1, TransformerConfig::MAX_SIZE);
    };
    const uint64_t hidden = get("hidden_size");
    const uint64_t heads = get("linear_num_value_heads");
    const uint64_t keys = get("linear_num_key_heads") * get("linear_key_head_dim");
    const uint64_t values = heads * get("linear_value_head_dim");
    return hidden * (2 * keys + 3 * values + 2 * heads) +
           (2 * keys + values) * get("linear_conv_kernel_dim") + 2 * heads +
           get("linear_value_head_dim");
}

} // namespace

const std::vector<TransformerFamily>&
GetTransformerFamilies()
{
    using M = TransformerModel;
    constexpr uint32_t ATTENTION = M::INPUT_BIASES | M::OUTPUT_BIASES;
    constexpr uint32_t BIASES = ATTENTION | M::FORWARD_BIASES | M::NORM_BIASES;
    static const std::vector<TransformerFamily> families{
        // Decoders with gates and norms by root mean squares.
        {"llama smollm3",
         M::GATED,
         {{"attention_bias", ATTENTION}, {"mlp_bias", M::FORWARD_BIASES}},
         "attention_bias=false mlp_bias=false tie_word_embeddings=false",
         nullptr},
        {"mistral mixtral ministral phi3", M::GATED, {}, "tie_word_embeddings=false", nullptr},
        {"qwen2 qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text",
         M::GATED | M::INPUT_BIASES,
         {},
         "tie_word_embeddings=false use_sliding_window=false",
         nullptr},
        {"qwen2_moe",
         M::GATED | M::INPUT_BIASES | M::SHARED_GATE,
         {{"qkv_bias", M::INPUT_BIASES}},
         "qkv_bias=true tie_word_embeddings=false use_sliding_window=false",
         nullptr},
        {"qwen3 qwen3_moe qwen3_vl_text qwen3_vl_moe_text",
         M::GATED | M::HEAD_NORMS,
         {{"attention_bias", ATTENTION}},
         "attention_bias=false head_dim=128 tie_word_embeddings=false use_sliding_window=false",
         nullptr},
        {"qwen3_next",
         M::GATED | M::HEAD_NORMS | M::QUERY_GATE | M::SHARED_GATE,
         {{"attention_bias", ATTENTION}},
         "attention_bias=false head_dim=256 full_attention_interval=4 tie_word_embeddings=false",
         CountDeltaNet},
        {"gemma",
         M::GATED,
         {{"attention_bias", ATTENTION}},
         "attention_bias=false head_dim=256 tie_word_embeddings=true",
         nullptr},
        {"gemma2",
         M::GATED | M::FOUR_NORMS,
         {{"attention_bias", ATTENTION}},
         "attention_bias=false head_dim=256 sliding_window=4096 sliding_window_pattern=2 "
         "tie_word_embeddings=true",
         nullptr},
        {"gemma3 gemma3_text",
         M::GATED | M::FOUR_NORMS | M::HEAD_NORMS,
         {{"attention_bias", ATTENTION}},
         "attention_bias=false head_dim=256 num_attention_heads=8 num_key_value_heads=4 "
         "vocab_size=262208 max_position_embeddings=131072 sliding_window=4096 "
         "sliding_window_pattern=6 tie_word_embeddings=true",
         nullptr},
        {"glm chatglm",
         M::GATED | M::INPUT_BIASES,
         {{"attention_bias", M::INPUT_BIASES}, {"add_qkv_bias", M::INPUT_BIASES}},
         "tie_word_embeddings=false",
         nullptr},
        {"glm4",
         M::GATED | M::FOUR_NORMS,
         {{"attention_bias", M::INPUT_BIASES}},
         "attention_bias=false head_dim=128 tie_word_embeddings=false",
         nullptr},
        {"glm4_moe",
         M::GATED | M::ROUTER_BIASES,
         {{"attention_bias", M::INPUT_BIASES}, {"use_qk_norm", M::HEAD_NORMS}},
         "attention_bias=false use_qk_norm=false first_k_dense_replace=1 head_dim=128 "
         "tie_word_embeddings=false",
         nullptr},
        {"deepseek_v2",
         M::GATED,
         {{"attention_bias", M::OUTPUT_BIASES}},
         "attention_bias=false tie_word_embeddings=false",
         nullptr},
        {"deepseek_v3 deepseek_v32 kimi_k2",
         M::GATED | M::ROUTER_BIASES,
         {{"attention_bias", M::OUTPUT_BIASES}},
         "attention_bias=false tie_word_embeddings=false",
         nullptr},
        {"gpt_oss",
         M::GATED | ATTENTION | M::FORWARD_BIASES | M::ROUTER_BIASES | M::SINKS,
         {{"attention_bias", ATTENTION}},
         "attention_bias=true head_dim=64 sliding_window=128 sliding_window_pattern=2 "
         "tie_word_embeddings=false",
         nullptr},
        {"llama4 llama4_text",
         M::GATED,
         {{"attention_bias", ATTENTION}},
         "attention_bias=false attention_chunk_size=8192 head_dim=128 interleave_moe_layer_step=1 "
         "n_shared_experts=1 sliding_window_pattern=4 tie_word_embeddings=false",
         nullptr},
        {"grok grok-1", M::GATED | M::FOUR_NORMS, {}, "tie_word_embeddings=true", nullptr},
        {"minimax minimax_text_01 minimax_m1",
         M::GATED,
         {},
         "attn_layer_period=2 attn_layer_offset=0 tie_word_embeddings=false",
         CountLightning},
        {"minimax_m2",
         M::GATED | M::WHOLE_NORMS | M::ROUTER_BIASES,
         {},
         "head_dim=128 tie_word_embeddings=false",
         nullptr},
        {"jamba",
         M::GATED,
         {},
         "attn_layer_period=8 attn_layer_offset=4 expert_layer_period=2 expert_layer_offset=1 "
         "mamba_d_conv=4 mamba_d_state=16 mamba_expand=2 num_experts=16 num_experts_per_tok=2 "
         "tie_word_embeddings=false",
         CountMamba},
        // Decoders with gates and other norms.
        {"olmo",
         M::GATED | M::EMPTY_NORMS,
         {{"attention_bias", ATTENTION}},
         "attention_bias=false tie_word_embeddings=false",
         nullptr},
        {"olmo2 olmo3 olmoe",
         M::GATED | M::WHOLE_NORMS,
         {{"attention_bias", ATTENTION}},
         "attention_bias=false tie_word_embeddings=false",
         nullptr},
        {"dbrx", M::GATED, {}, "tie_word_embeddings=false", nullptr},
        {"phimoe",
         M::GATED | M::NORM_BIASES,
         {{"attention_bias", ATTENTION}, {"lm_head_bias", M::HEAD_BIASES}},
         "attention_bias=false lm_head_bias=false tie_word_embeddings=false",
         nullptr},
        {"cohere cohere2",
         M::GATED | M::ONE_NORM,
         {{"attention_bias", ATTENTION}},
         "attention_bias=false sliding_window_pattern=4 tie_word_embeddings=true",
         nullptr},
        // Two matrices in a feed-forward network.
        {"gpt2", BIASES | M::POSITIONS, {}, "expansion_ratio=4 tie_word_embeddings=true", nullptr},
        {"gpt_bigcode",
         BIASES | M::POSITIONS,
         {{"multi_query", M::MULTI_QUERY}},
         "expansion_ratio=4 multi_query=true tie_word_embeddings=true",
         nullptr},
        {"gpt_neo",
         (BIASES | M::POSITIONS) & ~M::INPUT_BIASES,
         {},
         "expansion_ratio=4 sliding_window_pattern=2 window_size=256 tie_word_embeddings=true",
         nullptr},
        {"gpt_neox",
         BIASES,
         {{"attention_bias", ATTENTION}},
         "attention_bias=true tie_word_embeddings=false",
         nullptr},
        {"gptj",
         M::FORWARD_BIASES | M::NORM_BIASES | M::HEAD_BIASES | M::ONE_NORM,
         {},
         "expansion_ratio=4 tie_word_embeddings=false",
         nullptr},
        {"opt",
         BIASES | M::POSITIONS | M::TWO_MORE_POSITIONS,
         {{"enable_bias", ATTENTION | M::FORWARD_BIASES}},
         "enable_bias=true tie_word_embeddings=true",
         nullptr},
        {"bloom",
         BIASES | M::EMBEDDING_NORM,
         {},
         "expansion_ratio=4 tie_word_embeddings=true",
         nullptr},
        {"falcon",
         BIASES,
         {{"bias", ATTENTION | M::FORWARD_BIASES},
          {"multi_query", M::MULTI_QUERY},
          {"parallel_attn", M::ONE_NORM},
          {"new_decoder_architecture", 0, M::ONE_NORM | M::MULTI_QUERY}},
         "bias=false expansion_ratio=4 multi_query=true new_decoder_architecture=false "
         "parallel_attn=true tie_word_embeddings=true",
         nullptr},
        {"mpt",
         BIASES,
         {{"no_bias", 0, BIASES}},
         "expansion_ratio=4 no_bias=true tie_word_embeddings=true",
         nullptr},
        {"starcoder2",
         BIASES,
         {{"use_bias", ATTENTION | M::FORWARD_BIASES}},
         "tie_word_embeddings=true use_bias=true",
         nullptr},
        {"nemotron",
         M::NORM_BIASES,
         {{"attention_bias", ATTENTION}, {"mlp_bias", M::FORWARD_BIASES}},
         "attention_bias=false mlp_bias=false tie_word_embeddings=false",
         nullptr},
        {"phi", BIASES | M::HEAD_BIASES | M::ONE_NORM, {}, "tie_word_embeddings=false", nullptr},
        // An encoder: embeddings of token types, norms behind blocks, a head that fills masks.
        {"bert roberta xlm-roberta",
         BIASES | M::POSITIONS | M::EMBEDDING_NORM | M::MASKED_HEAD | M::HEAD_BIASES,
         {},
         "tie_word_embeddings=true type_vocab_size=2",
         nullptr},
    };
    return families;
}

const TransformerFamily&
FindTransformerFamily(const std::string& path, const std::string& type)
{
    std::string allowed;
    for (const TransformerFamily& family : GetTransformerFamilies())
    {
        std::istringstream names(family.names);
        for (std::string name; names >> name;)
        {
            if (name == type)
            {
                return family;
            }
            allowed += name + ", ";
        }
    }
    throw ConfigurationError(path + ": model_type is '" + MakePrintableName(type) +
                             "' (allowed: " + allowed +
                             "or none, with gated, biases, positions and tie_word_embeddings)");
}

} // namespace ns3::training
