/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared/shared-job-sums.h"

#include "run/expected-results.h"
#include "run/job-rules.h"
#include "schedule/schedule-interpreter.h"

#include "ns3/gradient-source.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>

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

/** @return the sums of all ranks, whoever adds */
GraphChecker::Reference
GetSums(const CheckedJob& job)
{
    return [host = job.hosts.front(), workers = job.workers](const auto& collective) {
        return GraphChecker::Results{
            workers.empty()
                ? AddAtHosts(*host, collective.inputs)
                : Tensors{workers.front()->GetExpectedSum(collective.inputs, collective.result)}};
    };
}

/** @return the sums of hosts after a fallback from the network */
GraphChecker::Reference
GetSumsAfterFallback(const CheckedJob& job)
{
    return [host = job.hosts.front(), workers = job.workers](const auto& collective) {
        const bool hasFallenBack =
            std::any_of(workers.begin(), workers.end(), [](const auto& worker) {
                return worker->HasFallenBack();
            });
        return GraphChecker::Results{hasFallenBack ? AddAtHosts(*host, collective.inputs)
                                                   : Tensors()};
    };
}

} // namespace

void
CheckComparable(const JobPlan& plan, const TrainingRunOptions& options, bool isInNetwork)
{
    const bool hasOnlySums = plan.IsAllReduceOnly();
    if (plan.training || (!hasOnlySums && options.gradients != TrainingRunOptions().gradients))
    {
        throw ConfigurationError("gradients",
                                 options.gradients,
                                 " with workload " + plan.name +
                                     " and jobs that share a cluster (allowed: hash; sources "
                                     "without a training, if all collectives sum gradients of all "
                                     "ranks)");
    }
    MakeGradientSource(options.gradients)
        ->Check(static_cast<uint32_t>(options.cluster.ranks),
                static_cast<uint32_t>(options.iterations),
                plan.buckets ? plan.buckets->GetSizes() : std::vector<uint64_t>());
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
    CheckWholeNumbers(plan);
}

void
CompareResults(const CheckedJob& job, TrainingJob& measured)
{
    const ExpectedResults expected{GraphChecker::From(MakeGradientSource(job.gradients)),
                                   GetSums(job),
                                   GetSumsAfterFallback(job),
                                   [hosts = job.hosts](uint32_t rank) { return hosts.at(rank); }};
    expected.CompareIn(job.plan, job.applications, measured);
}

} // namespace ns3::training
