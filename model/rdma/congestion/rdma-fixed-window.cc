/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/congestion/rdma-fixed-window.h"

#include "ns3/uinteger.h"

#include <cmath>

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(RdmaFixedWindow);

namespace
{

const Registry<CongestionControlEntry>::Entry g_window("window",
                                                       {"line rate with a window of one "
                                                        "bandwidth-delay product",
                                                        &RdmaFixedWindow::GetTypeId,
                                                        0,
                                                        {},
                                                        true});

} // namespace

TypeId
RdmaFixedWindow::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::RdmaFixedWindow")
            .SetParent<RdmaCongestionControl>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<RdmaFixedWindow>()
            .AddAttribute("Window",
                          "Limit of unacknowledged payload, bytes; 0: the bytes of the line in a "
                          "round trip of the idle network",
                          UintegerValue(0),
                          InOrder(MakeUintegerAccessor(&RdmaFixedWindow::m_window)),
                          MakeUintegerChecker<uint64_t>());
    return tid;
}

RdmaCongestionControl::Needs
RdmaFixedWindow::GetNeeds() const
{
    Needs needs;
    needs.acks = false;
    needs.ackPerPacket = true; // otherwise the window would have to cover a whole ACK interval too
    return needs;
}

void
RdmaFixedWindow::Initialize(const Path& path)
{
    m_rate = path.lineRate;
    if (m_window == 0)
    {
        m_window = static_cast<uint64_t>(std::ceil(GetBytesSent(path.lineRate, path.roundTrip)));
    }
}

double
RdmaFixedWindow::GetRate(int64_t)
{
    return m_rate;
}

uint64_t
RdmaFixedWindow::GetWindow() const
{
    return m_window;
}

} // namespace ns3::training
