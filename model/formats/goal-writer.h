/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GOAL_WRITER_H
#define DISTRIBUTED_TRAINING_GOAL_WRITER_H

#include "ns3/task-graph.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 *
 * Writes a job as GOAL, for LogGOPSim and ATLAHS. GOAL has no collectives: each becomes the
 * messages of an algorithm. Streams of computations become CPUs. What has no stream computes on a
 * CPU of its own kind, one after the other, because GOAL has no computations without a CPU.
 *
 * @param path of the file, which appears when it is complete; the binary form if it ends with
 *        `.bin`, otherwise text
 * @param graph the job
 * @param iterations that are written
 * @param algorithm of collectives; those that it cannot do take one that can: `direct`, or the
 * first of the registry
 * @throw ConfigurationError if the job does not fit: more than 254 streams, or 2^32 messages
 * @throw std::runtime_error if the file cannot be written
 */
void WriteGoal(const std::string& path,
               const TaskGraph& graph,
               uint32_t iterations,
               const std::string& algorithm);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GOAL_WRITER_H
