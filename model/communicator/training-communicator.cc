/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-communicator.h"

#include "ns3/abort.h"

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(Communicator);

TypeId
Communicator::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::Communicator")
                            .SetParent<Object>()
                            .SetGroupName("DistributedTraining");
    return tid;
}

void
Communicator::Refuse(const char* operation) const
{
    NS_ABORT_MSG(GetInstanceTypeId().GetName() << " has no " << operation);
}

void
Communicator::SetErrorHandler(ErrorHandler)
{
}

std::string
Communicator::GetWaitingFor() const
{
    return "";
}

void
Communicator::AllReduce(Ptr<Tensor> tensor, Done done)
{
    Start(CollectiveOperation::ALL_REDUCE, tensor, 0, done);
}

void
Communicator::ReduceScatter(Ptr<Tensor> tensor, Done done)
{
    Start(CollectiveOperation::REDUCE_SCATTER, tensor, 0, done);
}

void
Communicator::AllGather(Ptr<Tensor> tensor, Done done)
{
    Start(CollectiveOperation::ALL_GATHER, tensor, 0, done);
}

void
Communicator::Broadcast(Ptr<Tensor> tensor, uint32_t root, Done done)
{
    Start(CollectiveOperation::BROADCAST, tensor, root, done);
}

void
Communicator::Reduce(Ptr<Tensor> tensor, uint32_t root, Done done)
{
    Start(CollectiveOperation::REDUCE, tensor, root, done);
}

void
Communicator::AllToAll(Ptr<Tensor> tensor, Done done)
{
    Start(CollectiveOperation::ALL_TO_ALL, tensor, 0, done);
}

void
Communicator::AllToAllV(Ptr<Tensor> tensor, ByteMatrix matrix, Done done)
{
    Start(CollectiveOperation::ALL_TO_ALL_V, tensor, 0, done, std::move(matrix));
}

void
Communicator::Barrier(Done done)
{
    Start(CollectiveOperation::BARRIER, Create<Tensor>(), 0, done);
}

void
Communicator::SendReceive(Ptr<Tensor> tensor, Done done)
{
    Start(CollectiveOperation::SEND_RECEIVE, tensor, 0, done);
}

void
Communicator::Send(Ptr<Tensor>, uint32_t, Done)
{
    Refuse("send");
}

void
Communicator::Receive(Ptr<Tensor>, uint32_t, Done)
{
    Refuse("receive");
}

} // namespace ns3::training
