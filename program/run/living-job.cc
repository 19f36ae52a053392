/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "living-job.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/task-meetings.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingLivingJob");

LivingJob::LivingJob(Parts parts, const LifeOptions& options, FailurePlan failures)
    : m_parts(std::move(parts)),
      m_options(options),
      m_failures(std::move(failures)),
      m_nodes(options.spares),
      m_ranks(m_parts.graph->GetRanks()),
      m_shares(static_cast<uint32_t>(std::count_if(m_parts.plan.shares.begin(),
                                                   m_parts.plan.shares.end(),
                                                   [](uint64_t share) { return share > 0; }))),
      m_mostRestarts(m_parts.cluster.GetTransports().GetMostRestarts()),
      m_graph(std::make_shared<CheckpointGraph>(m_parts.graph, m_parts.plan)),
      m_iterations(m_ranks),
      m_writing(m_ranks, m_parts.plan.every)
{
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        m_parts.applications[rank]->TraceConnectWithoutContext(
            "TaskEnd",
            MakeCallback(&LivingJob::OnTaskEnd, this));
        m_parts.applications[rank]->TraceConnectWithoutContext(
            "IterationEnd",
            MakeCallback(&LivingJob::OnIterationEnd, this));
    }
    ScheduleFailure();
}

LivingJob::~LivingJob()
{
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        m_parts.applications[rank]->TraceDisconnectWithoutContext(
            "TaskEnd",
            MakeCallback(&LivingJob::OnTaskEnd, this));
        m_parts.applications[rank]->TraceDisconnectWithoutContext(
            "IterationEnd",
            MakeCallback(&LivingJob::OnIterationEnd, this));
    }
    Finish();
}

void
LivingJob::OnRewind(std::function<void(uint32_t)> callback)
{
    m_onRewind = std::move(callback);
}

/** Schedules an event, which runs after all others at its time. */
void
LivingJob::Schedule(Time delay, void (LivingJob::*method)(uint64_t), uint64_t number)
{
    Simulator::ScheduleWithContext(Simulator::NO_CONTEXT, delay, method, this, number);
}

bool
LivingJob::IsSavedAfter(uint32_t iteration) const
{
    return (iteration + 1) % m_parts.plan.every == 0;
}

void
LivingJob::OnTaskEnd(uint32_t rank, const GraphTask& task)
{
    if (m_phase == Phase::DETECTION)
    {
        return; // it does not count
    }
    switch (m_graph->GetStep(task))
    {
    case CheckpointStep::REACHED:
        if (++m_reached[m_iterations[rank]] == m_ranks)
        {
            OnReached();
        }
        return;
    case CheckpointStep::STORED: {
        const uint32_t iterations = m_writing[rank];
        m_writing[rank] += m_parts.plan.every;
        if (++m_written[iterations] == m_shares)
        {
            OnStored(iterations);
        }
        return;
    }
    case CheckpointStep::RESTARTED:
        if (++m_restarted == (m_ledger.GetSaved() > 0 ? m_shares : m_ranks))
        {
            OnRestarted();
        }
        return;
    case CheckpointStep::NONE:
        return;
    }
}

void
LivingJob::OnReached()
{
    m_isReached = true;
    m_ledger.Add(Simulator::Now(), LifeUse::PRODUCTIVE, m_complete);
}

void
LivingJob::OnIterationEnd(uint32_t rank, uint32_t iteration, const RankIteration&)
{
    if (m_phase == Phase::DETECTION)
    {
        return;
    }
    m_iterations[rank] = iteration + 1;
    if (++m_ended[iteration] < m_ranks)
    {
        return;
    }
    m_ledger.Add(Simulator::Now(), GetUse(), iteration);
    m_complete = iteration + 1;
    m_isReached = false;
    if (IsSavedAfter(iteration))
    {
        m_writeStarts[m_complete] = Simulator::Now();
        Save();
    }
}

void
LivingJob::OnStored(uint32_t iterations)
{
    m_stored = iterations;
    Save();
}

/** Takes note of a checkpoint that is stored, and whose iteration is complete. */
void
LivingJob::Save()
{
    const Time now = Simulator::Now();
    while (!m_writeStarts.empty() && m_writeStarts.begin()->first <= m_stored)
    {
        const auto [iterations, start] = *m_writeStarts.begin();
        m_writeStarts.erase(m_writeStarts.begin());
        m_figures.checkpoints++;
        if (m_parts.plan.isAsynchronous)
        {
            m_figures.writes.push_back({start, now, iterations - 1});
        }
        if (iterations < m_parts.iterations) // nothing is left to be done after the last one
        {
            m_ledger.Save(iterations);
            m_sinceSaved = 0;
        }
        else
        {
            m_ledger.Add(now, LifeUse::CHECKPOINT, iterations - 1);
        }
    }
}

/** @return what the present time is used for, at work */
LifeUse
LivingJob::GetUse() const
{
    const bool isStoring = m_complete == m_parts.iterations && !m_writeStarts.empty();
    return m_isReached || isStoring ? LifeUse::CHECKPOINT : LifeUse::PRODUCTIVE;
}

/** Ends the present span of a ledger. */
void
LivingJob::Close(LifeLedger& ledger, Time now) const
{
    switch (m_phase)
    {
    case Phase::WORK:
        ledger.Add(now, GetUse(), std::min(m_complete, m_parts.iterations - 1));
        return;
    case Phase::DETECTION:
        ledger.Add(now, LifeUse::DETECTION, m_ledger.GetSaved(), m_target, m_cause);
        return;
    case Phase::WAITING:
        ledger.Add(now, LifeUse::WAITING, m_ledger.GetSaved());
        return;
    case Phase::RESTART:
        ledger.Add(now, LifeUse::RESTART, m_ledger.GetSaved());
        return;
    }
}

void
LivingJob::ScheduleFailure()
{
    m_next = m_failures.Next();
    if (m_next)
    {
        Schedule(std::max(m_next->time - Simulator::Now(), Time(0)), &LivingJob::Fail, 0);
    }
}

bool
LivingJob::IsDown(const PlannedFailure& failure) const
{
    return std::any_of(m_down.begin(), m_down.end(), [&](const Outage& outage) {
        return outage.failure.node == failure.node &&
               (failure.node || outage.failure.links == failure.links);
    });
}

void
LivingJob::Fail(uint64_t)
{
    if (m_isFinished)
    {
        return;
    }
    const PlannedFailure failure = *m_next;
    m_sinceSaved++; // those that have no effect, too, so that they end
    if (!IsDown(failure))
    {
        TakeDown(failure);
    }
    if (m_sinceSaved < MAX_FAILURES)
    {
        ScheduleFailure();
        return;
    }
    const uint32_t saved = m_ledger.GetSaved();
    m_parts.guard.Fail(0,
                       "failures come faster than the job makes progress: " +
                           std::to_string(MAX_FAILURES) + " since " +
                           (saved > 0 ? "the checkpoint of iteration " + std::to_string(saved - 1)
                                      : std::string("the start, without a checkpoint")));
}

void
LivingJob::TakeDown(const PlannedFailure& failure)
{
    const Time now = Simulator::Now();
    NS_LOG_INFO(failure.target << " fails: " << failure.cause);
    Close(m_ledger, now);
    m_ledger.Lose();
    m_parts.job.Suspend();
    m_phase = Phase::DETECTION;
    m_target = failure.target;
    m_cause = failure.cause;
    m_figures.failures++;
    for (uint32_t rank : failure.ranks)
    {
        m_parts.applications[rank]->Abort();
    }
    m_down.push_back({failure, m_parts.cluster.TakeDown(failure.links)});
    if (failure.node)
    {
        m_nodes.Fail();
        Schedule(m_options.repair, &LivingJob::RepairNode, 0);
    }
    else
    {
        Schedule(m_options.repair, &LivingJob::RepairLink, m_down.size() - 1);
    }
    Schedule(m_options.detection, &LivingJob::Detect, ++m_detections);
}

void
LivingJob::Detect(uint64_t number)
{
    if (number != m_detections || m_isFinished)
    {
        return; // something else has failed meanwhile
    }
    Close(m_ledger, Simulator::Now());
    m_phase = Phase::WAITING;
    if (!m_isStopped)
    {
        if (m_abandoned == m_mostRestarts)
        {
            m_parts.guard.Fail(0,
                               "the job has restarted " + std::to_string(m_abandoned) +
                                   " times, and there are no more numbers of connections");
            return;
        }
        for (const auto& application : m_parts.applications)
        {
            application->Abort();
        }
        m_parts.cluster.GetCommunicators().Restart();
        m_abandoned++;
        m_isStopped = true;
    }
    Recover();
}

void
LivingJob::RepairNode(uint64_t)
{
    m_nodes.Repair();
    Recover();
}

void
LivingJob::RepairLink(uint64_t outage)
{
    m_down[outage].isRepaired = true;
    Recover();
}

/** Restarts a job that waits, if everything is there. */
void
LivingJob::Recover()
{
    if (m_phase != Phase::WAITING || m_isFinished)
    {
        return;
    }
    const bool hasNodes = m_nodes.Replace();
    if (hasNodes && std::all_of(m_down.begin(), m_down.end(), [](const Outage& outage) {
            return outage.failure.node || outage.isRepaired;
        }))
    {
        Restart();
    }
}

void
LivingJob::Restart()
{
    Close(m_ledger, Simulator::Now());
    m_phase = Phase::RESTART;
    for (const Outage& outage : m_down)
    {
        outage.links->End();
    }
    m_down.clear();
    const uint32_t saved = m_ledger.GetSaved();
    NS_LOG_INFO("restarts at iteration " << saved);
    m_isStopped = false;
    m_complete = saved;
    m_isReached = false;
    m_restarted = 0;
    m_stored = saved;
    m_reached.clear();
    m_ended.clear();
    m_written.clear();
    m_writeStarts.clear();
    m_iterations.assign(m_ranks, saved);
    m_writing.assign(m_ranks, saved + m_parts.plan.every);
    CheckpointPlan plan = m_parts.plan;
    plan.isRestart = true;
    plan.loads = saved > 0;
    m_graph = std::make_shared<CheckpointGraph>(m_parts.graph, plan);
    m_parts.job.Rewind(saved);
    if (m_onRewind)
    {
        m_onRewind(saved);
    }
    const auto meetings = std::make_shared<TaskMeetings>(*m_graph);
    for (const auto& application : m_parts.applications)
    {
        application->SetMeetings(meetings);
        Simulator::ScheduleWithContext(application->GetNode()->GetId(),
                                       Time(0),
                                       &TrainingApplication::Restart,
                                       PeekPointer(application),
                                       m_graph,
                                       saved);
    }
    m_parts.guard.CheckSoon();
}

void
LivingJob::OnRestarted()
{
    Close(m_ledger, Simulator::Now());
    m_phase = Phase::WORK;
    m_figures.restarts++;
    m_parts.job.BeginAt(Simulator::Now());
}

void
LivingJob::Finish()
{
    if (m_isFinished)
    {
        return;
    }
    Close(m_ledger, Simulator::Now());
    m_isFinished = true;
}

LifeFigures
LivingJob::GetFigures() const
{
    LifeFigures figures = m_figures;
    figures.ledger = m_ledger;
    figures.missed = m_failures.GetLeft();
    if (m_next && m_next->cause == "given" && m_next->time > Simulator::Now())
    {
        figures.missed.insert(figures.missed.begin(),
                              m_next->target + ":" + FormatTime(m_next->time));
    }
    if (!m_isFinished)
    {
        Close(figures.ledger, Simulator::Now());
    }
    return figures;
}

} // namespace ns3::training
