/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/goal-matching.h"
#include "formats/goal-rank.h"
#include "formats/goal-reader.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

/// First 8 bytes of the binary form.
constexpr uint64_t MAGIC = 4223;

/// Bytes of an operation in the binary form.
constexpr uint64_t NODE_BYTES = 39;

/// Any rank or any tag.
constexpr uint32_t ANY = UINT32_MAX;

/** Reads the binary form, which txt2bin writes (LogGOPSim, Parser.hpp); little endian. */
class GoalBinary
{
  public:
    GoalBinary(const std::string& path, const std::string& text)
        : m_path(path),
          m_text(text)
    {
    }

    std::unique_ptr<ListedGraph> Read(FormatProblems& problems) const;

  private:
    template <class T>
    T At(uint64_t offset) const
    {
        T value;
        if (offset > m_text.size() || m_text.size() - offset < sizeof(T))
        {
            throw ConfigurationError(m_path + ": ends before byte " + std::to_string(offset) +
                                     ", which it refers to (allowed: whole files)");
        }
        std::memcpy(&value, m_text.data() + offset, sizeof(T));
        return value;
    }

    GoalOperation ReadOperation(uint64_t offset, uint32_t ranks, FormatProblems& problems) const;
    GoalRank ReadRank(ListedGraph& graph,
                      uint32_t rank,
                      uint64_t begin,
                      FormatProblems& problems) const;

    std::string m_path;
    const std::string& m_text;
};

GoalOperation
GoalBinary::ReadOperation(uint64_t offset, uint32_t ranks, FormatProblems& problems) const
{
    GoalOperation operation;
    const auto type = At<uint8_t>(offset + 4);
    operation.place = offset;
    constexpr TaskKind KINDS[] = {TaskKind::SEND, TaskKind::RECEIVE, TaskKind::COMPUTE};
    if (type < 1 || type > 3)
    {
        throw ConfigurationError(m_path + ": byte " + std::to_string(offset + 4) + ": type " +
                                 std::to_string(type) + " (allowed: 1, 2, 3)");
    }
    operation.kind = KINDS[type - 1];
    operation.peer = At<uint32_t>(offset + 5);
    operation.amount = At<uint64_t>(offset + 9);
    operation.tag = At<uint32_t>(offset + 17);
    operation.cpu = At<uint8_t>(offset + 21);
    operation.nic = At<uint8_t>(offset + 22);
    NoteGoalLabels(operation, m_path + ": byte " + std::to_string(offset), problems);
    if (operation.amount > MAX_GOAL_NUMBER >> 10)
    {
        throw ConfigurationError(m_path + ": byte " + std::to_string(offset + 9) + ": " +
                                 std::to_string(operation.amount) +
                                 " bytes or ns (allowed: up to " +
                                 std::to_string(MAX_GOAL_NUMBER >> 10) + ")");
    }
    operation.anySource = operation.kind == TaskKind::RECEIVE && operation.peer == ANY;
    operation.anyTag = operation.kind == TaskKind::RECEIVE && operation.tag == ANY;
    const std::string where = m_path + ": byte " + std::to_string(offset + 5);
    if (operation.kind != TaskKind::COMPUTE && ((operation.peer >= ranks && !operation.anySource) ||
                                                (operation.tag == ANY && !operation.anyTag)))
    {
        throw ConfigurationError(where + ": peer " + std::to_string(operation.peer) + ", tag " +
                                 std::to_string(operation.tag) +
                                 " (allowed: a rank of the job, and a tag; any of both in receives "
                                 "only)");
    }
    if (operation.anySource || operation.anyTag)
    {
        operation.peer = operation.anySource ? 0 : operation.peer;
        operation.tag = operation.anyTag ? 0 : operation.tag;
        operation.where = where;
    }
    return operation;
}

GoalRank
GoalBinary::ReadRank(ListedGraph& graph,
                     uint32_t rank,
                     uint64_t begin,
                     FormatProblems& problems) const
{
    const auto nodes = At<uint32_t>(begin);
    const auto roots = At<uint32_t>(begin + 4);
    const uint64_t first = begin + 8 + uint64_t{4} * roots;
    const uint64_t appendix = first + NODE_BYTES * nodes;
    if (nodes > 0)
    {
        At<uint8_t>(appendix - 1); // before memory is taken
    }
    GoalRank tasks(graph);
    for (uint32_t node = 0; node < nodes; node++)
    {
        tasks.Add(ReadOperation(first + NODE_BYTES * node, graph.GetRanks(), problems));
    }
    // An operation lists those that wait for its end, and those that wait for its start. No list
    // is part of another one.
    uint64_t waits = 0;
    for (uint32_t node = 0; node < nodes; node++)
    {
        for (const bool onStart : {false, true})
        {
            const uint64_t list = first + NODE_BYTES * node + (onStart ? 31 : 23);
            const auto count = At<uint32_t>(list);
            const auto index = At<uint32_t>(list + 4);
            waits += count;
            if (waits > m_text.size() / 4)
            {
                throw ConfigurationError(m_path + ": byte " + std::to_string(list) + ": " +
                                         std::to_string(count) +
                                         " waits (allowed: no more than the file has)");
            }
            for (uint32_t i = 0; i < count; i++)
            {
                const uint64_t at = appendix + 4 * (uint64_t{index} + i);
                const auto later = At<uint32_t>(at);
                if (later >= nodes)
                {
                    throw ConfigurationError(m_path + ": byte " + std::to_string(at) +
                                             ": operation " + std::to_string(later) +
                                             " (allowed: below " + std::to_string(nodes) + ")");
                }
                tasks.Require(later, node, onStart);
            }
        }
    }
    tasks.Sort(rank, m_path + ": rank " + std::to_string(rank));
    return tasks;
}

std::unique_ptr<ListedGraph>
GoalBinary::Read(FormatProblems& problems) const
{
    constexpr uint64_t JUMP_TABLE = 14;
    const auto ranks = At<uint32_t>(8);
    if (ranks == 0 || ranks > MAX_GOAL_RANKS)
    {
        throw ConfigurationError(m_path + ": byte 8: " + std::to_string(ranks) +
                                 " ranks (allowed: 1 to " + std::to_string(MAX_GOAL_RANKS) + ")");
    }
    At<uint64_t>(JUMP_TABLE + uint64_t{16} * ranks - 8); // before memory is taken
    auto graph = std::make_unique<ListedGraph>(m_path, ranks);
    graph->SetPlaces([path = m_path](uint32_t rank, const GraphTask& task) {
        const std::string byte = task.id == 0 ? "" : " byte " + std::to_string(task.place) + ":";
        return path + ":" + byte + " rank " + std::to_string(rank);
    });
    std::vector<GoalRank> all;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        // Offsets count from behind the first 8 bytes.
        all.push_back(
            ReadRank(*graph, rank, 8 + At<uint64_t>(JUMP_TABLE + uint64_t{16} * rank), problems));
    }
    MatchWildcards(all, m_path, problems);
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        all[rank].GetSorter().MoveTo(*graph, rank);
    }
    return graph;
}

} // namespace

bool
IsGoalBinary(const std::string& text)
{
    uint64_t magic = 0;
    std::memcpy(&magic, text.data(), std::min(text.size(), sizeof(magic)));
    return magic == MAGIC;
}

std::unique_ptr<ListedGraph>
ReadGoalBinary(const std::string& path, const std::string& text, FormatProblems& problems)
{
    return GoalBinary(path, text).Read(problems);
}

} // namespace ns3::training
