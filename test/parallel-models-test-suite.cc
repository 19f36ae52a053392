/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * Models known by name: keys of config.json of huggingface.co, and the number of parameters on the
 * same page (metadata of safetensors, without towers of images and layers that predict further
 * tokens), or in the model's paper (Llama 4 Maverick, Grok-1).
 */

#include "file-test-common.h"
#include "parallel/transformer-families.h"

#include "ns3/parallel-plan.h"
#include "ns3/transformer-model.h"

#include <fstream>
#include <set>
#include <sstream>

namespace ns3::training::tests::parallel_models_test
{

/** A model. */
struct Row
{
    const char* name;    ///< on huggingface.co
    uint64_t parameters; ///< published
    const char* keys;    ///< of its config.json; '#' stands for ten times 0,0,0,0,0,0,0,1
};

const std::vector<Row> ROWS{
    {"Llama-2-7b",
     6738415616,
     R"("model_type": "llama","hidden_size": 4096,"intermediate_size": 11008,
"num_hidden_layers": 32,"num_attention_heads": 32,"num_key_value_heads": 32,
"vocab_size": 32000,"max_position_embeddings": 4096,"tie_word_embeddings": false)"},
    {"Llama-3.2-1B",
     1235814400,
     R"("model_type": "llama","hidden_size": 2048,"intermediate_size": 8192,
"num_hidden_layers": 16,"num_attention_heads": 32,"num_key_value_heads": 8,
"head_dim": 64,"vocab_size": 128256,"tie_word_embeddings": true)"},
    {"Mistral-7B-v0.1",
     7241732096,
     R"("model_type": "mistral","hidden_size": 4096,"intermediate_size": 14336,
"num_hidden_layers": 32,"num_attention_heads": 32,"num_key_value_heads": 8,
"vocab_size": 32000,"sliding_window": 4096)"},
    {"Mixtral-8x7B-v0.1",
     46702792704,
     R"("model_type": "mixtral","hidden_size": 4096,"intermediate_size": 14336,
"num_hidden_layers": 32,"num_attention_heads": 32,"num_key_value_heads": 8,
"vocab_size": 32000,"num_local_experts": 8,"num_experts_per_tok": 2,
"sliding_window": null)"},
    {"Qwen2-7B",
     7615616512,
     R"("model_type": "qwen2","hidden_size": 3584,"intermediate_size": 18944,
"num_hidden_layers": 28,"num_attention_heads": 28,"num_key_value_heads": 4,
"vocab_size": 152064,"tie_word_embeddings": false,"use_sliding_window": false,
"sliding_window": 131072)"},
    {"Qwen2-0.5B", 494032768, R"("model_type": "qwen2","hidden_size": 896,"intermediate_size": 4864,
"num_hidden_layers": 24,"num_attention_heads": 14,"num_key_value_heads": 2,
"vocab_size": 151936,"tie_word_embeddings": true)"},
    {"Qwen1.5-MoE-A2.7B",
     14315784192,
     R"("model_type": "qwen2_moe","hidden_size": 2048,"intermediate_size": 5632,
"moe_intermediate_size": 1408,"shared_expert_intermediate_size": 5632,
"num_hidden_layers": 24,"num_attention_heads": 16,"num_key_value_heads": 16,
"vocab_size": 151936,"num_experts": 60,"num_experts_per_tok": 4,
"decoder_sparse_step": 1,"tie_word_embeddings": false)"},
    {"Qwen3-8B",
     8190735360,
     R"("model_type": "qwen3","hidden_size": 4096,"intermediate_size": 12288,
"num_hidden_layers": 36,"num_attention_heads": 32,"num_key_value_heads": 8,
"head_dim": 128,"vocab_size": 151936,"tie_word_embeddings": false)"},
    {"Qwen3-30B-A3B",
     30532122624,
     R"("model_type": "qwen3_moe","hidden_size": 2048,"intermediate_size": 6144,
"moe_intermediate_size": 768,"num_hidden_layers": 48,"num_attention_heads": 32,
"num_key_value_heads": 4,"head_dim": 128,"vocab_size": 151936,"num_experts": 128,
"num_experts_per_tok": 8,"decoder_sparse_step": 1,"mlp_only_layers": [],
"tie_word_embeddings": false)"},
    {"Qwen3-Next-80B-A3B",
     79674391296,
     R"("model_type": "qwen3_next","hidden_size": 2048,"intermediate_size": 5120,
"moe_intermediate_size": 512,"shared_expert_intermediate_size": 512,
"num_hidden_layers": 48,"num_attention_heads": 16,"num_key_value_heads": 2,
"head_dim": 256,"vocab_size": 151936,"num_experts": 512,"num_experts_per_tok": 10,
"decoder_sparse_step": 1,"full_attention_interval": 4,"linear_conv_kernel_dim": 4,
"linear_key_head_dim": 128,"linear_num_key_heads": 16,"linear_num_value_heads": 32,
"linear_value_head_dim": 128,"tie_word_embeddings": false)"},
    {"gemma-2b",
     2506172416,
     R"("model_type": "gemma","hidden_size": 2048,"intermediate_size": 16384,
"num_hidden_layers": 18,"num_attention_heads": 8,"num_key_value_heads": 1,
"head_dim": 256,"vocab_size": 256000)"},
    {"gemma-7b",
     8537680896,
     R"("model_type": "gemma","hidden_size": 3072,"intermediate_size": 24576,
"num_hidden_layers": 28,"num_attention_heads": 16,"num_key_value_heads": 16,
"head_dim": 256,"vocab_size": 256000)"},
    {"gemma-2-9b",
     9241705984,
     R"("model_type": "gemma2","hidden_size": 3584,"intermediate_size": 14336,
"num_hidden_layers": 42,"num_attention_heads": 16,"num_key_value_heads": 8,
"head_dim": 256,"vocab_size": 256000,"sliding_window": 4096)"},
    {"gemma-3-1b",
     999885952,
     R"("model_type": "gemma3_text","hidden_size": 1152,"intermediate_size": 6912,
"num_hidden_layers": 26,"num_attention_heads": 4,"num_key_value_heads": 1,
"head_dim": 256,"vocab_size": 262144,"sliding_window": 512,
"sliding_window_pattern": 6)"},
    {"gemma-3-4b, text",
     3880263168,
     R"("model_type": "gemma3","architectures": ["Gemma3ForConditionalGeneration"],
"text_config": {"hidden_size": 2560,"intermediate_size": 10240,
"model_type": "gemma3_text","num_hidden_layers": 34,"sliding_window": 1024},
"vision_config": {"hidden_size": 1152})"},
    {"phi-2", 2779683840, R"("model_type": "phi","hidden_size": 2560,"intermediate_size": 10240,
"num_hidden_layers": 32,"num_attention_heads": 32,"num_key_value_heads": 32,
"vocab_size": 51200,"tie_word_embeddings": false)"},
    {"phi-1.5", 1418270720, R"("model_type": "phi","hidden_size": 2048,"intermediate_size": 8192,
"num_hidden_layers": 24,"num_attention_heads": 32,"num_key_value_heads": null,
"vocab_size": 51200)"},
    {"Phi-3-mini-4k",
     3821079552,
     R"("model_type": "phi3","hidden_size": 3072,"intermediate_size": 8192,
"num_hidden_layers": 32,"num_attention_heads": 32,"num_key_value_heads": 32,
"vocab_size": 32064,"sliding_window": 2047,"tie_word_embeddings": false)"},
    {"phi-4", 14659507200, R"("model_type": "phi3","hidden_size": 5120,"intermediate_size": 17920,
"num_hidden_layers": 40,"num_attention_heads": 40,"num_key_value_heads": 10,
"vocab_size": 100352,"tie_word_embeddings": false)"},
    {"Phi-3.5-MoE",
     41873153344,
     R"("model_type": "phimoe","hidden_size": 4096,"intermediate_size": 6400,
"num_hidden_layers": 32,"num_attention_heads": 32,"num_key_value_heads": 8,
"vocab_size": 32064,"num_local_experts": 16,"num_experts_per_tok": 2,
"attention_bias": true,"lm_head_bias": true,"tie_word_embeddings": false)"},
    {"gpt2",
     124439808,
     R"("model_type": "gpt2","n_embd": 768,"n_head": 12,"n_layer": 12,"n_ctx": 1024,
"n_positions": 1024,"vocab_size": 50257,"n_inner": null)"},
    {"gpt2-xl",
     1557611200,
     R"("model_type": "gpt2","n_embd": 1600,"n_head": 25,"n_layer": 48,"n_positions": 1024,
"vocab_size": 50257)"},
    {"starcoderbase-1b",
     1137207296,
     R"("model_type": "gpt_bigcode","n_embd": 2048,"n_head": 16,"n_layer": 24,
"n_inner": 8192,"n_positions": 8192,"vocab_size": 49152,"multi_query": true)"},
    {"gpt-neo-2.7B",
     2651307520,
     R"("model_type": "gpt_neo","hidden_size": 2560,"intermediate_size": null,
"num_layers": 32,"num_heads": 20,"max_position_embeddings": 2048,
"vocab_size": 50257,"window_size": 256)"},
    {"gpt-neox-20b",
     20554567680,
     R"("model_type": "gpt_neox","hidden_size": 6144,"intermediate_size": 24576,
"num_hidden_layers": 44,"num_attention_heads": 64,"vocab_size": 50432,
"tie_word_embeddings": false,"max_position_embeddings": 2048)"},
    {"pythia-6.9b",
     6857302016,
     R"("model_type": "gpt_neox","hidden_size": 4096,"intermediate_size": 16384,
"num_hidden_layers": 32,"num_attention_heads": 32,"vocab_size": 50432,
"tie_word_embeddings": false)"},
    {"gpt-j-6b",
     6050882784,
     R"("model_type": "gptj","n_embd": 4096,"n_head": 16,"n_layer": 28,"n_inner": null,
"n_positions": 2048,"vocab_size": 50400,"tie_word_embeddings": false)"},
    {"opt-125m",
     125239296,
     R"("model_type": "opt","hidden_size": 768,"ffn_dim": 3072,"num_hidden_layers": 12,
"num_attention_heads": 12,"vocab_size": 50272,"max_position_embeddings": 2048,
"word_embed_proj_dim": 768)"},
    {"opt-6.7b",
     6658473984,
     R"("model_type": "opt","hidden_size": 4096,"ffn_dim": 16384,"num_hidden_layers": 32,
"num_attention_heads": 32,"vocab_size": 50272,"max_position_embeddings": 2048,
"word_embed_proj_dim": 4096)"},
    {"bloom",
     176247271424,
     R"("model_type": "bloom","hidden_size": 14336,"n_layer": 70,"num_attention_heads": 112,
"vocab_size": 250880,"seq_length": 2048)"},
    {"bloom-560m",
     559214592,
     R"("model_type": "bloom","n_embed": 1024,"hidden_size": 1024,"n_layer": 24,
"num_attention_heads": 16,"vocab_size": 250880)"},
    {"falcon-7b", 6921720704, R"("model_type": "falcon","hidden_size": 4544,"num_hidden_layers": 32,
"num_attention_heads": 71,"num_kv_heads": 71,"vocab_size": 65024,
"multi_query": true,"parallel_attn": true,"new_decoder_architecture": false,
"bias": false)"},
    {"falcon-40b",
     41303293952,
     R"("model_type": "falcon","hidden_size": 8192,"num_hidden_layers": 60,
"num_attention_heads": 128,"num_kv_heads": 8,"vocab_size": 65024,
"multi_query": true,"parallel_attn": true,"new_decoder_architecture": true,
"bias": false)"},
    {"mpt-7b", 6649286656, R"("model_type": "mpt","d_model": 4096,"n_heads": 32,"n_layers": 32,
"expansion_ratio": 4,"max_seq_len": 2048,"no_bias": true,"vocab_size": 50432,
"attn_config": {"alibi": true,"attn_impl": "torch"})"},
    {"starcoder2-7b",
     7173923840,
     R"("model_type": "starcoder2","hidden_size": 4608,"intermediate_size": 18432,
"num_hidden_layers": 32,"num_attention_heads": 36,"num_key_value_heads": 4,
"vocab_size": 49152,"use_bias": true,"sliding_window": 4096)"},
    {"Minitron-4B-Base",
     4190509056,
     R"("model_type": "nemotron","hidden_size": 3072,"intermediate_size": 9216,
"num_hidden_layers": 32,"num_attention_heads": 24,"num_key_value_heads": 8,
"head_dim": 128,"vocab_size": 256000,"tie_word_embeddings": false)"},
    {"DeepSeek-V2",
     235741434880,
     R"("model_type": "deepseek_v2","hidden_size": 5120,"intermediate_size": 12288,
"moe_intermediate_size": 1536,"num_hidden_layers": 60,"num_attention_heads": 128,
"num_key_value_heads": 128,"vocab_size": 102400,"n_routed_experts": 160,
"n_shared_experts": 2,"num_experts_per_tok": 6,"first_k_dense_replace": 1,
"moe_layer_freq": 1,"q_lora_rank": 1536,"kv_lora_rank": 512,"qk_nope_head_dim": 128,
"qk_rope_head_dim": 64,"v_head_dim": 128,"tie_word_embeddings": false)"},
    {"DeepSeek-V2-Lite",
     15706484224,
     R"("model_type": "deepseek_v2","hidden_size": 2048,"intermediate_size": 10944,
"moe_intermediate_size": 1408,"num_hidden_layers": 27,"num_attention_heads": 16,
"num_key_value_heads": 16,"vocab_size": 102400,"n_routed_experts": 64,
"n_shared_experts": 2,"num_experts_per_tok": 6,"first_k_dense_replace": 1,
"moe_layer_freq": 1,"q_lora_rank": null,"kv_lora_rank": 512,"qk_nope_head_dim": 128,
"qk_rope_head_dim": 64,"v_head_dim": 128,"tie_word_embeddings": false)"},
    {"DeepSeek-V3",
     671026419200,
     R"("model_type": "deepseek_v3","hidden_size": 7168,"intermediate_size": 18432,
"moe_intermediate_size": 2048,"num_hidden_layers": 61,"num_attention_heads": 128,
"num_key_value_heads": 128,"vocab_size": 129280,"n_routed_experts": 256,
"n_shared_experts": 1,"num_experts_per_tok": 8,"first_k_dense_replace": 3,
"moe_layer_freq": 1,"q_lora_rank": 1536,"kv_lora_rank": 512,"qk_nope_head_dim": 128,
"qk_rope_head_dim": 64,"v_head_dim": 128,"tie_word_embeddings": false)"},
    {"DeepSeek-V3.2, without MTP",
     671877944064,
     R"("model_type": "deepseek_v32","hidden_size": 7168,"intermediate_size": 18432,
"moe_intermediate_size": 2048,"num_hidden_layers": 61,"num_attention_heads": 128,
"num_key_value_heads": 128,"vocab_size": 129280,"n_routed_experts": 256,
"n_shared_experts": 1,"num_experts_per_tok": 8,"first_k_dense_replace": 3,
"moe_layer_freq": 1,"q_lora_rank": 1536,"kv_lora_rank": 512,"qk_nope_head_dim": 128,
"qk_rope_head_dim": 64,"v_head_dim": 128,"index_head_dim": 128,"index_n_heads": 64,
"index_topk": 2048,"tie_word_embeddings": false)"},
    {"Kimi-K2",
     1026408232448,
     R"("model_type": "kimi_k2","hidden_size": 7168,"intermediate_size": 18432,
"moe_intermediate_size": 2048,"num_hidden_layers": 61,"num_attention_heads": 64,
"num_key_value_heads": 64,"vocab_size": 163840,"n_routed_experts": 384,
"n_shared_experts": 1,"num_experts_per_tok": 8,"first_k_dense_replace": 1,
"moe_layer_freq": 1,"q_lora_rank": 1536,"kv_lora_rank": 512,"qk_nope_head_dim": 128,
"qk_rope_head_dim": 64,"v_head_dim": 128,"tie_word_embeddings": false)"},
    {"gpt-oss-20b",
     20914757184,
     R"("model_type": "gpt_oss","hidden_size": 2880,"intermediate_size": 2880,
"num_hidden_layers": 24,"num_attention_heads": 64,"num_key_value_heads": 8,
"head_dim": 64,"vocab_size": 201088,"num_local_experts": 32,
"num_experts_per_tok": 4,"attention_bias": true,"sliding_window": 128,
"tie_word_embeddings": false)"},
    {"gpt-oss-120b",
     116829156672,
     R"("model_type": "gpt_oss","hidden_size": 2880,"intermediate_size": 2880,
"num_hidden_layers": 36,"num_attention_heads": 64,"num_key_value_heads": 8,
"head_dim": 64,"vocab_size": 201088,"num_local_experts": 128,
"num_experts_per_tok": 4,"attention_bias": true,"sliding_window": 128,
"tie_word_embeddings": false)"},
    {"Llama-4-Scout, text",
     107769861120,
     R"("model_type": "llama4","text_config": {"model_type": "llama4_text",
"hidden_size": 5120,"intermediate_size": 8192,"intermediate_size_mlp": 16384,
"num_hidden_layers": 48,"num_attention_heads": 40,"num_key_value_heads": 8,
"head_dim": 128,"vocab_size": 202048,"num_local_experts": 16,
"num_experts_per_tok": 1,"interleave_moe_layer_step": 1,
"tie_word_embeddings": false})"},
    {"Llama-4-Maverick, text",
     400711848960,
     R"("model_type": "llama4","text_config": {"model_type": "llama4_text",
"hidden_size": 5120,"intermediate_size": 8192,"intermediate_size_mlp": 16384,
"num_hidden_layers": 48,"num_attention_heads": 40,"num_key_value_heads": 8,
"head_dim": 128,"vocab_size": 202048,"num_local_experts": 128,
"num_experts_per_tok": 1,"interleave_moe_layer_step": 2,
"tie_word_embeddings": false})"},
    {"OLMo-1B", 1176764416, R"("model_type": "olmo","hidden_size": 2048,"intermediate_size": 8192,
"num_hidden_layers": 16,"num_attention_heads": 16,"num_key_value_heads": 16,
"vocab_size": 50304,"tie_word_embeddings": true)"},
    {"OLMo-2-7B",
     7298617344,
     R"("model_type": "olmo2","hidden_size": 4096,"intermediate_size": 11008,
"num_hidden_layers": 32,"num_attention_heads": 32,"num_key_value_heads": 32,
"vocab_size": 100352,"tie_word_embeddings": false)"},
    {"OLMoE-1B-7B",
     6919161856,
     R"("model_type": "olmoe","hidden_size": 2048,"intermediate_size": 1024,
"num_hidden_layers": 16,"num_attention_heads": 16,"num_key_value_heads": 16,
"vocab_size": 50304,"num_experts": 64,"num_experts_per_tok": 8,
"tie_word_embeddings": false)"},
    {"dbrx-base",
     131596523520,
     R"("model_type": "dbrx","d_model": 6144,"n_heads": 48,"n_layers": 40,
"max_seq_len": 32768,"vocab_size": 100352,"attn_config": {"clip_qkv": 8,
"kv_n_heads": 8},"ffn_config": {"ffn_hidden_size": 10752,"moe_num_experts": 16,
"moe_top_k": 4})"},
    {"grok-1",
     316000000000,
     R"("model_type": "grok-1","hidden_size": 6144,"intermediate_size": 32768,
"num_hidden_layers": 64,"num_attention_heads": 48,"num_key_value_heads": 8,
"vocab_size": 131072,"num_experts": 8,"num_experts_per_tok": 2,
"tie_word_embeddings": true)"},
    {"chatglm3-6b",
     6243584000,
     R"("model_type": "chatglm","hidden_size": 4096,"ffn_hidden_size": 13696,
"num_layers": 28,"num_attention_heads": 32,"kv_channels": 128,
"multi_query_attention": true,"multi_query_group_num": 2,"padded_vocab_size": 65024,
"add_qkv_bias": true,"seq_length": 8192)"},
    {"GLM-4-9B-0414",
     9400279040,
     R"("model_type": "glm4","hidden_size": 4096,"intermediate_size": 13696,
"num_hidden_layers": 40,"num_attention_heads": 32,"num_key_value_heads": 2,
"head_dim": 128,"vocab_size": 151552,"attention_bias": true,
"tie_word_embeddings": false)"},
    {"GLM-4.5-Air, without MTP",
     106852251264,
     R"("model_type": "glm4_moe","hidden_size": 4096,"intermediate_size": 10944,
"moe_intermediate_size": 1408,"num_hidden_layers": 46,"num_attention_heads": 96,
"num_key_value_heads": 8,"head_dim": 128,"vocab_size": 151552,
"attention_bias": true,"n_routed_experts": 128,"n_shared_experts": 1,
"num_experts_per_tok": 8,"first_k_dense_replace": 1,"use_qk_norm": false,
"tie_word_embeddings": false)"},
    {"MiniMax-Text-01",
     456089655296,
     R"("model_type": "minimax_text_01","hidden_size": 6144,"intermediate_size": 9216,
"num_hidden_layers": 80,"num_attention_heads": 64,"num_key_value_heads": 8,
"head_dim": 128,"vocab_size": 200064,"num_local_experts": 32,
"num_experts_per_tok": 2,"shared_intermediate_size": 0,"attn_type_list": [#],
"tie_word_embeddings": false)"},
    {"MiniMax-M2",
     228689764864,
     R"("model_type": "minimax_m2","hidden_size": 3072,"intermediate_size": 1536,
"num_hidden_layers": 62,"num_attention_heads": 48,"num_key_value_heads": 8,
"head_dim": 128,"vocab_size": 200064,"num_local_experts": 256,
"num_experts_per_tok": 8,"shared_intermediate_size": 0,"tie_word_embeddings": false)"},
    {"Jamba-v0.1",
     51570323328,
     R"("model_type": "jamba","hidden_size": 4096,"intermediate_size": 14336,
"num_hidden_layers": 32,"num_attention_heads": 32,"num_key_value_heads": 8,
"vocab_size": 65536,"attn_layer_offset": 4,"attn_layer_period": 8,
"expert_layer_offset": 1,"expert_layer_period": 2,"mamba_d_conv": 4,
"mamba_d_state": 16,"mamba_dt_rank": 256,"mamba_expand": 2,"num_experts": 16,
"num_experts_per_tok": 2,"tie_word_embeddings": false)"},
    {"bert-large-uncased",
     335174458,
     R"("model_type": "bert","hidden_size": 1024,"intermediate_size": 4096,
"num_hidden_layers": 24,"num_attention_heads": 16,"vocab_size": 30522,
"max_position_embeddings": 512,"type_vocab_size": 2)"},
    {"roberta-base",
     124697433,
     R"("model_type": "roberta","hidden_size": 768,"intermediate_size": 3072,
"num_hidden_layers": 12,"num_attention_heads": 12,"vocab_size": 50265,
"max_position_embeddings": 514,"type_vocab_size": 1)"},
    {"c4ai-command-r-v01",
     34980831232,
     R"("model_type": "cohere","hidden_size": 8192,"intermediate_size": 22528,
"num_hidden_layers": 40,"num_attention_heads": 64,"num_key_value_heads": 64,
"vocab_size": 256000,"model_max_length": 131072)"},
};

/** @return the model with these keys */
TransformerModel
Read(const std::string& keys)
{
    const std::string path = CreateTempDirFilename("config.json");
    std::ofstream(path) << "{" << keys << "}";
    return FindTransformer(path);
}

/** @return a small model of Llama's family with more keys */
TransformerModel
ReadSmall(const std::string& keys, const std::string& type = "llama")
{
    return Read(R"("model_type": ")" + type +
                R"(", "hidden_size": 64, "intermediate_size": 128, )" +
                R"("num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 100, )" + keys);
}

void
TestParameters()
{
    std::set<std::string> untested;
    for (const TransformerFamily& family : GetTransformerFamilies())
    {
        untested.insert(family.names);
    }
    for (const Row& row : ROWS)
    {
        std::string keys = row.keys;
        if (const std::size_t mark = keys.find('#'); mark != std::string::npos)
        {
            std::string list = "0,0,0,0,0,0,0,1";
            for (int i = 1; i < 10; i++)
            {
                list += ",0,0,0,0,0,0,0,1";
            }
            keys.replace(mark, 1, list);
        }
        const auto parameters = static_cast<double>(Read(keys).GetParameters());
        const auto published = static_cast<double>(row.parameters);
        NS_TEST_EXPECT_MSG_EQ_TOL(parameters, published, 0.005 * published, row.name);
        const std::size_t begin = keys.rfind("model_type") + std::string("model_type\": \"").size();
        const std::string type = keys.substr(begin, keys.find('"', begin) - begin);
        untested.erase(FindTransformerFamily("", type).names);
    }
    for (const std::string& names : untested)
    {
        NS_TEST_EXPECT_MSG_EQ(names, "", "a family without a published model");
    }
}

void
TestKeys()
{
    const std::string unknown = GetRefusal([] { ReadSmall(R"("sequence": 32)", "mambaformer"); });
    ExpectPart(unknown, "model_type is 'mambaformer' (allowed: llama, ");
    ExpectPart(unknown, "or none, with gated, biases, positions and tie_word_embeddings)");
    ExpectPart(GetRefusal([] { ReadSmall(R"("sequence": 32, "num_key_value_heads": 3)"); }),
               "3 heads of keys and values (allowed: divisors of 8, the heads of attention)");
    ExpectPart(GetRefusal([] { ReadSmall(R"("sequence": 32, "vocab_size": 7)"); }),
               "'vocab_size' is given twice (allowed: each key once)");
    ExpectPart(GetRefusal([] { ReadSmall(R"("layer_types": ["full_attention"])"); }),
               "layer_types has 1 entries (allowed: 4, one for each layer)");
    NS_TEST_EXPECT_MSG_EQ(ReadSmall(R"("num_experts": 0)").GetParameters(),
                          ReadSmall(R"("num_experts": null)").GetParameters(),
                          "no experts");
    NS_TEST_EXPECT_MSG_EQ(ReadSmall("\"a\": 1").sequence, 0, "no length");
    // Keys say more than families.
    NS_TEST_EXPECT_MSG_EQ(ReadSmall(R"("gated": false)").GetFeedForwardParameters(128),
                          2 * 64 * 128,
                          "no gate");
    NS_TEST_EXPECT_MSG_EQ(ReadSmall(R"("mlp_bias": true)").GetFeedForwardParameters(128),
                          3 * 64 * 128 + 2 * 128 + 64,
                          "biases of both matrices, and of the last");
}

void
TestLayers()
{
    const std::string experts = R"("num_experts": 4, "num_experts_per_tok": 2, )";
    const std::vector<std::pair<std::string, std::string>> chosen{
        {"1111", R"("a": 1)"},
        {"0101", R"("decoder_sparse_step": 2)"},
        {"0001", R"("decoder_sparse_step": 2, "mlp_only_layers": [1])"},
        {"0101", R"("interleave_moe_layer_step": 2)"},
        {"1010", R"("moe_layer_freq": 2)"},
        {"0110", R"("moe_layer_freq": [0, 1, 1, 0])"},
        {"0011", R"("first_k_dense_replace": 2)"},
        {"0101", R"("expert_layer_period": 2, "expert_layer_offset": 1)"},
        {"1001", R"("mlp_layer_types": ["sparse", "dense", "dense", "sparse"])"},
    };
    for (const auto& [layers, keys] : chosen)
    {
        const TransformerModel model = ReadSmall(experts + keys);
        std::string found;
        for (uint32_t layer = 0; layer < 4; layer++)
        {
            found += model.HasExperts(layer) ? "1" : "0";
        }
        NS_TEST_EXPECT_MSG_EQ(found, layers, keys);
    }
    const auto getSpans = [](TransformerModel model) {
        model.sequence = 1000;
        std::ostringstream spans;
        for (uint32_t layer = 0; layer < 4; layer++)
        {
            spans << model.GetSpan(layer) << " ";
        }
        return spans.str();
    };
    NS_TEST_EXPECT_MSG_EQ(getSpans(ReadSmall(R"("a": 1)")), "1000 1000 1000 1000 ", "whole");
    NS_TEST_EXPECT_MSG_EQ(getSpans(ReadSmall(R"("sliding_window": 9)")), "9 9 9 9 ", "windows");
    NS_TEST_EXPECT_MSG_EQ(getSpans(ReadSmall(R"("sliding_window": 2000)")),
                          "1000 1000 1000 1000 ",
                          "a window longer than the sequence");
    NS_TEST_EXPECT_MSG_EQ(getSpans(ReadSmall(R"("sliding_window": 9)", "gemma2")),
                          "9 1000 9 1000 ",
                          "each other one");
    NS_TEST_EXPECT_MSG_EQ(
        getSpans(ReadSmall(R"("layer_types": ["full_attention", "sliding_attention",
                              "sliding_attention", "full_attention"])",
                           "gpt_oss")),
        "1000 128 128 1000 ",
        "by name");
    NS_TEST_EXPECT_MSG_EQ(getSpans(ReadSmall(R"("sliding_window": 9)", "qwen2")),
                          "1000 1000 1000 1000 ",
                          "windows that are not used");
    const TransformerModel mixed =
        ReadSmall(R"("attn_layer_period": 4, "attn_layer_offset": 2)", "minimax");
    NS_TEST_EXPECT_MSG_EQ(getSpans(mixed), "0 0 1000 0 ", "linear attention");
    NS_TEST_EXPECT_MSG_EQ(mixed.GetAttentionParameters(0), 64 + 5 * 64 * 64 + 64, "its matrices");
    NS_TEST_EXPECT_MSG_EQ(mixed.GetAttentionParameters(2), 64 + 4 * 64 * 64, "those of attention");
    TransformerModel model = mixed;
    model.sequence = 8;
    ParallelOptions options;
    options.context = 2;
    options.globalBatch = 1;
    ExpectPart(GetRefusal([&] { ParallelPlan plan(model, options); }),
               "context 2 (allowed: 1, as layer 0 has no attention)");
}

void
TestKeyValueCopies()
{
    ParallelOptions options;
    options.tensor = 8;
    options.globalBatch = 1;
    const auto getPlan = [&options](uint64_t heads) {
        return ParallelPlan(
            ReadSmall(R"("sequence": 8, "num_key_value_heads": )" + std::to_string(heads)),
            options);
    };
    // Queries, keys, values and output of one head of 8 numbers, a part of the network, and norms.
    constexpr uint64_t ONE_HEAD = 4 * 64 * 8 + 3 * 64 * 128 / 8 + 2 * 64 / 8;
    NS_TEST_EXPECT_MSG_EQ(getPlan(8).GetDenseParameters(0), ONE_HEAD, "a head for each rank");
    NS_TEST_EXPECT_MSG_EQ(getPlan(2).GetDenseParameters(0), ONE_HEAD, "four ranks copy a head");
    NS_TEST_EXPECT_MSG_EQ(getPlan(2).GetKeyValueBytes(0),
                          getPlan(8).GetKeyValueBytes(0),
                          "keys and values of a head");
    options.tensor = 2;
    NS_TEST_EXPECT_MSG_EQ(getPlan(2).GetKeyValueCopies(0), 0, "no copies");
    const std::string message = GetRefusal([] {
        ParallelOptions wrong;
        wrong.tensor = 4;
        wrong.globalBatch = 1;
        ParallelPlan plan(Read(R"("hidden": 72, "heads": 12, "num_key_value_heads": 6, "layers": 1,
                               "vocabulary": 8, "feed_forward": 4, "sequence": 8)"),
                          wrong);
    });
    ExpectPart(message, "tensor 4 (allowed: divisors of 6, the heads of keys and values)");
}

const Suite g_suite("parallel-models",
                    Duration::QUICK,
                    {{"published numbers of parameters", TestParameters},
                     {"keys of all families", TestKeys},
                     {"experts, windows and linear attention by layer", TestLayers},
                     {"more ranks than heads of keys and values", TestKeyValueCopies}});

} // namespace ns3::training::tests::parallel_models_test
