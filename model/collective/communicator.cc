/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator.h"

#include "ns3/abort.h"
#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCommunicator");
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
Communicator::Start(CollectiveOperation operation,
                    Ptr<Tensor> tensor,
                    uint32_t root,
                    Done done,
                    ByteMatrix matrix)
{
    switch (operation)
    {
    case CollectiveOperation::ALL_REDUCE:
        return AllReduce(tensor, done);
    case CollectiveOperation::REDUCE_SCATTER:
        return ReduceScatter(tensor, done);
    case CollectiveOperation::ALL_GATHER:
        return AllGather(tensor, done);
    case CollectiveOperation::BROADCAST:
        return Broadcast(tensor, root, done);
    case CollectiveOperation::REDUCE:
        return Reduce(tensor, root, done);
    case CollectiveOperation::ALL_TO_ALL:
        return AllToAll(tensor, done);
    case CollectiveOperation::ALL_TO_ALL_V:
        return AllToAllV(tensor, matrix, done);
    case CollectiveOperation::BARRIER:
        return Barrier(done);
    case CollectiveOperation::SEND_RECEIVE:
        return SendReceive(tensor, done);
    }
}

void
Communicator::Reduce(Ptr<Tensor>, uint32_t, Done)
{
    Refuse("reduce");
}

void
Communicator::AllToAll(Ptr<Tensor>, Done)
{
    Refuse("all-to-all");
}

void
Communicator::AllToAllV(Ptr<Tensor>, ByteMatrix, Done)
{
    Refuse("all-to-all-v");
}

void
Communicator::Barrier(Done)
{
    Refuse("barrier");
}

void
Communicator::SendReceive(Ptr<Tensor>, Done)
{
    Refuse("send-receive");
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
