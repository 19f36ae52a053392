/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-congestion-control.h"

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(UecCongestionControl);

TypeId
UecCongestionControl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::UecCongestionControl")
                            .SetParent<Object>()
                            .SetGroupName("DistributedTraining");
    return tid;
}

} // namespace ns3::training
