/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WORKLOAD_SUMMARY_H
#define DISTRIBUTED_TRAINING_WORKLOAD_SUMMARY_H

#include "formats/workload-format.h"

#include "ns3/graph-summary.h"
#include "ns3/training-json-writer.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * What a file of a workload contains, without a simulation.
 */
struct WorkloadSummary
{
    std::string format; ///< name of its format
    uint32_t ranks{0};  ///< of the job
    /// By TaskKind, of all ranks in one iteration. MARK: steps that only order others.
    std::array<uint64_t, TASK_KINDS> tasks{};
    Time compute; ///< length of the computations of rank 0
    Time idle;    ///< length of the gaps between them that a trace has recorded
    /// Collectives of rank 0; their sizes are those of the file.
    std::map<CollectiveOperation, TaskTraffic> collectives;
    std::vector<std::string> problems; ///< see FormatResult

    /**
     * @return `format`, `ranks`, `tasks` by kind, `compute_s` and `idle_s` of rank 0, `collectives`
     *         of rank 0 with `operation`, `bytes` of all together and `count`, `problems`
     */
    JsonValue ToJson() const;

    /** @return the same as text, several lines */
    std::string Format() const;
};

/**
 * @ingroup distributed-training-helper
 * @param graph a job
 * @param isUniform see FormatResult
 * @param gathersParts see FormatResult
 * @return its summary, without format and problems
 */
WorkloadSummary SummarizeWorkload(const TaskGraph& graph, bool isUniform, bool gathersParts);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WORKLOAD_SUMMARY_H
