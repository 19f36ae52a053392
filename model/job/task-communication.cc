/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/task-communication.h"

#include "ns3/abort.h"
#include "ns3/callback.h"
#include "ns3/log.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTaskCommunication");

TaskCommunication::TaskCommunication(IterationMeter& meter,
                                     const Traces& traces,
                                     std::function<void(uint64_t task)> done)
    : m_meter(meter),
      m_traces(traces),
      m_done(std::move(done))
{
}

void
TaskCommunication::SetMeetings(std::shared_ptr<TaskMeetings> meetings)
{
    m_meetings = std::move(meetings);
    m_meter.SetExplainedLater(m_meetings && m_meetings->IsDivided());
}

void
TaskCommunication::SetHostLoad(const std::shared_ptr<const HostLoad>& load)
{
    for (const Ptr<Communicator>& group : m_handles.groups)
    {
        // Nobody but hosts makes an all-to-all.
        auto* const hosts = group ? group->FindHosts(CollectiveOperation::ALL_TO_ALL, 0) : nullptr;
        if (hosts)
        {
            hosts->SetHostLoad(load);
        }
    }
}

bool
TaskCommunication::IsCopiedByGpu(const GraphTask& collective) const
{
    const auto* const hosts =
        m_handles.groups[collective.groups]->FindHosts(collective.operation, collective.bytes);
    return hosts && hosts->HasHostModel();
}

void
TaskCommunication::Begin(std::shared_ptr<const TaskGraph> graph,
                         uint32_t rank,
                         bool isReal,
                         uint64_t seed)
{
    m_rank = rank;
    m_tensors.Begin(std::move(graph), rank, isReal, seed);
}

/** Storage hosts are the last ranks. Their messages are no arrivals, and have no numbers. */
bool
TaskCommunication::IsStorage(const GraphTask& task) const
{
    const uint32_t first = m_handles.storageRank;
    return m_handles.storage && (m_rank >= first || task.peer >= first);
}

void
TaskCommunication::Start(const GraphTask& task,
                         uint32_t iteration,
                         const std::shared_ptr<TaskTrace>& trace)
{
    const bool isCollective = task.kind == TaskKind::COLLECTIVE;
    const bool isStorage = !isCollective && IsStorage(task);
    const Ptr<Communicator>& way = isCollective ? m_handles.groups[task.groups]
                                   : isStorage  ? m_handles.storage
                                                : m_handles.messages;
    const TaskTensors::Item item{task, m_tensors.Count(task), iteration};
    const Ptr<Tensor> tensor =
        isCollective ? m_tensors.Make(item, way) : m_tensors.MakeMessage(item, !isStorage);
    m_underWay.emplace(task.id, UnderWay{item, trace, tensor});
    if (m_meetings)
    {
        const uint64_t number = isCollective ? item.number : 0;
        m_meetings->Start(m_rank, task, number, Simulator::Now(), trace->cause);
    }
    const auto done = MakeBoundCallback(&TaskCommunication::Done, this, m_life, task.id);
    if (isCollective)
    {
        NS_LOG_LOGIC("rank " << m_rank << " starts collective " << task.tag << " of " << task.bytes
                             << " bytes");
        m_meter.BeginCollective();
        m_traces.start(m_rank, iteration, tensor->bucket);
        way->Start(task.operation, tensor, task.peer, done, task.matrix);
    }
    else if (task.kind == TaskKind::SEND)
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
TaskCommunication::Stop()
{
    m_life++;
    m_underWay.clear();
}

void
TaskCommunication::Dispose()
{
    m_handles = {};
    m_meetings = nullptr;
}

void
TaskCommunication::Done(TaskCommunication* self, uint32_t life, uint64_t id)
{
    if (self->m_life != life)
    {
        return; // stopped while it was in progress
    }
    const auto ended = self->m_underWay.extract(id);
    NS_ABORT_MSG_IF(ended.empty(), "task " << id << " completed twice");
    const auto& [item, trace, tensor] = ended.mapped();
    if (self->m_meetings)
    {
        self->m_meetings->End(item.task, item.number, trace);
    }
    if (item.task.kind == TaskKind::COLLECTIVE)
    {
        self->EndCollective(ended.mapped());
    }
    else if (item.task.kind == TaskKind::SEND)
    {
        self->m_meter.EndSend();
    }
    else
    {
        self->m_meter.EndReceive(trace);
        if (!self->IsStorage(item.task))
        {
            self->m_traces.arrival(self->m_rank, item.task, item.number, tensor);
        }
    }
    self->m_done(id);
}

void
TaskCommunication::EndCollective(const UnderWay& ended)
{
    const auto& [item, trace, tensor] = ended;
    m_meter.EndCollective();
    m_tensors.Decode(item.task, m_handles.groups[item.task.groups], *tensor);
    m_traces.done(m_rank, item.iteration, tensor->bucket, tensor);
    m_traces.arrival(m_rank, item.task, item.number, tensor);
    m_tensors.Learn(item, tensor->values);
}

} // namespace ns3::training
