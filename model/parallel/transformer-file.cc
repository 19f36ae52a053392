/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-file.h"
#include "core/json-tree.h"
#include "parallel/transformer-config.h"
#include "parallel/transformer-families.h"
#include "transformer-model.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

constexpr uint64_t MAX_LAYERS = TransformerConfig::MAX_LAYERS;
constexpr uint64_t MAX_SIZE = TransformerConfig::MAX_SIZE;

/// Names of sizes.
constexpr std::initializer_list<const char*> HEADS{"num_attention_heads",
                                                   "n_head",
                                                   "n_heads",
                                                   "num_heads",
                                                   "heads"};
constexpr std::initializer_list<const char*> KEY_VALUE_HEADS{"num_key_value_heads",
                                                             "num_kv_heads",
                                                             "attn_config/kv_n_heads",
                                                             "multi_query_group_num"};
constexpr std::initializer_list<const char*> FEED_FORWARD{"intermediate_size_mlp",
                                                          "intermediate_size",
                                                          "n_inner",
                                                          "ffn_dim",
                                                          "ffn_hidden_size",
                                                          "ffn_config/ffn_hidden_size",
                                                          "feed_forward"};

/**
 * Reads a list of layers.
 * @param path the file
 * @param list its objects, each with what differs from the model
 * @param model whose sizes are known, but the number of layers
 */
void
ReadLayers(const std::string& path, const TransformerConfig::Json& list, TransformerModel& model)
{
    std::vector<std::string> allowed{"repeat", "experts"};
    for (const auto& names : {HEADS, KEY_VALUE_HEADS, FEED_FORWARD})
    {
        allowed.insert(allowed.end(), names.begin(), names.end());
    }
    std::vector<TransformerLayer> listed;
    uint32_t index = 0;
    for (const auto& [name, object] : list)
    {
        const std::string where = path + ": layers[" + std::to_string(index++) + "]";
        if (!name.empty() || !object.data().empty())
        {
            throw ConfigurationError(path + ": layers has '" +
                                     MakePrintableName(name.empty() ? object.data() : name) +
                                     "' (allowed: a number, or a list of objects)");
        }
        const TransformerConfig file(where, object);
        file.CheckKeys(allowed);
        TransformerLayer layer = model.GetLayer(0);
        layer.heads = static_cast<uint32_t>(
            file.Find(HEADS, 1, TransformerConfig::MAX_LAYERS).value_or(model.heads));
        layer.keyValueHeads =
            static_cast<uint32_t>(file.Find(KEY_VALUE_HEADS, 1, layer.heads)
                                      .value_or(std::min(layer.heads, model.keyValueHeads)));
        layer.feedForward =
            file.Find(FEED_FORWARD, 1, TransformerConfig::MAX_SIZE).value_or(model.feedForward);
        if (model.experts == 0 && file.Is("experts", false))
        {
            throw ConfigurationError(where +
                                     ": experts is 'true' (allowed: false, as the model has "
                                     "none)");
        }
        const uint64_t repeat = file.Find({"repeat"}, 1, TransformerConfig::MAX_LAYERS).value_or(1);
        if (listed.size() + repeat > TransformerConfig::MAX_LAYERS)
        {
            throw ConfigurationError(where + ": too many layers (allowed: " +
                                     std::to_string(TransformerConfig::MAX_LAYERS) + ")");
        }
        for (uint64_t i = 0; i < repeat; i++)
        {
            const bool isBehind = listed.size() >= model.denseLayers;
            layer.hasExperts = file.Is("experts", model.experts > 0 && isBehind);
            listed.push_back(layer);
        }
    }
    if (list.empty())
    {
        throw ConfigurationError(path +
                                 ": layers is empty (allowed: a number, or a list of objects)");
    }
    model.layers = static_cast<uint32_t>(listed.size());
    model.listed = std::move(listed);
}

/**
 * Traits that keys decide, those of a family or all.
 * @param config of the model, whose family's defaults are set
 * @param family of the model; null: any
 * @param isGpt whether the keys are those of GPT-2
 * @return traits of the model
 */
uint32_t
ReadTraits(const TransformerConfig& config, const TransformerFamily* family, bool isGpt)
{
    using M = TransformerModel;
    constexpr uint32_t BIASES =
        M::INPUT_BIASES | M::OUTPUT_BIASES | M::FORWARD_BIASES | M::NORM_BIASES;
    uint32_t traits = family ? family->traits : isGpt ? BIASES | M::POSITIONS : M::GATED;
    const std::pair<const char*, uint32_t> generic[]{{"gated", M::GATED},
                                                     {"biases", BIASES},
                                                     {"positions", M::POSITIONS}};
    for (const auto& [key, bits] : generic)
    {
        const bool initial = (traits & bits) != 0;
        if (family ? config.FindTruth(key).value_or(initial) != initial
                   : config.Is(key, initial) != initial)
        {
            traits = initial ? traits & ~bits : traits | bits;
        }
    }
    for (const TransformerFamily::Switch& each :
         family ? family->switches : std::vector<TransformerFamily::Switch>())
    {
        if (const auto value = config.FindTruth(each.key))
        {
            traits = *value ? (traits | each.set) & ~each.clear : traits & ~each.set;
        }
    }
    return traits;
}

/** Reads the sizes of experts. */
void
ReadExperts(const TransformerConfig& config, TransformerModel& model)
{
    model.experts = static_cast<uint32_t>(config
                                              .Find({"n_routed_experts",
                                                     "num_local_experts",
                                                     "num_experts",
                                                     "ffn_config/moe_num_experts",
                                                     "experts"},
                                                    0,
                                                    MAX_LAYERS)
                                              .value_or(0));
    if (model.experts == 0)
    {
        return;
    }
    model.expertsPerToken = static_cast<uint32_t>(config.Get({"num_experts_per_tok",
                                                              "ffn_config/moe_top_k",
                                                              "experts_per_token",
                                                              "num_experts_per_token"},
                                                             1,
                                                             model.experts));
    model.expertFeedForward =
        config.Find({"moe_intermediate_size", "intermediate_size"}, 1, MAX_SIZE)
            .value_or(model.feedForward);
    model.sharedFeedForward =
        config.Find({"shared_expert_intermediate_size"}, 0, MAX_SIZE).value_or(0);
    model.sharedExperts =
        static_cast<uint32_t>(config.Find({"n_shared_experts", "num_shared_experts"}, 0, MAX_LAYERS)
                                  .value_or(model.sharedFeedForward > 0 ? 1 : 0));
    model.denseLayers =
        static_cast<uint32_t>(config.Find({"first_k_dense_replace"}, 0, model.layers).value_or(0));
}

/**
 * Says for each layer whether a key chooses it.
 * @param config of the model
 * @param list name of a list with a word or number of each layer; null: none
 * @param chosen words of chosen layers in that list
 * @param period names of the distance of chosen layers
 * @param first number of the first of them, from 1, or 0: that distance
 * @param layers of the model
 * @return one truth value a layer; empty: no key chooses
 */
std::vector<bool>
ChooseLayers(const TransformerConfig& config,
             const char* list,
             const std::vector<std::string>& chosen,
             TransformerConfig::Names period,
             uint64_t first,
             uint64_t layers)
{
    std::vector<bool> result;
    const auto words = list ? config.FindList(list) : std::vector<std::string>();
    for (const std::string& word : words)
    {
        result.push_back(std::find(chosen.begin(), chosen.end(), word) != chosen.end());
    }
    if (!words.empty() && words.size() != layers)
    {
        throw ConfigurationError(std::string(list) + " has " + std::to_string(words.size()) +
                                 " entries (allowed: " + std::to_string(layers) +
                                 ", one for each layer)");
    }
    const auto distance = words.empty() ? config.Find(period, 1, MAX_LAYERS) : std::nullopt;
    for (uint64_t layer = 0; distance && layer < layers; layer++)
    {
        const uint64_t place = first == 0 ? layer + 1 : layer + *distance + 1 - first;
        result.push_back(place % *distance == 0);
    }
    return result;
}

/** Says which layers have experts, windows, and no attention. */
void
ReadPatterns(const TransformerConfig& config,
             const TransformerFamily* family,
             TransformerModel& model)
{
    const uint64_t layers = model.layers;
    const auto offset = [&config](const char* key) {
        return config.Find({key}, 0, MAX_LAYERS).value_or(0) + 1;
    };
    std::vector<bool> full =
        ChooseLayers(config, "layer_types", {"full_attention", "attention"}, {}, 0, layers);
    for (const auto& more : {ChooseLayers(config, "attn_type_list", {"1"}, {}, 0, layers),
                             ChooseLayers(config,
                                          nullptr,
                                          {},
                                          {"sliding_window_pattern", "full_attention_interval"},
                                          0,
                                          layers),
                             ChooseLayers(config,
                                          nullptr,
                                          {},
                                          {"attn_layer_period"},
                                          offset("attn_layer_offset"),
                                          layers)})
    {
        full = full.empty() ? more : full;
    }
    std::vector<bool> experts(layers, model.experts > 0);
    if (model.experts > 0)
    {
        for (const auto& chosen :
             {ChooseLayers(config, "mlp_layer_types", {"sparse"}, {}, 0, layers),
              ChooseLayers(config, "moe_layer_freq", {"1"}, {"moe_layer_freq"}, 1, layers),
              ChooseLayers(config,
                           nullptr,
                           {},
                           {"decoder_sparse_step", "interleave_moe_layer_step"},
                           0,
                           layers),
              ChooseLayers(config,
                           nullptr,
                           {},
                           {"expert_layer_period"},
                           offset("expert_layer_offset"),
                           layers)})
        {
            for (uint64_t layer = 0; layer < chosen.size(); layer++)
            {
                experts[layer] = experts[layer] && chosen[layer];
            }
        }
        for (const std::string& layer : config.FindList("mlp_only_layers"))
        {
            const uint64_t number = std::strtoull(layer.c_str(), nullptr, 10);
            if (number < layers)
            {
                experts[number] = false;
            }
        }
    }
    const uint64_t window =
        config.FindTruth("use_sliding_window").value_or(true)
            ? config
                  .Find({"sliding_window", "window_size", "attention_chunk_size", "index_topk"},
                        1,
                        uint64_t{1} << 32)
                  .value_or(0)
            : 0;
    const bool hasMixers = family && family->mixer && !full.empty();
    model.window = full.empty() && !hasMixers ? window : 0;
    std::vector<TransformerLayer> listed;
    bool areEqual = true;
    for (uint32_t layer = 0; layer < layers; layer++)
    {
        TransformerLayer sizes = model.GetLayer(layer);
        const bool isFull = full.empty() || full[layer];
        sizes.hasExperts = sizes.hasExperts && experts[layer];
        sizes.window = full.empty() ? model.window : isFull || hasMixers ? 0 : window;
        sizes.mixer = hasMixers && !isFull ? family->mixer(config) : 0;
        areEqual = areEqual && sizes.hasExperts == model.GetLayer(layer).hasExperts &&
                   sizes.window == model.window && sizes.mixer == 0;
        listed.push_back(sizes);
    }
    if (!areEqual)
    {
        model.listed = std::move(listed);
    }
}

} // namespace

TransformerModel
ReadTransformerFile(const std::string& path)
{
    const auto text = ReadInputFile(path);
    if (!text)
    {
        throw ConfigurationError(path + ": cannot be read (allowed: a JSON file of a transformer)");
    }
    const TransformerConfig::Json object = ReadJsonTree(*text, path, "a JSON object");
    TransformerConfig file(path, object);
    const TransformerFamily* family = nullptr;
    if (const auto type = file.FindWord("model_type"))
    {
        family = &FindTransformerFamily(path, *type);
        file.SetDefaults(family->defaults);
    }
    TransformerModel model;
    model.help = path;
    const auto list = object.get_child_optional("layers");
    const bool isListed = list && list->data().empty();
    model.layers = isListed
                       ? MAX_LAYERS
                       : static_cast<uint32_t>(file.Get(
                             {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "layers"},
                             1,
                             MAX_LAYERS));
    model.hidden = file.Get({"hidden_size", "n_embd", "d_model", "hidden"}, 1, MAX_SIZE);
    model.heads = static_cast<uint32_t>(file.Get(HEADS, 1, MAX_LAYERS));
    // GPT-2 has no key for the inner size, which is four times the hidden size.
    const bool isGpt = !family && file.Find({"n_embd"}, 1, MAX_SIZE).has_value();
    model.traits = ReadTraits(file, family, isGpt);
    model.keyValueHeads =
        model.Has(TransformerModel::MULTI_QUERY)
            ? 1
            : static_cast<uint32_t>(
                  file.Find(KEY_VALUE_HEADS, 1, model.heads).value_or(model.heads));
    if (model.heads % model.keyValueHeads != 0)
    {
        throw ConfigurationError(path + ": " + std::to_string(model.keyValueHeads) +
                                 " heads of keys and values (allowed: divisors of " +
                                 std::to_string(model.heads) + ", the heads of attention)");
    }
    model.headSize =
        file.Find({"qk_nope_head_dim", "head_dim", "kv_channels"}, 1, MAX_SIZE).value_or(0);
    if (model.headSize == 0 && model.hidden % model.heads != 0)
    {
        throw ConfigurationError(path + ": " + std::to_string(model.heads) +
                                 " heads (allowed: divisors of the hidden size " +
                                 std::to_string(model.hidden) + ", or with head_dim)");
    }
    model.feedForward =
        file.Find(FEED_FORWARD, 1, MAX_SIZE)
            .value_or(model.hidden *
                      file.Find({"expansion_ratio"}, 1, MAX_LAYERS).value_or(isGpt ? 4 : 0));
    if (model.feedForward == 0)
    {
        file.Get({"intermediate_size"}, 1, MAX_SIZE);
    }
    model.vocabulary = file.Get({"padded_vocab_size", "vocab_size", "vocabulary"}, 1, MAX_SIZE);
    const auto wordSize = file.Find({"word_embed_proj_dim"}, 1, MAX_SIZE).value_or(model.hidden);
    if (wordSize != model.hidden)
    {
        throw ConfigurationError(path + ": word_embed_proj_dim is " + std::to_string(wordSize) +
                                 " (allowed: " + std::to_string(model.hidden) +
                                 ", the hidden size)");
    }
    model.sequence =
        file.Find(
                {"sequence", "max_position_embeddings", "n_positions", "max_seq_len", "seq_length"},
                1,
                uint64_t{1} << 32)
            .value_or(0);
    if (family && model.Has(TransformerModel::POSITIONS))
    {
        model.positions =
            file.Get({"max_position_embeddings", "n_positions", "sequence"}, 1, MAX_SIZE) +
            (model.Has(TransformerModel::TWO_MORE_POSITIONS) ? 2 : 0);
    }
    model.tokenTypes = file.Find({"type_vocab_size"}, 0, MAX_SIZE).value_or(0);
    model.tiesEmbeddings = file.Is("tie_word_embeddings", isGpt);
    ReadExperts(file, model);
    model.keyValueRank = file.Find({"kv_lora_rank"}, 1, MAX_SIZE).value_or(0);
    if (model.keyValueRank > 0)
    {
        model.queryRank = file.Find({"q_lora_rank"}, 1, MAX_SIZE).value_or(0);
        model.rotarySize = file.Find({"qk_rope_head_dim"}, 1, MAX_SIZE).value_or(0);
        model.valueSize = file.Find({"v_head_dim"}, 1, MAX_SIZE).value_or(0);
        model.indexSize = file.Find({"index_head_dim"}, 1, MAX_SIZE).value_or(0);
        model.indexHeads = file.Find({"index_n_heads"}, 1, MAX_SIZE).value_or(0);
        if (!family)
        {
            // Balancing without a loss adds a bias for each expert (DeepSeek-V3, section 2.1.2).
            model.traits |= TransformerModel::ROUTER_BIASES;
        }
    }
    if (isListed)
    {
        ReadLayers(path, *list, model);
    }
    else
    {
        ReadPatterns(file, family, model);
    }
    file.Report();
    return model;
}

} // namespace ns3::training
