/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/congestion/rdma-line-rate.h"

#include <limits>

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(RdmaLineRate);

namespace
{

const Registry<CongestionControlEntry>::Entry g_none(
    "none",
    {"line rate, limited only by PFC pauses", &RdmaLineRate::GetTypeId, 0, {}, true});

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

RdmaCongestionControl::Needs
RdmaLineRate::GetNeeds() const
{
    Needs needs;
    needs.acks = false;
    return needs;
}

double
RdmaLineRate::GetRate(int64_t)
{
    return m_rate;
}

int64_t
RdmaLineRate::GetRateEnd() const
{
    return std::numeric_limits<int64_t>::max();
}

} // namespace ns3::training
