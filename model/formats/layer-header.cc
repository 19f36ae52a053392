/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/layer-file.h"

#include "ns3/training-configuration-error.h"

namespace ns3::training
{

using Order = LayerRows::Order;

namespace
{

/** @return the policies, for messages */
std::string
GetPolicyNames()
{
    std::string names;
    for (const auto& [name, policy] : GetLayerPolicies())
    {
        names += (names.empty() ? "" : ", ") + name;
    }
    return names;
}

} // namespace

const std::map<std::string, LayerPolicy>&
GetLayerPolicies()
{
    static const std::map<std::string, LayerPolicy> policies{
        {"MICRO", {Order::MICRO, LayerScope::NONE, LayerScope::ALL}},
        {"DATA", {Order::DATA, LayerScope::NONE, LayerScope::ALL}},
        {"MODEL", {Order::MODEL, LayerScope::ALL, LayerScope::NONE}},
        {"HYBRID_DATA_MODEL", {Order::MODEL, LayerScope::INNER, LayerScope::OUTER}},
        {"HYBRID_MODEL_DATA", {Order::MODEL, LayerScope::OUTER, LayerScope::INNER}},
        {"HYBRID_TRANSFORMER", {Order::TRANSFORMER, LayerScope::INNER, LayerScope::OUTER}},
        {"HYBRID_TRANSFORMER_FWD_IN_BCKWD",
         {Order::TRANSFORMER, LayerScope::INNER, LayerScope::OUTER}},
        {"HYBRID_CUSTOMIZED", {Order::MODEL, LayerScope::NONE, LayerScope::NONE}},
        {"HYBRID_DLRM", {Order::EMBEDDING, LayerScope::NONE, LayerScope::ALL, true}},
        {"HYBRID_DLRM_ENHANCED", {Order::EMBEDDING, LayerScope::NONE, LayerScope::ALL, false}},
        {"DISTRIBUTED_INFERENCE", {Order::FORWARD, LayerScope::ALL, LayerScope::NONE}},
    };
    return policies;
}

/** @param word name of a setting in the header, followed by its value */
void
LayerFile::ReadSetting(const std::string& word)
{
    constexpr int64_t MAX = 1U << 20;
    const auto number = [&](uint32_t& value) {
        value = static_cast<uint32_t>(m_words.NextNumber(word, 1, MAX));
    };
    uint32_t ignored = 0;
    if (word == "model_parallel_NPU_group:")
    {
        number(m_inner);
        return;
    }
    if (word == "checkpoints:" || word == "checkpoint_initiates:")
    {
        auto& list = word == "checkpoints:" ? m_rows.checkpoints : m_rows.initiates;
        const auto count = m_words.NextNumber(word, 0, MAX);
        for (int64_t i = 0; i < count; i++)
        {
            list.push_back(static_cast<uint32_t>(m_words.NextNumber("a layer", 0, MAX)));
        }
        return;
    }
    m_isAicb = m_isAicb || word == "ep:" || word == "pp:" || word == "all_gpus:";
    if (word == "ep:")
    {
        number(m_experts);
    }
    else if (word == "pp:")
    {
        number(m_stages);
    }
    else if (word == "all_gpus:")
    {
        number(m_rows.ranks);
        m_hasRanks = true;
    }
    else if (word == "vpp:" || word == "ga:")
    {
        number(ignored); // micro-batches are rows already
        m_problems.Ignore("header's " + word, m_words.GetWhere());
        return;
    }
    else if (word == "pp_comm" || word == "pp_comm:")
    {
        m_words.NextNumber(word, 0, static_cast<int64_t>(MAX_BYTES));
        m_problems.Ignore("header's " + word, m_words.GetWhere());
        return;
    }
    else if (m_request.lenient && !word.empty())
    {
        m_problems.Add("an unknown word of the header, which is skipped with its number",
                       m_words.GetWhere());
        m_words.NextNumber(word, 0, MAX);
    }
    else
    {
        m_words.Fail(
            word,
            "model_parallel_NPU_group:, ep:, pp:, vpp:, ga:, all_gpus:, checkpoints:, "
            "checkpoint_initiates:, pp_comm, or the number of layers; others with --lenient");
    }
}

void
LayerFile::ReadHeader()
{
    const std::string name = m_words.Next();
    const auto policy = GetLayerPolicies().find(name);
    if (policy == GetLayerPolicies().end())
    {
        m_words.Fail(name, GetPolicyNames());
    }
    m_policy = policy->second;
    m_rows.order = m_policy.order;
    m_rows.awaitsEmbedding = m_policy.awaitsEmbedding;
    m_rows.blocksInputs = m_values.GetText("transformer-ig") == "blocking";
    m_isCustomized = name == "HYBRID_CUSTOMIZED";
    if (m_policy.order == Order::EMBEDDING)
    {
        m_rows.lastBottom =
            static_cast<uint32_t>(m_words.NextNumber("the last bottom layer", 0, 1 << 20));
    }
    for (;;)
    {
        const std::string word = m_words.Next();
        if (!word.empty() && word.find_first_not_of("0123456789") == std::string::npos)
        {
            if (word.size() > 7 || std::stoul(word) == 0)
            {
                m_words.Fail(word, "a number of layers from 1 to 9999999");
            }
            m_count = static_cast<uint32_t>(std::stoul(word));
            return;
        }
        if (m_policy.order != Order::TRANSFORMER)
        {
            m_words.Fail(word, "the number of layers");
        }
        ReadSetting(word);
    }
}

/** Ranks of all jobs, and the sizes of groups, when the header is read. */
void
LayerFile::CheckSizes()
{
    if (m_request.ranks > 0)
    {
        if (m_hasRanks && m_rows.ranks != m_request.ranks)
        {
            m_problems.Add("all_gpus is " + std::to_string(m_rows.ranks) + ", the job has " +
                               std::to_string(m_request.ranks) + " ranks, which count",
                           m_words.GetWhere());
        }
        m_rows.ranks = m_request.ranks;
    }
    if (m_values.Has("inner"))
    {
        m_inner = static_cast<uint32_t>(m_values.GetCount("inner"));
    }
    else if (m_policy.order == Order::MODEL)
    {
        m_inner = m_hasRanks || m_rows.ranks > 1 ? m_rows.ranks : 2; // one dimension
    }
    if (!m_hasRanks && m_request.ranks == 0)
    {
        // The fewest with which every collective has two ranks.
        const uint64_t fewest = uint64_t{2} * m_inner * m_stages * m_experts;
        if (fewest > MAX_RANKS)
        {
            throw ConfigurationError(m_words.GetWhere() + ": groups of " +
                                     std::to_string(fewest / 2) + " ranks (allowed: up to " +
                                     std::to_string(MAX_RANKS / 2) + ")");
        }
        m_rows.ranks = static_cast<uint32_t>(fewest);
        m_problems.Add("the file has no number of ranks; " + std::to_string(fewest) +
                           " make two of each group, --ranks=N has another number",
                       m_words.GetWhere());
    }
    const uint64_t all = uint64_t{m_inner} * m_stages;
    if (m_rows.ranks % all != 0 || m_rows.ranks / all % m_experts != 0)
    {
        throw ConfigurationError(m_words.GetWhere() + ": groups of " + std::to_string(m_inner) +
                                 ", " + std::to_string(m_stages) + " stages and " +
                                 std::to_string(m_experts) + " parts of experts with " +
                                 std::to_string(m_rows.ranks) +
                                 " ranks (allowed: sizes whose product divides the ranks)");
    }
    if (m_stages > 1)
    {
        m_problems.Add("stages of a pipeline exchange nothing, as in SimAI, which adds a formula",
                       m_words.GetWhere());
    }
}

} // namespace ns3::training
