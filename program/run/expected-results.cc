/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/expected-results.h"

#include "ns3/rng-seed-manager.h"

#include <memory>
#include <optional>
#include <utility>

namespace ns3::training
{

void
ExpectedResults::CompareIn(const JobPlan& plan,
                           const std::vector<Ptr<TrainingApplication>>& applications,
                           TrainingJob& job) const
{
    const bool isSumOnly = plan.IsAllReduceOnly();
    const auto getSchedule = [applications, hosts = hosts](uint32_t rank, const GraphTask& task) {
        const auto communicator = DynamicCast<ScheduledCommunicator>(
            applications.at(rank)->GetCommunicators()[task.groups]);
        return (communicator ? communicator : hosts(rank))
            ->GetSchedule(task.operation, task.bytes, task.peer);
    };
    auto checker =
        std::make_unique<GraphChecker>(plan.graph,
                                       numbers,
                                       RngSeedManager::GetRun(),
                                       isSumOnly ? sums : GraphChecker::Execute(getSchedule));
    if (isSumOnly)
    {
        checker->SetAlternative(afterFallback);
    }
    if (onExpected)
    {
        checker->OnExpected(onExpected);
    }
    job.SetChecker(std::move(checker),
                   plan.buckets ? std::optional(plan.buckets->GetBuckets().size()) : std::nullopt);
}

} // namespace ns3::training
