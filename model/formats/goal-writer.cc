/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/goal-writer.h"

#include "ns3/chunk-layout.h"
#include "ns3/collective-algorithm.h"
#include "ns3/collective-schedule.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-output-file.h"
#include "ns3/training-registry.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/** An operation of GOAL. */
struct Operation
{
    uint8_t type{3};    // 1 send, 2 recv, 3 calc, as in the binary form
    uint32_t peer{0};   // other rank
    uint64_t amount{0}; // bytes, or ns
    uint32_t tag{0};    // of the message
    uint8_t cpu{0};     // that computes
};

/** The operations of a rank. */
struct RankOperations
{
    std::vector<Operation> all;
    std::vector<std::pair<uint32_t, uint32_t>> waits; // a later operation, and an earlier one
};

/** Translates the tasks of ranks. */
class GoalTranslator
{
  public:
    GoalTranslator(const std::string& path, const TaskGraph& graph, const std::string& algorithm)
        : m_path(path),
          m_graph(graph),
          m_algorithm(algorithm)
    {
    }

    RankOperations Translate(uint32_t rank, uint32_t iterations);

  private:
    /// Algorithm's schedule, by operation, ranks and root.
    using PlanKey = std::tuple<CollectiveOperation, uint32_t, uint32_t>;
    /// A message: whether it is of a collective; its groups and number, or 0; sender and receiver;
    /// step and message, or tag.
    using TagKey = std::tuple<bool, uint64_t, uint64_t, uint64_t>;

    void Add(const GraphTask& task);
    uint32_t AddOperation(const Operation& operation, const std::vector<uint32_t>& earlier);
    uint32_t AddCollective(const GraphTask& task, const std::vector<uint32_t>& earlier);
    const CollectiveSchedule& GetSchedule(const GraphTask& task, uint32_t ranks);
    uint32_t GetTag(const TagKey& key);
    uint8_t GetCpu(uint16_t stream);

    std::string m_path;
    const TaskGraph& m_graph;
    std::string m_algorithm;
    std::map<PlanKey, std::unique_ptr<CollectiveSchedule>> m_plans;
    std::map<TagKey, uint32_t> m_tags;
    uint64_t m_nextTag{0};

    // Of the rank:
    uint32_t m_rank{0};
    RankOperations m_operations;
    std::map<uint64_t, uint32_t> m_ends;         // by task, the operation that ends it
    std::map<uint16_t, uint32_t> m_lastOfStream; // its last operation
    std::map<uint16_t, uint8_t> m_cpus;          // by stream
    std::map<uint32_t, uint64_t> m_collectives;  // by groups, how many so far
};

uint32_t
GoalTranslator::AddOperation(const Operation& operation, const std::vector<uint32_t>& earlier)
{
    const auto index = static_cast<uint32_t>(m_operations.all.size());
    m_operations.all.push_back(operation);
    for (uint32_t before : earlier)
    {
        m_operations.waits.emplace_back(index, before);
    }
    return index;
}

uint8_t
GoalTranslator::GetCpu(uint16_t stream)
{
    const auto next = static_cast<uint8_t>(std::min<std::size_t>(m_cpus.size(), 255));
    const auto [cpu, isNew] = m_cpus.emplace(stream, next);
    if (cpu->second == 255)
    {
        throw ConfigurationError(m_path + ": rank " + std::to_string(m_rank) +
                                 " has more than 254 streams (allowed: 254, which GOAL can write)");
    }
    return cpu->second;
}

/** @return the first tag of a message or a collective, the same at all its ranks */
uint32_t
GoalTranslator::GetTag(const TagKey& key)
{
    const auto [tag, isNew] = m_tags.emplace(key, static_cast<uint32_t>(m_nextTag));
    if (isNew)
    {
        m_nextTag++;
        if (m_nextTag >= std::numeric_limits<uint32_t>::max())
        {
            throw ConfigurationError(m_path + ": more than 2^32 messages (allowed: as many as GOAL "
                                              "has tags)");
        }
    }
    return tag->second;
}

const CollectiveSchedule&
GoalTranslator::GetSchedule(const GraphTask& task, uint32_t ranks)
{
    auto& plan = m_plans[{task.operation, ranks, task.peer}];
    if (plan)
    {
        return *plan;
    }
    CollectiveRequest request;
    request.operation = task.operation;
    request.ranks = ranks;
    request.bytes = task.bytes;
    request.root = task.peer;
    request.segments = 1;
    std::vector<std::string> names{m_algorithm, "direct"};
    for (const auto& [name, entry] : Registry<CollectiveAlgorithm>::All())
    {
        if (!entry.searches && !entry.dependsOnSize)
        {
            names.push_back(name);
        }
    }
    std::string refusal;
    for (const std::string& name : names)
    {
        try
        {
            plan = std::make_unique<CollectiveSchedule>(BuildSchedule(name, request));
            return *plan;
        }
        catch (const ConfigurationError& error)
        {
            refusal = refusal.empty() ? error.what() : refusal;
        }
    }
    throw ConfigurationError(refusal);
}

/** Every action is an operation; the collective ends when all of them have. */
uint32_t
GoalTranslator::AddCollective(const GraphTask& task, const std::vector<uint32_t>& earlier)
{
    const auto group = m_graph.GetGroup(task.groups, m_rank);
    const auto own =
        static_cast<uint32_t>(std::find(group.begin(), group.end(), m_rank) - group.begin());
    const uint32_t begin = AddOperation({}, earlier);
    const uint64_t number = m_collectives[task.groups]++;
    if (group.size() < 2)
    {
        return begin;
    }
    const CollectiveSchedule& schedule = GetSchedule(task, static_cast<uint32_t>(group.size()));
    const ChunkLayout layout(schedule, task.bytes, task.matrix);
    const std::vector<uint32_t> first{begin};
    std::vector<uint32_t> places;
    for (uint32_t index = 0; index < schedule.GetActions(own); index++)
    {
        const ScheduleAction action = schedule.Get(own, index);
        Operation operation;
        const bool sends = action.kind == ScheduleAction::Kind::SEND;
        if (sends || action.IsReceive())
        {
            operation.type = sends ? 1 : 2;
            operation.peer = group[action.peer];
            operation.amount = layout.GetBytes(action);
            const uint64_t from = sends ? m_rank : operation.peer;
            const uint64_t to = sends ? operation.peer : m_rank;
            operation.tag = GetTag({true,
                                    uint64_t{task.groups} << 32 | number,
                                    from << 32 | to,
                                    uint64_t{action.step} << 32 | action.message});
        }
        std::vector<uint32_t> awaited;
        for (uint32_t before : schedule.GetDependencies(own, index))
        {
            awaited.push_back(places[before]);
        }
        places.push_back(AddOperation(operation, awaited.empty() ? first : awaited));
    }
    return AddOperation({}, places.empty() ? first : places);
}

void
GoalTranslator::Add(const GraphTask& task)
{
    std::vector<uint32_t> earlier;
    for (uint64_t id : task.after)
    {
        earlier.push_back(m_ends.at(id));
    }
    const auto last = m_lastOfStream.find(task.stream);
    if (task.stream != NO_STREAM && last != m_lastOfStream.end())
    {
        earlier.push_back(last->second);
    }
    Operation operation;
    uint32_t end = 0;
    switch (task.kind)
    {
    case TaskKind::COLLECTIVE:
        end = AddCollective(task, earlier);
        break;
    case TaskKind::SEND:
    case TaskKind::RECEIVE: {
        const bool sends = task.kind == TaskKind::SEND;
        operation.type = sends ? 1 : 2;
        operation.peer = task.peer;
        operation.amount = task.bytes;
        const uint64_t from = sends ? m_rank : task.peer;
        const uint64_t to = sends ? task.peer : m_rank;
        operation.tag = GetTag({false, 0, from << 32 | to, task.tag});
        end = AddOperation(operation, earlier);
        break;
    }
    case TaskKind::COMPUTE:
    case TaskKind::MEMORY:
    case TaskKind::MARK:
        operation.amount =
            static_cast<uint64_t>(std::max<int64_t>(0, task.length.GetNanoSeconds()));
        operation.cpu = GetCpu(task.stream);
        end = AddOperation(operation, earlier);
        break;
    }
    m_ends[task.id] = end;
    m_lastOfStream[task.stream] = end;
}

RankOperations
GoalTranslator::Translate(uint32_t rank, uint32_t iterations)
{
    m_rank = rank;
    m_operations = {};
    m_ends.clear();
    m_lastOfStream.clear();
    m_cpus = {{COMPUTE_STREAM, 0}};
    m_collectives.clear();
    const auto source = m_graph.MakeSource(rank, iterations);
    for (GraphTask task; source->Next(task); task = {})
    {
        Add(task);
    }
    auto& waits = m_operations.waits;
    std::sort(waits.begin(), waits.end());
    waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    return std::exchange(m_operations, {});
}

/** @return a rank as text */
std::string
FormatRank(uint32_t rank, const RankOperations& operations)
{
    std::string text = "rank " + std::to_string(rank) + " {\n";
    for (std::size_t i = 0; i < operations.all.size(); i++)
    {
        const Operation& operation = operations.all[i];
        text += "l" + std::to_string(i) + ": ";
        if (operation.type == 3)
        {
            text += "calc " + std::to_string(operation.amount);
        }
        else
        {
            text += (operation.type == 1 ? "send " : "recv ") + std::to_string(operation.amount) +
                    "b " + (operation.type == 1 ? "to " : "from ") +
                    std::to_string(operation.peer) + " tag " + std::to_string(operation.tag);
        }
        text += (operation.cpu > 0 ? " cpu " + std::to_string(operation.cpu) : "") + "\n";
    }
    for (const auto& [later, earlier] : operations.waits)
    {
        text += "l" + std::to_string(later) + " requires l" + std::to_string(earlier) + "\n";
    }
    return text + "}\n";
}

/** Appends a number, the lowest byte first. */
void
AppendNumber(std::string& bytes, uint64_t number, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
    {
        bytes += static_cast<char>(number >> (8 * i) & 0xff);
    }
}

/** @return a rank in the binary form */
std::string
PackRank(const RankOperations& operations)
{
    const auto& all = operations.all;
    std::vector<uint32_t> missing(all.size());
    std::vector<std::vector<uint32_t>> later(all.size());
    for (const auto& [after, earlier] : operations.waits)
    {
        missing[after]++;
        later[earlier].push_back(after);
    }
    std::string roots;
    std::string nodes;
    std::string lists;
    uint32_t index = 0;
    for (std::size_t i = 0; i < all.size(); i++)
    {
        const Operation& operation = all[i];
        if (missing[i] == 0)
        {
            AppendNumber(roots, i, 4);
        }
        AppendNumber(nodes, missing[i], 4);
        AppendNumber(nodes, operation.type, 1);
        AppendNumber(nodes, operation.peer, 4);
        AppendNumber(nodes, operation.amount, 8);
        AppendNumber(nodes, operation.tag, 4);
        AppendNumber(nodes, operation.cpu, 1);
        AppendNumber(nodes, 0, 1); // NIC
        AppendNumber(nodes, later[i].size(), 4);
        AppendNumber(nodes, index, 4);
        AppendNumber(nodes, 0, 8); // nobody waits for its start
        for (uint32_t after : later[i])
        {
            AppendNumber(lists, after, 4);
        }
        index += static_cast<uint32_t>(later[i].size());
    }
    std::string bytes;
    AppendNumber(bytes, all.size(), 4);
    AppendNumber(bytes, roots.size() / 4, 4);
    return bytes + roots + nodes + lists;
}

} // namespace

void
WriteGoal(const std::string& path,
          const TaskGraph& graph,
          uint32_t iterations,
          const std::string& algorithm)
{
    GoalTranslator translator(path, graph, algorithm);
    const std::string end = ".bin";
    const bool isBinary =
        path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
    OutputFile file(path);
    if (!isBinary)
    {
        file.Write("num_ranks " + std::to_string(graph.GetRanks()) + "\n");
        for (uint32_t rank = 0; rank < graph.GetRanks(); rank++)
        {
            file.Write(FormatRank(rank, translator.Translate(rank, iterations)));
        }
        file.Commit();
        return;
    }
    // Offsets count from behind the first 8 bytes, and stand before the ranks.
    std::vector<std::string> ranks;
    uint8_t cpus = 0;
    for (uint32_t rank = 0; rank < graph.GetRanks(); rank++)
    {
        const RankOperations operations = translator.Translate(rank, iterations);
        for (const Operation& operation : operations.all)
        {
            cpus = std::max(cpus, operation.cpu);
        }
        ranks.push_back(PackRank(operations));
    }
    std::string header;
    AppendNumber(header, 4223, 8);
    AppendNumber(header, graph.GetRanks(), 4);
    AppendNumber(header, cpus + 1, 1);
    AppendNumber(header, 1, 1); // NIC
    uint64_t offset = 6 + uint64_t{16} * graph.GetRanks();
    for (const std::string& rank : ranks)
    {
        AppendNumber(header, offset, 8);
        offset += rank.size();
        AppendNumber(header, offset, 8);
    }
    file.Write(header);
    for (const std::string& rank : ranks)
    {
        file.Write(rank);
    }
    file.Commit();
}

} // namespace ns3::training
