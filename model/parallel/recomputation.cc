/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/recomputation.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <map>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return modules by their names */
const std::map<std::string, RecomputedModule>&
GetModules()
{
    static const std::map<std::string, RecomputedModule> all{
        {"core-attention", RecomputedModule::CORE_ATTENTION},
        {"layernorm", RecomputedModule::LAYERNORM},
        {"mla-up-projection", RecomputedModule::MLA_UP_PROJECTION},
        {"mlp", RecomputedModule::MLP},
        {"moe", RecomputedModule::MOE},
        {"moe-activation", RecomputedModule::MOE_ACTIVATION},
        {"shared-experts", RecomputedModule::SHARED_EXPERTS}};
    return all;
}

/** @return the words of a list */
std::vector<std::string>
SplitModules(const std::string& text)
{
    std::vector<std::string> words;
    boost::split(words, text, boost::is_any_of("+"));
    return words;
}

/** @return whether all words of a list are names of modules, each once */
bool
AreModules(const std::string& text)
{
    const std::vector<std::string> words = SplitModules(text);
    return std::set<std::string>(words.begin(), words.end()).size() == words.size() &&
           std::all_of(words.begin(), words.end(), [](const std::string& word) {
               return GetModules().count(word) > 0;
           });
}

/** @return key of the modules */
Key
MakeModulesKey()
{
    Key key = Key::Of("modules",
                      Key::Type::TEXT,
                      "core-attention",
                      "parts of layers, as --recompute-modules of Megatron-LM");
    for (const auto& [name, module] : GetModules())
    {
        key.range += (key.range.empty() ? "" : "|") + name;
    }
    key.range += ", joined by +";
    key.accepts = &AreModules;
    return key;
}

const Registry<RecomputeEntry>::Entry g_none("none", {"nothing"});
const Registry<RecomputeEntry>::Entry g_selective("selective",
                                                  {"parts of each layer", {MakeModulesKey()}});
const Registry<RecomputeEntry>::Entry g_full("full", {"layers, with their collectives"});

} // namespace

Recomputation::Recomputation(const std::string& text)
    : m_text(text)
{
    const KeyValues values = Choose<RecomputeEntry>(text).values;
    m_isFull = values.GetName() == "full";
    if (values.Has("modules"))
    {
        for (const std::string& word : SplitModules(values.GetText("modules")))
        {
            m_modules.insert(GetModules().at(word));
        }
    }
}

void
Recomputation::Check(const TransformerModel& model, const ParallelOptions& options) const
{
    using M = RecomputedModule;
    const auto hasLayer = [&model](bool hasExperts) {
        for (uint32_t layer = 0; layer < model.layers; layer++)
        {
            if (model.HasExperts(layer) == hasExperts)
            {
                return true;
            }
        }
        return false;
    };
    const auto refuse = [this](const std::string& module, const std::string& reason) {
        throw ConfigurationError("recompute",
                                 m_text,
                                 ": " + reason + " (allowed: without " + module + ")");
    };
    const std::pair<M, const char*> experts[]{{M::MOE, "moe"},
                                              {M::MOE_ACTIVATION, "moe-activation"},
                                              {M::SHARED_EXPERTS, "shared-experts"}};
    for (const auto& [module, name] : experts)
    {
        if (Has(module) && !hasLayer(true))
        {
            refuse(name, "the model has no experts");
        }
        if (Has(module) && module != M::MOE && Has(M::MOE))
        {
            refuse(name, "moe includes " + std::string(name));
        }
    }
    if (Has(M::MLA_UP_PROJECTION) && model.keyValueRank == 0)
    {
        refuse("mla-up-projection", "the model has no latent attention");
    }
    if (Has(M::MLP) && !hasLayer(false))
    {
        refuse("mlp", "all layers of the model have experts");
    }
    if (Has(M::SHARED_EXPERTS) && model.GetSharedParameters() == 0)
    {
        refuse("shared-experts", "the model has no shared experts");
    }
    if (Has(M::SHARED_EXPERTS) && options.sharedExpertOverlap)
    {
        refuse("shared-experts", "shared experts compute during exchanges of tokens");
    }
}

} // namespace ns3::training
