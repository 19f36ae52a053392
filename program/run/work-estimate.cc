/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/work-estimate.h"

#include "run/replica-images.h"
#include "run/switch-sums.h"

#include "ns3/nic-algorithm.h"
#include "ns3/rank-progress.h"
#include "ns3/shortest-paths.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <unistd.h>

namespace ns3::training
{

namespace
{

/// Messages whose routes are looked at.
constexpr std::size_t SAMPLES = 16;

/// Schedules with more actions are not counted.
constexpr uint64_t MOST_ACTIONS = 1 << 20;

/** @return the ends of messages to the next rank */
std::vector<std::pair<uint32_t, uint32_t>>
ListNeighbors(uint32_t ranks)
{
    std::vector<std::pair<uint32_t, uint32_t>> neighbors;
    for (uint32_t rank = 0; rank < ranks && ranks > 1; rank++)
    {
        neighbors.emplace_back(rank, (rank + 1) % ranks);
    }
    return neighbors;
}

/** @return payload of a collective of hosts, bytes */
double
GetPayload(const Cluster& cluster, CollectiveOperation operation, uint64_t bytes)
{
    const uint32_t ranks = cluster.GetRanks();
    const double least = static_cast<double>(bytes) * ranks * GetSentPart(operation, ranks);
    if (cluster.GetCodecs().IsInstalled() || IsInNic(cluster.GetOptions().algorithm))
    {
        return least;
    }
    const auto schedule = cluster.GetPlanner().Get(operation, bytes, 0);
    if (uint64_t{ranks} * schedule->GetActions(0) > MOST_ACTIONS)
    {
        return least;
    }
    double sum = 0;
    const double mtu = cluster.GetOptions().GetMtu();
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        for (uint32_t i = 0; i < schedule->GetActions(rank); i++)
        {
            const ScheduleAction action = schedule->Get(rank, i);
            if (action.kind != ScheduleAction::Kind::SEND)
            {
                continue;
            }
            double chunks = 0;
            action.ForEachChunk([&chunks](uint32_t) { chunks++; });
            const bool isOfPairs =
                action.isOfPairs || operation == CollectiveOperation::SEND_RECEIVE;
            const double part = static_cast<double>(bytes) * (isOfPairs ? ranks : 1) * chunks /
                                action.chunks / schedule->segments;
            sum += operation == CollectiveOperation::BARRIER
                       ? mtu
                       : std::max(1.0, std::ceil(part / mtu)) * mtu;
        }
    }
    return sum;
}

/** @return volume of an iteration of a job; none if it is not known, or not wanted */
WorkVolume
EstimateIteration(const TrainingRunOptions& options, const Cluster& cluster)
{
    if (!WorkEstimate::IsWanted())
    {
        return {};
    }
    JobCheck check;
    TrainingRunOptions known = options;
    known.cluster.images = cluster.GetOptions().images;
    try
    {
        check = CheckJob(known);
    }
    catch (const ConfigurationError&)
    {
        return {}; // a file, whose ranks may do different steps: known after an iteration
    }
    return {check.packetHops, check.payload, check.tasks, check.cpuSeconds};
}

} // namespace

JobCheck
CheckJob(const TrainingRunOptions& options)
{
    const ParallelJobOptions model = options.GetModel();
    TrainingRunOptions workload = options;
    // The chunks of NCCL's choices keep micro-batches apart, and switches may sum for groups.
    const bool repeats = options.cluster.algorithm != "nccl";
    const bool isQuiet =
        options.collectives == "derive" && options.cluster.transport == "rdma" && repeats;
    const WorkShortcuts shortcuts{options.DerivesCollectives() || isQuiet,
                                  isQuiet,
                                  options.microBatches == "derive" && repeats};
    if (options.replicas == "derive" && options.cluster.images.GetCount() == 1)
    {
        const JobPlan plan = MakeJobPlan(workload);
        workload.cluster.images = FindImages(workload, plan);
    }
    if (!model.HasTransformer())
    {
        return CheckJob(MakeJobPlan(workload), workload.cluster, shortcuts);
    }
    const auto plan = model.MakePlan(options.cluster.ranks);
    const TransformerRates rates = model.GetRates(options.gpu, options.computeScale);
    JobCheck check = CheckJob(plan, rates, workload.cluster, shortcuts);
    check.measured = DescribeMeasured(*plan, rates);
    check.expectedParameters = model.GetExpectedParameters();
    return check;
}

double
EstimateMessages(const Cluster& cluster,
                 const std::vector<std::pair<uint32_t, uint32_t>>& ends,
                 double bytes)
{
    ShortestPaths paths(cluster.GetTopology());
    double links = 0;
    double count = 0;
    const std::size_t step = (ends.size() + SAMPLES - 1) / SAMPLES;
    for (std::size_t i = 0; i < ends.size(); i += step)
    {
        paths.Search(ends[i].second);
        links += paths.GetPaths()[ends[i].first].links;
        count++;
    }
    return count > 0 ? bytes / cluster.GetOptions().GetMtu() * links / count : 0;
}

WorkVolume
EstimateCollectives(const Cluster& cluster,
                    CollectiveOperation operation,
                    const std::vector<uint64_t>& sizes)
{
    WorkVolume volume;
    const double all = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    std::vector<uint32_t> ranks(cluster.GetRanks());
    std::iota(ranks.begin(), ranks.end(), 0);
    if (const auto sums = SwitchSums(cluster.GetOptions(), cluster.GetTopology())
                              .Find(operation, ranks, all / sizes.size()))
    {
        const double hops = ranks.size() * sums->GetHops() * sizes.size();
        return {
            hops,
            ranks.size() * all,
            0,
            EstimateRunCost(hops * sums->sumCost, ranks.size(), cluster.GetOptions().transport, 0)
                .cpuSeconds};
    }
    for (uint64_t bytes : sizes)
    {
        volume.bytes += GetPayload(cluster, operation, bytes);
    }
    volume.packetHops = EstimateMessages(cluster, ListNeighbors(cluster.GetRanks()), volume.bytes);
    return volume;
}

bool
WorkEstimate::IsWanted()
{
    return isatty(STDERR_FILENO);
}

WorkEstimate::WorkEstimate(double work,
                           const WorkVolume& volume,
                           const ClusterOptions& cluster,
                           const std::string& what)
    : m_work(work),
      m_volume(volume),
      m_cost(EstimateRunCost(work * volume.packetHops,
                             cluster.ranks,
                             cluster.transport,
                             volume.tasks)),
      m_skips(cluster.steadyState != "simulate" && volume.cpuSeconds == 0),
      m_codes(cluster.codec != ClusterOptions().codec),
      m_what(what)
{
    m_cost.cpuSeconds = volume.cpuSeconds > 0 ? work * volume.cpuSeconds : m_cost.cpuSeconds;
}

WorkEstimate::WorkEstimate(const TrainingRunOptions& options, const Cluster& cluster)
    : WorkEstimate(static_cast<double>(options.warmup + options.iterations),
                   EstimateIteration(options, cluster),
                   options.cluster,
                   std::to_string(options.warmup + options.iterations) +
                       " iterations (--check has more)")
{
    m_skips = m_skips || options.repeat == "derive";
}

std::string
WorkEstimate::Describe() const
{
    if (m_cost.cpuSeconds < LONG_SECONDS)
    {
        return "";
    }
    char text[100];
    std::snprintf(text,
                  sizeof(text),
                  "estimate: %s%.3g packet-hops, %s%.0f s of CPU, %.0f MiB for ",
                  m_codes ? "up to " : "",
                  m_work * m_volume.packetHops,
                  m_skips || m_codes ? "up to " : "",
                  m_cost.cpuSeconds,
                  m_cost.peakMemoryMebibytes);
    return text + m_what;
}

void
WorkEstimate::Show() const
{
    const std::string text = Describe();
    if (!text.empty() && IsWanted() && Processes::GetId() == 0)
    {
        std::cerr << text << std::endl;
    }
}

double
WorkEstimate::GetFraction(double complete, double next, double bytes)
{
    if (complete > m_complete)
    {
        m_complete = complete;
        m_completeBytes = bytes;
    }
    const double expected = m_complete > 0 ? m_completeBytes / m_complete : m_volume.bytes;
    const double current = expected > 0 ? std::min(next, (bytes - m_completeBytes) / expected) : 0;
    m_fraction = std::max(m_fraction, std::min(1.0, (m_complete + current) / m_work));
    return m_fraction;
}

double
WorkEstimate::GetFraction(const TrainingRun& run)
{
    const ClusterOptions& options = run.GetCluster().GetOptions();
    const auto derived =
        static_cast<double>(run.GetDerivedPackets() / options.images.GetCount() * options.GetMtu());
    return GetFraction(std::round(run.GetProgress() * m_work),
                       1,
                       GetRankProgress(run.GetCluster()).bytes + derived);
}

} // namespace ns3::training
