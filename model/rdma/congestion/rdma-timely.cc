/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/congestion/rdma-timely.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaTimely");
NS_OBJECT_ENSURE_REGISTERED(RdmaTimely);

namespace
{

/// Minimum round trip of the paper, ps.
constexpr double PAPER_ROUND_TRIP = 20e6;

const Registry<CongestionControlEntry>::Entry g_timely(
    "timely",
    {"TIMELY, by the gradient of the round trip",
     &RdmaTimely::GetTypeId,
     0,
     {{"hpcc", "TIMELY+w of HPCC's evaluation", {}},
      {"sigcomm15",
       "Mittal et al., SIGCOMM 2015: no window",
       {{"ns3::training::RdmaTimely::LargestCut", "1"},
        {"ns3::training::RdmaTimely::Window", "false"}}}},
     true});

} // namespace

TypeId
RdmaTimely::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::RdmaTimely")
            .SetParent<RdmaCongestionControl>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<RdmaTimely>()
            .AddAttribute("Weight",
                          "Weight alpha of a new difference of round trips (TIMELY: 0.875)",
                          DoubleValue(0.875),
                          InOrder(MakeDoubleAccessor(&RdmaTimely::m_weight)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Beta",
                          "Factor of a cut (TIMELY: 0.8)",
                          DoubleValue(0.8),
                          InOrder(MakeDoubleAccessor(&RdmaTimely::m_beta)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("LargestCut",
                          "Maximum fraction of the rate removed by one cut (TIMELY: 1, so that the "
                          "queue of a start leaves the minimum rate)",
                          DoubleValue(0.5),
                          InOrder(MakeDoubleAccessor(&RdmaTimely::m_largestCut)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("LowThreshold",
                          "Round trip below which the rate is always raised; 0: 50 us (TIMELY), "
                          "but at least 2.5 round trips without queues",
                          TimeValue(Time(0)),
                          InOrder(MakeTimeAccessor(&RdmaTimely::m_low)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("HighThreshold",
                          "Round trip above which the rate is always cut; 0: 500 us (TIMELY), but "
                          "at least 25 round trips without queues",
                          TimeValue(Time(0)),
                          InOrder(MakeTimeAccessor(&RdmaTimely::m_high)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("MinimumRoundTrip",
                          "Round trip that a difference is divided by; 0: 20 us (TIMELY), but at "
                          "least the round trip without queues",
                          TimeValue(Time(0)),
                          InOrder(MakeTimeAccessor(&RdmaTimely::m_minimumRoundTrip)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("AdditiveIncrease",
                          "Raise, part of the line rate (TIMELY: 10 Mbit/s at 10 Gbit/s); more on "
                          "paths longer than 20 us, such that the rate grows as fast",
                          DoubleValue(0.001),
                          InOrder(MakeDoubleAccessor(&RdmaTimely::m_additiveFraction)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("HyperIncrease",
                          "Raise after several in a row, part of the line rate (HPCC's run.py: 50 "
                          "Mbit/s at 10 Gbit/s)",
                          DoubleValue(0.005),
                          InOrder(MakeDoubleAccessor(&RdmaTimely::m_hyperFraction)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("HyperStages",
                          "Raises in a row before they become larger (TIMELY: 5)",
                          UintegerValue(5),
                          InOrder(MakeUintegerAccessor(&RdmaTimely::m_hyperStages)),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("MinimumRate",
                          "Minimum rate after a cut (HPCC's run.py)",
                          DataRateValue(DataRate("1Gbps")),
                          InOrder(MakeDataRateAccessor(&RdmaTimely::m_minimumRate)),
                          MakeDataRateChecker())
            .AddAttribute("Window",
                          "Whether no more may be unacknowledged than the rate sends in a round "
                          "trip of the idle network (TIMELY+w of HPCC's evaluation)",
                          BooleanValue(true),
                          InOrder(MakeBooleanAccessor(&RdmaTimely::m_hasWindow)),
                          MakeBooleanChecker());
    return tid;
}

RdmaCongestionControl::Needs
RdmaTimely::GetNeeds() const
{
    Needs needs;
    // With fewer samples a flow that was cut to its minimum rate stays there (HPCC's run.py:
    // L2_ACK_INTERVAL 1).
    needs.ackPerPacket = true;
    return needs;
}

void
RdmaTimely::Initialize(const Path& path)
{
    m_baseRoundTrip = path.roundTrip;
    // The published times are those of a network with a round trip of 20 us.
    const double scale = std::max(1.0, static_cast<double>(path.roundTrip) / PAPER_ROUND_TRIP);
    for (const auto& [time, published] :
         {std::pair{&m_low, 50e6}, {&m_high, 500e6}, {&m_minimumRoundTrip, PAPER_ROUND_TRIP}})
    {
        if (time->IsZero())
        {
            *time = TimeStep(static_cast<int64_t>(published * scale));
        }
    }
    m_raiseScale = path.lineRate * scale;
    m_lineRate = path.lineRate;
    m_rate = path.lineRate;
}

double
RdmaTimely::GetRate(int64_t)
{
    return m_rate;
}

uint64_t
RdmaTimely::GetWindow() const
{
    return m_hasWindow ? static_cast<uint64_t>(GetBytesSent(m_rate, m_baseRoundTrip) + 0.5)
                       : RdmaCongestionControl::GetWindow();
}

void
RdmaTimely::OnAck(const Ack& ack)
{
    if (!m_mark.IsReached(ack))
    {
        return;
    }
    const int64_t previous = m_previous;
    m_previous = ack.roundTrip;
    if (previous == 0)
    {
        return;
    }
    const auto roundTrip = static_cast<double>(ack.roundTrip);
    m_difference =
        (1 - m_weight) * m_difference + m_weight * static_cast<double>(ack.roundTrip - previous);
    const double gradient = m_difference / static_cast<double>(m_minimumRoundTrip.GetTimeStep());
    const int64_t high = m_high.GetTimeStep();
    double factor = 1;
    if (ack.roundTrip >= m_low.GetTimeStep())
    {
        factor = ack.roundTrip > high ? 1 - m_beta * (1 - static_cast<double>(high) / roundTrip)
                                      : std::max(0.0, 1 - m_beta * std::max(0.0, gradient));
    }
    if (factor < 1)
    {
        factor = std::max(factor, 1 - m_largestCut);
        m_rate = std::max(GetLowestRate(m_minimumRate, m_lineRate), m_rate * factor);
        m_stage = 0;
        NS_LOG_LOGIC("cuts the rate to " << m_rate << " bit/s, round trip " << ack.roundTrip
                                         << " ps");
        return;
    }
    const double raise = m_stage < m_hyperStages ? m_additiveFraction : m_hyperFraction;
    m_rate = std::min(m_lineRate, m_rate + raise * m_raiseScale);
    m_stage++;
    NS_LOG_LOGIC("raises the rate to " << m_rate << " bit/s, stage " << m_stage);
}

std::string
RdmaTimely::DescribeLimit() const
{
    return m_previous < m_low.GetTimeStep()
               ? ""
               : "its round trip of " + FormatTime(NanoSeconds(m_previous / 1000)) +
                     " is above its " +
                     (m_previous > m_high.GetTimeStep() ? "HighThreshold of " + FormatTime(m_high)
                                                        : "LowThreshold of " + FormatTime(m_low)) +
                     " (see low-threshold and high-threshold, 0: by the path)";
}

} // namespace ns3::training
