/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-file.h"
#include "formats/file-time.h"
#include "formats/kineto-collective.h"
#include "formats/kineto-streams.h"
#include "formats/kineto-trace.h"
#include "formats/listed-graph.h"
#include "formats/workload-format.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-packed-file.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/// Largest number of ranks of a job.
constexpr uint32_t MAX_KINETO_RANKS = 1U << 20;

/// What stands for the number of a rank in a path.
constexpr const char* RANK = "{rank}";

/** @return the path of a rank, whose number may be in it */
std::string
MakeRankPath(std::string path, uint32_t rank)
{
    const std::size_t at = path.find(RANK);
    return at == std::string::npos
               ? path
               : path.replace(at, std::string(RANK).size(), std::to_string(rank));
}

/** The traces of a job: of all ranks, or one that all ranks repeat. */
class KinetoJob
{
  public:
    explicit KinetoJob(const FormatRequest& request)
        : m_request(request),
          m_isRepeated(request.path.find(RANK) == std::string::npos)
    {
    }

    FormatResult Read();

  private:
    std::string GetPath(uint32_t rank) const;
    KinetoTrace ReadTrace(uint32_t rank) const;
    uint32_t CountRanks(const KinetoTrace& first) const;
    void AddTrace(uint32_t rank, const KinetoTrace& trace);
    std::map<int64_t, uint16_t> NumberStreams(const KinetoTrace& trace) const;
    std::optional<GraphTask> MakeTask(const KinetoEvent& event, const std::string& where);
    std::string FindProblem(const KinetoEvent& event) const;
    std::vector<uint32_t> ReadGroup(const KinetoEvent& event, const std::string& where);
    uint32_t AddGroup(const KinetoEvent& event, const std::string& where);

    const FormatRequest& m_request;
    bool m_isRepeated;
    uint32_t m_ranks{0};
    std::unique_ptr<ListedGraph> m_graph;
    std::map<std::string, uint32_t> m_groups; // by the text of their ranks
    FormatProblems m_problems;
};

std::string
KinetoJob::GetPath(uint32_t rank) const
{
    return MakeRankPath(m_request.path, rank);
}

KinetoTrace
KinetoJob::ReadTrace(uint32_t rank) const
{
    const std::string path = GetPath(rank);
    const auto text = ReadPackedFile(path);
    if (!text)
    {
        throw ConfigurationError(path + ": cannot be read (allowed: a trace of Kineto, or those of "
                                        "all ranks as in trace-{rank}.json)");
    }
    return ReadKinetoTrace(path, *text);
}

uint32_t
KinetoJob::CountRanks(const KinetoTrace& first) const
{
    uint32_t ranks = m_request.ranks;
    if (!m_isRepeated)
    {
        const std::size_t at = m_request.path.find(RANK);
        ranks = CountRankFiles(m_request.path.substr(0, at),
                               {m_request.path.substr(at + std::string(RANK).size())},
                               ranks,
                               MAX_KINETO_RANKS);
    }
    if (m_request.ranks == 0 && ranks > 0 && first.worldSize > 0 && first.worldSize != ranks)
    {
        throw ConfigurationError(GetPath(0) + ": world_size " + std::to_string(first.worldSize) +
                                 " with traces of " + std::to_string(ranks) +
                                 " ranks (allowed: traces of all ranks)");
    }
    int64_t largest = std::max<int64_t>(1, first.worldSize);
    for (const KinetoEvent& event : first.events)
    {
        largest = std::max(largest, first.worldSize > 0 ? 0 : event.groupSize);
    }
    if (ranks == 0 && largest > MAX_KINETO_RANKS)
    {
        throw ConfigurationError(GetPath(0) + ": " + std::to_string(largest) +
                                 " ranks (allowed: up to " + std::to_string(MAX_KINETO_RANKS) +
                                 ")");
    }
    return ranks > 0 ? ranks : static_cast<uint32_t>(largest);
}

/** @return the stream of each CUDA stream: that with most computation is the compute stream */
std::map<int64_t, uint16_t>
KinetoJob::NumberStreams(const KinetoTrace& trace) const
{
    std::map<int64_t, double> lengths; // which cannot wrap
    for (const KinetoEvent& event : trace.events)
    {
        lengths[event.stream] += event.collective.empty() ? static_cast<double>(event.length) : 0;
    }
    if (lengths.size() >= NO_STREAM)
    {
        throw ConfigurationError(m_request.path + ": " + std::to_string(lengths.size()) +
                                 " streams (allowed: up to 65534)");
    }
    const auto most =
        std::max_element(lengths.begin(), lengths.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
        });
    std::map<int64_t, uint16_t> numbers;
    uint16_t next = COMPUTE_STREAM + 1;
    for (const auto& [stream, length] : lengths)
    {
        numbers[stream] = stream == most->first ? COMPUTE_STREAM : next++;
    }
    return numbers;
}

/** @return why a kernel of NCCL cannot be a collective; empty if it can */
std::string
KinetoJob::FindProblem(const KinetoEvent& event) const
{
    if (event.collective.empty())
    {
        return "no Collective name";
    }
    const auto collective = FindKinetoCollective(event.collective);
    if (!collective)
    {
        return "unknown collective '" + MakePrintableName(event.collective) + "'";
    }
    if (collective->operation == CollectiveOperation::BARRIER)
    {
        return "";
    }
    if (event.inElements < 0 && event.outElements < 0)
    {
        return "no In msg nelems";
    }
    if (!FindKinetoElementSize(event.type))
    {
        return "unknown dtype '" + MakePrintableName(event.type) + "'";
    }
    const int64_t peer = collective->kind == TaskKind::SEND ? event.target : event.source;
    if (collective->kind != TaskKind::COLLECTIVE && !m_isRepeated &&
        (peer < 0 || peer >= static_cast<int64_t>(m_ranks)))
    {
        return collective->kind == TaskKind::SEND ? "no Dst Rank of the job"
                                                  : "no Src Rank of the job";
    }
    return "";
}

/** @return the ranks of its group, as far as the trace has them */
std::vector<uint32_t>
KinetoJob::ReadGroup(const KinetoEvent& event, const std::string& where)
{
    const std::string& text = event.groupRanks;
    const bool isCut = text.find("...") != std::string::npos;
    const auto refuse = [&where](const std::string& what, const std::string& allowed) {
        throw ConfigurationError(where + ": Process Group Ranks has " + what +
                                 " (allowed: " + allowed + ")");
    };
    std::vector<uint32_t> ranks;
    for (std::size_t at = 0; (at = text.find_first_not_of("[], .", at)) != std::string::npos;)
    {
        const std::size_t end = std::min(text.find_first_of("[], .", at), text.size());
        const std::string digits = text.substr(at, end - at);
        if (digits.size() > 7 || digits.find_first_not_of("0123456789") != std::string::npos ||
            std::stoul(digits) >= m_ranks)
        {
            refuse("rank " + MakePrintableName(digits), "ranks below " + std::to_string(m_ranks));
        }
        ranks.push_back(static_cast<uint32_t>(std::stoul(digits)));
        at = end;
    }
    if (std::set<uint32_t>(ranks.begin(), ranks.end()).size() < ranks.size())
    {
        refuse("a rank twice", "each rank once");
    }
    if (ranks.empty() && !text.empty())
    {
        refuse("no rank", "at least one");
    }
    const auto size = static_cast<std::size_t>(
        event.groupSize > 0 ? event.groupSize : static_cast<int64_t>(ranks.size()));
    if (text.empty() && size == 0)
    {
        m_problems.Add("no Process Group Ranks, which are all ranks", where);
    }
    if ((text.empty() && size == 0) || (size == m_ranks && (text.empty() || isCut)))
    {
        ranks.resize(m_ranks);
        std::iota(ranks.begin(), ranks.end(), 0);
        return ranks;
    }
    if (isCut && ranks.size() < size && ranks.size() >= 2)
    {
        m_problems.Add("Process Group Ranks is cut, and goes on with the same distance", where);
        const uint64_t distance = uint64_t{ranks[1]} - ranks[0];
        while (ranks.size() < size && ranks.back() + distance < m_ranks)
        {
            ranks.push_back(static_cast<uint32_t>(ranks.back() + distance));
        }
    }
    if (ranks.size() != size)
    {
        refuse(std::to_string(ranks.size()) + " ranks", "its Group size " + std::to_string(size));
    }
    return ranks;
}

uint32_t
KinetoJob::AddGroup(const KinetoEvent& event, const std::string& where)
{
    const std::string key = std::to_string(event.groupSize) + " " + event.groupRanks;
    const auto known = m_groups.find(key);
    if (known != m_groups.end())
    {
        return known->second;
    }
    const auto ranks = ReadGroup(event, where);
    if (!m_isRepeated || ranks.size() == m_ranks)
    {
        const uint32_t index = m_graph->AddGroup(ranks, Parallelism::NONE);
        m_groups.emplace(key, index);
        return index;
    }
    // All ranks do the same: the group is one of those that repeat it.
    const uint32_t size = static_cast<uint32_t>(ranks.size());
    const uint32_t distance = size > 1 ? ranks[1] - ranks[0] : 1;
    const uint64_t block = uint64_t{size} * distance;
    bool isRegular =
        distance < m_ranks && block > 0 && m_ranks % block == 0 && ranks[0] % block < distance;
    for (uint32_t i = 0; i < size; i++)
    {
        isRegular = isRegular && ranks[i] == ranks[0] + i * distance;
    }
    if (!isRegular)
    {
        throw ConfigurationError(where + ": group '" + MakePrintableName(event.groupRanks) +
                                 "' (allowed: ranks of equal distance, which all " +
                                 std::to_string(m_ranks) +
                                 " ranks repeat; or traces of all ranks, trace-{rank}.json)");
    }
    TaskGroups groups;
    for (uint32_t first = 0; first < m_ranks; first += static_cast<uint32_t>(block))
    {
        for (uint32_t offset = 0; offset < distance; offset++)
        {
            std::vector<uint32_t> group;
            for (uint32_t i = 0; i < size; i++)
            {
                group.push_back(first + offset + i * distance);
            }
            groups.groups.push_back(group);
        }
    }
    const uint32_t index = m_graph->AddGroups(groups);
    m_groups.emplace(key, index);
    return index;
}

/** @return the task of an event; none if it is left out */
std::optional<GraphTask>
KinetoJob::MakeTask(const KinetoEvent& event, const std::string& where)
{
    GraphTask task;
    task.name = m_graph->AddName(event.name);
    task.place = static_cast<uint64_t>(event.start);
    const bool communicates = !event.collective.empty() || event.name.compare(0, 4, "nccl") == 0;
    const std::string problem = communicates ? FindProblem(event) : "";
    if (!problem.empty() && !m_request.lenient)
    {
        throw ConfigurationError(where + ": " + problem +
                                 " (allowed: kernels of NCCL with all that PyTorch 2.3 and newer "
                                 "report, or --lenient)");
    }
    if (!communicates || !problem.empty())
    {
        if (communicates)
        {
            m_problems.Add(problem + ", so the kernel is a computation of its duration", where);
        }
        task.length = MakeFileTime(event.length, where);
        return task;
    }
    const auto collective = *FindKinetoCollective(event.collective);
    const auto elements =
        static_cast<uint64_t>(std::max<int64_t>({0, event.inElements, event.outElements}));
    const uint64_t bytes =
        collective.operation == CollectiveOperation::BARRIER
            ? 0
            : MultiplySize(elements, FindKinetoElementSize(event.type).value_or(1), where);
    task.kind = collective.kind;
    task.operation = collective.operation;
    task.bytes = bytes;
    if (task.kind == TaskKind::COLLECTIVE)
    {
        task.groups = AddGroup(event, where);
        if (event.hasUnevenSplits)
        {
            task.isUneven = true;
            m_problems.Add("an all-to-all of unequal parts, which are taken as equal", where);
        }
        return task;
    }
    if (m_isRepeated)
    {
        m_problems.Add("a message to or from another rank, which is left out, as there is the "
                       "trace of one rank",
                       where);
        return std::nullopt;
    }
    task.peer = static_cast<uint32_t>(task.kind == TaskKind::SEND ? event.target : event.source);
    return task;
}

void
KinetoJob::AddTrace(uint32_t rank, const KinetoTrace& trace)
{
    const std::string path = GetPath(rank);
    if (trace.events.empty())
    {
        return;
    }
    const auto numbers = NumberStreams(trace);
    const uint32_t idle = m_graph->AddName(IDLE_TASK);
    KinetoStreams streams(trace);
    for (const KinetoEvent& event : trace.events)
    {
        const std::string where =
            path + ": kernel '" + event.name + "' at " + std::to_string(event.start) + " ns";
        auto task = MakeTask(event, where);
        if (!task)
        {
            continue;
        }
        if (streams.GetEnd(event.stream) > event.start)
        {
            m_problems.Add("kernels of a stream overlap; they run one after the other", where);
        }
        const int64_t ready = streams.Await(event, task->after);
        if (ready > std::max(event.start, streams.GetEnd(event.stream)))
        {
            m_problems.Add("a kernel begins before an event that its stream waits for; it waits",
                           where);
        }
        task->stream = numbers.at(event.stream);
        if (event.start > ready)
        {
            GraphTask gap; // no computation
            gap.kind = TaskKind::MEMORY;
            gap.name = idle;
            gap.stream = task->stream;
            gap.length = MakeFileTime(event.start - ready, where + ", behind a gap");
            if (gap.length > Minutes(1))
            {
                m_problems.Add("a gap of more than a minute before a kernel",
                               where + ", " + std::to_string((event.start - ready) / 1000000000) +
                                   " s after what it waits for");
            }
            gap.after = std::exchange(task->after, {});
            m_graph->Add(rank, gap);
        }
        MakeFileTime(event.length, where); // the sum is below 2^63 ns
        const int64_t end = std::max(event.start, ready) + event.length;
        streams.Add(event, end, m_graph->Add(rank, *task));
    }
}

FormatResult
KinetoJob::Read()
{
    KinetoTrace trace = ReadTrace(0);
    m_problems.SetFile(InputManifest::Get(m_request.path));
    m_ranks = CountRanks(trace);
    m_graph = std::make_unique<ListedGraph>(m_request.path, m_ranks);
    m_graph->SetPlaces([path = m_request.path](uint32_t rank, const GraphTask& task) {
        const std::string kernel =
            task.id == 0 ? "" : ": kernel at " + std::to_string(task.place) + " ns";
        return MakeRankPath(path, rank) + kernel;
    });
    if (trace.events.empty())
    {
        throw ConfigurationError(GetPath(0) +
                                 ": no kernels (allowed: traces with the activities of the GPU)");
    }
    for (uint32_t rank = 0; rank < (m_isRepeated ? 1 : m_ranks); rank++)
    {
        AddTrace(rank, rank == 0 ? trace : ReadTrace(rank));
    }
    FormatResult result;
    if (m_isRepeated)
    {
        m_graph->RepeatFirst();
        result.isUniform = true;
        if (m_ranks > 1)
        {
            m_problems.Add("the trace of one rank, which all " + std::to_string(m_ranks) +
                               " ranks repeat",
                           m_request.path);
        }
    }
    result.graph = std::move(m_graph);
    result.problems = m_problems.GetLines();
    return result;
}

bool
RecognizeKineto(const std::string& /* path */, const std::string& begin)
{
    const auto first = begin.find_first_not_of(" \t\r\n");
    const auto has = [&begin](const char* text) { return begin.find(text) != std::string::npos; };
    return first != std::string::npos && (begin[first] == '{' || begin[first] == '[') &&
           (has("\"traceEvents\"") || has("\"deviceProperties\"") || has("\"ph\""));
}

FormatResult
ReadKineto(const FormatRequest& request, const KeyValues& /* values */)
{
    return KinetoJob(request).Read();
}

const Registry<WorkloadFormatEntry>::Entry g_kineto(
    "kineto",
    {"traces of PyTorch's profiler (Kineto), of one rank, or of all as trace-{rank}.json",
     &RecognizeKineto,
     &ReadKineto,
     {},
     FirstValue{"PATH", "the trace, or with {rank} those of all ranks", true, true, {}}});

} // namespace

} // namespace ns3::training
