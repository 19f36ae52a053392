/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "prepared-job.h"

#include "core/memory.h"
#include "job-repetition.h"
#include "options/run-title.h"
#include "run/job-advice.h"
#include "run/job-lower-bound.h"
#include "run/job-rules.h"
#include "run/replica-images.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/guarded-run.h"
#include "ns3/result-store.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <set>

namespace ns3::training
{

PreparedJob::PreparedJob(const TrainingRunOptions& runOptions)
    : options(runOptions)
{
    options.model.TakeSchedule(options.cluster.schedule);
    options.Check();
    plan = MakeJobPlan(options);
    options.RunFilesOptions::Check(options.cluster.ranks);
    options.cluster.storageHosts = options.life.GetStorageHosts();
    CheckJobRules(options, plan);
    if (!options.results.empty())
    {
        ResultStore::Check(options.results);
    }
    options.cluster.images = FindImages(options, plan);
    // After a failure, state in switches would remain.
    options.cluster.sumsInGroups = plan.Sums(false) && !options.life.HasFailures();
    options.cluster.sumsOfAll = plan.Sums(true);
    cluster = std::make_unique<Cluster>(options.cluster);
    CheckClusterRules(options, plan, *cluster);
    const auto& workers = cluster->GetInNetworkCommunicators();
    if (!workers.empty() && !workers[0]->ReturnsSum())
    {
        plan.RemoveUpdate();
    }
    if (options.life.HasCheckpoints() || options.life.HasFailures())
    {
        life.emplace(options.life, plan, *cluster, GetIterations());
    }
    if (cluster->GetTopology().GetCircuits() > 1)
    {
        circuits = std::make_shared<CircuitGraph>(plan.graph, options.reconfiguration);
        plan.notes.push_back("optical circuits change between iterations, each time in " +
                             FormatTime(options.reconfiguration));
    }
    Install();
    if (options.cluster.images.GetCount() > 1)
    {
        imageReason = CheckImages(plan, *cluster, applications);
    }
    ExplainChoices();
    lowerBound = GetLowerBound(plan, *cluster);
    CheckCost();
}

void
PreparedJob::Install()
{
    TrainingJobHelper helper;
    obstacle = JobRepetition::FindObstacle(*cluster, options.computeJitter);
    const OverlapCost overlap = options.GetOverlapCost();
    helper.SetDerives(options.DerivesCollectives(), !obstacle.empty());
    helper.SetDerivesQuiet(options.collectives == "derive" && options.computeJitter == "none" &&
                               !life,
                           overlap.IsPaid());
    helper.SetAttribute("Iterations", UintegerValue(GetIterations()));
    helper.SetAttribute("RealPayload", BooleanValue(options.IsReal()));
    if (!plan.training)
    {
        helper.SetAttribute("Gradients", StringValue(options.gradients));
    }
    helper.SetAttribute("ComputeJitter", StringValue(options.computeJitter));
    helper.SetAttribute("OverlapCompute", DoubleValue(overlap.compute));
    helper.SetAttribute("OverlapCopies", DoubleValue(overlap.copies));
    helper.SetSlowdowns(options.GetSlowdowns());
    helper.SetAttribute("Seed", UintegerValue(RngSeedManager::GetRun()));
    auto operations = plan.operations;
    std::shared_ptr<const TaskGraph> graph = life ? life->graph : plan.graph;
    if (circuits)
    {
        graph = circuits;
        operations.push_back({CollectiveOperation::BARRIER});
    }
    helper.SetDivision([this](std::vector<SummingGroup> groups) {
        for (SummingGroup& group : groups)
        {
            group.sums = plan.sums.at(group.groups);
        }
        return cluster->GetCommunicators().Divide(groups, plan.notes);
    });
    applications = helper.Install(*cluster, graph, operations, options.GetAllToAll());
    replays = helper.GetReplays();
    uint64_t sums = 0;
    for (const auto& [collective, count] : plan.summary.collectives)
    {
        const auto& [groups, operation, bytes] = collective;
        const bool isSum = operation == CollectiveOperation::ALL_REDUCE;
        sums += isSum && plan.graph->GetGroups()[groups].AreAll(cluster->GetRanks()) ? count : 0;
    }
    for (const auto& worker : cluster->GetInNetworkCommunicators())
    {
        worker->SetTensorsOfStep(static_cast<uint32_t>(sums));
    }
}

void
PreparedJob::ExplainChoices()
{
    if (!cluster->GetPlanner().Chooses())
    {
        return;
    }
    std::set<std::pair<CollectiveOperation, uint64_t>> kinds;
    for (const auto& [collective, count] : plan.summary.collectives)
    {
        const auto& [groups, operation, bytes] = collective;
        const TaskGroups& taskGroups = plan.graph->GetGroups()[groups];
        if (!taskGroups.exchanges && taskGroups.AreAll(cluster->GetRanks()))
        {
            kinds.emplace(operation, bytes);
        }
    }
    for (const auto& [operation, bytes] : kinds)
    {
        const std::string size = std::to_string(bytes);
        choices.emplace_back(
            operation == CollectiveOperation::ALL_REDUCE ? size : GetName(operation) + " " + size,
            cluster->ExplainChoice(operation, bytes));
    }
}

void
PreparedJob::CheckCost() const
{
    GuardedRun::CheckDuration(GetIterations() * std::max(lowerBound, plan.compute.GetSeconds()),
                              "--iterations=" + std::to_string(options.iterations));
    CheckMemory(cluster->GetRanks() / options.cluster.images.GetCount() *
                    GuardedRun::EstimateMemory(plan.GetBytes(), options.IsReal() ? 1 : 0),
                "--workload=" + plan.name +
                    " with --payload=" + (options.IsReal() ? "real" : "virtual"));
}

std::string
PreparedJob::Describe() const
{
    std::string text = plan.description + ", " + std::to_string(cluster->GetRanks()) + " ranks, " +
                       options.cluster.topology + ", " + FormatRate(options.cluster.rate) + ", " +
                       options.cluster.transport + " (" + cluster->GetOptions().congestionControl +
                       "), " + cluster->GetPlan().GetAlgorithm() +
                       DescribeDeviations(options.cluster);
    for (const auto& [collective, choice] : choices)
    {
        text += "\n# " + options.cluster.algorithm + ": " + choice;
    }
    if (life)
    {
        text += "\n# life: " + options.life.Describe(life->bytes);
    }
    for (const auto& notes : {plan.notes, cluster->GetNotes()})
    {
        for (const std::string& note : notes)
        {
            text += "\n# " + note;
        }
    }
    return text;
}

std::vector<std::string>
PreparedJob::Advise() const
{
    return AdviseJob(plan, options.gpu, cluster->GetTopology(), options.cluster.rate);
}

std::string
PreparedJob::DescribeInputs() const
{
    std::string text = "compute times of " + plan.times;
    if (options.computeScale != 1)
    {
        text += ", times " + FormatDouble(options.computeScale);
    }
    text += "; compute jitter " + options.computeJitter;
    for (const std::string& straggler : options.stragglers)
    {
        text += "; straggler " + straggler;
    }
    return text + "; " + options.cluster.DescribeHosts();
}

} // namespace ns3::training
