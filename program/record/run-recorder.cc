/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-recorder.h"

#include "ns3/iteration-statistics.h"

#include <functional>
#include <utility>

namespace ns3::training
{

RunRecorder::RunRecorder(const Cluster& cluster,
                         ResultStore* store,
                         TimelineTrace* timeline,
                         bool keep,
                         std::set<uint32_t> traceRanks)
    : m_cluster(cluster),
      m_store(store),
      m_keep(keep),
      m_writer(store, timeline, std::move(traceRanks))
{
    if (!IsRecording())
    {
        return;
    }
    if (m_store)
    {
        m_links = std::make_unique<LinkRecorder>(cluster.GetFabric(), *m_store);
    }
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        m_observed.insert(cluster.GetCommunicator(rank));
        Connect(cluster.GetCommunicator(rank), cluster.GetHostCommunicator(rank));
        m_writer.Name(rank, "rank " + std::to_string(rank));
    }
    for (uint32_t host = 0; host < cluster.GetStorageHosts(); host++)
    {
        m_writer.Name(cluster.GetRanks() + host, "storage host " + std::to_string(host));
    }
}

RunRecorder::~RunRecorder()
{
    for (const auto& [collectives, messages] : m_connected)
    {
        collectives->TraceDisconnectWithoutContext("Collective",
                                                   MakeCallback(&RunRecorder::OnCollective, this));
        messages->TraceDisconnectWithoutContext("Send", MakeCallback(&RunRecorder::OnSend, this));
        messages->TraceDisconnectWithoutContext("Receive",
                                                MakeCallback(&RunRecorder::OnReceive, this));
    }
    for (const auto& application : m_applications)
    {
        application->TraceDisconnectWithoutContext(
            "ComputePhase",
            MakeCallback(&RunRecorder::OnComputePhase, this));
    }
}

void
RunRecorder::Connect(const Ptr<Communicator>& collectives, const Ptr<Communicator>& messages)
{
    m_connected.emplace_back(collectives, messages);
    collectives->TraceConnectWithoutContext("Collective",
                                            MakeCallback(&RunRecorder::OnCollective, this));
    messages->TraceConnectWithoutContext("Send", MakeCallback(&RunRecorder::OnSend, this));
    messages->TraceConnectWithoutContext("Receive", MakeCallback(&RunRecorder::OnReceive, this));
}

bool
RunRecorder::IsRecording() const
{
    return m_writer.HasFile() || m_keep;
}

void
RunRecorder::Observe(Ptr<TrainingApplication> application)
{
    if (!IsRecording())
    {
        return;
    }
    auto communicators = application->GetCommunicators();
    communicators.push_back(application->GetMessages());
    communicators.push_back(application->GetStorage());
    for (const auto& communicator : communicators)
    {
        if (communicator && m_observed.insert(communicator).second)
        {
            const auto offloading = DynamicCast<OffloadingCommunicator>(communicator);
            Connect(communicator,
                    offloading ? Ptr<Communicator>(offloading->GetHosts()) : communicator);
        }
    }
    m_applications.push_back(application);
    application->TraceConnectWithoutContext("ComputePhase",
                                            MakeCallback(&RunRecorder::OnComputePhase, this));
}

/** A trace source reports something now. */
void
RunRecorder::Take(const TraceReport& report)
{
    if (m_keep)
    {
        m_kept.Add(report);
        return;
    }
    m_periods.Add(report);
    m_writer.Write(m_periods.Continue(report), m_periods.HasRepeated());
}

void
RunRecorder::OnCollective(const CollectiveRecord& reported)
{
    CollectiveRecord record = reported;
    record.iteration = m_iteration.value_or(record.iteration);
    Take(record);
}

void
RunRecorder::OnSend(const MessageRecord& record)
{
    Take(SendRecord{record});
}

void
RunRecorder::OnReceive(const MessageRecord& record)
{
    Take(record);
}

void
RunRecorder::OnComputePhase(uint32_t rank,
                            uint32_t iteration,
                            const std::string& phase,
                            Time start,
                            Time end)
{
    Take(PhaseRecord{rank, iteration, phase, start, end});
}

void
RunRecorder::SetHosts(std::vector<uint32_t> hosts)
{
    m_writer.SetHosts(std::move(hosts));
}

void
RunRecorder::SetLayers(ReportWriter::LayerNames layers)
{
    m_writer.SetLayers(std::move(layers));
}

void
RunRecorder::BeginIteration(uint32_t iteration)
{
    m_iteration = iteration;
}

void
RunRecorder::OnIteration(uint32_t iteration)
{
    if (m_links && !m_keep)
    {
        m_links->AddIteration(iteration);
    }
}

void
RunRecorder::KeepPeriods()
{
    if (IsRecording())
    {
        m_periods.Begin();
    }
    if (m_links)
    {
        m_links->Keep(IterationStatistics::MAX_PERIOD);
    }
}

void
RunRecorder::EndPeriod()
{
    m_periods.End();
}

bool
RunRecorder::IsLike(uint32_t cycle)
{
    return m_periods.IsLike(cycle);
}

void
RunRecorder::RepeatPeriod(uint32_t iteration)
{
    if (!m_periods.IsKeeping())
    {
        return;
    }
    for (const TraceReport& report : m_periods.Repeat())
    {
        m_writer.Write(m_periods.Continue(report), m_periods.HasRepeated());
    }
    if (m_links)
    {
        m_links->Repeat(iteration, m_periods.GetCycle());
    }
}

void
RunRecorder::ForgetPeriods()
{
    m_periods.Forget();
}

void
RunRecorder::SkipTraffic()
{
    if (m_links)
    {
        m_links->Skip();
    }
}

void
RunRecorder::WriteKept()
{
    if (m_keep)
    {
        const auto write = [this](const TraceReport& report) { m_writer.Write(report, false); };
        m_kept.Gather(m_writer.HasFile() ? write : std::function<void(const TraceReport&)>());
    }
}

void
RunRecorder::Finish(const RunFigures* figures)
{
    WriteKept();
    m_writer.Finish();
    if (m_links)
    {
        m_links->Finish();
    }
    RunFigures made;
    if (!figures)
    {
        made.AddAll({m_cluster});
        figures = &made;
    }
    if (m_store)
    {
        figures->AddTo(*m_store);
    }
}

} // namespace ns3::training
