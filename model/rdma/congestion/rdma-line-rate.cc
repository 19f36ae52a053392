/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-line-rate.h"

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(RdmaLineRate);

namespace
{

const Registry<CongestionControlEntry>::Entry g_none("none",
                                                     {"line rate, limited only by PFC pauses",
                                                      &RdmaLineRate::GetTypeId});

} // namespace

TypeId
RdmaLineRate::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::RdmaLineRate")
                            .SetParent<RdmaCongestionControl>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<RdmaLineRate>();
    return tid;
}

void
RdmaLineRate::Initialize(const Path& path)
{
    m_rate = path.lineRate;
}

double
RdmaLineRate::GetRate(int64_t)
{
    return m_rate;
}

} // namespace ns3::training
