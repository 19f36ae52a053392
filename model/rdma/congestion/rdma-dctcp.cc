/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/congestion/rdma-dctcp.h"

#include "ns3/double.h"
#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaDctcp");
NS_OBJECT_ENSURE_REGISTERED(RdmaDctcp);

namespace
{

/// Marking threshold of HPCC's run.py: 30 KB at 10 Gbit/s.
constexpr double ECN_STEP_PER_GBPS = 3000;
/// Round trip of HPCC's run.py, ps.
constexpr int64_t PUBLISHED_TRIP = 13000000;

const Registry<CongestionControlEntry>::Entry g_dctcp(
    "dctcp",
    {"DCTCP, by the part of marked packets", &RdmaDctcp::GetTypeId, ECN_STEP_PER_GBPS, {}, true});

} // namespace

TypeId
RdmaDctcp::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::RdmaDctcp")
            .SetParent<RdmaCongestionControl>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<RdmaDctcp>()
            .AddAttribute("G",
                          "Weight g of a new observation in alpha (RFC 8257: 1/16)",
                          DoubleValue(1.0 / 16),
                          InOrder(MakeDoubleAccessor(&RdmaDctcp::m_gain)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AdditiveIncrease",
                          "Raise of the window in a round trip without a cut, packets; 0: 1, or "
                          "more on paths longer than 13 us, such that the rate grows as fast "
                          "(HPCC's run.py: 615 Mbit/s, 1000 bytes in 13 us)",
                          DoubleValue(0),
                          InOrder(MakeDoubleAccessor(&RdmaDctcp::m_increasePackets)),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("MinimumRate",
                          "Minimum rate, as a lower bound of the window",
                          DataRateValue(DataRate("100Mbps")),
                          InOrder(MakeDataRateAccessor(&RdmaDctcp::m_minimumRate)),
                          MakeDataRateChecker());
    return tid;
}

RdmaCongestionControl::Needs
RdmaDctcp::GetNeeds() const
{
    Needs needs;
    needs.ackPerPacket = true; // one ACK for several packets would count them all as marked
    return needs;
}

void
RdmaDctcp::Initialize(const Path& path)
{
    m_roundTrip = path.roundTrip;
    m_increase =
        path.mtu * (m_increasePackets > 0 ? m_increasePackets : GetIncrease(PUBLISHED_TRIP, path));
    m_largest = GetBytesSent(path.lineRate, path.roundTrip);
    m_smallest = GetBytesSent(GetLowestRate(m_minimumRate, path.lineRate), path.roundTrip);
    m_window = m_largest;
}

double
RdmaDctcp::GetRate(int64_t)
{
    return m_window * 8e12 / static_cast<double>(m_roundTrip);
}

uint64_t
RdmaDctcp::GetWindow() const
{
    return static_cast<uint64_t>(m_window + 0.5);
}

void
RdmaDctcp::OnAck(const Ack& ack)
{
    m_nextPsn = ack.nextPsn;
    m_ackedBytes += ack.bytes;
    m_markedBytes += ack.ecnEcho ? ack.bytes : 0;
    const bool roundTripOver = m_mark.IsReached(ack);
    if (roundTripOver)
    {
        const double marked = static_cast<double>(m_markedBytes) /
                              static_cast<double>(std::max<uint64_t>(1, m_ackedBytes));
        m_alpha = (1 - m_gain) * m_alpha + m_gain * marked;
        m_ackedBytes = 0;
        m_markedBytes = 0;
        NS_LOG_LOGIC("alpha " << m_alpha << " after a round trip with a part of " << marked
                              << " marked");
    }
    m_reduced = m_reduced && ack.firstUnackedPsn <= m_cutPsn;
    if (ack.ecnEcho)
    {
        Cut(m_alpha / 2);
    }
    if (roundTripOver && !m_reduced)
    {
        m_window = std::min(m_largest, m_window + m_increase);
    }
}

void
RdmaDctcp::OnLoss(int64_t)
{
    Cut(0.5);
}

void
RdmaDctcp::OnTimeout(int64_t)
{
    m_window = m_smallest;
    NS_LOG_LOGIC("a timeout cuts the window to " << m_window << " bytes");
}

void
RdmaDctcp::Cut(double part)
{
    if (!m_reduced)
    {
        m_window = std::max(m_smallest, m_window * (1 - part));
        m_reduced = true;
        m_cutPsn = m_nextPsn;
        NS_LOG_LOGIC("cuts the window to " << m_window << " bytes, alpha " << m_alpha);
    }
}

} // namespace ns3::training
