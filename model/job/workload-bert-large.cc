/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-workload.h"

namespace ns3::training
{

namespace
{

/// Numbers of a layer's activations, and of the attention scores of all heads, per sequence.
constexpr uint64_t ACTIVATIONS = 128 * 1024;
constexpr uint64_t SCORES = 16 * 128 * 128;

/**
 * BERT-large (Devlin et al., NAACL 2019): 24 identical transformer layers of width 1024,
 * feed-forward width 4096, vocabulary of 30522, sequences of 128 tokens. attn_out includes the
 * multiply-accumulates of the two matrix products of attention.
 *
 * Operations on single elements read and write once, and backward read once more: scale, softmax
 * and dropout of the scores, fused in pairs; GELU; dropout and layer norm. An addition has two
 * inputs.
 *
 * @return layer, parameters, multiply-accumulates of the forward pass per sequence, and numbers
 *         read and written by operations on single elements, forward and backward
 */
std::vector<LayerShape>
MakeBertLarge()
{
    std::vector<LayerShape> layers{
        {"embeddings.word", 31254528, 0},
        {"embeddings.position", 524288, 0},
        {"embeddings.token_type", 2048, 0},
        {"embeddings.ln", 2048, 0, 7 * ACTIVATIONS, 9 * ACTIVATIONS},
    };
    for (int layer = 0; layer < 24; ++layer)
    {
        const std::string prefix = "layer" + std::to_string(layer) + ".";
        layers.push_back({prefix + "qkv", 3148800, 402653184});
        layers.push_back({prefix + "attn_out", 1049600, 167772160, 4 * SCORES, 6 * SCORES});
        layers.push_back({prefix + "ln1", 2048, 0, 7 * ACTIVATIONS, 9 * ACTIVATIONS});
        layers.push_back({prefix + "ffn1", 4198400, 536870912, 8 * ACTIVATIONS, 12 * ACTIVATIONS});
        layers.push_back({prefix + "ffn2", 4195328, 536870912});
        layers.push_back({prefix + "ln2", 2048, 0, 7 * ACTIVATIONS, 9 * ACTIVATIONS});
    }
    layers.push_back({"pooler", 1049600, 1048576});
    return layers;
}

const Registry<WorkloadEntry>::Entry g_bertLarge(
    "bert-large",
    MakeModelWorkload("BERT-large, sequences of 128, 335.1 M parameters, 39.5 GMAC a sequence",
                      MakeBertLarge()));

} // namespace

} // namespace ns3::training
