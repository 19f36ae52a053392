/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/congestion/rdma-power-tcp.h"

#include "ns3/double.h"
#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaPowerTcp");
NS_OBJECT_ENSURE_REGISTERED(RdmaPowerTcp);

namespace
{

const Registry<CongestionControlEntry>::Entry g_powerTcp(
    "power-tcp",
    {"PowerTCP, by in-band telemetry", &RdmaPowerTcp::GetTypeId, 0, {}, true});

/// Lower bound of the current, as a fraction of the line rate.
constexpr double MIN_CURRENT = 0.5;

} // namespace

void
PowerRate::Initialize(const Parameters& parameters)
{
    m_parameters = parameters;
    m_rate = parameters.lineRate;
    m_reference = parameters.lineRate;
}

void
PowerRate::Update(double power, int64_t interval, int64_t roundTrip, bool roundTripOver)
{
    const double weight =
        static_cast<double>(std::min(interval, roundTrip)) / static_cast<double>(roundTrip);
    m_power = (1 - weight) * m_power + weight * power;
    const double target = m_reference / m_power + m_parameters.increase;
    m_rate = std::clamp(m_parameters.gamma * target + (1 - m_parameters.gamma) * m_reference,
                        m_parameters.lowestRate,
                        m_parameters.lineRate);
    if (roundTripOver)
    {
        m_reference = m_rate;
        NS_LOG_LOGIC("sets the rate to " << m_rate << " bit/s, power " << m_power);
    }
}

TypeId
RdmaPowerTcp::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::RdmaPowerTcp")
            .SetParent<RdmaCongestionControl>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<RdmaPowerTcp>()
            .AddAttribute("Eta",
                          "Power that is aimed at (ns3-datacenter: 0.95)",
                          DoubleValue(0.95),
                          InOrder(MakeDoubleAccessor(&RdmaPowerTcp::m_eta)),
                          MakeDoubleChecker<double>(0.01, 1))
            .AddAttribute("Gamma",
                          "Part of the new rate in the rate (ns3-datacenter: 0.9)",
                          DoubleValue(0.9),
                          InOrder(MakeDoubleAccessor(&RdmaPowerTcp::m_gamma)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AdditiveIncrease",
                          "Beta, part of the line rate (ns3-datacenter: 150 Mbit/s at 25 Gbit/s, "
                          "which takes long to share a link fairly)",
                          DoubleValue(0.012),
                          InOrder(MakeDoubleAccessor(&RdmaPowerTcp::m_increaseFraction)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("MinimumRate",
                          "Minimum rate",
                          DataRateValue(DataRate("100Mbps")),
                          InOrder(MakeDataRateAccessor(&RdmaPowerTcp::m_minimumRate)),
                          MakeDataRateChecker());
    return tid;
}

RdmaCongestionControl::Needs
RdmaPowerTcp::GetNeeds() const
{
    Needs needs;
    needs.ackPerPacket = true;
    needs.telemetry = true;
    return needs;
}

void
RdmaPowerTcp::Initialize(const Path& path)
{
    m_roundTrip = path.roundTrip;
    m_rate.Initialize({path.lineRate,
                       GetLowestRate(m_minimumRate, path.lineRate),
                       m_increaseFraction * path.lineRate,
                       m_gamma});
}

double
RdmaPowerTcp::GetRate(int64_t)
{
    return m_rate.GetRate();
}

uint64_t
RdmaPowerTcp::GetWindow() const
{
    return static_cast<uint64_t>(GetBytesSent(m_rate.GetRate(), m_roundTrip) + 0.5);
}

void
RdmaPowerTcp::OnAck(const Ack& ack)
{
    if (!ack.telemetry)
    {
        return;
    }
    const bool roundTripOver = m_mark.IsReached(ack);
    double power = 0;
    int64_t interval = 0;
    for (const LinkLoad& link : m_history.Update(*ack.telemetry))
    {
        const double growth =
            (link.queue - link.previousQueue) * 8e12 / static_cast<double>(link.interval);
        const double current = std::max((growth + link.throughput) / link.rate, MIN_CURRENT);
        const double voltage = link.queue / GetBytesSent(link.rate, m_roundTrip) + 1;
        if (current * voltage > power)
        {
            power = current * voltage;
            interval = link.interval;
        }
    }
    if (interval > 0)
    {
        m_rate.Update(power / m_eta, interval, m_roundTrip, roundTripOver);
    }
}

} // namespace ns3::training
