/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRAPH_TIMING_H
#define DISTRIBUTED_TRAINING_GRAPH_TIMING_H

#include "task-graph.h"
#include "task-trace.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 * Times of communication without a simulated network.
 */
struct CommunicationTimes
{
    /// Time of a collective from the last rank's start; empty: 0. (task, ranks of the group)
    std::function<Time(const GraphTask&, uint32_t)> collective;
    /// Time of a message from its start; empty: 0.
    std::function<Time(const GraphTask&)> message;
    /// Time of a SEND with GraphTask::untilSent; empty: 0.
    std::function<Time(const GraphTask&)> sent;
};

/**
 * @ingroup distributed-training-graph
 * How the compute stream of a rank spends its time.
 */
struct RankTiming
{
    Time end;       ///< of its last task
    Time compute;   ///< length of its computations
    IdleTimes idle; ///< of its compute stream
};

/**
 * @ingroup distributed-training-graph
 * When a graph ends.
 */
struct GraphTiming
{
    Time end;                      ///< of the last rank
    std::vector<RankTiming> ranks; ///< by rank
    TaskTrace::Pointer last;       ///< the task that ended last, for FindCriticalPath()
    std::string stuck;             ///< who waits for what, one line; empty if all tasks ended
};

/**
 * @ingroup distributed-training-graph
 *
 * Runs a graph in which communication takes known times and does not slow down other
 * communication: a lower bound of its time on a network, and the oracle of tests.
 *
 * @param graph the job
 * @param iterations its iterations
 * @param times of communication
 * @param ranks that run; empty: all. They do not wait for others
 * @return its times
 */
GraphTiming TimeGraph(const TaskGraph& graph,
                      uint32_t iterations,
                      const CommunicationTimes& times = {},
                      const std::vector<uint32_t>& ranks = {});

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRAPH_TIMING_H
