/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-files.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <sstream>

namespace ns3::training
{

void
RunFilesOptions::AddTo(ProgramOptions& options)
{
    options.AddOutput("results", "SQLite file to which the run is added", results, OutputKind::ANY);
    options.AddOutput(
        "trace",
        "file for a timeline, to be opened in ui.perfetto.dev; compressed if its name "
        "ends with .gz",
        trace,
        OutputKind::TIMELINE);
    options.AddString("trace-ranks",
                      "ranks in the timeline, such as 0-3,8; empty: all",
                      traceRanks);
    options.AddTime("sample",
                    "interval of samples of queues, pauses, utilization, rates, windows and slots "
                    "for --results and --trace; 0: none",
                    sample);
}

std::set<uint32_t>
RunFilesOptions::Check(uint64_t ranks) const
{
    const std::string interval = FormatTime(sample);
    if (sample.IsStrictlyPositive() && results.empty() && trace.empty())
    {
        throw ConfigurationError("sample",
                                 interval,
                                 " without results and trace (allowed: with one of them)");
    }
    if (sample.IsStrictlyPositive() && Processes::GetCount() > 1)
    {
        throw ConfigurationError("sample",
                                 interval,
                                 " with several processes (allowed: one, as none sees all ports)");
    }
    if (!traceRanks.empty() && trace.empty())
    {
        throw ConfigurationError("trace-ranks", traceRanks, " without trace (allowed: with it)");
    }
    std::set<uint32_t> chosen;
    std::istringstream stream(traceRanks.empty() ? "" : traceRanks + ",");
    for (std::string part; std::getline(stream, part, ',');)
    {
        const auto dash = part.find('-');
        const auto first = ParseUnsigned(part.substr(0, dash));
        const auto last = dash == std::string::npos ? first : ParseUnsigned(part.substr(dash + 1));
        if (!first || !last || *first > *last || *last >= ranks)
        {
            throw ConfigurationError("trace-ranks",
                                     traceRanks,
                                     " (allowed: ranks below " + std::to_string(ranks) +
                                         " and ranges of them, such as 0-3,8)");
        }
        for (uint64_t rank = *first; rank <= *last; rank++)
        {
            chosen.insert(static_cast<uint32_t>(rank));
        }
    }
    return chosen;
}

RunFiles::RunFiles(const RunFilesOptions& options,
                   const Cluster& cluster,
                   const std::string& program,
                   const std::string& configuration)
{
    const auto ranks = options.Check(cluster.GetRanks());
    const bool writes = Processes::GetId() == 0;
    if (writes && !options.results.empty())
    {
        m_store = std::make_unique<ResultStore>(
            options.results,
            RunRow{program, GetVersion(), RngSeedManager::GetRun(), configuration});
    }
    if (writes && !options.trace.empty())
    {
        m_timeline = std::make_unique<TimelineTrace>(options.trace);
    }
    const bool isWanted = !options.results.empty() || !options.trace.empty();
    m_recorder = std::make_unique<RunRecorder>(cluster,
                                               m_store.get(),
                                               m_timeline.get(),
                                               Processes::GetCount() > 1 && isWanted,
                                               ranks);
    if (options.sample.IsStrictlyPositive())
    {
        m_sampler =
            std::make_unique<RunSampler>(cluster, options.sample, m_store.get(), m_timeline.get());
    }
}

void
RunFiles::AddIteration(const IterationRecord& record)
{
    m_recorder->OnIteration(record.iteration);
    if (m_store)
    {
        m_store->AddIteration(record);
    }
    if (m_timeline)
    {
        m_timeline->Flush();
    }
}

void
RunFiles::DropIterations(uint32_t first)
{
    m_recorder->SkipTraffic();
    if (m_store)
    {
        m_store->DropIterations(first);
    }
}

void
RunFiles::AddLife(const LifeFigures& life)
{
    if (m_store)
    {
        for (const LifeRow& row : life.GetRows())
        {
            m_store->AddLife(row);
        }
    }
    if (!m_timeline)
    {
        return;
    }
    for (const LifeSpan& span : life.ledger.GetSpans())
    {
        m_timeline->AddLife(TimelineTrace::LIFE,
                            GetName(span.use),
                            span.start,
                            span.end,
                            JsonValue::Object()
                                .Set("iteration", span.iteration)
                                .Set("node", span.node)
                                .Set("detail", span.detail));
    }
    for (const CheckpointWrite& write : life.writes)
    {
        m_timeline->AddLife(TimelineTrace::WRITES,
                            "write",
                            write.start,
                            write.end,
                            JsonValue::Object().Set("iteration", write.iteration));
    }
}

void
RunFiles::Close(const std::string& failure)
{
    if (m_store)
    {
        failure.empty() ? m_store->Finish() : m_store->Fail(failure);
    }
    if (m_timeline)
    {
        m_timeline->Close();
    }
}

} // namespace ns3::training
