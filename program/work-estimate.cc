/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "work-estimate.h"

#include "ns3/in-network-system.h"
#include "ns3/nic-algorithm.h"
#include "ns3/shortest-paths.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <unistd.h>

namespace ns3::training
{

namespace
{

/// Messages whose routes are looked at.
constexpr std::size_t SAMPLES = 16;

/** @return packet-hops of an iteration of a job; 0: not known, or not wanted */
double
EstimateIteration(const TrainingRunOptions& options)
{
    // Derived collectives have no packets.
    if (!WorkEstimate::IsWanted() || options.repeat == "derive")
    {
        return 0;
    }
    try
    {
        return CheckJob(options).packetHops;
    }
    catch (const ConfigurationError&)
    {
        return 0; // a file, whose ranks may do different steps: known after an iteration
    }
}

} // namespace

JobCheck
CheckJob(const TrainingRunOptions& options)
{
    const ParallelJobOptions model = options.GetModel();
    TrainingRunOptions workload = options;
    return model.HasTransformer() ? CheckJob(model.MakePlan(options.cluster.ranks),
                                             model.GetRates(options.gpu, options.computeScale),
                                             options.cluster)
                                  : CheckJob(MakeJobPlan(workload), options.cluster);
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
    return count > 0 ? bytes / cluster.GetMtu() * links / count : 0;
}

double
EstimateCollective(const Cluster& cluster, CollectiveOperation operation, double bytes)
{
    const ClusterOptions& options = cluster.GetOptions();
    if (IsInNetwork(options.algorithm) || IsInNic(options.algorithm) ||
        options.nic != ClusterOptions().nic || options.codec != ClusterOptions().codec)
    {
        return 0;
    }
    const uint32_t ranks = cluster.GetRanks();
    std::vector<std::pair<uint32_t, uint32_t>> neighbors;
    for (uint32_t rank = 0; rank < ranks && ranks > 1; rank++)
    {
        neighbors.emplace_back(rank, (rank + 1) % ranks);
    }
    return EstimateMessages(cluster, neighbors, bytes * ranks * GetSentPart(operation, ranks));
}

bool
WorkEstimate::IsWanted()
{
    return isatty(STDERR_FILENO);
}

WorkEstimate::WorkEstimate(double work,
                           double packetHops,
                           const ClusterOptions& cluster,
                           const std::string& what)
    : m_work(work),
      m_packetHops(packetHops),
      m_cost(EstimateRunCost(work * packetHops, cluster.ranks, cluster.transport)),
      m_skips(cluster.steadyState == "skip"),
      m_what(what)
{
}

WorkEstimate::WorkEstimate(const TrainingRunOptions& options)
    : WorkEstimate(static_cast<double>(options.warmup + options.iterations),
                   EstimateIteration(options),
                   options.cluster,
                   std::to_string(options.warmup + options.iterations) +
                       " iterations (--check has more)")
{
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
                  "estimate: %.3g packet-hops, %s%.0f s of CPU, %.0f MiB for ",
                  m_work * m_packetHops,
                  m_skips ? "up to " : "",
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
WorkEstimate::GetFraction(double complete, double next, double hops)
{
    if (complete > m_complete)
    {
        m_complete = complete;
        m_completeHops = hops;
    }
    const double expected = m_complete > 0 ? m_completeHops / m_complete : m_packetHops;
    const double current = expected > 0 ? std::min(next, (hops - m_completeHops) / expected) : 0;
    m_fraction = std::max(m_fraction, std::min(1.0, (m_complete + current) / m_work));
    return m_fraction;
}

double
WorkEstimate::GetFraction(const TrainingRun& run)
{
    return GetFraction(std::round(run.GetProgress() * m_work),
                       1,
                       static_cast<double>(run.GetCluster().GetFabric().GetPacketHops()));
}

} // namespace ns3::training
