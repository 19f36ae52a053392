/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/layer-file.h"

#include "core/input-file.h"
#include "formats/listed-graph.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::training
{

using Order = LayerRows::Order;

LayerFile::LayerFile(const FormatRequest& request,
                     const KeyValues& values,
                     const std::string& text,
                     bool isAicb)
    : m_request(request),
      m_values(values),
      m_words(request.path, text),
      m_isAicb(isAicb)
{
    m_problems.SetFile(InputManifest::Begin(request.path));
}

/** @return index of the groups; -1 if each has one rank */
int32_t
LayerFile::AddGroups(LayerScope scope, const std::string& suffix, Parallelism parallelism)
{
    const auto key = std::make_tuple(scope, suffix);
    const auto known = m_groups.find(key);
    if (known != m_groups.end())
    {
        return known->second;
    }
    const uint32_t replicas = m_rows.ranks / m_inner / m_stages;
    uint32_t size = scope == LayerScope::INNER ? m_inner : replicas;
    uint32_t stride = scope == LayerScope::INNER ? 1 : m_inner;
    if (scope == LayerScope::ALL)
    {
        size = m_rows.ranks;
        stride = 1;
    }
    if (suffix == "_EP")
    {
        size = m_experts;
        stride = m_inner;
        parallelism = Parallelism::EXPERT;
    }
    else if (suffix == "_DP_EP")
    {
        size = replicas / m_experts;
        stride = m_inner * m_experts;
        parallelism = Parallelism::DATA;
    }
    int32_t index = -1;
    if (scope != LayerScope::NONE && size > 1)
    {
        index = static_cast<int32_t>(m_rows.groups.size());
        m_rows.groups.push_back(MakeStridedGroups(m_rows.ranks, size, stride));
        m_rows.groups.back().parallelism = parallelism;
    }
    m_groups.emplace(key, index);
    return index;
}

/** @return whether sizes of all-gathers are those of parts, as in ASTRA-sim and not in AICB */
bool
LayerFile::GathersParts() const
{
    const std::string gather = m_values.GetText("gather-size");
    return gather == "part" || (gather == "auto" && !m_isAicb);
}

void
LayerFile::ReadCollective(LayerRow& row, RowPass pass, LayerScope scope)
{
    using Operation = CollectiveOperation;
    static const std::map<std::string, Operation> OPERATIONS{
        {"ALLREDUCE", Operation::ALL_REDUCE},
        {"ALLTOALL", Operation::ALL_TO_ALL},
        {"ALLGATHER", Operation::ALL_GATHER},
        {"REDUCESCATTER", Operation::REDUCE_SCATTER},
    };
    RowWork& work = row.works[static_cast<uint32_t>(pass)];
    const std::string word = m_words.Next();
    std::string suffix;
    for (const std::string candidate : {"_DP_EP", "_EP"})
    {
        if (word.size() > candidate.size() &&
            word.compare(word.size() - candidate.size(), candidate.size(), candidate) == 0)
        {
            suffix = candidate;
            break;
        }
    }
    const auto operation = OPERATIONS.find(word.substr(0, word.size() - suffix.size()));
    if (operation == OPERATIONS.end() && word != "NONE")
    {
        if (!m_request.lenient)
        {
            m_words.Fail(word,
                         "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, with _EP or _DP_EP, "
                         "or --lenient");
        }
        m_problems.Add("unknown collective, which is NONE", m_words.GetWhere());
    }
    work.bytes =
        static_cast<uint64_t>(m_words.NextNumber("bytes", 0, static_cast<int64_t>(MAX_BYTES)));
    constexpr uint64_t LEAST_FORWARD = 4096;
    if (m_isAicb && pass == RowPass::FORWARD && work.bytes > 0 && work.bytes < LEAST_FORWARD &&
        operation != OPERATIONS.end())
    {
        m_problems.Add(
            "a collective of a forward pass below 4096 bytes, which has 4096 as in SimAI",
            m_words.GetWhere());
        work.bytes = LEAST_FORWARD;
    }
    if (operation == OPERATIONS.end() || work.bytes == 0)
    {
        return;
    }
    // In DLRM the embedding exchanges with all ranks.
    const bool isEmbedding = m_policy.order == Order::EMBEDDING && m_rows.rows.empty() &&
                             pass != RowPass::WEIGHT_GRADIENT;
    const Parallelism parallelism = pass == RowPass::WEIGHT_GRADIENT ? Parallelism::DATA
                                    : isEmbedding                    ? Parallelism::EXPERT
                                                                     : Parallelism::TENSOR;
    work.groups = AddGroups(isEmbedding ? LayerScope::ALL : scope,
                            isEmbedding ? "embedding" : suffix,
                            parallelism);
    work.communicates = true;
    work.operation = operation->second;
    if (work.groups < 0)
    {
        m_problems.Add("a collective among one rank, which sends nothing; inner=N sets the ranks "
                       "of the first dimension",
                       m_words.GetWhere());
        return;
    }
    if (work.operation == Operation::ALL_GATHER && GathersParts())
    {
        const auto& group = m_rows.groups[static_cast<std::size_t>(work.groups)].groups[0];
        work.bytes = MultiplySize(work.bytes, group.size(), m_words.GetWhere());
    }
}

void
LayerFile::ReadRow()
{
    LayerRow row;
    row.name = MakePrintableName(m_words.Next());
    if (row.name.empty())
    {
        throw ConfigurationError(m_words.GetWhere() + ": " + std::to_string(m_rows.rows.size()) +
                                 " layers (allowed: " + std::to_string(m_count) +
                                 ", as the header says)");
    }
    m_words.NextNumber("the reserved column", -1, 1 << 20);
    std::array<LayerScope, ROW_PASSES> scopes{m_policy.activations,
                                              m_policy.activations,
                                              m_policy.weights};
    if (m_isCustomized)
    {
        // The policy of the row is behind its collectives: read them again when it is known.
        const WordReader here = m_words;
        for (uint32_t word = 0; word < 10; word++)
        {
            m_words.Next();
        }
        const std::string name = m_words.Next();
        const auto policy = GetLayerPolicies().find(name);
        if (policy == GetLayerPolicies().end() ||
            (policy->second.order != Order::DATA && policy->second.order != Order::MODEL) ||
            name == "HYBRID_CUSTOMIZED")
        {
            m_words.Fail(name, "DATA, MODEL, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA");
        }
        scopes = {policy->second.activations, policy->second.activations, policy->second.weights};
        m_words = here;
    }
    for (RowPass pass : {RowPass::FORWARD, RowPass::INPUT_GRADIENT, RowPass::WEIGHT_GRADIENT})
    {
        const auto index = static_cast<uint32_t>(pass);
        row.works[index].compute = NanoSeconds(m_words.NextNumber("ns", 0, MAX_NANOSECONDS));
        ReadCollective(row, pass, scopes[index]);
    }
    row.update = NanoSeconds(m_words.NextNumber("ns", 0, MAX_NANOSECONDS));
    if (m_isCustomized)
    {
        m_words.Next();
    }
    if (m_policy.order == Order::MICRO && !m_rows.rows.empty())
    {
        m_problems.Ignore("row behind the first one of MICRO", m_words.GetWhere());
    }
    else
    {
        m_problems.Use();
    }
    m_rows.rows.push_back(row);
}

/** @return whether a collective names its group, as only AICB writes it */
bool
LayerFile::HasSuffixes() const
{
    WordReader ahead = m_words;
    for (std::string word = ahead.Next(); !word.empty(); word = ahead.Next())
    {
        for (const std::string base : {"ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"})
        {
            if (word == base + "_EP" || word == base + "_DP_EP")
            {
                return true;
            }
        }
    }
    return false;
}

FormatResult
LayerFile::Read()
{
    ReadHeader();
    m_isAicb = m_isAicb || HasSuffixes();
    CheckSizes();
    while (m_rows.rows.size() < m_count)
    {
        ReadRow();
    }
    if (m_policy.order == Order::MICRO && m_rows.rows.size() > 1)
    {
        m_problems.Add("rows behind the first one of a MICRO file, " +
                           std::to_string(m_rows.rows.size() - 1) +
                           ", which are left out as in ASTRA-sim",
                       m_words.GetWhere());
    }
    const std::string more = m_words.Next();
    if (!more.empty())
    {
        m_problems.Add("more words than the header says, which are left out", m_words.GetWhere());
    }
    if (m_rows.lastBottom >= m_count)
    {
        throw ConfigurationError(m_request.path + ": last bottom layer " +
                                 std::to_string(m_rows.lastBottom) + " (allowed: below " +
                                 std::to_string(m_count) + ", the layers)");
    }
    for (const auto* list : {&m_rows.checkpoints, &m_rows.initiates})
    {
        for (uint32_t layer : *list)
        {
            if (layer >= m_count)
            {
                throw ConfigurationError(m_request.path + ": checkpoint at layer " +
                                         std::to_string(layer) + " (allowed: below " +
                                         std::to_string(m_count) + ", the layers)");
            }
        }
    }
    CheckTimes();
    FormatResult result;
    result.problems = m_problems.GetLines();
    result.format = m_isAicb ? "aicb" : "astra";
    result.isUniform = true;
    result.gathersParts = GathersParts();
    result.graph = std::make_unique<LayerRowsGraph>(std::move(m_rows));
    return result;
}

/** Refuses times that cannot be those of an iteration. */
void
LayerFile::CheckTimes()
{
    double seconds = 0;
    for (const LayerRow& row : m_rows.rows)
    {
        seconds += ROW_PASSES * row.update.GetSeconds();
        for (const RowWork& work : row.works)
        {
            seconds += work.compute.GetSeconds();
        }
    }
    constexpr double MINUTE = 60;
    if (seconds > MAX_FILE_TIME)
    {
        throw ConfigurationError(m_request.path + ": an iteration of " +
                                 std::to_string(std::llround(seconds / 86400)) +
                                 " days (allowed: up to 30; times are nanoseconds)");
    }
    if (seconds > MINUTE)
    {
        m_problems.Add("an iteration of more than a minute, as the file says, whose times are "
                       "nanoseconds",
                       m_request.path);
    }
}

} // namespace ns3::training
