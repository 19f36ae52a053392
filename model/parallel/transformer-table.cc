/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * Built-in transformers. GPT: vocabularies padded as Megatron-LM does. Others: config.json of the
 * published weights.
 */

#include "transformer-model.h"

#include "ns3/training-configuration-error.h"

#include <cstddef>

namespace ns3::training
{

namespace
{

/** @return a model of the GPT family: learned positions, biases, tied embeddings */
TransformerModel
MakeGpt(const std::string& help,
        uint32_t layers,
        uint64_t hidden,
        uint32_t heads,
        uint64_t sequence = 2048,
        uint64_t vocabulary = 51200)
{
    TransformerModel model;
    model.help = help;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.keyValueHeads = heads;
    model.feedForward = 4 * hidden;
    model.vocabulary = vocabulary;
    model.sequence = sequence;
    model.traits = TransformerModel::INPUT_BIASES | TransformerModel::OUTPUT_BIASES |
                   TransformerModel::FORWARD_BIASES | TransformerModel::NORM_BIASES |
                   TransformerModel::POSITIONS;
    model.tiesEmbeddings = true;
    return model;
}

/** @return a model of the Llama family: grouped queries, gated networks, no biases */
TransformerModel
MakeLlama(const std::string& help,
          uint32_t layers,
          uint64_t hidden,
          uint32_t heads,
          uint32_t keyValueHeads,
          uint64_t feedForward,
          uint64_t vocabulary = 128256,
          uint64_t sequence = 8192)
{
    TransformerModel model;
    model.help = help;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.keyValueHeads = keyValueHeads;
    model.feedForward = feedForward;
    model.vocabulary = vocabulary;
    model.sequence = sequence;
    return model;
}

/** @return Mixtral 8x7B */
TransformerModel
MakeMixtral()
{
    TransformerModel model =
        MakeLlama("Mixtral 8x7B, 46.7e9 parameters", 32, 4096, 32, 8, 14336, 32000, 4096);
    model.experts = 8;
    model.expertsPerToken = 2;
    model.expertFeedForward = 14336;
    return model;
}

/** @return DeepSeek-V3, without the layer that predicts a second token */
TransformerModel
MakeDeepSeek()
{
    TransformerModel model =
        MakeLlama("DeepSeek-V3, 671e9 parameters", 61, 7168, 128, 128, 18432, 129280, 4096);
    model.traits |= TransformerModel::ROUTER_BIASES;
    model.experts = 256;
    model.expertsPerToken = 8;
    model.sharedExperts = 1;
    model.expertFeedForward = 2048;
    model.denseLayers = 3;
    model.queryRank = 1536;
    model.keyValueRank = 512;
    model.headSize = 128;
    model.rotarySize = 64;
    model.valueSize = 128;
    return model;
}

using Entry = Registry<TransformerModel>::Entry;

const Entry g_gpt3("gpt3-175b", MakeGpt("GPT-3, 175e9 parameters", 96, 12288, 96));
const Entry g_gpt13("gpt3-13b", MakeGpt("GPT-3, 13e9 parameters", 40, 5120, 40));
const Entry g_gpt7("gpt3-6.7b", MakeGpt("GPT-3, 6.7e9 parameters", 32, 4096, 32));
const Entry g_mtNlg("mt-nlg-530b",
                    MakeGpt("Megatron-Turing NLG, 530e9 parameters", 105, 20480, 128));
// Table 1 of Narayanan et al., SC 2021.
const Entry g_megatron1("megatron-1.7b", MakeGpt("Megatron-LM, SC 2021, table 1", 24, 2304, 24));
const Entry g_megatron3("megatron-3.6b", MakeGpt("Megatron-LM, SC 2021, table 1", 30, 3072, 32));
const Entry g_megatron7("megatron-7.5b", MakeGpt("Megatron-LM, SC 2021, table 1", 36, 4096, 32));
const Entry g_megatron18("megatron-18.4b", MakeGpt("Megatron-LM, SC 2021, table 1", 40, 6144, 48));
const Entry g_megatron39("megatron-39.1b", MakeGpt("Megatron-LM, SC 2021, table 1", 48, 8192, 64));
const Entry g_megatron76("megatron-76.1b", MakeGpt("Megatron-LM, SC 2021, table 1", 60, 10240, 80));
const Entry g_megatron145("megatron-145.6b",
                          MakeGpt("Megatron-LM, SC 2021, table 1", 80, 12288, 96));
const Entry g_megatron310("megatron-310.1b",
                          MakeGpt("Megatron-LM, SC 2021, table 1", 96, 16384, 128));
const Entry g_megatron529("megatron-529.6b",
                          MakeGpt("Megatron-LM, SC 2021, table 1", 105, 20480, 128));
const Entry g_megatron1008("megatron-1008b",
                           MakeGpt("Megatron-LM, SC 2021, table 1", 128, 25600, 160));
const Entry g_llama8("llama3-8b", MakeLlama("Llama 3, 8.03e9 parameters", 32, 4096, 32, 8, 14336));
const Entry g_llama70("llama3-70b",
                      MakeLlama("Llama 3, 70.6e9 parameters", 80, 8192, 64, 8, 28672));
const Entry g_llama405("llama3-405b",
                       MakeLlama("Llama 3.1, 405.9e9 parameters", 126, 16384, 128, 8, 53248));
const Entry g_mixtral("mixtral-8x7b", MakeMixtral());
const Entry g_deepSeek("deepseek-v3", MakeDeepSeek());

} // namespace

TransformerModel
FindTransformer(const std::string& text)
{
    const std::string end = ".json";
    if (text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0)
    {
        return ReadTransformerFile(text);
    }
    return Registry<TransformerModel>::Find(text);
}

} // namespace ns3::training
