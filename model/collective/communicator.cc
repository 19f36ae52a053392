/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator.h"

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

} // namespace ns3::training
