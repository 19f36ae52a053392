/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/congestion/rdma-theta-power-tcp.h"

#include "ns3/double.h"
#include "ns3/training-quantity.h"

#include <algorithm>

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(RdmaThetaPowerTcp);

namespace
{

const Registry<CongestionControlEntry>::Entry g_thetaPowerTcp(
    "theta-power-tcp",
    {"PowerTCP without telemetry, by the round trip", &RdmaThetaPowerTcp::GetTypeId, 0, {}, true});

/// Lower bound of round-trip growth plus 1.
constexpr double MIN_GROWTH = 0.5;
/// A round trip up to this factor above that without queues counts as idle.
constexpr double SLACK = 1.05;

} // namespace

TypeId
RdmaThetaPowerTcp::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::RdmaThetaPowerTcp")
            .SetParent<RdmaCongestionControl>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<RdmaThetaPowerTcp>()
            .AddAttribute("Gamma",
                          "Part of the new rate in the rate (ns3-datacenter: 0.7)",
                          DoubleValue(0.7),
                          InOrder(MakeDoubleAccessor(&RdmaThetaPowerTcp::m_gamma)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute(
                "AdditiveIncrease",
                "Beta, part of the line rate (ns3-datacenter: 0.006, which leaves part of "
                "the line idle where a round trip holds few packets)",
                DoubleValue(0.012),
                InOrder(MakeDoubleAccessor(&RdmaThetaPowerTcp::m_increaseFraction)),
                MakeDoubleChecker<double>(0, 1))
            .AddAttribute("MinimumRate",
                          "Minimum rate",
                          DataRateValue(DataRate("100Mbps")),
                          InOrder(MakeDataRateAccessor(&RdmaThetaPowerTcp::m_minimumRate)),
                          MakeDataRateChecker());
    return tid;
}

RdmaCongestionControl::Needs
RdmaThetaPowerTcp::GetNeeds() const
{
    Needs needs;
    needs.ackPerPacket = true;
    return needs;
}

void
RdmaThetaPowerTcp::Initialize(const Path& path)
{
    m_roundTrip = path.roundTrip;
    m_rate.Initialize({path.lineRate,
                       GetLowestRate(m_minimumRate, path.lineRate),
                       m_increaseFraction * path.lineRate,
                       m_gamma});
}

double
RdmaThetaPowerTcp::GetRate(int64_t)
{
    return m_rate.GetRate();
}

uint64_t
RdmaThetaPowerTcp::GetWindow() const
{
    return static_cast<uint64_t>(GetBytesSent(m_rate.GetRate(), m_roundTrip) + 0.5);
}

void
RdmaThetaPowerTcp::OnAck(const Ack& ack)
{
    if (!m_mark.IsReached(ack))
    {
        return;
    }
    const int64_t interval = ack.now - m_lastTime;
    if (m_lastRoundTrip > 0 && interval > 0)
    {
        const double growth =
            static_cast<double>(ack.roundTrip - m_lastRoundTrip) / static_cast<double>(interval);
        const double power = std::max(growth + 1, MIN_GROWTH) * static_cast<double>(ack.roundTrip) /
                             (SLACK * static_cast<double>(m_roundTrip));
        m_rate.Update(power, interval, m_roundTrip, true);
    }
    m_lastRoundTrip = ack.roundTrip;
    m_lastTime = ack.now;
}

std::string
RdmaThetaPowerTcp::DescribeLimit() const
{
    return "it takes a round trip of " + FormatTime(NanoSeconds(m_lastRoundTrip / 1000)) +
           " for a queue, where that of the idle network is " +
           FormatTime(NanoSeconds(m_roundTrip / 1000)) +
           " (see --congestion-control=power-tcp, which measures queues)";
}

} // namespace ns3::training
