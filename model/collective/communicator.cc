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
