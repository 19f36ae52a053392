/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "work-estimate.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace ns3::training
{

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

WorkEstimate::WorkEstimate(const TrainingRunOptions& options)
    : m_iterations(options.warmup + options.iterations)
{
    // Derived collectives have no packets.
    if (isatty(STDERR_FILENO) && options.repeat != "derive")
    {
        try
        {
            m_check = CheckJob(options);
        }
        catch (const ConfigurationError&)
        {
            // A file, whose ranks may do different steps: known after an iteration.
        }
    }
}

std::string
WorkEstimate::Describe() const
{
    const auto times = static_cast<double>(m_iterations);
    if (!m_check || m_check->cpuSeconds * times < LONG_SECONDS)
    {
        return "";
    }
    char text[200];
    std::snprintf(text,
                  sizeof(text),
                  "estimate: %.3g packet-hops, %.0f s of CPU, %.0f MiB for %llu iterations "
                  "(--check has more)",
                  m_check->packetHops * times,
                  m_check->cpuSeconds * times,
                  m_check->memoryOfRun,
                  static_cast<unsigned long long>(m_iterations));
    return text;
}

double
WorkEstimate::GetFraction(const TrainingRun& run)
{
    const auto total = static_cast<double>(m_iterations);
    const double complete = std::round(run.GetProgress() * total);
    const auto hops = static_cast<double>(run.GetCluster().GetFabric().GetPacketHops());
    if (complete > m_complete)
    {
        m_complete = complete;
        m_completeHops = hops;
    }
    const double expected = m_complete > 0 ? m_completeHops / m_complete
                            : m_check      ? m_check->packetHops
                                           : 0;
    const double current = expected > 0 ? std::min(1.0, (hops - m_completeHops) / expected) : 0;
    m_fraction = std::max(m_fraction, std::min(1.0, (m_complete + current) / total));
    return m_fraction;
}

} // namespace ns3::training
