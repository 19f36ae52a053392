/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-outputs.h"

#include "json-output.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <utility>

namespace ns3::training
{

namespace
{

RunOutputs* g_current = nullptr;

} // namespace

RunOutputs::RunOutputs(const RunFilesOptions& options, std::string program)
    : m_options(options),
      m_program(std::move(program))
{
    if (Processes::GetId() != 0)
    {
        return;
    }
    if (!m_options.results.empty())
    {
        ResultStore::Check(m_options.results);
    }
    if (!m_options.report.empty())
    {
        m_report = std::make_unique<RunReport>(m_options.report, m_options.results);
    }
    if (!m_options.trace.empty())
    {
        m_timeline = std::make_unique<TimelineTrace>(m_options.trace);
    }
}

RunOutputs::~RunOutputs()
{
    if (g_current == this)
    {
        g_current = nullptr;
    }
}

RunOutputs*
RunOutputs::GetCurrent()
{
    return g_current;
}

void
RunOutputs::MakeCurrent(const JsonValue& configuration)
{
    m_configuration = configuration;
    g_current = this;
}

std::string
RunOutputs::GetConfiguration(const Cluster& cluster) const
{
    const ClusterOptions& options = cluster.GetOptions();
    return training::GetConfiguration(m_configuration,
                                      cluster,
                                      {{"ranks", options.ranks},
                                       {"topology", options.topology},
                                       {"rate", FormatRate(options.rate)},
                                       {"transport", options.transport}})
        .Write();
}

std::string
RunOutputs::GetConfiguration(const JsonValue& resolved) const
{
    auto configuration = m_configuration;
    configuration.Set("resolved", resolved);
    return configuration.Write();
}

std::unique_ptr<ResultStore>
RunOutputs::OpenStore(const std::string& configuration)
{
    const std::string results = m_report ? m_report->GetResults() : m_options.results;
    if (Processes::GetId() != 0 || results.empty())
    {
        return nullptr;
    }
    auto store = std::make_unique<ResultStore>(
        results,
        RunRow{m_program, GetVersion(), RngSeedManager::GetRun(), configuration});
    for (const InputRow& row : InputRow::List())
    {
        store->Add(row);
    }
    if (m_report)
    {
        m_report->Add(store->GetRunId());
    }
    return store;
}

std::unique_ptr<RunSampler>
RunOutputs::Sample(const Cluster& cluster, ResultStore* store) const
{
    const bool isWanted = m_options.sample.IsStrictlyPositive() || m_report;
    return isWanted && Processes::GetCount() == 1
               ? std::make_unique<RunSampler>(cluster, m_options.sample, store, m_timeline.get())
               : nullptr;
}

void
RunOutputs::Complete()
{
    if (m_timeline)
    {
        m_timeline->Close();
    }
    if (m_report)
    {
        m_report->Write();
    }
}

} // namespace ns3::training
