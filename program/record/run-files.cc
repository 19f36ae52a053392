/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-files.h"

#include "ns3/training-processes.h"

#include <limits>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return the files of a simulation of so many ranks; none is opened if an option is refused */
std::unique_ptr<RunOutputs>
MakeOutputs(const RunFilesOptions& options, const std::string& program, uint64_t ranks)
{
    options.Check(ranks);
    return std::make_unique<RunOutputs>(options, program);
}

} // namespace

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
    if (outputs.GetTimeline())
    {
        outputs.GetTimeline()->BeginSimulation();
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
    if (outputs.GetTimeline())
    {
        outputs.GetTimeline()->BeginSimulation();
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
    m_traceRanks = m_outputs.GetOptions().Check(ranks);
    m_store = m_outputs.OpenStore(configuration);
}

void
RunFiles::Record(const Cluster& cluster)
{
    m_fabric = &cluster.GetFabric();
    const RunFilesOptions& options = m_outputs.GetOptions();
    TimelineTrace* timeline = m_outputs.GetTimeline();
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
    const Time interval = m_outputs.GetOptions().sample;
    TimelineTrace* timeline = m_outputs.GetTimeline();
    if (m_store)
    {
        m_links = std::make_unique<LinkRecorder>(fabric, *m_store);
    }
    if (interval.IsStrictlyPositive() || m_outputs.HasReport())
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
    if (m_outputs.GetTimeline())
    {
        m_outputs.GetTimeline()->Flush();
    }
}

uint32_t
RunFiles::Draw(uint32_t rank,
               TimelineTrace::Track track,
               const std::string& name,
               Time start,
               Time end)
{
    TimelineTrace& timeline = *m_outputs.GetTimeline();
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
        return m_outputs.GetTimeline() && (m_traceRanks.empty() || m_traceRanks.count(rank) > 0);
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
        m_outputs.GetTimeline()->AddArrow(from, to, start);
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
    if (m_outputs.GetTimeline() && (m_traceRanks.empty() || m_traceRanks.count(row.rank) > 0))
    {
        Draw(row.rank,
             TimelineTrace::COLLECTIVES,
             row.operation + " " + std::to_string(row.sequence),
             start,
             end);
    }
}

void
RunFiles::Finish(const SimulationRow& derived, const RunFigures* figures)
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
        m_recorder->Finish(figures);
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
