/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared-job-sums.h"

#include "ns3/gradient-source.h"
#include "ns3/graph-checker.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/schedule-interpreter.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <memory>

namespace ns3::training
{

namespace
{

using Tensors = std::vector<std::vector<float>>;

/** @return the sums of each rank as hosts make them */
Tensors
AddAtHosts(const ScheduledCommunicator& host, const Tensors& inputs)
{
    const uint64_t bytes = inputs[0].size() * sizeof(float);
    return InterpretSchedule(*host.GetSchedule(CollectiveOperation::ALL_REDUCE, bytes, 0), inputs);
}

/** Compares all-reduces of all ranks, whoever sums. */
void
CompareSums(const CheckedJob& job, TrainingJob& measured)
{
    const auto task = job.plan.task;
    const auto source = MakeGradientSource(job.gradients);
    const uint64_t seed = RngSeedManager::GetRun();
    const Ptr<ScheduledCommunicator> host = job.hosts.front();
    const auto workers = job.workers;
    measured.SetReference(
        task->collectives.size(),
        [task,
         source,
         seed](uint32_t rank, uint32_t iteration, uint32_t bucket, std::size_t count) {
            return source->Make({seed, rank, iteration, bucket, task->GetFirstNumber(bucket)},
                                count);
        },
        [host,
         workers](uint32_t, uint32_t, const Tensors& inputs, const std::vector<float>& result) {
            return workers.empty() ? AddAtHosts(*host, inputs)
                                   : Tensors{workers.front()->GetExpectedSum(inputs, result)};
        });
    // Valid after a fallback from the network.
    measured.SetAlternative(
        [host, workers](uint32_t, uint32_t, const Tensors& inputs, const std::vector<float>&) {
            const bool hasFallenBack =
                std::any_of(workers.begin(), workers.end(), [](const auto& worker) {
                    return worker->HasFallenBack();
                });
            return hasFallenBack ? AddAtHosts(*host, inputs) : Tensors();
        });
}

/** @return whether all results are sums of all ranks */
bool
HasOnlySums(const JobPlan& plan)
{
    return plan.task && plan.IsAllReduceOnly();
}

} // namespace

void
CheckComparable(const JobPlan& plan, const TrainingRunOptions& options, bool isInNetwork)
{
    const bool hasOnlySums = HasOnlySums(plan);
    if (plan.training || (!hasOnlySums && options.gradients != TrainingRunOptions().gradients))
    {
        throw ConfigurationError("gradients",
                                 options.gradients,
                                 " with workload " + plan.name +
                                     " and jobs that share a cluster (allowed: hash; sources "
                                     "without a training, if all collectives sum gradients of all "
                                     "ranks)");
    }
    std::vector<uint64_t> buckets;
    for (std::size_t i = 0; plan.task && i < plan.task->collectives.size(); i++)
    {
        buckets.push_back(plan.task->collectives[i].bytes / sizeof(float));
    }
    MakeGradientSource(options.gradients)
        ->Check(static_cast<uint32_t>(options.cluster.ranks),
                static_cast<uint32_t>(options.iterations),
                buckets);
    if (hasOnlySums)
    {
        return;
    }
    if (isInNetwork)
    {
        throw ConfigurationError("payload",
                                 "real",
                                 " with workload " + plan.name +
                                     " and sums in switches (allowed: virtual, as only all-reduces "
                                     "of all ranks are compared there)");
    }
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
CompareResults(const CheckedJob& job, TrainingJob& measured)
{
    if (HasOnlySums(job.plan))
    {
        for (const auto& application : job.applications)
        {
            application->SetGradientsOf(job.plan.task);
        }
        CompareSums(job, measured);
        return;
    }
    const auto applications = job.applications;
    const auto hosts = job.hosts;
    const auto schedules = [applications, hosts](uint32_t rank, const GraphTask& task) {
        const auto communicator = DynamicCast<ScheduledCommunicator>(
            applications.at(rank)->GetCommunicators()[task.groups]);
        return (communicator ? communicator : hosts.at(rank))
            ->GetSchedule(task.operation, task.bytes, task.peer);
    };
    measured.SetChecker(std::make_unique<GraphChecker>(job.plan.graph,
                                                       MakeGradientSource(job.gradients),
                                                       RngSeedManager::GetRun(),
                                                       schedules));
}

} // namespace ns3::training
