/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-application.h"

#include "gradient-values.h"
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
            .AddTraceSource("IterationEnd",
                            "An iteration is over at this rank.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_iterationEndTrace),
                            "ns3::training::TrainingApplication::IterationEndTracedCallback")
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
    m_communicators.clear();
    m_collectives.clear();
    m_jitter = nullptr;
    Application::DoDispose();
}

void
TrainingApplication::SetTask(std::shared_ptr<const TrainingTask> task,
                             const std::vector<Ptr<Communicator>>& communicators)
{
    NS_LOG_FUNCTION(this << task->name);
    NS_ABORT_MSG_UNLESS(communicators.size() == task->communicators.size(),
                        "a handle for each communicator of the task");
    m_task = std::move(task);
    m_communicators = communicators;
}

void
TrainingApplication::SetLearner(std::unique_ptr<GradientLearner> learner)
{
    m_learner = std::move(learner);
}

const GradientLearner*
TrainingApplication::GetLearner() const
{
    return m_learner.get();
}

GradientPlace
TrainingApplication::GetPlace(uint32_t collective) const
{
    return {m_seed, GetRank(), m_iteration, collective, m_task->GetFirstNumber(collective)};
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
    m_source = MakeGradientSource(gradients);
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
    return m_communicators.front()->GetRank();
}

const std::vector<Ptr<Communicator>>&
TrainingApplication::GetCommunicators() const
{
    return m_communicators;
}

bool
TrainingApplication::IsComputing() const
{
    return m_computing;
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
    NS_ABORT_MSG_UNLESS(m_task, "TrainingApplication started without SetTask()");
    m_collectives.assign(m_task->collectives.size(), {});
    m_iteration = 0;
    m_finished = m_iterations == 0;
    m_running = !m_finished;
    if (m_running)
    {
        StartIteration();
        Advance();
    }
}

void
TrainingApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_event.Cancel();
    m_computing = false;
    m_running = false;
}

void
TrainingApplication::StartIteration()
{
    NS_LOG_LOGIC("rank " << GetRank() << " begins iteration " << m_iteration);
    m_iterationStart = Simulator::Now();
    m_next = 0;
    m_computeTime = Time();
    m_pace = m_slowdown * (m_jitter ? m_jitter->GetValue() : 1);
    m_busyTime = Time();
    m_busyStart = m_iterationStart;
    m_iterationStartTrace(GetRank(), m_iteration);
}

void
TrainingApplication::Advance()
{
    if (m_advancing)
    {
        return; // a collective completed immediately and resumed the steps
    }
    m_advancing = true;
    while (m_running && TakeStep())
    {
    }
    m_advancing = false;
}

bool
TrainingApplication::TakeStep()
{
    if (m_iteration == m_iterations)
    {
        if (m_pending == 0)
        {
            Finish();
        }
        return false;
    }
    if (m_next == m_task->steps.size())
    {
        EndIteration();
        return true;
    }
    const TaskStep& step = m_task->steps[m_next];
    switch (step.kind)
    {
    case TaskStep::Kind::COMPUTE:
        StartCompute(GetLength(step.length));
        return false;
    case TaskStep::Kind::START:
        m_next++;
        StartCollective(step.collective);
        return true;
    case TaskStep::Kind::WAIT:
        if (m_collectives[step.collective].isPending)
        {
            NS_LOG_LOGIC("rank " << GetRank() << " waits for collective " << step.collective);
            return false;
        }
        m_next++;
        return true;
    }
    return false;
}

Time
TrainingApplication::GetLength(Time planned) const
{
    return m_pace == 1 ? planned : RoundToPicoseconds(planned.GetSeconds() * m_pace);
}

void
TrainingApplication::StartCompute(Time length)
{
    m_computeTime += length;
    if (!m_phaseIsOpen)
    {
        m_phaseStart = Simulator::Now();
        m_phaseIsOpen = true;
    }
    m_computing = true;
    const Time wait = std::max(m_occupied - Simulator::Now(), Time(0));
    m_event = Simulator::Schedule(wait + length, &TrainingApplication::EndCompute, this);
}

void
TrainingApplication::Occupy(Time time)
{
    m_occupied = std::max(m_occupied, Simulator::Now()) + time;
    if (m_computing)
    {
        const Time left = Simulator::GetDelayLeft(m_event);
        m_event.Cancel();
        m_event = Simulator::Schedule(left + time, &TrainingApplication::EndCompute, this);
    }
}

void
TrainingApplication::EndCompute()
{
    m_computing = false;
    const std::string& phase = m_task->steps[m_next].phase;
    if (!phase.empty())
    {
        NS_LOG_LOGIC("rank " << GetRank() << " ends " << phase);
        m_phaseIsOpen = false;
        m_computePhaseTrace(GetRank(), m_iteration, phase, m_phaseStart, Simulator::Now());
    }
    m_next++;
    Advance();
}

void
TrainingApplication::StartCollective(uint32_t index)
{
    const TaskCollective& planned = m_task->collectives[index];
    NS_LOG_LOGIC("rank " << GetRank() << " starts collective " << index << " of " << planned.bytes
                         << " bytes");
    Collective& collective = m_collectives[index];
    NS_ABORT_MSG_IF(collective.isPending, "collective " << index << " started before its end");
    auto tensor = Create<Tensor>();
    tensor->bytes = planned.bytes;
    tensor->priority = planned.priority;
    tensor->bucket = index;
    tensor->iteration = m_iteration;
    if (m_realPayload)
    {
        const std::size_t count = planned.bytes / sizeof(float);
        tensor->values = m_learner ? m_learner->Make(GetPlace(index), count)
                                   : m_source->Make(GetPlace(index), count);
    }
    collective.tensor = tensor;
    collective.iteration = m_iteration;
    collective.isPending = true;
    m_pending++;
    if (m_underWay == 0)
    {
        m_busyStart = Simulator::Now();
    }
    m_underWay++;
    m_collectiveStartTrace(GetRank(), m_iteration, index);
    m_communicators[planned.communicator]->Start(
        planned.operation,
        tensor,
        0,
        MakeBoundCallback(&TrainingApplication::CollectiveDone, this, index));
}

void
TrainingApplication::CollectiveDone(TrainingApplication* self, uint32_t index)
{
    if (!self->m_running)
    {
        return; // stopped while the collective was in progress
    }
    Collective& collective = self->m_collectives.at(index);
    const Ptr<Tensor> result = collective.tensor;
    NS_ABORT_MSG_UNLESS(result, "collective " << index << " completed twice");
    collective.tensor = nullptr; // releases the memory once all listeners have seen it
    self->m_underWay--;
    if (self->m_underWay == 0)
    {
        self->m_busyTime += Simulator::Now() - self->m_busyStart;
    }
    self->m_collectiveDoneTrace(self->GetRank(), collective.iteration, index, result);
    if (self->m_learner)
    {
        self->m_learner->Apply(self->GetPlace(index), result->values);
    }
    const Time update = self->GetLength(self->m_task->collectives[index].update);
    if (update.IsZero())
    {
        self->EndCollective(index);
        return;
    }
    Simulator::Schedule(update, &TrainingApplication::EndCollective, self, index);
}

void
TrainingApplication::EndCollective(uint32_t index)
{
    if (!m_running)
    {
        return; // stopped before the result was applied
    }
    m_collectives.at(index).isPending = false;
    m_pending--;
    if (!m_computing)
    {
        Advance();
    }
}

void
TrainingApplication::EndIteration()
{
    const Time now = Simulator::Now();
    NS_LOG_LOGIC("rank " << GetRank() << " ends iteration " << m_iteration);
    RankIteration measured;
    measured.start = m_iterationStart;
    measured.end = now;
    measured.computeTime = m_computeTime;
    measured.leastCompute = m_computeTime;
    measured.totalCompute = m_computeTime;
    measured.communicationTime = m_busyTime + (m_underWay > 0 ? now - m_busyStart : Time());
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
