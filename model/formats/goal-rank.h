/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GOAL_RANK_H
#define DISTRIBUTED_TRAINING_GOAL_RANK_H

#include "formats/listed-graph.h"
#include "formats/task-sorter.h"
#include "formats/workload-format.h"

#include "ns3/task-graph.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/// Bytes and numbers of a GOAL file stay below. @ingroup distributed-training-formats
constexpr uint64_t MAX_GOAL_NUMBER = uint64_t{1} << 62;

/// Largest number of ranks of a GOAL file. @ingroup distributed-training-formats
constexpr uint64_t MAX_GOAL_RANKS = 1U << 20;

/**
 * @ingroup distributed-training-formats
 * An operation of GOAL, in either form of the file.
 */
struct GoalOperation
{
    TaskKind kind{TaskKind::COMPUTE}; ///< SEND, RECEIVE or COMPUTE
    uint64_t amount{0};               ///< bytes, or ns
    uint32_t peer{0};                 ///< other rank
    uint32_t tag{0};                  ///< of the message
    uint32_t cpu{0};                  ///< that computes
    uint32_t nic{0};                  ///< of a message
    uint64_t place{0};                ///< in the file: its line or byte
    bool anySource{false};            ///< RECEIVE: from any rank, `peer` is 0
    bool anyTag{false};               ///< RECEIVE: of any tag, `tag` is 0
    std::string where;                ///< its place in the file, of a RECEIVE of anything
};

/**
 * @ingroup distributed-training-formats
 * Counts labels of an operation that have no effect.
 * @param operation an operation
 * @param where its place in the file
 * @param problems counts them
 */
void NoteGoalLabels(const GoalOperation& operation,
                    const std::string& where,
                    FormatProblems& problems);

/**
 * @ingroup distributed-training-formats
 * The tasks of a rank of GOAL, and the operations that others wait for the start of.
 */
class GoalRank
{
  public:
    /** @param graph receives the tasks */
    explicit GoalRank(ListedGraph& graph);

    /**
     * @param operation the next one
     * @return its place
     */
    std::size_t Add(const GoalOperation& operation);

    /**
     * @param operation place of one that waits
     * @param earlier place of one that it waits for
     * @param onStart whether it waits for the start of `earlier` rather than its end
     */
    void Require(std::size_t operation, std::size_t earlier, bool onStart);

    /**
     * Ends the list of operations.
     * @param rank the rank
     * @param where the rank, for the message
     * @throw ConfigurationError if operations wait for each other
     */
    void Sort(uint32_t rank, const std::string& where);

    /** A receive from any rank or of any tag. */
    struct Wildcard
    {
        std::size_t place{0};  ///< of the operation; after Sort() of its task in the sorter
        bool anySource{false}; ///< from any rank
        bool anyTag{false};    ///< of any tag
        std::string where;     ///< its place in the file
    };

    /** @return its receives of anything, see MatchWildcards() */
    const std::vector<Wildcard>& GetWildcards() const
    {
        return m_wildcards;
    }

    /** @return its tasks and their waits, after Sort() */
    TaskSorter& GetSorter()
    {
        return m_sorter;
    }

  private:
    // A wait of an operation.
    struct Wait
    {
        std::size_t operation;
        std::size_t earlier;
        bool onStart;
    };

    uint32_t m_compute;
    uint32_t m_send;
    uint32_t m_receive;
    std::vector<GraphTask> m_operations;
    std::vector<bool> m_startIsAwaited; // by operation
    std::vector<Wait> m_waits;
    std::vector<Wildcard> m_wildcards;
    TaskSorter m_sorter;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GOAL_RANK_H
