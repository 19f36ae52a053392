/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-job.h"

#include "graph/shared-path.h"
#include "job/rank-execution.h"

#include "ns3/callback.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <utility>

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
    m_meetings = application->GetMeetings();
    if (m_checker)
    {
        m_checker->SetReporters(static_cast<uint32_t>(m_applications.size()));
    }
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
TrainingJob::SetChecker(std::unique_ptr<GraphChecker> checker, std::optional<uint64_t> sums)
{
    NS_LOG_FUNCTION(this);
    m_checker = std::move(checker);
    m_checker->SetReporters(static_cast<uint32_t>(m_applications.size()));
    m_countsSums = sums.has_value();
    if (m_countsSums)
    {
        m_statistics.SetExpectedSums(m_ranks * *sums);
        return;
    }
    m_statistics.SetVerifier(
        [this] { return m_checker->GetMismatch().empty() && m_checker->GetChecked() > 0; });
}

const std::vector<PathStep>&
TrainingJob::GetCriticalPath() const
{
    return m_path;
}

void
TrainingJob::FindPath(const IterationRecord& record)
{
    // Ranks know nothing of repeated iterations; those themselves have no marks.
    const auto found = m_marks.find(record.iteration - m_statistics.GetRepeated());
    if (found != m_marks.end() && !IsDivided())
    {
        m_pathDelay = GetRepeatedTime() - static_cast<int64_t>(m_leftOut) * m_leftOutPeriod;
        m_path = Complete(FindCriticalPath(found->second, Seconds(record.startS) - m_pathDelay));
        m_marks.erase(found);
    }
    m_leftOut = 0;
    if (m_complete)
    {
        m_complete(record);
    }
}

/** @return a critical path with the periods that were left out */
std::vector<PathStep>
TrainingJob::Complete(std::vector<PathStep> path) const
{
    const Time end = m_leftOutFrom + m_leftOutPeriod;
    std::vector<PathStep> complete;
    const auto add = [&](Time from, Time to, Time delay) {
        for (const PathStep& step : path)
        {
            const Time first = std::max(step.start, from);
            const Time last = std::min(step.end, to);
            if (first < last && first > step.start && !complete.empty())
            {
                complete.back().end = last + delay; // goes on across the border
            }
            else if (first < last)
            {
                complete.push_back({step.task, first + delay, last + delay});
            }
        }
    };
    if (m_leftOut == 0 || path.empty())
    {
        return path;
    }
    add(path.front().start, end, Time(0));
    for (uint64_t i = 1; i <= m_leftOut; i++)
    {
        add(m_leftOutFrom, end, static_cast<int64_t>(i) * m_leftOutPeriod);
    }
    add(end, path.back().end, static_cast<int64_t>(m_leftOut) * m_leftOutPeriod);
    return complete;
}

bool
TrainingJob::IsDivided() const
{
    return m_meetings && m_meetings->IsDivided();
}

void
TrainingJob::FindSharedPath()
{
    if (!IsDivided() || GetResults().empty())
    {
        return;
    }
    const IterationRecord& record = GetResults().back();
    const auto found = m_marks.find(record.iteration);
    m_path = training::FindSharedPath(*m_meetings,
                                      found == m_marks.end() ? nullptr : found->second,
                                      Seconds(record.startS));
}

void
TrainingJob::ExchangeStarts()
{
    if (!IsDivided())
    {
        return;
    }
    const auto starts = Processes::Gather(m_meetings->Pack());
    for (uint32_t process = 0; process < starts.size(); process++)
    {
        if (process != Processes::GetId())
        {
            m_meetings->Merge(starts[process]);
        }
    }
    m_meetings->Resolve();
    for (Unexplained& each : std::exchange(m_unexplained, {}))
    {
        each.times.AddTo(each.measured);
        m_statistics.AddRank(each.iteration, each.measured);
    }
}

/** Drops history that the path of the last complete iteration does not need. */
void
TrainingJob::Forget(Time before)
{
    m_meetings->Forget(before);
    for (const auto& [rank, application] : m_applications)
    {
        application->GetExecution().ForgetHistory(before);
    }
    m_marks.erase(m_marks.begin(), m_marks.lower_bound(GetResults().back().iteration));
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
}

void
TrainingJob::Repeat(uint32_t period)
{
    NS_LOG_FUNCTION(this << period);
    m_statistics.Repeat(period);
}

void
TrainingJob::LeaveOut(Time period, uint64_t count)
{
    NS_LOG_FUNCTION(this << period << count);
    m_leftOutFrom = Simulator::Now() - period;
    m_leftOutPeriod = period;
    m_leftOut = count;
    m_statistics.LeaveOut(static_cast<int64_t>(count) * period);
}

void
TrainingJob::End(std::vector<PathStep> path, Time delay)
{
    NS_LOG_FUNCTION(this);
    for (const auto& [rank, application] : m_applications)
    {
        application->Abort();
    }
    m_path = std::move(path);
    m_pathDelay = delay;
    m_end = m_statistics.GetEnd();
    if (m_ranksFinished)
    {
        m_ranksFinished();
    }
}

Time
TrainingJob::GetPathDelay() const
{
    return m_pathDelay;
}

Time
TrainingJob::GetRepeatedTime() const
{
    return m_statistics.GetRepeatedTime();
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
    if (IsDivided() && !GetResults().empty())
    {
        Forget(Seconds(GetResults().back().startS));
    }
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
    return m_checker ? m_checker->GetMismatch() : "";
}

void
TrainingJob::Arrived(uint32_t rank,
                     const GraphTask& task,
                     uint64_t number,
                     Ptr<const Tensor> result)
{
    NS_LOG_FUNCTION(this << rank << number);
    if (!m_checker || m_isSuspended)
    {
        return;
    }
    const bool isRight = m_checker->Check(rank, task, number, *result);
    if (m_countsSums)
    {
        m_statistics.AddSum(result->iteration, isRight);
    }
    if (!isRight)
    {
        NS_LOG_WARN(m_checker->GetMismatch());
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
    const Ptr<TrainingApplication>& application = m_applications.at(rank);
    const TaskTrace::Pointer mark = application->GetExecution().GetLastMark();
    TaskTrace::Pointer& last = m_marks[iteration];
    if (!last || mark->end > last->end || rank > last->rank)
    {
        last = mark; // the last one stays; of several at that time, that of the highest rank
    }
    if (IsDivided())
    {
        m_unexplained.push_back(
            {iteration, measured, application->GetExecution().TakeUnexplained()});
        return;
    }
    for (uint32_t image = 0; image < m_images; image++)
    {
        m_statistics.AddRank(iteration, measured);
    }
}

void
TrainingJob::RankFinished(uint32_t rank)
{
    NS_LOG_FUNCTION(this << rank);
    if (m_isSuspended)
    {
        return;
    }
    m_end = Simulator::Now() + GetRepeatedTime();
    if (++m_finished == m_applications.size() && m_ranksFinished)
    {
        m_ranksFinished();
    }
}

} // namespace ns3::training
