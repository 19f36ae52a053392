/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/rank-execution.h"

#include "layered-model.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRankExecution");

RankExecution::RankExecution(const Settings& settings, const Traces& traces)
    : m_settings(settings),
      m_traces(traces),
      m_communication(m_meter, traces.communication, [this](uint64_t id) { EndTask(id); }),
      m_stream([this](uint64_t id) { EndCompute(id); })
{
}

void
RankExecution::SetGraph(std::shared_ptr<const TaskGraph> graph, uint32_t rank)
{
    m_graph = std::move(graph);
    m_rank = rank;
}

void
RankExecution::Begin(uint32_t first)
{
    m_iteration = first;
    m_first = first;
    m_communication.Begin(m_graph, m_rank, m_settings.realPayload, m_settings.seed);
    if (m_settings.overlapCopies > 1)
    {
        m_communication.SetHostLoad(m_load);
    }
    m_finished = m_iteration >= m_settings.iterations;
    m_running = !m_finished;
    if (!m_running)
    {
        return;
    }
    m_runner = std::make_unique<TaskRunner>(
        m_graph->MakeSource(m_rank, m_settings.iterations - m_first),
        m_graph->GetWindow(),
        [this](const GraphTask& task, const TaskTrace::Pointer& cause) { StartTask(task, cause); });
    StartIteration();
    m_runner->Run();
    if (m_running && m_runner->IsFinished())
    {
        Finish(); // there are no tasks
    }
}

void
RankExecution::Stop()
{
    m_stream.Stop();
    m_stream.SetPace(1);
    m_copying = 0;
    m_load->copyFactor = 1;
    m_communication.Stop();
    m_meter.StopComputing();
    m_running = false;
}

void
RankExecution::Abort()
{
    Stop();
    for (auto& [id, running] : m_tasks)
    {
        running.end.Cancel();
    }
    m_tasks.clear();
    m_marks.clear();
    m_inParallel = 0;
    m_phaseIsOpen = false;
    m_meter.StopCommunicating();
}

void
RankExecution::Restart(std::shared_ptr<const TaskGraph> graph, uint32_t first)
{
    m_graph = std::move(graph);
    Begin(first);
}

void
RankExecution::ForgetHistory(Time before)
{
    while (m_marks.size() > 1 && m_marks.front()->end <= before)
    {
        m_marks.front()->cause = nullptr;
        m_marks.pop_front();
    }
}

void
RankExecution::AddState(std::vector<uint64_t>& state) const
{
    const auto add = [&state](Time time) {
        state.push_back(static_cast<uint64_t>(time.GetTimeStep()));
    };
    const Time now = Simulator::Now();
    m_meter.AddState(state);
    AddStream(state);
    std::map<uint64_t, const Running*> tasks; // in order
    for (const auto& [id, running] : m_tasks)
    {
        tasks[id] = &running;
    }
    state.push_back(tasks.size());
    for (const auto& [id, running] : tasks)
    {
        const GraphTask& task = *running->task;
        state.insert(state.end(),
                     {static_cast<uint64_t>(task.kind),
                      task.name,
                      task.groups,
                      task.peer,
                      task.tag,
                      task.bytes,
                      static_cast<uint64_t>(task.layer),
                      static_cast<uint64_t>(task.microBatch),
                      m_iteration - running->iteration});
        add(now - running->trace->start);
    }
}

void
RankExecution::AddStream(std::vector<uint64_t>& state) const
{
    for (const Time& time : {m_stream.GetWait(),
                             m_stream.GetStretch(),
                             m_phaseIsOpen ? Simulator::Now() - m_phaseStart : Time(0)})
    {
        state.push_back(static_cast<uint64_t>(time.GetTimeStep()));
    }
    state.push_back(m_copying);
}

void
RankExecution::AddProgress(std::vector<uint64_t>& state) const
{
    m_meter.AddPresent(state);
    AddStream(state);
    m_runner->AddState(state);
    std::map<uint64_t, const Running*> tasks; // in order
    for (const auto& [id, running] : m_tasks)
    {
        tasks[id] = &running;
    }
    for (const auto& [id, running] : tasks)
    {
        const auto age = Simulator::Now() - running->trace->start;
        state.insert(state.end(),
                     {static_cast<uint64_t>(running->task->kind),
                      running->task->name,
                      static_cast<uint64_t>(running->task->layer),
                      static_cast<uint64_t>(age.GetTimeStep())});
    }
}

void
RankExecution::Skip(const TaskShift& shift, const RankIteration& times)
{
    m_runner->Skip(shift, m_graph->MakeSource(m_rank, m_settings.iterations - m_first));
    m_meter.Add(times);
}

Time
RankExecution::GetLeastTimeTo(const std::function<bool(const GraphTask&)>& counts,
                              const std::function<Time(const GraphTask&)>& least) const
{
    if (!m_running)
    {
        return m_finished ? Time::Max() : Time(0);
    }
    return m_runner->GetLeastTimeTo(counts, [&](const GraphTask& task, bool isRunning) {
        switch (task.kind)
        {
        case TaskKind::COMPUTE:
            if (isRunning && task.stream == COMPUTE_STREAM)
            {
                return m_stream.GetLeastTimeLeft();
            }
            [[fallthrough]];
        case TaskKind::MEMORY:
            return isRunning ? Simulator::GetDelayLeft(m_tasks.at(task.id).end)
                   : task.kind == TaskKind::COMPUTE ? GetLength(task)
                                                    : task.length;
        case TaskKind::COLLECTIVE:
            return isRunning ? least(task) : Time(0);
        default:
            return Time(0);
        }
    });
}

Time
RankExecution::GetLeastTimeToCompute(const std::function<Time(const GraphTask&)>& least) const
{
    const auto counts = [](const GraphTask& task) {
        return task.kind == TaskKind::COMPUTE && task.stream == COMPUTE_STREAM;
    };
    return m_stream.IsBusy() ? m_stream.GetLeastTimeLeft() : GetLeastTimeTo(counts, least);
}

bool
RankExecution::IsCommunicating() const
{
    return std::any_of(m_tasks.begin(), m_tasks.end(), [](const auto& each) {
        const TaskKind kind = each.second.task->kind;
        return kind == TaskKind::COLLECTIVE || kind == TaskKind::SEND;
    });
}

uint32_t
RankExecution::GetReach() const
{
    return m_iteration + (m_runner ? m_runner->GetReach() : 0);
}

void
RankExecution::Shorten(uint32_t iterations)
{
    NS_ABORT_MSG_UNLESS(m_running && iterations > m_iteration, "these iterations are complete");
    m_runner->EndAfter(iterations - m_iteration);
    m_settings.iterations = iterations;
}

void
RankExecution::StartIteration()
{
    NS_LOG_LOGIC("rank " << m_rank << " begins iteration " << m_iteration);
    m_meter.Start();
    m_pace = m_settings.slowdown * (m_settings.jitter ? m_settings.jitter->GetValue() : 1);
    m_traces.iterationStart(m_rank, m_iteration);
}

void
RankExecution::StartTask(const GraphTask& task, const TaskTrace::Pointer& cause)
{
    if (!m_running)
    {
        return;
    }
    const auto trace = std::make_shared<TaskTrace>(task, m_rank);
    trace->start = Simulator::Now();
    trace->ready = trace->start;
    trace->cause = cause;
    m_tasks.emplace(task.id, Running{&task, trace, m_iteration});
    switch (task.kind)
    {
    case TaskKind::COMPUTE:
        StartCompute(task);
        return;
    case TaskKind::MEMORY:
        m_inParallel++;
        m_tasks.at(task.id).end =
            Simulator::Schedule(task.length, &RankExecution::TaskEnded, this, task.id);
        return;
    case TaskKind::MARK:
        if (!m_meter.IsComputing())
        {
            m_meter.AddIdleTime(cause);
        }
        EndTask(task.id);
        return;
    case TaskKind::COLLECTIVE:
        UseGpu(task, true);
        [[fallthrough]];
    case TaskKind::SEND:
    case TaskKind::RECEIVE:
        m_communication.Start(task, m_iteration, trace);
        return;
    }
}

/** @return how long a computation takes in this iteration, without waits */
Time
RankExecution::GetLength(const GraphTask& task) const
{
    return m_pace == 1 ? task.length : RoundToPicoseconds(task.length.GetSeconds() * m_pace);
}

void
RankExecution::StartCompute(const GraphTask& task)
{
    const Time length = GetLength(task);
    if (task.stream != COMPUTE_STREAM)
    {
        if (length.IsZero())
        {
            EndTask(task.id);
            return;
        }
        m_inParallel++;
        if (task.stream < HOST_STREAMS)
        {
            m_meter.BeginComputing(m_tasks.at(task.id).trace->cause);
        }
        m_tasks.at(task.id).end =
            Simulator::Schedule(length, &RankExecution::TaskEnded, this, task.id);
        return;
    }
    m_meter.BeginComputing(m_tasks.at(task.id).trace->cause);
    if (!m_phaseIsOpen)
    {
        m_phaseStart = Simulator::Now();
        m_phaseIsOpen = true;
    }
    m_load->copyFactor = m_settings.overlapCopies;
    m_meter.AddWait(m_stream.Start(length, task.id));
}

/** A collective begins or ends, whose copies take part of the GPU. */
void
RankExecution::UseGpu(const GraphTask& task, bool begins)
{
    if (m_settings.overlapCompute > 1 && m_communication.IsCopiedByGpu(task))
    {
        m_copying += begins ? 1 : -1;
        m_stream.SetPace(m_copying > 0 ? m_settings.overlapCompute : 1);
    }
}

void
RankExecution::Occupy(Time time)
{
    if (m_stream.Occupy(time))
    {
        m_meter.AddWait(time);
    }
}

void
RankExecution::EndCompute(uint64_t id)
{
    const auto& task = m_tasks.at(id).task;
    const std::string& phase = m_graph->GetNames()[task->name];
    if (!phase.empty() && !task->isPart)
    {
        NS_LOG_LOGIC("rank " << m_rank << " ends " << phase);
        m_phaseIsOpen = false;
        m_traces.computePhase(m_rank, m_iteration, phase, m_phaseStart, Simulator::Now());
    }
    m_load->copyFactor = 1;
    m_meter.AddStretch(m_stream.GetStretch());
    m_meter.EndComputing(Simulator::Now() - m_stream.GetLength());
    EndTask(id);
}

void
RankExecution::TaskEnded(RankExecution* self, uint64_t id)
{
    if (!self->m_running)
    {
        return; // stopped before its end
    }
    self->m_inParallel--;
    const Running& running = self->m_tasks.at(id);
    if (running.task->kind == TaskKind::COMPUTE && running.task->stream < HOST_STREAMS)
    {
        self->m_meter.EndComputing(running.trace->start);
    }
    self->EndTask(id);
}

void
RankExecution::EndTask(uint64_t id)
{
    const auto found = m_tasks.find(id);
    const std::shared_ptr<TaskTrace> trace = std::move(found->second.trace);
    const GraphTask& task = *found->second.task;
    m_tasks.erase(found);
    trace->end = Simulator::Now();
    if (trace->kind == TaskKind::COLLECTIVE)
    {
        UseGpu(task, false);
    }
    if (trace->kind == TaskKind::MARK)
    {
        m_marks.push_back(trace);
        if (!m_meter.IsExplainedLater())
        {
            ForgetHistory(trace->end); // that of one iteration is enough
        }
        EndIteration();
    }
    m_traces.taskEnd(m_rank, task);
    m_runner->Complete(id, trace);
    if (m_running && m_runner->IsFinished())
    {
        Finish();
    }
}

void
RankExecution::EndIteration()
{
    NS_LOG_LOGIC("rank " << m_rank << " ends iteration " << m_iteration);
    std::vector<Time> computations; // that go on into the next iteration
    for (const auto& [id, running] : m_tasks)
    {
        if (running.task->kind == TaskKind::COMPUTE && running.task->stream < HOST_STREAMS)
        {
            computations.push_back(running.trace->start);
        }
    }
    const RankIteration measured = m_meter.End(computations);
    m_traces.iterationEnd(m_rank, m_iteration, measured);
    m_iteration++;
    if (m_iteration < m_settings.iterations)
    {
        StartIteration();
    }
}

void
RankExecution::Finish()
{
    m_running = false;
    m_finished = true;
    m_traces.finished(m_rank);
}

void
RankExecution::Dispose()
{
    Stop();
    m_runner = nullptr;
    m_tasks.clear();
    m_marks.clear();
    m_communication.Dispose();
}

} // namespace ns3::training
