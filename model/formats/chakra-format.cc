/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/chakra-groups.h"
#include "formats/chakra-order.h"
#include "formats/chakra-trace.h"
#include "formats/file-time.h"
#include "formats/task-sorter.h"
#include "formats/workload-format.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-packed-file.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/// Largest duration of a node, us: a day.
constexpr uint64_t MAX_MICROS = 86400ULL * 1000000;

/// Largest number of ranks of a trace.
constexpr uint32_t MAX_CHAKRA_RANKS = 1U << 20;

/** The traces of a job: a file for each rank. */
class ChakraJob
{
  public:
    ChakraJob(const FormatRequest& request, const KeyValues& values);

    FormatResult Read();

  private:
    static std::string GetPrefix(const std::string& path);

    std::string GetPath(uint32_t rank) const;
    uint32_t CountRanks() const;
    void ReadRank(uint32_t rank);
    GraphTask MakeTask(const ChakraNode& node, uint32_t rank, const std::string& where);
    void MakeCollective(const ChakraNode& node,
                        uint32_t rank,
                        const std::string& where,
                        GraphTask& task);
    uint32_t AddDimensions(const std::vector<uint32_t>& dimensions);
    std::vector<uint32_t> MakeDimensionGroup(const std::vector<uint32_t>& dimensions,
                                             uint32_t rank) const;
    Time GetLength(const ChakraNode& node, const std::string& where);
    uint16_t GetStream(const ChakraNode& node, TaskKind kind);
    uint64_t Get(const ChakraNode& node,
                 ChakraNumber attribute,
                 uint64_t most,
                 const std::string& where) const;

    const FormatRequest& m_request;
    const KeyValues& m_values;
    std::string m_prefix;
    uint32_t m_ranks;
    std::unique_ptr<ListedGraph> m_graph;
    InputManifest::File& m_file; // of all traces
    FormatProblems m_problems;
    ChakraGroups m_groups;
    std::map<std::vector<uint32_t>, uint32_t> m_byDimensions; // index of groups
    std::map<std::pair<bool, int64_t>, uint16_t> m_streams; // of the rank, by CPU or GPU and number
};

ChakraJob::ChakraJob(const FormatRequest& request, const KeyValues& values)
    : m_request(request),
      m_values(values),
      m_prefix(GetPrefix(request.path)),
      m_ranks(CountRanks()),
      m_file(InputManifest::Begin(m_prefix)),
      m_groups(m_ranks, request.lenient, m_problems)
{
    m_problems.SetFile(m_file);
    m_graph = std::make_unique<ListedGraph>(m_prefix, m_ranks);
    m_graph->SetPlaces([prefix = m_prefix](uint32_t rank, const GraphTask& task) {
        const std::string node = task.id == 0 ? "" : ": node " + std::to_string(task.place);
        return prefix + "." + std::to_string(rank) + ".et" + node;
    });
}

std::string
ChakraJob::GetPrefix(const std::string& path)
{
    static const std::regex OF_RANK(R"((.*)\.[0-9]+\.et(\.gz)?)");
    std::smatch match;
    return std::regex_match(path, match, OF_RANK) ? match[1].str() : path;
}

/** @return the trace of a rank: compressed, if there is no other one */
std::string
ChakraJob::GetPath(uint32_t rank) const
{
    std::string path = m_prefix + "." + std::to_string(rank) + ".et";
    const bool isPacked =
        ReadPackedBegin(path, 1).empty() && !ReadPackedBegin(path + ".gz", 1).empty();
    return isPacked ? path + ".gz" : path;
}

uint32_t
ChakraJob::CountRanks() const
{
    const uint32_t ranks =
        CountRankFiles(m_prefix + ".", {".et", ".et.gz"}, m_request.ranks, MAX_CHAKRA_RANKS);
    if (ranks == 0)
    {
        throw ConfigurationError(GetPath(0) + ": cannot be read (allowed: a prefix of the traces "
                                              "of all ranks, or one of these traces)");
    }
    return ranks;
}

uint64_t
ChakraJob::Get(const ChakraNode& node,
               ChakraNumber attribute,
               uint64_t most,
               const std::string& where) const
{
    const auto value = node.Find(attribute);
    if (!value)
    {
        throw ConfigurationError(where + ": no " + GetName(attribute) +
                                 " (allowed: nodes that have it, or --lenient)");
    }
    if (*value < 0 || static_cast<uint64_t>(*value) > most)
    {
        throw ConfigurationError(where + ": " + GetName(attribute) + " " + std::to_string(*value) +
                                 " (allowed: 0 to " + std::to_string(most) + ")");
    }
    return static_cast<uint64_t>(*value);
}

Time
ChakraJob::GetLength(const ChakraNode& node, const std::string& where)
{
    const double peak = m_values.GetNumber("peak");
    const double memory = m_values.GetNumber("memory");
    const auto operations = node.Find(ChakraNumber::OPERATIONS);
    const auto bytes = node.Find(ChakraNumber::MEMORY);
    if (peak > 0 && memory > 0 && operations && bytes && *bytes > 0)
    {
        const auto work = static_cast<double>(*operations);
        const double rate = std::min(memory * work / static_cast<double>(*bytes), peak);
        const double seconds = work > 0 ? work / rate : 0;
        if (!(seconds >= 0 && seconds <= MAX_FILE_TIME) || *operations < 0)
        {
            throw ConfigurationError(where + ": " + std::to_string(*operations) +
                                     " operations last " + FormatDouble(seconds) +
                                     " s (allowed: 0 to 30 days)");
        }
        return PicoSeconds(std::llround(seconds * 1e12));
    }
    if (operations && *operations > 0 && node.durationMicros == 0)
    {
        m_problems.Add("operations without a duration, which take no time; peak= and memory= give "
                       "them one",
                       where);
    }
    const bool isNano = m_values.GetText("unit") == "ns";
    if (node.durationMicros > MAX_MICROS * (isNano ? 1000 : 1))
    {
        throw ConfigurationError(where + ": lasts " + std::to_string(node.durationMicros) +
                                 (isNano ? " ns" : " us") +
                                 " (allowed: up to a day; unit=ns if these are nanoseconds)");
    }
    const auto duration = static_cast<int64_t>(node.durationMicros);
    const Time length = isNano ? NanoSeconds(duration) : MicroSeconds(duration);
    if (length > Seconds(60))
    {
        m_problems.Add("lasts longer than a minute, as the trace says; unit=ns if its times are "
                       "nanoseconds",
                       where);
    }
    return length;
}

/** Streams of the trace, if it has them: those of the CPU and of the GPU apart. */
uint16_t
ChakraJob::GetStream(const ChakraNode& node, TaskKind kind)
{
    const bool isCpu = node.Find(ChakraNumber::IS_CPU).value_or(0) != 0;
    const bool isSerial = m_values.GetText("streams") == "astra";
    const auto stream = node.Find(ChakraNumber::STREAM);
    constexpr uint16_t CPU_STREAM = HOST_STREAMS;
    constexpr uint16_t COMMUNICATION_STREAM = 2;
    constexpr uint16_t FIRST_STREAM = 3;
    if (kind == TaskKind::COMPUTE && (isSerial || !stream))
    {
        return isCpu ? CPU_STREAM : COMPUTE_STREAM;
    }
    if (isSerial)
    {
        return kind == TaskKind::RECEIVE ? NO_STREAM : COMMUNICATION_STREAM;
    }
    if (!stream)
    {
        return NO_STREAM;
    }
    const auto number =
        static_cast<uint16_t>((isCpu ? HOST_STREAMS : 0) + FIRST_STREAM + m_streams.size());
    return m_streams.emplace(std::make_pair(isCpu, *stream), number).first->second;
}

/** @return ranks that differ from a rank in the dimensions only that have more than 1 */
std::vector<uint32_t>
ChakraJob::MakeDimensionGroup(const std::vector<uint32_t>& dimensions, uint32_t rank) const
{
    std::vector<uint32_t> group{0};
    uint32_t stride = 1;
    uint32_t fixed = 0; // the rank's place in the other dimensions
    for (std::size_t i = 0; i < dimensions.size(); i++)
    {
        const uint32_t size = m_request.dimensions[i];
        const auto line = group;
        for (uint32_t place = 1; place < dimensions[i]; place++)
        {
            for (uint32_t other : line)
            {
                group.push_back(other + place * stride);
            }
        }
        fixed += dimensions[i] == 1 ? rank / stride % size * stride : 0;
        stride *= size;
    }
    for (uint32_t& member : group)
    {
        member += fixed;
    }
    return group;
}

/** @return index of the groups of all ranks in some dimensions */
uint32_t
ChakraJob::AddDimensions(const std::vector<uint32_t>& dimensions)
{
    const auto [known, isNew] = m_byDimensions.emplace(dimensions, 0);
    if (isNew)
    {
        TaskGroups groups;
        groups.dimensions = dimensions;
        for (uint32_t rank = 0; rank < m_ranks; rank++)
        {
            auto group = MakeDimensionGroup(dimensions, rank);
            if (group.front() == rank)
            {
                groups.groups.push_back(std::move(group));
            }
        }
        known->second = m_graph->AddGroups(groups);
    }
    return known->second;
}

void
ChakraJob::MakeCollective(const ChakraNode& node,
                          uint32_t rank,
                          const std::string& where,
                          GraphTask& task)
{
    constexpr uint64_t MAX_BYTES = uint64_t{1} << 50;
    const auto type =
        static_cast<ChakraCollective>(Get(node,
                                          ChakraNumber::COLLECTIVE,
                                          static_cast<uint64_t>(ChakraCollective::BARRIER),
                                          where));
    const auto dimensions = m_groups.GetDimensions(node, m_request.dimensions, where);
    const auto ranks =
        dimensions.empty() ? m_groups.Get(node, where) : MakeDimensionGroup(dimensions, rank);
    const auto place = std::find(ranks.begin(), ranks.end(), rank);
    if (place == ranks.end())
    {
        throw ConfigurationError(where + ": rank " + std::to_string(rank) +
                                 " is not in the group (allowed: its ranks)");
    }
    task.kind = TaskKind::COLLECTIVE;
    task.groups = dimensions.empty() ? m_graph->AddGroup(ranks, Parallelism::NONE)
                                     : AddDimensions(dimensions);
    task.priority = static_cast<int32_t>(node.Find(ChakraNumber::PRIORITY).value_or(0));
    task.bytes =
        type == ChakraCollective::BARRIER ? 0 : Get(node, ChakraNumber::BYTES, MAX_BYTES, where);
    const int64_t root = node.Find(ChakraNumber::ROOT).value_or(0);
    const std::size_t count = ranks.size();
    const auto checkRoot = [&] {
        const bool isMember = root >= 0 && root < static_cast<int64_t>(count);
        if (!isMember && m_request.lenient)
        {
            m_problems.Add("a root that is not in the group, which is its first rank", where);
        }
        else if (!isMember)
        {
            throw ConfigurationError(where + ": root " + std::to_string(root) +
                                     " (allowed: its place in the group, below " +
                                     std::to_string(count) + ", or --lenient)");
        }
        task.peer = isMember ? static_cast<uint32_t>(root) : 0;
    };
    switch (type)
    {
    case ChakraCollective::ALL_REDUCE:
        task.operation = CollectiveOperation::ALL_REDUCE;
        return;
    case ChakraCollective::REDUCE:
        checkRoot();
        task.operation = CollectiveOperation::REDUCE;
        return;
    case ChakraCollective::ALL_GATHER:
        task.operation = CollectiveOperation::ALL_GATHER;
        if (m_values.GetText("gather-size") == "part")
        {
            task.bytes = MultiplySize(task.bytes, count, where);
        }
        return;
    case ChakraCollective::BROADCAST:
        checkRoot();
        task.operation = CollectiveOperation::BROADCAST;
        return;
    case ChakraCollective::ALL_TO_ALL:
        task.operation = CollectiveOperation::ALL_TO_ALL;
        return;
    case ChakraCollective::REDUCE_SCATTER:
    case ChakraCollective::REDUCE_SCATTER_BLOCK:
        task.operation = CollectiveOperation::REDUCE_SCATTER;
        return;
    case ChakraCollective::BARRIER:
        task.operation = CollectiveOperation::BARRIER;
        return;
    case ChakraCollective::GATHER:
    case ChakraCollective::SCATTER: {
        checkRoot();
        // Every rank sends its part to the root, or gets it from there.
        auto matrix = std::make_shared<std::vector<uint64_t>>(count * count);
        for (std::size_t other = 0; other < count; other++)
        {
            const bool gathers = type == ChakraCollective::GATHER;
            (*matrix)[gathers ? other * count + task.peer : task.peer * count + other] = task.bytes;
        }
        const bool isRoot = static_cast<std::size_t>(place - ranks.begin()) == task.peer;
        task.operation = CollectiveOperation::ALL_TO_ALL_V;
        task.bytes *= type == ChakraCollective::SCATTER && isRoot ? count
                      : type == ChakraCollective::GATHER          ? 1
                                                                  : 0;
        task.matrix = matrix;
        return;
    }
    }
}

GraphTask
ChakraJob::MakeTask(const ChakraNode& node, uint32_t rank, const std::string& where)
{
    GraphTask task;
    task.name = m_graph->AddName(node.name);
    task.place = node.id;
    task.stream = NO_STREAM;
    constexpr uint64_t MAX_BYTES = uint64_t{1} << 50;
    const auto missing = FindMissingNumber(node);
    if (m_request.lenient && missing)
    {
        m_problems.Add(std::string("no ") + GetName(*missing) +
                           ", so it is a local computation of its duration",
                       where);
        task.length = GetLength(node, where);
        task.stream = GetStream(node, task.kind);
        return task;
    }
    switch (node.type)
    {
    case ChakraType::INVALID:
        if (node.writtenType != 0 && !m_request.lenient)
        {
            throw ConfigurationError(where + ": type " + std::to_string(node.writtenType) +
                                     " (allowed: those of Chakra's schema, or --lenient)");
        }
        if (node.writtenType != 0)
        {
            m_problems.Add("an unknown type of node, which takes no time", where);
        }
        return task;
    case ChakraType::METADATA:
        return task; // takes no time
    case ChakraType::STORAGE:
    case ChakraType::BATCH:
    case ChakraType::CHECKPOINT:
        m_problems.Add("a node of storage, which is a local delay", where);
        [[fallthrough]];
    case ChakraType::MEMORY_LOAD:
    case ChakraType::MEMORY_STORE:
        task.kind = TaskKind::MEMORY;
        task.length = GetLength(node, where);
        return task;
    case ChakraType::COMPUTE:
        task.length = GetLength(node, where);
        task.stream = GetStream(node, task.kind);
        return task;
    case ChakraType::SEND:
    case ChakraType::RECEIVE: {
        const bool sends = node.type == ChakraType::SEND;
        task.kind = sends ? TaskKind::SEND : TaskKind::RECEIVE;
        task.bytes = Get(node, ChakraNumber::BYTES, MAX_BYTES, where);
        task.peer = static_cast<uint32_t>(
            Get(node, sends ? ChakraNumber::TARGET : ChakraNumber::SOURCE, m_ranks - 1, where));
        task.tag = static_cast<uint64_t>(node.Find(ChakraNumber::TAG).value_or(0));
        task.stream = GetStream(node, task.kind);
        return task;
    }
    case ChakraType::COLLECTIVE:
        if (node.Find(ChakraNumber::IS_CPU).value_or(0) != 0)
        {
            m_problems.Add("a collective of the CPU, which is a local computation", where);
            task.length = GetLength(node, where);
            task.stream = GetStream(node, task.kind);
            return task;
        }
        MakeCollective(node, rank, where, task);
        task.stream = GetStream(node, task.kind);
        return task;
    }
    return task;
}

void
ChakraJob::ReadRank(uint32_t rank)
{
    const std::string path = GetPath(rank);
    const auto bytes = ReadPackedFile(path);
    if (!bytes)
    {
        throw ConfigurationError(path + ": cannot be read (allowed: traces of all " +
                                 std::to_string(m_ranks) + " ranks)");
    }
    const auto nodes = ReadChakraTrace(path, *bytes, m_file);
    if (m_groups.IsEmpty())
    {
        m_groups.ReadNodes(nodes, path);
    }
    m_streams.clear();
    TaskSorter sorter;
    for (const ChakraNode& node : nodes)
    {
        const std::string where =
            path + ": node " + std::to_string(node.id) + " '" + node.name + "'";
        sorter.Add(MakeTask(node, rank, where));
    }
    OrderChakraNodes(nodes, m_values, m_request.lenient, path, sorter, m_problems);
    sorter.MoveTo(*m_graph, rank);
}

FormatResult
ChakraJob::Read()
{
    // STAGE writes the groups beside the traces.
    const std::string beside = m_prefix + ".json";
    if (m_values.Has("groups"))
    {
        m_groups.ReadFile(m_values.GetText("groups"));
    }
    else if (!ReadPackedBegin(beside, 1).empty())
    {
        m_groups.ReadFile(beside);
    }
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        ReadRank(rank);
    }
    FormatResult result;
    result.graph = std::move(m_graph);
    result.problems = m_problems.GetLines();
    result.gathersParts = m_values.GetText("gather-size") == "part";
    return result;
}

bool
RecognizeChakra(const std::string& path, const std::string& begin)
{
    static const std::regex TRACE(R"(.*\.et(\.gz)?)");
    return std::regex_match(path, TRACE) && IsChakraTrace(begin);
}

FormatResult
ReadChakra(const FormatRequest& request, const KeyValues& values)
{
    return ChakraJob(request, values).Read();
}

const Registry<WorkloadFormatEntry>::Entry g_chakra(
    "chakra",
    {"execution traces of MLCommons Chakra, PREFIX.RANK.et",
     &RecognizeChakra,
     &ReadChakra,
     {Key::Word("dependencies",
                "auto",
                {"auto", "all", "data"},
                "dependencies that count; auto: all, or data if those of control are broken"),
      Key::Word("missing-parent",
                "ignore",
                {"ignore", "error"},
                "nodes that wait for one that the trace does not have"),
      Key::Word("streams",
                "trace",
                {"trace", "astra"},
                "astra: one computation and one communication at a time, as ASTRA-sim does"),
      Key::Word("gather-size",
                "part",
                {"part", "whole"},
                "what the size of an all-gather counts: the part of a rank, or the result"),
      Key::Word("unit", "us", {"us", "ns"}, "of durations; the schema says us"),
      Key::Of("groups", Key::Type::TEXT, "", "JSON file of groups: lists of ranks by name"),
      Key::Number("peak", 0, 0, 1e18, "roofline: operations/s; 0: durations of the trace"),
      Key::Number("memory", 0, 0, 1e18, "roofline: bandwidth of memory, byte/s")},
     FirstValue{"PREFIX", "of the traces, or the path of one", false, true, {}}});

} // namespace

} // namespace ns3::training
