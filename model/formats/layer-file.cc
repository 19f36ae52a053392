/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layer-rows.h"
#include "listed-graph.h"
#include "workload-format.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-input-file.h"
#include "ns3/training-packed-file.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

using Order = LayerRows::Order;

/// Longest time and largest size in a file; sums of them stay below 2^63.
constexpr int64_t MAX_NANOSECONDS = int64_t{1} << 45;
constexpr uint64_t MAX_BYTES = uint64_t{1} << 45;

/// Maximum number of ranks that a header may name.
constexpr uint64_t MAX_RANKS = 1U << 20;

/** Ranks that take part in the collectives of a pass, before the groups are known. */
enum class Scope : uint8_t
{
    NONE,
    ALL,
    INNER, // ranks of one group: the first dimension, or those that share a model
    OUTER  // ranks with the same place in the groups
};

/** What a policy says about a file. */
struct Policy
{
    Order order;
    Scope activations; // of forward passes and of gradients of inputs
    Scope weights;
    bool awaitsEmbedding{true};
};

/** @return the policies by their words */
const std::map<std::string, Policy>&
GetPolicies()
{
    static const std::map<std::string, Policy> policies{
        {"MICRO", {Order::MICRO, Scope::NONE, Scope::ALL}},
        {"DATA", {Order::DATA, Scope::NONE, Scope::ALL}},
        {"MODEL", {Order::MODEL, Scope::ALL, Scope::NONE}},
        {"HYBRID_DATA_MODEL", {Order::MODEL, Scope::INNER, Scope::OUTER}},
        {"HYBRID_MODEL_DATA", {Order::MODEL, Scope::OUTER, Scope::INNER}},
        {"HYBRID_TRANSFORMER", {Order::TRANSFORMER, Scope::INNER, Scope::OUTER}},
        {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", {Order::TRANSFORMER, Scope::INNER, Scope::OUTER}},
        {"HYBRID_CUSTOMIZED", {Order::MODEL, Scope::NONE, Scope::NONE}},
        {"HYBRID_DLRM", {Order::EMBEDDING, Scope::NONE, Scope::ALL, true}},
        {"HYBRID_DLRM_ENHANCED", {Order::EMBEDDING, Scope::NONE, Scope::ALL, false}},
        {"DISTRIBUTED_INFERENCE", {Order::FORWARD, Scope::ALL, Scope::NONE}},
    };
    return policies;
}

/** @return the policies, for messages */
std::string
GetPolicyNames()
{
    std::string names;
    for (const auto& [name, policy] : GetPolicies())
    {
        names += (names.empty() ? "" : ", ") + name;
    }
    return names;
}

/** Words of a text, with their lines. */
class WordReader
{
  public:
    WordReader(const std::string& path, const std::string& text)
        : m_path(path),
          m_text(&text)
    {
    }

    [[noreturn]] void Fail(const std::string& word, const std::string& allowed) const
    {
        throw ConfigurationError(GetWhere() + ": '" + MakePrintableName(word) +
                                 "' (allowed: " + allowed + ")");
    }

    std::string GetWhere() const
    {
        return m_path + ":" + std::to_string(m_line);
    }

    /** @return the next word; empty at the end */
    std::string Next()
    {
        const auto isBlank = [](char letter) {
            return std::isspace(static_cast<unsigned char>(letter)) != 0;
        };
        while (m_next < m_text->size() && isBlank((*m_text)[m_next]))
        {
            m_line += (*m_text)[m_next++] == '\n' ? 1 : 0;
        }
        const std::size_t begin = m_next;
        while (m_next < m_text->size() && !isBlank((*m_text)[m_next]))
        {
            m_next++;
        }
        return m_text->substr(begin, m_next - begin);
    }

    /** @return the next word, a whole number */
    int64_t NextNumber(const std::string& what, int64_t least, int64_t most)
    {
        const std::string word = Next();
        const std::string digits = word.substr(!word.empty() && word[0] == '-' ? 1 : 0);
        if (digits.empty() || digits.size() > 17 ||
            digits.find_first_not_of("0123456789") != std::string::npos ||
            std::stoll(word) < least || std::stoll(word) > most)
        {
            Fail(word,
                 what + ", a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most));
        }
        return std::stoll(word);
    }

  private:
    std::string m_path;
    const std::string* m_text;
    std::size_t m_next{0};
    uint32_t m_line{1};
};

/** Reads a layer file of ASTRA-sim 1.0, or of AICB for SimAI. */
class LayerFile
{
  public:
    LayerFile(const FormatRequest& request,
              const KeyValues& values,
              const std::string& text,
              bool isAicb)
        : m_request(request),
          m_values(values),
          m_words(request.path, text),
          m_isAicb(isAicb)
    {
    }

    FormatResult Read();

  private:
    void ReadHeader();
    void ReadSetting(const std::string& word);
    void ReadRow();
    bool GathersParts() const;
    bool HasSuffixes() const;
    void ReadCollective(LayerRow& row, RowPass pass, Scope scope);
    int32_t AddGroups(Scope scope, const std::string& suffix, Parallelism parallelism);
    TaskGroups MakeGroups(uint32_t size, uint32_t stride) const;
    void CheckSizes();
    void CheckTimes();

    const FormatRequest& m_request;
    const KeyValues& m_values;
    WordReader m_words;
    LayerRows m_rows;
    Policy m_policy{Order::DATA, Scope::NONE, Scope::ALL};
    bool m_isCustomized{false};
    bool m_isAicb{false};  // sizes of all-gathers count the result
    uint32_t m_count{0};   // rows
    uint32_t m_inner{1};   // ranks of an inner group
    uint32_t m_experts{1}; // AICB: ranks among which experts are divided
    uint32_t m_stages{1};  // AICB: stages of the pipeline
    std::map<std::tuple<Scope, std::string>, int32_t> m_groups;
    FormatProblems m_problems;
};

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
    }
    else if (word == "vpp:" || word == "ga:")
    {
        number(ignored); // micro-batches are rows already
    }
    else if (word == "pp_comm" || word == "pp_comm:")
    {
        m_words.NextNumber(word, 0, static_cast<int64_t>(MAX_BYTES));
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
    const auto policy = GetPolicies().find(name);
    if (policy == GetPolicies().end())
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
    const bool isNamed = m_rows.ranks > 1;
    if (m_request.ranks > 0)
    {
        if (isNamed && m_rows.ranks != m_request.ranks)
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
        m_inner = m_rows.ranks > 1 ? m_rows.ranks : 2; // one dimension
    }
    if (m_rows.ranks <= 1 && m_request.ranks == 0)
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

/**
 * @param size ranks of a group
 * @param stride between ranks of a group
 */
TaskGroups
LayerFile::MakeGroups(uint32_t size, uint32_t stride) const
{
    TaskGroups groups;
    const uint32_t block = size * stride;
    for (uint32_t first = 0; first < m_rows.ranks; first += block)
    {
        for (uint32_t offset = 0; offset < stride; offset++)
        {
            std::vector<uint32_t> ranks;
            for (uint32_t i = 0; i < size; i++)
            {
                ranks.push_back(first + offset + i * stride);
            }
            groups.groups.push_back(ranks);
        }
    }
    return groups;
}

/** @return index of the groups; -1 if each has one rank */
int32_t
LayerFile::AddGroups(Scope scope, const std::string& suffix, Parallelism parallelism)
{
    const auto key = std::make_tuple(scope, suffix);
    const auto known = m_groups.find(key);
    if (known != m_groups.end())
    {
        return known->second;
    }
    const uint32_t replicas = m_rows.ranks / m_inner / m_stages;
    uint32_t size = scope == Scope::INNER ? m_inner : replicas;
    uint32_t stride = scope == Scope::INNER ? 1 : m_inner;
    if (scope == Scope::ALL)
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
    if (scope != Scope::NONE && size > 1)
    {
        index = static_cast<int32_t>(m_rows.groups.size());
        m_rows.groups.push_back(MakeGroups(size, stride));
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
LayerFile::ReadCollective(LayerRow& row, RowPass pass, Scope scope)
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
    work.groups = AddGroups(isEmbedding ? Scope::ALL : scope,
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
    std::array<Scope, ROW_PASSES> scopes{m_policy.activations,
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
        const auto policy = GetPolicies().find(name);
        if (policy == GetPolicies().end() ||
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

/** @return whether a file begins with a policy */
bool
RecognizeLayers(const std::string& /* path */, const std::string& begin)
{
    const auto first = begin.find_first_not_of(" \t\r\n");
    const auto end = begin.find_first_of(" \t\r\n", first);
    return first != std::string::npos && end != std::string::npos &&
           GetPolicies().count(begin.substr(first, end - first)) > 0;
}

/** @return whether its header is one of AICB */
bool
RecognizeAicb(const std::string& path, const std::string& begin)
{
    const auto first = begin.find_first_not_of(" \t\r\n");
    const std::string line =
        first == std::string::npos ? "" : begin.substr(first, begin.find('\n', first) - first);
    return RecognizeLayers(path, begin) &&
           (line.find(" ep:") != std::string::npos || line.find(" pp:") != std::string::npos ||
            line.find(" all_gpus:") != std::string::npos);
}

FormatResult
ReadLayers(const FormatRequest& request, const KeyValues& values, bool isAicb)
{
    const auto text = ReadPackedFile(request.path);
    if (!text)
    {
        throw ConfigurationError(request.path +
                                 ": cannot be read (allowed: a layer file of ASTRA-sim 1.0)");
    }
    return LayerFile(request, values, *text, isAicb).Read();
}

FormatResult
ReadAstra(const FormatRequest& request, const KeyValues& values)
{
    return ReadLayers(request, values, false);
}

FormatResult
ReadAicb(const FormatRequest& request, const KeyValues& values)
{
    return ReadLayers(request, values, true);
}

/** @return the keys of both kinds of files */
std::vector<Key>
GetKeys()
{
    return {Key::OptionalCount("inner",
                               1,
                               MAX_RANKS,
                               "ranks of the first dimension, which share a model; default: the "
                               "file's, or all"),
            Key::Word("gather-size",
                      "auto",
                      {"auto", "part", "whole"},
                      "what the size of an all-gather counts: the part of a rank, as in ASTRA-sim, "
                      "or the result, as in files of AICB; auto: by the file"),
            Key::Word("transformer-ig",
                      "blocking",
                      {"blocking", "overlap"},
                      "whether collectives of the gradients of inputs end before those of weights "
                      "begin: as the ns-3 variant does, or as version 1.0")};
}

const Registry<WorkloadFormatEntry>::Entry g_astra(
    "astra",
    {"layer files of ASTRA-sim 1.0; those with a header of AICB are read as `aicb`",
     &RecognizeLayers,
     &ReadAstra,
     GetKeys(),
     FirstValue{"PATH", "the file", false, true, {}}});

const Registry<WorkloadFormatEntry>::Entry g_aicb(
    "aicb",
    {"layer files of AICB for SimAI",
     &RecognizeAicb,
     &ReadAicb,
     GetKeys(),
     FirstValue{"PATH", "the file", false, true, {}}});

} // namespace

} // namespace ns3::training
