/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PREPARED_JOB_H
#define DISTRIBUTED_TRAINING_PREPARED_JOB_H

#include "job-plan.h"
#include "life-plan.h"
#include "training-run-options.h"

#include "ns3/application-container.h"
#include "ns3/circuit-graph.h"
#include "ns3/training-cluster.h"
#include "ns3/training-job-helper.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * A job that is installed on its cluster and can be simulated.
 */
struct PreparedJob
{
    /**
     * Builds the cluster. All configuration errors are thrown here, before any file is created.
     * @param runOptions of the run
     * @throw ConfigurationError if the options are wrong or inconsistent
     */
    explicit PreparedJob(const TrainingRunOptions& runOptions);

    /** @return number of its iterations, with those of the warm-up */
    uint32_t GetIterations() const
    {
        return static_cast<uint32_t>(options.warmup + options.iterations);
    }

    /** @return what the ranks execute */
    const TaskGraph& GetGraph() const
    {
        return life ? *life->graph : circuits ? *circuits : *plan.graph;
    }

    /** @return one line about job and cluster, one line per choice of algorithm auto, and notes */
    std::string Describe() const;

    /** @return what is given rather than simulated: compute times, jitter, hosts; one line */
    std::string DescribeInputs() const;

    /** @return see AdviseJob() */
    std::vector<std::string> Advise() const;

    TrainingRunOptions options;                   ///< of the run
    JobPlan plan;                                 ///< what the ranks do
    std::unique_ptr<Cluster> cluster;             ///< that runs it
    std::optional<LifePlan> life;                 ///< none: no checkpoints and failures
    std::shared_ptr<const CircuitGraph> circuits; ///< null: no circuits change
    /// Algorithm auto: its choices and their reasons, see TrainingRunResult.
    std::vector<std::pair<std::string, std::string>> choices;
    std::string imageReason;           ///< why images are not exact, or empty
    std::string obstacle;              ///< why no iteration is derived, or empty
    ApplicationContainer applications; ///< of the local ranks, then of the storage hosts
    std::vector<std::shared_ptr<CollectiveReplay>> replays; ///< of groups that may repeat
    double lowerBound{0}; ///< of the communication time of an iteration, s

  private:
    void Install();
    void ExplainChoices();
    void CheckCost() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PREPARED_JOB_H
