/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRAPH_SUMMARY_H
#define DISTRIBUTED_TRAINING_GRAPH_SUMMARY_H

#include "task-graph.h"

#include <array>
#include <cstdint>
#include <map>
#include <tuple>

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 * Collectives or messages of one kind at a rank.
 */
struct TaskTraffic
{
    uint64_t bytes{0}; ///< of all together
    uint64_t count{0}; ///< their number
};

/**
 * @ingroup distributed-training-graph
 * What a rank does in a number of iterations.
 */
struct GraphSummary
{
    std::array<uint64_t, TASK_KINDS> tasks{}; ///< by TaskKind
    Time compute;                             ///< length of its computations
    /// Collectives by groups, operation and size of one.
    std::map<std::tuple<uint32_t, CollectiveOperation, uint64_t>, uint64_t> collectives;
    std::array<TaskTraffic, PARALLELISMS> sent{}; ///< messages by their parallelism
};

/**
 * @ingroup distributed-training-graph
 * @param graph the job
 * @param rank whose tasks count
 * @param iterations of the job
 * @return what it does
 */
GraphSummary SummarizeGraph(const TaskGraph& graph, uint32_t rank, uint32_t iterations);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRAPH_SUMMARY_H
