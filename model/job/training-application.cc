/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-application.h"

#include "job/rank-execution.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/training-jitter.h"
#include "ns3/uinteger.h"

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
            .AddAttribute("OverlapCompute",
                          "Factor of the time that a computation takes while the GPU copies the "
                          "data of a collective, see HostModel.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&TrainingApplication::m_overlapCompute),
                          MakeDoubleChecker<double>(1))
            .AddAttribute("OverlapCopies",
                          "Factor of the time that these copies take while the GPU computes.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&TrainingApplication::m_overlapCopies),
                          MakeDoubleChecker<double>(1))
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
    : m_execution(std::make_unique<RankExecution>(
          RankExecution::Settings{m_iterations,
                                  m_realPayload,
                                  m_seed,
                                  m_slowdown,
                                  m_jitter,
                                  m_overlapCompute,
                                  m_overlapCopies},
          RankExecution::Traces{m_iterationStartTrace,
                                m_computePhaseTrace,
                                m_iterationEndTrace,
                                m_taskEndTrace,
                                m_finishedTrace,
                                {m_collectiveStartTrace, m_collectiveDoneTrace, m_arrivalTrace}}))
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
    m_execution->Dispose();
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
    m_execution->SetGraph(std::move(graph), rank);
    auto& handles = m_execution->GetCommunication().GetHandles();
    handles.messages = messages;
    handles.groups = communicators;
}

void
TrainingApplication::SetMeetings(std::shared_ptr<TaskMeetings> meetings)
{
    m_execution->GetCommunication().SetMeetings(std::move(meetings));
}

const std::shared_ptr<TaskMeetings>&
TrainingApplication::GetMeetings() const
{
    return m_execution->GetCommunication().GetMeetings();
}

void
TrainingApplication::SetStorage(Ptr<Communicator> storage, uint32_t ranks)
{
    m_execution->GetCommunication().GetHandles().storage = storage;
    m_execution->GetCommunication().GetHandles().storageRank = ranks;
}

Ptr<Communicator>
TrainingApplication::GetStorage() const
{
    return m_execution->GetCommunication().GetHandles().storage;
}

void
TrainingApplication::Abort()
{
    NS_LOG_FUNCTION(this);
    m_execution->Abort();
}

void
TrainingApplication::Restart(std::shared_ptr<const TaskGraph> graph, uint32_t first)
{
    NS_LOG_FUNCTION(this << first);
    m_execution->Restart(std::move(graph), first);
}

void
TrainingApplication::SetLearner(std::unique_ptr<GradientLearner> learner)
{
    m_execution->GetCommunication().GetTensors().SetLearner(std::move(learner));
}

const GradientLearner*
TrainingApplication::GetLearner() const
{
    return m_execution->GetCommunication().GetTensors().GetLearner();
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
    m_execution->GetCommunication().GetTensors().SetSource(MakeGradientSource(gradients));
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
    return m_execution->GetRank();
}

Ptr<Communicator>
TrainingApplication::GetMessages() const
{
    return m_execution->GetCommunication().GetHandles().messages;
}

const std::vector<Ptr<Communicator>>&
TrainingApplication::GetCommunicators() const
{
    return m_execution->GetCommunication().GetHandles().groups;
}

bool
TrainingApplication::IsFinished() const
{
    return m_execution->IsFinished();
}

bool
TrainingApplication::IsComputing() const
{
    return m_execution->IsComputing();
}

void
TrainingApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_UNLESS(m_execution->GetGraph(), "TrainingApplication started without SetGraph()");
    m_execution->Begin(0);
}

void
TrainingApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_execution->Stop();
}

} // namespace ns3::training
