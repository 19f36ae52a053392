/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-job.h"

#include "ns3/callback.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingJob");

TrainingJob::TrainingJob(uint32_t ranks, uint32_t iterations, uint32_t warmup, double busBytes)
    : m_ranks(ranks),
      m_iterations(iterations),
      m_statistics(ranks, warmup)
{
    NS_LOG_FUNCTION(this << ranks << iterations << warmup);
    m_statistics.SetBusBytes(busBytes);
    m_statistics.OnComplete([this](const IterationRecord& record) { FindPath(record); });
}

TrainingJob::~TrainingJob()
{
    NS_LOG_FUNCTION(this);
    for (const auto& [rank, application] : m_applications)
    {
        application->TraceDisconnectWithoutContext(
            "CollectiveDone",
            MakeCallback(&TrainingJob::CollectiveDone, this));
        application->TraceDisconnectWithoutContext("Arrival",
                                                   MakeCallback(&TrainingJob::Arrived, this));
        application->TraceDisconnectWithoutContext(
            "IterationEnd",
            MakeCallback(&TrainingJob::IterationEnded, this));
        application->TraceDisconnectWithoutContext("Finished",
                                                   MakeCallback(&TrainingJob::RankFinished, this));
    }
}

void
TrainingJob::Observe(Ptr<TrainingApplication> application)
{
    NS_LOG_FUNCTION(this << application);
    m_applications[application->GetRank()] = application;
    if (m_checker)
    {
        m_checker->SetReporters(static_cast<uint32_t>(m_applications.size()));
    }
    application->TraceConnectWithoutContext("CollectiveDone",
                                            MakeCallback(&TrainingJob::CollectiveDone, this));
    application->TraceConnectWithoutContext("Arrival", MakeCallback(&TrainingJob::Arrived, this));
    application->TraceConnectWithoutContext("IterationEnd",
                                            MakeCallback(&TrainingJob::IterationEnded, this));
    application->TraceConnectWithoutContext("Finished",
                                            MakeCallback(&TrainingJob::RankFinished, this));
}

void
TrainingJob::SetLowerBound(double seconds)
{
    m_statistics.SetLowerBound(seconds);
}

void
TrainingJob::SetReference(std::size_t collectives, SumChecker::Inputs inputs, Reference reference)
{
    NS_LOG_FUNCTION(this);
    m_checker = std::make_unique<SumChecker>(m_ranks, std::move(inputs), std::move(reference));
    m_checker->SetReporters(static_cast<uint32_t>(m_applications.size()));
    m_statistics.SetExpectedSums(uint64_t{m_ranks} * collectives);
}

void
TrainingJob::SetAlternative(Reference alternative)
{
    m_checker->SetAlternative(std::move(alternative));
}

void
TrainingJob::OnExpectedSum(SumChecker::Listener listener)
{
    m_checker->OnExpected(std::move(listener));
}

void
TrainingJob::SetChecker(std::unique_ptr<GraphChecker> checker)
{
    NS_LOG_FUNCTION(this);
    m_graphChecker = std::move(checker);
    m_statistics.SetVerifier([this] {
        return m_graphChecker->GetMismatch().empty() && m_graphChecker->GetChecked() > 0;
    });
}

const std::vector<PathStep>&
TrainingJob::GetCriticalPath() const
{
    return m_path;
}

void
TrainingJob::FindPath(const IterationRecord& record)
{
    const auto found = m_marks.find(record.iteration);
    if (found != m_marks.end())
    {
        m_path = FindCriticalPath(found->second, Seconds(record.startS));
        m_marks.erase(found);
    }
    if (m_complete)
    {
        m_complete(record);
    }
}

void
TrainingJob::OnIterationComplete(IterationStatistics::Complete callback)
{
    NS_LOG_FUNCTION(this);
    m_complete = std::move(callback);
}

void
TrainingJob::OnRanksFinished(std::function<void()> callback)
{
    NS_LOG_FUNCTION(this);
    m_ranksFinished = std::move(callback);
}

void
TrainingJob::Suspend()
{
    NS_LOG_FUNCTION(this);
    m_isSuspended = true;
}

void
TrainingJob::Rewind(uint32_t first)
{
    NS_LOG_FUNCTION(this << first);
    m_isSuspended = false;
    m_finished = 0;
    m_marks.clear();
    m_statistics.Rewind(first);
    if (m_checker)
    {
        m_checker->Clear();
    }
    if (m_graphChecker)
    {
        m_graphChecker->Clear();
    }
}

void
TrainingJob::BeginAt(Time start)
{
    m_statistics.BeginAt(start);
}

std::string
TrainingJob::Pack()
{
    ByteWriter writer;
    writer(GetMismatch(), m_end);
    m_statistics.Pack(writer);
    return writer.GetText();
}

void
TrainingJob::Merge(const std::string& packed)
{
    NS_LOG_FUNCTION(this << packed.size());
    ByteReader reader(packed.data(), packed.size());
    const auto mismatch = reader.Next<std::string>();
    if (m_checker)
    {
        m_checker->AddMismatch(mismatch);
    }
    m_end = std::max(m_end, reader.Next<Time>());
    m_statistics.Merge(reader);
}

bool
TrainingJob::IsFinished() const
{
    return GetResults().size() == m_iterations;
}

Time
TrainingJob::GetEnd() const
{
    return m_end;
}

const std::vector<IterationRecord>&
TrainingJob::GetResults() const
{
    return m_statistics.GetRecords();
}

std::string
TrainingJob::GetMismatch() const
{
    if (m_graphChecker)
    {
        return m_graphChecker->GetMismatch();
    }
    return m_checker ? m_checker->GetMismatch() : "";
}

void
TrainingJob::CollectiveDone(uint32_t rank,
                            uint32_t iteration,
                            uint32_t collective,
                            Ptr<const Tensor> result)
{
    NS_LOG_FUNCTION(this << rank << iteration << collective);
    if (!m_checker || m_isSuspended)
    {
        return;
    }
    const bool isRight = m_checker->Check(rank, iteration, collective, *result);
    m_statistics.AddSum(iteration, isRight);
    if (!isRight)
    {
        NS_LOG_WARN(m_checker->GetMismatch());
    }
}

void
TrainingJob::Arrived(uint32_t rank,
                     const GraphTask& task,
                     uint64_t number,
                     Ptr<const Tensor> result)
{
    if (m_graphChecker && !m_isSuspended && !m_graphChecker->Check(rank, task, number, *result))
    {
        NS_LOG_WARN(m_graphChecker->GetMismatch());
    }
}

void
TrainingJob::IterationEnded(uint32_t rank, uint32_t iteration, const RankIteration& measured)
{
    NS_LOG_FUNCTION(this << rank << iteration);
    if (m_isSuspended)
    {
        return;
    }
    m_marks[iteration] = m_applications.at(rank)->GetLastMark(); // the last one stays
    m_statistics.AddRank(iteration, measured);
}

void
TrainingJob::RankFinished(uint32_t rank)
{
    NS_LOG_FUNCTION(this << rank);
    if (m_isSuspended)
    {
        return;
    }
    m_end = Simulator::Now();
    if (++m_finished == m_applications.size() && m_ranksFinished)
    {
        m_ranksFinished();
    }
}

} // namespace ns3::training
