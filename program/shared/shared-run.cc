/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared-run.h"

#include "shared/shared-simulation.h"

#include "ns3/in-network-system.h"
#include "ns3/job-plan.h"
#include "ns3/nic-algorithm.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"

#include <string>

namespace ns3::training
{

namespace
{

/** Refuses what works for all ranks of a cluster only. */
void
CheckShared(const SharedRunOptions& options)
{
    const ClusterOptions& cluster = options.cluster;
    cluster.Check();
    const auto refuse =
        [](const std::string& field, const std::string& value, const std::string& allowed) {
            throw ConfigurationError(field,
                                     value,
                                     " with jobs that share a cluster (allowed: " + allowed + ")");
        };
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("--mpi=" + std::to_string(Processes::GetCount()) +
                                 " with jobs that share a cluster (allowed: 1)");
    }
    const auto system =
        Registry<InNetworkSystem>::All().find(KeyValues::Split(cluster.algorithm).GetName());
    const bool isShared =
        system != Registry<InNetworkSystem>::All().end() && system->second.control;
    if (IsInNic(cluster.algorithm) || (IsInNetwork(cluster.algorithm) && !isShared))
    {
        refuse("collective",
               cluster.algorithm,
               "algorithms that run on hosts, " + GetSharedSystems());
    }
    if (!options.isReal && options.gradients != TrainingRunOptions().gradients)
    {
        throw ConfigurationError("gradients",
                                 options.gradients,
                                 " with payload=virtual (allowed: with payload=real)");
    }
    if (isShared && options.firstNumber + options.jobs.size() > MAX_JOBS)
    {
        refuse("collective",
               cluster.algorithm + " for " + std::to_string(options.jobs.size()) + " jobs",
               "up to " + std::to_string(MAX_JOBS) + " jobs");
    }
    if (cluster.codec != ClusterOptions().codec)
    {
        refuse("codec", cluster.codec, ClusterOptions().codec);
    }
    if (cluster.nic != ClusterOptions().nic)
    {
        refuse("nic", cluster.nic, ClusterOptions().nic);
    }
    if (!cluster.schedule.empty())
    {
        refuse("schedule", cluster.schedule, "an algorithm");
    }
    for (const SharedJob& job : options.jobs)
    {
        const std::string name = "job " + job.name + ": ";
        const std::string key = job.slots > 0          ? "slots"
                                : job.slotWeight       ? "slot-weight"
                                : !job.servers.empty() ? "servers"
                                                       : "";
        if (!isShared && !key.empty())
        {
            throw ConfigurationError(name + key + " with collective " + cluster.algorithm +
                                     " (allowed: with " + GetSharedSystems() + ")");
        }
        if (isShared && job.training.gradientPriority != TrainingRunOptions().gradientPriority)
        {
            throw ConfigurationError(name + "gradient-priority=" + job.training.gradientPriority +
                                     " with sums in switches (allowed: with collectives of hosts)");
        }
        if (job.training.cluster.ranks == 0 && !IsTraceFile(job.training.workload))
        {
            throw ConfigurationError(name + "0 ranks (allowed: 1 and more)");
        }
        for (uint32_t host : job.hosts)
        {
            if (host >= cluster.ranks)
            {
                throw ConfigurationError(name + "host " + std::to_string(host) +
                                         " (allowed: 0 to " + std::to_string(cluster.ranks - 1) +
                                         ")");
            }
        }
        if (job.priority && !cluster.GetTransport().hasPriorities)
        {
            throw ConfigurationError(name + "priority with transport " + cluster.transport +
                                     " (allowed: with rdma)");
        }
    }
}

} // namespace

SharedRunResult
RunShared(const SharedRunOptions& options)
{
    CheckShared(options);
    return SharedSimulation(options).Run();
}

SharedRunResult
RunAlone(const SharedRunOptions& options, std::size_t job, const std::vector<uint32_t>& hosts)
{
    SharedRunOptions alone;
    alone.cluster = options.cluster;
    alone.jobs = {options.jobs.at(job)};
    alone.isReal = options.isReal;
    alone.gradients = options.gradients;
    alone.firstNumber = options.firstNumber + static_cast<uint32_t>(job);
    alone.cluster.background = ClusterOptions().background;
    alone.jobs[0].arrival = Time(0);
    alone.jobs[0].placement = "list";
    alone.jobs[0].hosts = hosts;
    return RunShared(alone);
}

} // namespace ns3::training
