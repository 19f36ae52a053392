/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/job-rules.h"

#include "ns3/gradient-source.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace ns3::training
{

namespace
{

/** Checks a job of other collectives than all-reduces of all ranks, with real payload. */
void
CheckComparison(const JobPlan& plan)
{
    CheckWholeNumbers(plan);
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("payload",
                                 "real",
                                 " with workload " + plan.name + " and " +
                                     std::to_string(Processes::GetCount()) +
                                     " processes (allowed: 1, as all ranks are compared)");
    }
}

/** Checks a job that contains a training. */
void
CheckTraining(const TrainingRunOptions& options, const JobPlan& plan)
{
    const auto refuse = [&options](const std::string& reason) {
        throw ConfigurationError("gradients", options.gradients, reason);
    };
    if (Processes::GetCount() > 1)
    {
        refuse(" with " + std::to_string(Processes::GetCount()) +
               " processes (allowed: 1, as the replicas of all ranks are compared)");
    }
    if (!plan.buckets || !plan.buckets->WaitsForAll())
    {
        refuse(" with workload " + options.workload +
               " (allowed: workloads that wait for all sums before the next iteration)");
    }
    if (options.life.HasFailures())
    {
        refuse(" with failures (allowed: gradients that learn nothing, as a checkpoint holds no "
               "weights)");
    }
}

/** Checks the source of the numbers of a job. */
void
CheckGradients(const TrainingRunOptions& options, const JobPlan& plan)
{
    const bool isDefault = options.gradients == TrainingRunOptions().gradients;
    if (!options.IsReal())
    {
        if (!isDefault)
        {
            throw ConfigurationError("gradients",
                                     options.gradients,
                                     " with payload=virtual (allowed: with payload=real)");
        }
        return;
    }
    const auto iterations = static_cast<uint32_t>(options.warmup + options.iterations);
    const auto buckets = plan.buckets ? plan.buckets->GetSizes() : std::vector<uint64_t>();
    if (plan.training)
    {
        CheckTraining(options, plan);
        plan.training->Check(iterations,
                             std::accumulate(buckets.begin(), buckets.end(), uint64_t{0}));
        return;
    }
    if (!plan.IsAllReduceOnly() && !isDefault)
    {
        throw ConfigurationError("gradients",
                                 options.gradients,
                                 " with workload " + plan.name +
                                     " (allowed: hash, as not all of its collectives are sums of "
                                     "gradients of all ranks)");
    }
    MakeGradientSource(options.gradients)
        ->Check(static_cast<uint32_t>(options.cluster.ranks), iterations, buckets);
}

/** Checks a job whose network has optical circuits, or has none. */
void
CheckCircuits(const TrainingRunOptions& options, const Cluster& cluster)
{
    if (cluster.GetTopology().GetCircuits() < 2)
    {
        if (options.reconfiguration != TrainingRunOptions().reconfiguration)
        {
            throw ConfigurationError("reconfiguration",
                                     FormatTime(options.reconfiguration),
                                     " with topology " + options.cluster.topology +
                                         " (allowed: with two circuits or more)");
        }
        return;
    }
    const std::pair<bool, std::string> reasons[] = {
        {Processes::GetCount() > 1, "several processes (allowed: 1)"},
        {options.life.HasCheckpoints() || options.life.HasFailures(),
         "checkpoints or failures (allowed: none)"},
        {cluster.GetBackground() != nullptr, "background traffic (allowed: none)"}};
    for (const auto& [isSet, reason] : reasons)
    {
        if (isSet)
        {
            throw ConfigurationError("topology",
                                     options.cluster.topology,
                                     ", whose circuits change, with " + reason);
        }
    }
    // Ranks leave the barrier one after the other, and nothing may be on its way then.
    const double barrier =
        (2 + std::log2(cluster.GetRanks())) * cluster.GetRoundTrip().GetSeconds();
    const Time least = MicroSeconds(std::ceil(barrier * 1e6));
    if (options.reconfiguration < least)
    {
        throw ConfigurationError("reconfiguration",
                                 FormatTime(options.reconfiguration),
                                 " (allowed: from " + FormatTime(least) +
                                     ", in which a barrier ends at all ranks)");
    }
}

} // namespace

void
CheckWholeNumbers(const JobPlan& plan)
{
    for (const auto& [collective, count] : plan.summary.collectives)
    {
        if (std::get<2>(collective) % sizeof(float) != 0)
        {
            throw ConfigurationError("payload",
                                     "real",
                                     " with workload " + plan.name + " and tensors of " +
                                         std::to_string(std::get<2>(collective)) +
                                         " bytes (allowed: multiples of 4)");
        }
    }
}

void
CheckJobRules(const TrainingRunOptions& options, const JobPlan& plan)
{
    if (options.IsReal() && !plan.IsAllReduceOnly())
    {
        CheckComparison(plan);
    }
    const auto& groups = plan.graph->GetGroups();
    if (!options.allToAll.empty() &&
        std::none_of(groups.begin(), groups.end(), [](const TaskGroups& each) {
            return each.exchanges;
        }))
    {
        throw ConfigurationError("all-to-all",
                                 options.allToAll,
                                 " with workload " + options.workload +
                                     " (allowed: workloads that have all-to-alls)");
    }
    CheckGradients(options, plan);
}

void
CheckClusterRules(const TrainingRunOptions& options, const JobPlan& plan, const Cluster& cluster)
{
    CheckCircuits(options, cluster);
    const bool isReal = options.IsReal();
    const auto& workers = cluster.GetInNetworkCommunicators();
    std::vector<CollectiveOperation> operations;
    for (const auto& ofGroups : plan.operations)
    {
        operations.insert(operations.end(), ofGroups.begin(), ofGroups.end());
    }
    if (isReal && !plan.IsAllReduceOnly() &&
        (cluster.GetNicEngines().IsInstalled() || !workers.empty() ||
         cluster.GetCommunicators().IsDivided()))
    {
        throw ConfigurationError("payload",
                                 "real",
                                 " with workload " + plan.name +
                                     " and engines in NICs or sums in switches (allowed: virtual, "
                                     "as only all-reduces of all ranks are compared there)");
    }
    cluster.GetNicEngines().Check(isReal);
    cluster.GetCodecs().Check(isReal, operations);
    if (cluster.GetCodecs().IsInstalled() && !plan.IsAllReduceOnly())
    {
        throw ConfigurationError("codec",
                                 options.cluster.codec,
                                 " with workload " + options.workload +
                                     " (allowed: workloads whose collectives all sum gradients of "
                                     "all ranks)");
    }
    if (plan.training && !workers.empty() && !workers[0]->ReturnsSum())
    {
        throw ConfigurationError("gradients",
                                 options.gradients,
                                 " with collective " + options.cluster.algorithm +
                                     " (allowed: collectives that return sums, as the ranks "
                                     "make the optimizer's step)");
    }
}

} // namespace ns3::training
