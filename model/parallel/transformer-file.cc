/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-file.h"
#include "core/input-manifest.h"
#include "core/json-tree.h"
#include "transformer-model.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <boost/property_tree/ptree.hpp>
#include <initializer_list>
#include <optional>
#include <set>
#include <vector>

namespace ns3::training
{

namespace
{

using Json = boost::property_tree::ptree;

/** Reads numbers of an object by their keys. */
class ModelFile
{
  public:
    ModelFile(const std::string& path, const Json& object)
        : m_path(path),
          m_object(object)
    {
    }

    /**
     * @param keys names of a number, the first that the file has counts
     * @param least smallest allowed number
     * @param most largest allowed number
     * @return the number, or none
     */
    std::optional<uint64_t> Find(std::initializer_list<const char*> keys,
                                 uint64_t least,
                                 uint64_t most) const
    {
        for (const char* key : keys)
        {
            const auto child = m_object.get_child_optional(Json::path_type(key, '\n'));
            if (!child || child->data() == "null")
            {
                continue;
            }
            m_used.insert(key);
            const std::string& text = child->data();
            const bool isNumber = !text.empty() && text.size() < 16 &&
                                  text.find_first_not_of("0123456789") == std::string::npos;
            const uint64_t value = isNumber ? std::stoull(text) : 0;
            if (!isNumber || value < least || value > most)
            {
                throw ConfigurationError(m_path + ": " + key + " is '" + MakePrintableName(text) +
                                         "' (allowed: a whole number from " +
                                         std::to_string(least) + " to " + std::to_string(most) +
                                         ")");
            }
            return value;
        }
        return std::nullopt;
    }

    /** @return the number; there must be one */
    uint64_t Get(std::initializer_list<const char*> keys, uint64_t least, uint64_t most) const
    {
        const auto value = Find(keys, least, most);
        if (!value)
        {
            throw ConfigurationError(m_path + ": no " + *keys.begin() +
                                     " (allowed: a JSON object that has it)");
        }
        return *value;
    }

    /** @throw ConfigurationError if the object has other keys */
    void CheckKeys(const std::vector<std::string>& keys) const
    {
        for (const auto& [key, child] : m_object)
        {
            if (std::find(keys.begin(), keys.end(), key) == keys.end())
            {
                throw ConfigurationError(m_path + ": '" + MakePrintableName(key) +
                                         "' (allowed: " + boost::join(keys, ", ") + ")");
            }
        }
    }

    /** Tells the manifest which keys were used, ignored and assumed. */
    void Report() const
    {
        InputManifest::File& file = InputManifest::Begin(m_path);
        for (const auto& [key, child] : m_object)
        {
            if (m_object.count(key) > 1)
            {
                throw ConfigurationError(m_path + ": '" + MakePrintableName(key) +
                                         "' is given twice (allowed: each key once)");
            }
            if (m_used.count(key) > 0)
            {
                file.Use();
            }
            else
            {
                file.Ignore("key '" + key + "'", [this] { return m_path; });
            }
        }
        for (const std::string& what : m_assumed)
        {
            file.Assume(what, m_path);
        }
    }

    /** @return a truth value, or the default */
    bool Is(const char* key, bool initial) const
    {
        const auto child = m_object.get_child_optional(Json::path_type(key, '\n'));
        m_used.insert(key);
        if (!child)
        {
            m_assumed.emplace_back(std::string(key) + " = " + (initial ? "true" : "false"));
            return initial;
        }
        if (child->data() != "true" && child->data() != "false")
        {
            throw ConfigurationError(m_path + ": " + key + " is '" +
                                     MakePrintableName(child->data()) + "' (allowed: true, false)");
        }
        return child->data() == "true";
    }

  private:
    std::string m_path;
    const Json& m_object;
    mutable std::set<std::string> m_used;       // keys
    mutable std::vector<std::string> m_assumed; // defaults of keys that are missing
};

/// Largest sizes of a model file.
constexpr uint64_t MAX_LAYERS = 1U << 16;
constexpr uint64_t MAX_SIZE = 1U << 24;

/// Names of sizes.
constexpr std::initializer_list<const char*> HEADS{"num_attention_heads", "n_head", "heads"};
constexpr std::initializer_list<const char*> KEY_VALUE_HEADS{"num_key_value_heads"};
constexpr std::initializer_list<const char*> FEED_FORWARD{"intermediate_size",
                                                          "n_inner",
                                                          "feed_forward"};

/**
 * Reads a list of layers.
 * @param path the file
 * @param list its objects, each with what differs from the model
 * @param model whose sizes are known, but the number of layers
 */
void
ReadLayers(const std::string& path, const Json& list, TransformerModel& model)
{
    std::vector<std::string> allowed{"repeat", "experts"};
    for (const auto& names : {HEADS, KEY_VALUE_HEADS, FEED_FORWARD})
    {
        allowed.insert(allowed.end(), names.begin(), names.end());
    }
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
        const ModelFile file(where, object);
        file.CheckKeys(allowed);
        TransformerLayer layer{};
        layer.heads = static_cast<uint32_t>(file.Find(HEADS, 1, MAX_LAYERS).value_or(model.heads));
        layer.keyValueHeads =
            static_cast<uint32_t>(file.Find(KEY_VALUE_HEADS, 1, layer.heads)
                                      .value_or(std::min(layer.heads, model.keyValueHeads)));
        layer.feedForward = file.Find(FEED_FORWARD, 1, MAX_SIZE).value_or(model.feedForward);
        if (model.experts == 0 && file.Is("experts", false))
        {
            throw ConfigurationError(where +
                                     ": experts is 'true' (allowed: false, as the model has "
                                     "none)");
        }
        const uint64_t repeat = file.Find({"repeat"}, 1, MAX_LAYERS).value_or(1);
        if (model.listed.size() + repeat > MAX_LAYERS)
        {
            throw ConfigurationError(
                where + ": too many layers (allowed: " + std::to_string(MAX_LAYERS) + ")");
        }
        for (uint64_t i = 0; i < repeat; i++)
        {
            const bool isBehind = model.listed.size() >= model.denseLayers;
            layer.hasExperts = file.Is("experts", model.experts > 0 && isBehind);
            model.listed.push_back(layer);
        }
    }
    if (list.empty())
    {
        throw ConfigurationError(path +
                                 ": layers is empty (allowed: a number, or a list of objects)");
    }
    model.layers = static_cast<uint32_t>(model.listed.size());
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
    const Json object = ReadJsonTree(*text, path, "a JSON object");
    const ModelFile file(path, object);
    TransformerModel model;
    model.help = path;
    const auto list = object.get_child_optional("layers");
    const bool isListed = list && list->data().empty();
    model.layers = isListed ? MAX_LAYERS
                            : static_cast<uint32_t>(
                                  file.Get({"num_hidden_layers", "n_layer", "num_layers", "layers"},
                                           1,
                                           MAX_LAYERS));
    model.hidden = file.Get({"hidden_size", "n_embd", "hidden"}, 1, MAX_SIZE);
    model.heads = static_cast<uint32_t>(file.Get(HEADS, 1, MAX_LAYERS));
    model.keyValueHeads =
        static_cast<uint32_t>(file.Find(KEY_VALUE_HEADS, 1, model.heads).value_or(model.heads));
    model.headSize = file.Find({"qk_nope_head_dim", "head_dim"}, 1, MAX_SIZE).value_or(0);
    if (model.headSize == 0 && model.hidden % model.heads != 0)
    {
        throw ConfigurationError(path + ": " + std::to_string(model.heads) +
                                 " heads (allowed: divisors of the hidden size " +
                                 std::to_string(model.hidden) + ", or with head_dim)");
    }
    // GPT-2 has no key for the inner size, which is four times the hidden size.
    const bool isGpt = file.Find({"n_embd"}, 1, MAX_SIZE).has_value();
    model.feedForward = file.Find(FEED_FORWARD, 1, MAX_SIZE).value_or(0);
    if (model.feedForward == 0 && !isGpt)
    {
        file.Get({"intermediate_size"}, 1, MAX_SIZE);
    }
    model.feedForward = model.feedForward == 0 ? 4 * model.hidden : model.feedForward;
    model.vocabulary = file.Get({"vocab_size", "vocabulary"}, 1, MAX_SIZE);
    model.sequence =
        file.Get({"sequence", "max_position_embeddings", "n_positions"}, 1, uint64_t{1} << 32);
    model.isGated = file.Is("gated", !isGpt);
    model.hasBiases = file.Is("biases", isGpt);
    model.hasPositions = file.Is("positions", isGpt);
    model.tiesEmbeddings = file.Is("tie_word_embeddings", isGpt);
    model.experts = static_cast<uint32_t>(
        file.Find({"n_routed_experts", "num_local_experts", "num_experts", "experts"},
                  1,
                  MAX_LAYERS)
            .value_or(0));
    if (model.experts > 0)
    {
        model.expertsPerToken =
            static_cast<uint32_t>(file.Get({"num_experts_per_tok"}, 1, model.experts));
        model.sharedExperts =
            static_cast<uint32_t>(file.Find({"n_shared_experts"}, 0, MAX_LAYERS).value_or(0));
        model.denseLayers = static_cast<uint32_t>(
            file.Find({"first_k_dense_replace"}, 0, model.layers).value_or(0));
        model.expertFeedForward =
            file.Find({"moe_intermediate_size"}, 1, MAX_SIZE).value_or(model.feedForward);
    }
    model.keyValueRank = file.Find({"kv_lora_rank"}, 1, MAX_SIZE).value_or(0);
    if (model.keyValueRank > 0)
    {
        model.queryRank = file.Find({"q_lora_rank"}, 1, MAX_SIZE).value_or(0);
        model.rotarySize = file.Find({"qk_rope_head_dim"}, 1, MAX_SIZE).value_or(0);
        model.valueSize = file.Find({"v_head_dim"}, 1, MAX_SIZE).value_or(0);
    }
    if (isListed)
    {
        ReadLayers(path, *list, model);
    }
    file.Report();
    return model;
}

} // namespace ns3::training
