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

#include <limits>
#include <memory>
#include <sstream>
#include <utility>

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
                    "for --results, --trace and --report; 0: none, with --report chosen by it",
                    sample);
    options.AddOutput("report",
                      "page (HTML) that shows what limits the run: iterations, critical path, "
                      "timelines, links, queues",
                      report,
                      OutputKind::PAGE);
}

bool
RunFilesOptions::IsGiven() const
{
    return !results.empty() || !trace.empty() || !report.empty();
}

std::set<uint32_t>
RunFilesOptions::Check(uint64_t ranks) const
{
    const std::string interval = FormatTime(sample);
    if (!report.empty())
    {
        ReportPage::Check(report);
    }
    if (sample.IsStrictlyPositive() && !IsGiven())
    {
        throw ConfigurationError("sample",
                                 interval,
                                 " without results, trace and report (allowed: with one of them)");
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

namespace
{

RunOutputs* g_current = nullptr;

/** @return the files of a simulation of so many ranks; none is opened if an option is refused */
std::unique_ptr<RunOutputs>
MakeOutputs(const RunFilesOptions& options, const std::string& program, uint64_t ranks)
{
    options.Check(ranks);
    return std::make_unique<RunOutputs>(options, program);
}

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
    return GetConfiguration(JsonValue::Object()
                                .Set("ranks", options.ranks)
                                .Set("topology", options.topology)
                                .Set("rate", FormatRate(options.rate))
                                .Set("transport", options.transport)
                                .Set("congestion-control", cluster.GetOptions().congestionControl)
                                .Set("algorithm", cluster.GetPlan().GetAlgorithm()));
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
    if (m_report)
    {
        m_report->Add(store->GetRunId());
    }
    return store;
}

std::set<uint32_t>
RunOutputs::GetTraceRanks(const Cluster& cluster) const
{
    return m_options.Check(cluster.GetRanks());
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

RunFiles::RunFiles(const RunFilesOptions& options,
                   const Cluster& cluster,
                   const std::string& program,
                   const std::string& configuration)
    : m_own(MakeOutputs(options, program, cluster.GetRanks())),
      m_outputs(*m_own)
{
    OpenStore(configuration, cluster.GetRanks());
    Record(cluster);
}

RunFiles::RunFiles(RunOutputs& outputs, const Cluster& cluster)
    : m_outputs(outputs)
{
    OpenStore(outputs.GetConfiguration(cluster), std::numeric_limits<uint32_t>::max());
    if (outputs.m_timeline)
    {
        outputs.m_timeline->BeginSimulation();
    }
    Record(cluster);
}

RunFiles::RunFiles(const RunFilesOptions& options,
                   const Fabric& fabric,
                   const std::string& program,
                   const std::string& configuration)
    : m_own(MakeOutputs(options, program, fabric.topology.hosts)),
      m_outputs(*m_own)
{
    OpenStore(configuration, fabric.topology.hosts);
    Record(fabric);
}

RunFiles::RunFiles(RunOutputs& outputs, const Fabric& fabric, const JsonValue& resolved)
    : m_outputs(outputs)
{
    OpenStore(outputs.GetConfiguration(resolved), std::numeric_limits<uint32_t>::max());
    if (outputs.m_timeline)
    {
        outputs.m_timeline->BeginSimulation();
    }
    Record(fabric);
}

RunFiles
RunFiles::Open(const RunFilesOptions& options,
               const Cluster& cluster,
               const std::string& program,
               const std::string& configuration)
{
    if (RunOutputs* outputs = RunOutputs::GetCurrent())
    {
        return RunFiles(*outputs, cluster);
    }
    return RunFiles(options, cluster, program, configuration);
}

void
RunFiles::OpenStore(const std::string& configuration, uint64_t ranks)
{
    m_traceRanks = m_outputs.m_options.Check(ranks);
    m_store = m_outputs.OpenStore(configuration);
}

void
RunFiles::Record(const Cluster& cluster)
{
    m_fabric = &cluster.GetFabric();
    const RunFilesOptions& options = m_outputs.m_options;
    TimelineTrace* timeline = m_outputs.m_timeline.get();
    m_recorder = std::make_unique<RunRecorder>(cluster,
                                               m_store.get(),
                                               timeline,
                                               Processes::GetCount() > 1 && options.IsGiven(),
                                               m_traceRanks);
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        m_named.insert(rank);
    }
    m_sampler = m_outputs.Sample(cluster, m_store.get());
}

void
RunFiles::Record(const Fabric& fabric)
{
    m_fabric = &fabric;
    const Time interval = m_outputs.m_options.sample;
    TimelineTrace* timeline = m_outputs.m_timeline.get();
    if (m_store)
    {
        m_links = std::make_unique<LinkRecorder>(fabric, *m_store);
    }
    if (interval.IsStrictlyPositive() || m_outputs.m_report)
    {
        m_sampler = std::make_unique<RunSampler>(fabric, interval, m_store.get(), timeline);
    }
}

void
RunFiles::AddIteration(const IterationRecord& record)
{
    if (m_recorder && !record.derived) // otherwise RunRecorder::RepeatPeriod() does it
    {
        m_recorder->OnIteration(record.iteration);
    }
    else if (m_links)
    {
        m_links->AddIteration(record.iteration);
    }
    if (m_store)
    {
        m_store->AddIteration(record);
    }
    if (m_outputs.m_timeline)
    {
        m_outputs.m_timeline->Flush();
    }
}

uint32_t
RunFiles::Draw(uint32_t rank,
               TimelineTrace::Track track,
               const std::string& name,
               Time start,
               Time end)
{
    TimelineTrace& timeline = *m_outputs.m_timeline;
    if (m_named.insert(rank).second)
    {
        timeline.AddProcess(rank, "rank " + std::to_string(rank));
    }
    return timeline.Complete(rank, track, name, start, end);
}

void
RunFiles::AddMessage(MessageRow row, Time start, Time end)
{
    row.startS = start.GetSeconds();
    row.endS = end.GetSeconds();
    if (m_store)
    {
        m_store->Add(row);
    }
    const auto isDrawn = [this](uint32_t rank) {
        return m_outputs.m_timeline && (m_traceRanks.empty() || m_traceRanks.count(rank) > 0);
    };
    const std::string what = "message of " + std::to_string(row.bytes) + " bytes ";
    TimelineTrace::ArrowEnd from{row.source, 0};
    TimelineTrace::ArrowEnd to{row.destination, 0};
    if (isDrawn(row.source))
    {
        from.thread = Draw(row.source,
                           TimelineTrace::SENT,
                           what + "to rank " + std::to_string(row.destination),
                           start,
                           end);
    }
    if (isDrawn(row.destination))
    {
        to.thread = Draw(row.destination,
                         TimelineTrace::STEPS,
                         what + "from rank " + std::to_string(row.source),
                         start,
                         end);
    }
    if (from.thread > 0 && to.thread > 0)
    {
        m_outputs.m_timeline->AddArrow(from, to, start);
    }
}

void
RunFiles::AddCollective(CollectiveRow row, Time start, Time end)
{
    row.startS = start.GetSeconds();
    row.turnS = row.startS;
    row.endS = end.GetSeconds();
    if (m_store)
    {
        m_store->Add(row);
    }
    if (m_outputs.m_timeline && (m_traceRanks.empty() || m_traceRanks.count(row.rank) > 0))
    {
        Draw(row.rank,
             TimelineTrace::COLLECTIVES,
             row.operation + " " + std::to_string(row.sequence),
             start,
             end);
    }
}

void
RunFiles::Finish(const SimulationRow& derived)
{
    if (m_store)
    {
        SimulationRow row = derived;
        row.packetHops = m_fabric->GetPacketHops();
        row.skippedHops += m_fabric->skippedHops;
        m_store->Add(row);
    }
    if (m_recorder)
    {
        m_recorder->Finish();
    }
    if (m_links)
    {
        m_links->Finish();
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
            m_store->Add(row);
        }
    }
    TimelineTrace* timeline = m_outputs.GetTimeline();
    if (!timeline)
    {
        return;
    }
    for (const LifeSpan& span : life.ledger.GetSpans())
    {
        timeline->AddLife(TimelineTrace::LIFE,
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
        timeline->AddLife(TimelineTrace::WRITES,
                          "write",
                          write.start,
                          write.end,
                          JsonValue::Object().Set("iteration", write.iteration));
    }
}

void
RunFiles::Close(const std::string& failure)
{
    m_sampler.reset();
    if (m_store)
    {
        failure.empty() ? m_store->Finish() : m_store->Fail(failure);
    }
    if (m_own)
    {
        m_own->Complete();
    }
}

} // namespace ns3::training
