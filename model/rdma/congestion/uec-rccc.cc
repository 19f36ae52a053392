/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/congestion/uec-rccc.h"

#include "ns3/training-registry.h"

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(UecRccc);

namespace
{

const Registry<UecCongestionControlEntry>::Entry g_rccc("rccc",
                                                        {"uec: RCCC, by credit of the receiver",
                                                         &UecRccc::GetTypeId});

} // namespace

TypeId
UecRccc::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::UecRccc")
                            .SetParent<UecCongestionControl>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<UecRccc>();
    return tid;
}

void
UecRccc::Initialize(const Path&)
{
}

bool
UecRccc::NeedsCredit() const
{
    return true;
}

} // namespace ns3::training
