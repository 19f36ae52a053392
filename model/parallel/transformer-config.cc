/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/transformer-config.h"

#include "core/input-file.h"
#include "core/input-manifest.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <sstream>

namespace ns3::training
{

TransformerConfig::TransformerConfig(const std::string& path, const Json& object)
    : m_path(path),
      m_object(object)
{
    for (const char* text : {"text_config", "llm_config", "language_config"})
    {
        const auto child = object.get_child_optional(text);
        if (child && !child->empty())
        {
            m_roots.push_back(text + std::string("/"));
        }
    }
    m_roots.emplace_back();
}

void
TransformerConfig::SetDefaults(const std::string& defaults)
{
    std::istringstream words(defaults);
    for (std::string word; words >> word;)
    {
        const std::size_t equals = word.find('=');
        m_defaults[word.substr(0, equals)] = word.substr(equals + 1);
    }
}

/** @return the value; null: there is none */
const TransformerConfig::Json*
TransformerConfig::FindNode(const std::string& name) const
{
    for (const std::string& root : m_roots)
    {
        const auto child = m_object.get_child_optional(Json::path_type(root + name, '/'));
        if (child)
        {
            m_used.insert(root + name);
            return &*child;
        }
    }
    return nullptr;
}

std::optional<std::string>
TransformerConfig::FindWord(const std::string& name) const
{
    if (const Json* node = FindNode(name))
    {
        return node->data() == "null" ? std::nullopt : std::optional(node->data());
    }
    const auto found = m_defaults.find(name);
    if (found == m_defaults.end())
    {
        return std::nullopt;
    }
    m_assumed.insert(name + " = " + found->second);
    return found->second;
}

std::vector<std::string>
TransformerConfig::FindList(const std::string& name) const
{
    std::vector<std::string> words;
    const Json* node = FindNode(name);
    if (node)
    {
        for (const auto& [key, child] : *node)
        {
            words.push_back(child.data());
        }
    }
    return words;
}

std::optional<uint64_t>
TransformerConfig::Find(Names names, uint64_t least, uint64_t most) const
{
    for (const char* name : names)
    {
        const auto word = FindWord(name);
        if (!word)
        {
            continue;
        }
        const bool isNumber = !word->empty() && word->size() < 16 &&
                              word->find_first_not_of("0123456789") == std::string::npos;
        const uint64_t value = isNumber ? std::stoull(*word) : 0;
        if (!isNumber || value < least || value > most)
        {
            throw ConfigurationError(m_path + ": " + name + " is '" + MakePrintableName(*word) +
                                     "' (allowed: a whole number from " + std::to_string(least) +
                                     " to " + std::to_string(most) + ")");
        }
        return value;
    }
    return std::nullopt;
}

uint64_t
TransformerConfig::Get(Names names, uint64_t least, uint64_t most) const
{
    const auto value = Find(names, least, most);
    if (!value)
    {
        throw ConfigurationError(m_path + ": no " + *names.begin() +
                                 " (allowed: a JSON object that has it)");
    }
    return *value;
}

std::optional<bool>
TransformerConfig::FindTruth(const std::string& name) const
{
    const auto word = FindWord(name);
    if (word && *word != "true" && *word != "false")
    {
        throw ConfigurationError(m_path + ": " + name + " is '" + MakePrintableName(*word) +
                                 "' (allowed: true, false)");
    }
    return word ? std::optional(*word == "true") : std::nullopt;
}

bool
TransformerConfig::Is(const std::string& name, bool initial) const
{
    const auto value = FindTruth(name);
    if (!value)
    {
        m_assumed.insert(name + " = " + (initial ? "true" : "false"));
    }
    return value.value_or(initial);
}

void
TransformerConfig::CheckKeys(const std::vector<std::string>& keys) const
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

void
TransformerConfig::ReportKeys(const Json& object, const std::string& prefix) const
{
    InputManifest::File& file = InputManifest::Get(m_path);
    for (const auto& [key, child] : object)
    {
        const std::string name = prefix + key;
        if (object.count(key) > 1)
        {
            throw ConfigurationError(m_path + ": '" + MakePrintableName(name) +
                                     "' is given twice (allowed: each key once)");
        }
        const auto inside = m_used.lower_bound(name + "/");
        if (inside != m_used.end() && inside->compare(0, name.size() + 1, name + "/") == 0)
        {
            ReportKeys(child, name + "/");
        }
        else if (m_used.count(name) > 0)
        {
            file.Use();
        }
        else
        {
            file.Ignore("key '" + name + "'", [this] { return m_path; });
        }
    }
}

void
TransformerConfig::Report() const
{
    InputManifest::File& file = InputManifest::Begin(m_path);
    ReportKeys(m_object, "");
    for (const std::string& what : m_assumed)
    {
        file.Assume(what, m_path);
    }
}

} // namespace ns3::training
