/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/repeated-runs.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"

namespace ns3::training
{

void
RepeatedRuns::AddTo(ProgramOptions& options)
{
    g_latest = this;
    options.AddUnsigned("runs",
                        "runs with the numbers --RngRun, --RngRun + 1, ...; gives means and their "
                        "95 % confidence intervals",
                        m_count,
                        1,
                        MAX_RUNS);
}

void
RepeatedRuns::Check(const ProgramOptions& options, const std::vector<std::string>& excluded) const
{
    if (m_count == 1)
    {
        return;
    }
    const std::string option = "--runs=" + std::to_string(m_count) + " with ";
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError(option + "several processes (allowed: one)");
    }
    for (const std::string& name : excluded)
    {
        if (options.IsGiven(name))
        {
            throw ConfigurationError(option + "--" + name + " (allowed: without)");
        }
    }
}

const RepeatedRuns* RepeatedRuns::g_latest = nullptr;

RepeatedRuns::~RepeatedRuns()
{
    g_latest = nullptr;
}

std::string
RepeatedRuns::GetOptionOfOne()
{
    return !g_latest ? "--RngRun" : g_latest->m_count == 1 ? "--runs" : "";
}

uint64_t
RepeatedRuns::GetCount() const
{
    return m_count;
}

void
RepeatedRuns::ForEach(const std::function<bool(uint64_t run)>& work) const
{
    const uint64_t first = RngSeedManager::GetRun();
    for (uint64_t i = 0; i < m_count; i++)
    {
        RngSeedManager::SetRun(first + i);
        if (!work(first + i))
        {
            break;
        }
    }
    RngSeedManager::SetRun(first);
}

} // namespace ns3::training
