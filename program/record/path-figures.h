/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PATH_FIGURES_H
#define DISTRIBUTED_TRAINING_PATH_FIGURES_H

#include "run-figures.h"

#include "ns3/result-rows.h"
#include "ns3/task-graph.h"
#include "ns3/task-trace.h"
#include "ns3/training-fabric.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The critical path of an iteration: the chain of tasks, over all ranks, that its length follows
 * from.
 */
struct PathFigures : Figures
{
    /** All parts of the path with one name. */
    struct Part
    {
        std::string name;  ///< of the tasks
        std::string kind;  ///< compute, or the parallelism of communication
        uint64_t count{0}; ///< tasks
        double seconds{0}; ///< together
    };

    std::vector<Part> parts;     ///< the longest first
    std::vector<uint32_t> ranks; ///< that it leads through, in order, without repetitions in a row
    double seconds{0};           ///< its length
    std::string link;            ///< the busiest link of the network: "FROM -> TO"; or empty
    double linkUtilization{0};   ///< part of the time in which this link is busy, 0 to 1

    std::string GetName() const override
    {
        return "critical_path";
    }

    JsonValue ToJson() const override;

    /** @return one line */
    std::string Format() const override;
};

/**
 * @ingroup distributed-training-helper
 * @param path of the last iteration
 * @param graph of the job
 * @param fabric of the cluster, after the run
 * @param elapsedS simulated time, s
 * @return its figures
 */
PathFigures GetPathFigures(const std::vector<PathStep>& path,
                           const TaskGraph& graph,
                           const Fabric& fabric,
                           double elapsedS);

/**
 * @ingroup distributed-training-helper
 * @param path of the last iteration
 * @param graph of the job
 * @param later added to all times
 * @return its parts, for results files
 */
std::vector<CriticalPathRow> GetPathRows(const std::vector<PathStep>& path,
                                         const TaskGraph& graph,
                                         Time later = Time(0));

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PATH_FIGURES_H
