/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "offloading-communicator.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingOffloadingCommunicator");

void
OffloadingCommunicator::DoDispose()
{
    m_hosts = nullptr;
    m_queue.clear();
    m_busy = false;
    Communicator::DoDispose();
}

void
OffloadingCommunicator::SetHosts(uint32_t rank, Ptr<ScheduledCommunicator> hosts)
{
    m_rank = rank;
    m_place = rank;
    m_hosts = hosts;
}

void
OffloadingCommunicator::SetErrorHandler(ErrorHandler handler)
{
    if (m_hosts)
    {
        m_hosts->SetErrorHandler(std::move(handler));
    }
}

std::string
OffloadingCommunicator::GetWaitingFor() const
{
    return m_hosts->GetWaitingFor();
}

void
OffloadingCommunicator::Send(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    m_hosts->Send(tensor, peer, done);
}

void
OffloadingCommunicator::Receive(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    m_hosts->Receive(tensor, peer, done);
}

void
OffloadingCommunicator::Start(CollectiveOperation operation,
                              Ptr<Tensor> tensor,
                              uint32_t root,
                              Done done,
                              ByteMatrix matrix)
{
    NS_LOG_FUNCTION(this << ns3::training::GetName(operation) << tensor->bytes << root);
    NS_ABORT_MSG_IF(tensor->IsReal() && tensor->values.size() * sizeof(float) != tensor->bytes,
                    "a real tensor's bytes are four times its numbers");
    Add(operation, {{}, tensor, root, std::move(matrix), done, nullptr});
}

void
OffloadingCommunicator::Queue(Ptr<Tensor> tensor, Done done, std::function<void()> begin)
{
    Add(CollectiveOperation::BROADCAST, {{}, tensor, 0, nullptr, done, std::move(begin)});
}

void
OffloadingCommunicator::Add(CollectiveOperation type, Operation operation)
{
    operation.record.operation = type;
    operation.record.rank = m_place;
    operation.record.communicator = m_number;
    operation.record.collective = m_issued++;
    operation.record.bytes = operation.tensor->bytes;
    operation.record.iteration = operation.tensor->iteration;
    operation.record.bucket = operation.tensor->bucket;
    operation.record.issued = Simulator::Now();
    m_queue.push_back(std::move(operation));
    // From an event, so that completion never precedes the return of this call.
    Simulator::ScheduleNow(&OffloadingCommunicator::StartNext, this);
}

void
OffloadingCommunicator::StartNext()
{
    if (m_busy || m_queue.empty() || IsHeld())
    {
        return;
    }
    m_busy = true;
    Operation& operation = m_queue.front();
    CollectiveRecord& record = operation.record;
    record.started = Simulator::Now();
    if (!operation.begin &&
        (!IsOffloaded(record.operation) || !IsChosen(record.bytes) || !HasOffload()))
    {
        RunByHosts();
        return;
    }
    record.algorithm = GetName();
    const bool isEmpty = record.bytes == 0 && record.operation != CollectiveOperation::BARRIER;
    if (!operation.begin && ((GetSize() == 1 && ReturnsSum()) || isEmpty))
    {
        Finish();
        return;
    }
    NS_LOG_LOGIC("rank " << m_rank << ": operation " << record.collective << " is offloaded");
    m_isOffloaded = true;
    operation.begin ? operation.begin() : Begin(*operation.tensor);
}

void
OffloadingCommunicator::RunByHosts()
{
    TakeBack();
    Operation& operation = m_queue.front();
    CollectiveRecord& record = operation.record;
    record.algorithm =
        m_hosts->GetSchedule(record.operation, record.bytes, operation.root)->algorithm;
    NS_LOG_LOGIC("rank " << m_rank << ": the hosts make operation " << operation.record.collective);
    m_hosts->Start(operation.record.operation,
                   operation.tensor,
                   operation.root,
                   MakeCallback(&OffloadingCommunicator::Finish, this),
                   operation.matrix);
}

void
OffloadingCommunicator::Finish()
{
    Operation operation = std::move(m_queue.front());
    m_queue.pop_front();
    m_busy = false;
    m_isOffloaded = false;
    operation.record.finished = Simulator::Now();
    m_collectiveTrace(operation.record);
    StartNext();
    if (!operation.done.IsNull())
    {
        operation.done();
    }
}

void
OffloadingCommunicator::Continue()
{
    m_isOffloaded ? RunByHosts() : StartNext();
}

void
OffloadingCommunicator::TakeBack()
{
    m_isOffloaded = false;
    m_queue.front().record.algorithm = "ring";
}

} // namespace ns3::training
