/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-congestion-control.h"

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(RdmaCongestionControl);

TypeId
RdmaCongestionControl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::RdmaCongestionControl")
                            .SetParent<Object>()
                            .SetGroupName("DistributedTraining");
    return tid;
}

} // namespace ns3::training
