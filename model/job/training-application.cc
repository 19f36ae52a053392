/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-application.h"

#include "layered-model.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/callback.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/training-jitter.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingApplication");

NS_OBJECT_ENSURE_REGISTERED(TrainingApplication);

TypeId
TrainingApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::TrainingApplication")
            .SetParent<Application>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<TrainingApplication>()
            .AddAttribute("Iterations",
                          "Iterations to run.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&TrainingApplication::m_iterations),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("RealPayload",
                          "Whether tensors are real float32 numbers rather than sizes.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&TrainingApplication::m_realPayload),
                          MakeBooleanChecker())
            .AddAttribute("Gradients",
                          "Numbers of a real payload: NAME or NAME:key=value of a "
                          "GradientSourceEntry, the same at all ranks.",
                          StringValue("hash"),
                          MakeStringAccessor(&TrainingApplication::SetGradients,
                                             &TrainingApplication::GetGradients),
                          MakeStringChecker())
            .AddAttribute("Seed",
                          "Seed of the numbers of a real payload, the same at all ranks.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&TrainingApplication::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute(
                "Slowdown",
                "Factor of all compute times: 1.5 is a rank that takes half as long again.",
                DoubleValue(1),
                MakeDoubleAccessor(&TrainingApplication::m_slowdown),
                MakeDoubleChecker<double>(0))
            .AddAttribute("ComputeJitter",
                          "Distribution of a further factor, drawn in each iteration: NAME or "
                          "NAME:key=value of a JitterEntry.",
                          StringValue("none"),
                          MakeStringAccessor(&TrainingApplication::SetComputeJitter,
                                             &TrainingApplication::GetComputeJitter),
                          MakeStringChecker())
            .AddTraceSource("IterationStart",
                            "An iteration begins.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_iterationStartTrace),
                            "ns3::training::TrainingApplication::IterationStartTracedCallback")
            .AddTraceSource("ComputePhase",
                            "A phase of computation, such as the forward pass, is over.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_computePhaseTrace),
                            "ns3::training::TrainingApplication::ComputePhaseTracedCallback")
            .AddTraceSource("CollectiveStart",
                            "A collective is started.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_collectiveStartTrace),
                            "ns3::training::TrainingApplication::CollectiveStartTracedCallback")
            .AddTraceSource("CollectiveDone",
                            "A collective is complete at this rank.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_collectiveDoneTrace),
                            "ns3::training::TrainingApplication::CollectiveDoneTracedCallback")
            .AddTraceSource("Arrival",
                            "A collective is complete at this rank, or a message received.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_arrivalTrace),
                            "ns3::training::TrainingApplication::ArrivalTracedCallback")
            .AddTraceSource("IterationEnd",
                            "An iteration is over at this rank.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_iterationEndTrace),
                            "ns3::training::TrainingApplication::IterationEndTracedCallback")
            .AddTraceSource("TaskEnd",
                            "A task has ended.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_taskEndTrace),
                            "ns3::training::TrainingApplication::TaskEndTracedCallback")
            .AddTraceSource("Finished",
                            "All iterations are over at this rank, and all results in place.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_finishedTrace),
                            "ns3::training::TrainingApplication::FinishedTracedCallback");
    return tid;
}

TrainingApplication::TrainingApplication()
{
    NS_LOG_FUNCTION(this);
}

TrainingApplication::~TrainingApplication()
{
    NS_LOG_FUNCTION(this);
}

void
TrainingApplication::DoDispose()
{
    NS_LOG_FUNCTION(this);
    StopApplication();
    m_runner = nullptr;
    m_tasks.clear();
    m_marks.clear();
    m_meetings = nullptr;
    m_messages = nullptr;
    m_storage = nullptr;
    m_communicators.clear();
    m_jitter = nullptr;
    Application::DoDispose();
}

void
TrainingApplication::SetGraph(std::shared_ptr<const TaskGraph> graph,
                              uint32_t rank,
                              Ptr<Communicator> messages,
                              const std::vector<Ptr<Communicator>>& communicators)
{
    NS_LOG_FUNCTION(this << rank);
    NS_ABORT_MSG_UNLESS(communicators.size() == graph->GetGroups().size(),
                        "a handle for each of the graph's groups");
    m_graph = std::move(graph);
    m_rank = rank;
    m_messages = messages;
    m_communicators = communicators;
}

void
TrainingApplication::SetMeetings(std::shared_ptr<TaskMeetings> meetings)
{
    m_meetings = std::move(meetings);
    m_meter.SetExplainedLater(m_meetings && m_meetings->IsDivided());
}

void
TrainingApplication::SetStorage(Ptr<Communicator> storage, uint32_t ranks)
{
    m_storage = storage;
    m_storageRank = ranks;
}

Ptr<Communicator>
TrainingApplication::GetStorage() const
{
    return m_storage;
}

bool
TrainingApplication::IsStorage(const GraphTask& task) const
{
    return m_storage && (m_rank >= m_storageRank || task.peer >= m_storageRank);
}

void
TrainingApplication::SetLearner(std::unique_ptr<GradientLearner> learner)
{
    m_tensors.SetLearner(std::move(learner));
}

const GradientLearner*
TrainingApplication::GetLearner() const
{
    return m_tensors.GetLearner();
}

int64_t
TrainingApplication::AssignStreams(int64_t stream)
{
    if (m_jitter)
    {
        m_jitter->SetStream(stream);
    }
    return 1;
}

void
TrainingApplication::SetComputeJitter(std::string jitter)
{
    m_jitter = MakeJitter(jitter);
    m_computeJitter = std::move(jitter);
}

std::string
TrainingApplication::GetComputeJitter() const
{
    return m_computeJitter;
}

void
TrainingApplication::SetGradients(std::string gradients)
{
    m_tensors.SetSource(MakeGradientSource(gradients));
    m_gradients = std::move(gradients);
}

std::string
TrainingApplication::GetGradients() const
{
    return m_gradients;
}

uint32_t
TrainingApplication::GetRank() const
{
    return m_rank;
}

TaskTrace::Pointer
TrainingApplication::GetLastMark() const
{
    return m_marks.empty() ? nullptr : m_marks.back();
}

const std::shared_ptr<TaskMeetings>&
TrainingApplication::GetMeetings() const
{
    return m_meetings;
}

UnexplainedTimes
TrainingApplication::TakeUnexplained()
{
    return m_meter.TakeUnexplained();
}

void
TrainingApplication::ForgetHistory(Time before)
{
    while (m_marks.size() > 1 && m_marks.front()->end <= before)
    {
        m_marks.front()->cause = nullptr;
        m_marks.pop_front();
    }
}

Ptr<Communicator>
TrainingApplication::GetMessages() const
{
    return m_messages;
}

const std::vector<Ptr<Communicator>>&
TrainingApplication::GetCommunicators() const
{
    return m_communicators;
}

bool
TrainingApplication::IsComputing() const
{
    return m_computing || m_inParallel > 0;
}

bool
TrainingApplication::IsFinished() const
{
    return m_finished;
}

void
TrainingApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_UNLESS(m_graph, "TrainingApplication started without SetGraph()");
    m_iteration = 0;
    Begin();
}

void
TrainingApplication::Begin()
{
    m_tensors.Begin(m_graph, m_rank, m_realPayload, m_seed);
    m_finished = m_iteration >= m_iterations;
    m_running = !m_finished;
    if (!m_running)
    {
        return;
    }
    m_runner = std::make_unique<TaskRunner>(
        m_graph->MakeSource(m_rank, m_iterations - m_iteration),
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
TrainingApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_event.Cancel();
    m_computing = false;
    m_meter.StopComputing();
    m_running = false;
}

void
TrainingApplication::Abort()
{
    NS_LOG_FUNCTION(this);
    StopApplication();
    for (auto& [id, running] : m_tasks)
    {
        running.end.Cancel();
    }
    m_life++;
    m_tasks.clear();
    m_marks.clear();
    m_inParallel = 0;
    m_phaseIsOpen = false;
    m_meter.StopCommunicating();
    m_occupied = Time();
}

void
TrainingApplication::Restart(std::shared_ptr<const TaskGraph> graph, uint32_t first)
{
    NS_LOG_FUNCTION(this << first);
    m_graph = std::move(graph);
    m_iteration = first;
    Begin();
}

void
TrainingApplication::AddState(std::vector<uint64_t>& state) const
{
    const auto add = [&state](Time time) {
        state.push_back(static_cast<uint64_t>(time.GetTimeStep()));
    };
    const Time now = Simulator::Now();
    m_meter.AddState(state);
    add(std::max(Time(0), m_occupied - now));
    add(m_phaseIsOpen ? now - m_phaseStart : Time(0));
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

bool
TrainingApplication::IsCommunicating() const
{
    return std::any_of(m_tasks.begin(), m_tasks.end(), [](const auto& each) {
        const TaskKind kind = each.second.task->kind;
        return kind == TaskKind::COLLECTIVE || kind == TaskKind::SEND;
    });
}

uint32_t
TrainingApplication::GetReach() const
{
    return m_iteration + (m_runner ? m_runner->GetReach() : 0);
}

void
TrainingApplication::Shorten(uint32_t iterations)
{
    NS_LOG_FUNCTION(this << iterations);
    NS_ABORT_MSG_UNLESS(m_running && iterations > m_iteration, "these iterations are complete");
    m_runner->EndAfter(iterations - m_iteration);
    m_iterations = iterations;
}

void
TrainingApplication::StartIteration()
{
    NS_LOG_LOGIC("rank " << GetRank() << " begins iteration " << m_iteration);
    m_meter.Start();
    m_pace = m_slowdown * (m_jitter ? m_jitter->GetValue() : 1);
    m_iterationStartTrace(GetRank(), m_iteration);
}

void
TrainingApplication::StartTask(const GraphTask& task, const TaskTrace::Pointer& cause)
{
    if (!m_running)
    {
        return;
    }
    const auto trace = std::make_shared<TaskTrace>(task, m_rank);
    trace->start = Simulator::Now();
    trace->ready = trace->start;
    trace->cause = cause;
    m_tasks.emplace(task.id, Running{&task, trace, nullptr, 0, m_iteration});
    switch (task.kind)
    {
    case TaskKind::COMPUTE:
        StartCompute(task);
        return;
    case TaskKind::MEMORY:
        m_inParallel++;
        m_tasks.at(task.id).end =
            Simulator::Schedule(task.length, &TrainingApplication::TaskEnded, this, task.id);
        return;
    case TaskKind::MARK:
        if (!m_meter.IsComputing())
        {
            m_meter.AddIdleTime(cause);
        }
        EndTask(task.id);
        return;
    case TaskKind::COLLECTIVE:
        StartCollective(task);
        return;
    case TaskKind::SEND:
    case TaskKind::RECEIVE:
        StartMessage(task);
        return;
    }
}

Time
TrainingApplication::GetLength(Time planned) const
{
    return m_pace == 1 ? planned : RoundToPicoseconds(planned.GetSeconds() * m_pace);
}

void
TrainingApplication::StartCompute(const GraphTask& task)
{
    const Time length = GetLength(task.length);
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
            Simulator::Schedule(length, &TrainingApplication::TaskEnded, this, task.id);
        return;
    }
    m_meter.BeginComputing(m_tasks.at(task.id).trace->cause);
    if (!m_phaseIsOpen)
    {
        m_phaseStart = Simulator::Now();
        m_phaseIsOpen = true;
    }
    m_computing = true;
    m_computation = task.id;
    m_computationLength = length;
    const Time wait = std::max(m_occupied - Simulator::Now(), Time(0));
    m_meter.AddWait(wait);
    m_event = Simulator::Schedule(wait + length, &TrainingApplication::EndCompute, this, task.id);
}

void
TrainingApplication::Occupy(Time time)
{
    m_occupied = std::max(m_occupied, Simulator::Now()) + time;
    if (m_computing)
    {
        m_meter.AddWait(time);
        const Time left = Simulator::GetDelayLeft(m_event);
        m_event.Cancel();
        m_event =
            Simulator::Schedule(left + time, &TrainingApplication::EndCompute, this, m_computation);
    }
}

void
TrainingApplication::EndCompute(uint64_t id)
{
    m_computing = false;
    const std::string& phase = m_graph->GetNames()[m_tasks.at(id).task->name];
    if (!phase.empty())
    {
        NS_LOG_LOGIC("rank " << GetRank() << " ends " << phase);
        m_phaseIsOpen = false;
        m_computePhaseTrace(GetRank(), m_iteration, phase, m_phaseStart, Simulator::Now());
    }
    m_meter.EndComputing(Simulator::Now() - m_computationLength);
    EndTask(id);
}

void
TrainingApplication::StartCollective(const GraphTask& task)
{
    NS_LOG_LOGIC("rank " << GetRank() << " starts collective " << task.tag << " of " << task.bytes
                         << " bytes");
    const Ptr<Communicator>& group = m_communicators[task.groups];
    const uint64_t number = m_tensors.Count(task);
    const Ptr<Tensor> tensor = m_tensors.Make({task, number, m_iteration}, group);
    Running& running = m_tasks.at(task.id);
    running.tensor = tensor;
    running.number = number;
    if (m_meetings)
    {
        m_meetings->Start(m_rank, task, number, Simulator::Now(), running.trace->cause);
    }
    m_meter.BeginCollective();
    m_collectiveStartTrace(GetRank(), m_iteration, tensor->bucket);
    group->Start(task.operation,
                 tensor,
                 task.peer,
                 MakeBoundCallback(&TrainingApplication::CommunicationDone, this, m_life, task.id),
                 task.matrix);
}

void
TrainingApplication::StartMessage(const GraphTask& task)
{
    const bool isSend = task.kind == TaskKind::SEND;
    Running& running = m_tasks.at(task.id);
    running.number = m_tensors.Count(task);
    running.tensor = m_tensors.MakeMessage({task, running.number, m_iteration}, !IsStorage(task));
    const Ptr<Tensor> tensor = running.tensor;
    const auto done =
        MakeBoundCallback(&TrainingApplication::CommunicationDone, this, m_life, task.id);
    const Ptr<Communicator>& way = IsStorage(task) ? m_storage : m_messages;
    if (m_meetings)
    {
        m_meetings->Start(m_rank, task, 0, Simulator::Now(), running.trace->cause);
    }
    if (isSend)
    {
        m_meter.BeginSend();
        way->Send(tensor, task.peer, done);
    }
    else
    {
        way->Receive(tensor, task.peer, done);
    }
}

void
TrainingApplication::CommunicationDone(TrainingApplication* self, uint32_t life, uint64_t id)
{
    if (!self->m_running || self->m_life != life)
    {
        return; // stopped while it was in progress
    }
    const auto found = self->m_tasks.find(id);
    NS_ABORT_MSG_IF(found == self->m_tasks.end(), "task " << id << " completed twice");
    const Running running = found->second;
    found->second.tensor = nullptr; // releases the memory once all listeners have seen it
    if (self->m_meetings)
    {
        self->m_meetings->End(*running.task, running.number, running.trace);
    }
    if (running.task->kind == TaskKind::RECEIVE)
    {
        self->m_meter.EndReceive(running.trace);
    }
    else if (running.task->kind == TaskKind::SEND)
    {
        self->m_meter.EndSend();
    }
    if (running.task->kind == TaskKind::COLLECTIVE)
    {
        self->EndCollective(running);
    }
    else if (running.task->kind == TaskKind::RECEIVE && !self->IsStorage(*running.task))
    {
        self->m_arrivalTrace(self->m_rank, *running.task, running.number, running.tensor);
    }
    self->EndTask(id);
}

void
TrainingApplication::EndCollective(const Running& running)
{
    m_meter.EndCollective();
    const GraphTask& task = *running.task;
    m_tensors.Decode(task, m_communicators[task.groups], *running.tensor);
    m_collectiveDoneTrace(m_rank, running.iteration, running.tensor->bucket, running.tensor);
    m_arrivalTrace(m_rank, task, running.number, running.tensor);
    m_tensors.Learn({task, running.number, running.iteration}, running.tensor->values);
}

void
TrainingApplication::TaskEnded(TrainingApplication* self, uint64_t id)
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
TrainingApplication::EndTask(uint64_t id)
{
    const auto found = m_tasks.find(id);
    const std::shared_ptr<TaskTrace> trace = std::move(found->second.trace);
    const GraphTask& task = *found->second.task;
    m_tasks.erase(found);
    trace->end = Simulator::Now();
    if (trace->kind == TaskKind::MARK)
    {
        m_marks.push_back(trace);
        if (!m_meetings || !m_meetings->IsDivided())
        {
            ForgetHistory(trace->end); // that of one iteration is enough
        }
        EndIteration();
    }
    m_taskEndTrace(m_rank, task);
    m_runner->Complete(id, trace);
    if (m_running && m_runner->IsFinished())
    {
        Finish();
    }
}

void
TrainingApplication::EndIteration()
{
    NS_LOG_LOGIC("rank " << GetRank() << " ends iteration " << m_iteration);
    std::vector<Time> computations; // that go on into the next iteration
    for (const auto& [id, running] : m_tasks)
    {
        if (running.task->kind == TaskKind::COMPUTE && running.task->stream < HOST_STREAMS)
        {
            computations.push_back(running.trace->start);
        }
    }
    const RankIteration measured = m_meter.End(computations);
    m_iterationEndTrace(GetRank(), m_iteration, measured);
    m_iteration++;
    if (m_iteration < m_iterations)
    {
        StartIteration();
    }
}

void
TrainingApplication::Finish()
{
    NS_LOG_FUNCTION(this);
    m_running = false;
    m_finished = true;
    m_finishedTrace(GetRank());
}

} // namespace ns3::training
