/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/congestion/rdma-hpcc.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaHpcc");
NS_OBJECT_ENSURE_REGISTERED(RdmaHpcc);

namespace
{

const Registry<CongestionControlEntry>::Entry g_hpcc(
    "hpcc",
    {"HPCC, by in-band telemetry",
     &RdmaHpcc::GetTypeId,
     0,
     {{"5-flows",
       "MaxStage 0 as in its simulations, the rule of the paper for W_AI with up to 5 flows on a "
       "link",
       {}},
      {"16-flows",
       "the rule of the paper for W_AI with up to 16 flows on a link",
       {{"ns3::training::RdmaHpcc::AdditiveIncrease", "0.003"},
        {"ns3::training::RdmaHpcc::MaxStage", "5"}}},
      {"sigcomm19",
       "Li et al., SIGCOMM 2019: up to 100 flows, which takes long to share a link fairly",
       {{"ns3::training::RdmaHpcc::AdditiveIncrease", "0.0005"},
        {"ns3::training::RdmaHpcc::MaxStage", "5"}}},
      {"simulation",
       "simulations of the paper: MaxStage 0",
       {{"ns3::training::RdmaHpcc::AdditiveIncrease", "0.0005"},
        {"ns3::training::RdmaHpcc::MinimumRate", "1Gbps"}}}},
     true});

} // namespace

TypeId
RdmaHpcc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::RdmaHpcc")
            .SetParent<RdmaCongestionControl>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<RdmaHpcc>()
            .AddAttribute("Eta",
                          "Part of the line rate that is aimed at (HPCC: 95 %)",
                          DoubleValue(0.95),
                          InOrder(MakeDoubleAccessor(&RdmaHpcc::m_eta)),
                          MakeDoubleChecker<double>(0.01, 1))
            .AddAttribute("MaxStage",
                          "Additive-increase stages, a round trip each, before a multiplicative "
                          "update (HPCC: 5 in the text, 0 in its simulations)",
                          UintegerValue(0),
                          InOrder(MakeUintegerAccessor(&RdmaHpcc::m_maxStage)),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("AdditiveIncrease",
                          "W_AI, part of the first window; the rule is (1 - eta) / N for N flows "
                          "on a link (HPCC: 80 bytes at 100 Gbit/s and 13 us, N = 100; here N = 5)",
                          DoubleValue(0.01),
                          InOrder(MakeDoubleAccessor(&RdmaHpcc::m_increaseFraction)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("MinimumRate",
                          "Minimum rate, as a lower bound of the window",
                          DataRateValue(DataRate("100Mbps")),
                          InOrder(MakeDataRateAccessor(&RdmaHpcc::m_minimumRate)),
                          MakeDataRateChecker());
    return tid;
}

RdmaCongestionControl::Needs
RdmaHpcc::GetNeeds() const
{
    Needs needs;
    needs.ackPerPacket = true;
    needs.telemetry = true;
    return needs;
}

void
RdmaHpcc::Initialize(const Path& path)
{
    m_roundTrip = path.roundTrip;
    m_largest = GetBytesSent(path.lineRate, path.roundTrip);
    m_smallest = GetBytesSent(GetLowestRate(m_minimumRate, path.lineRate), path.roundTrip);
    m_window = m_largest;
    m_reference = m_largest;
}

double
RdmaHpcc::GetRate(int64_t)
{
    return m_window * 8e12 / static_cast<double>(m_roundTrip);
}

uint64_t
RdmaHpcc::GetWindow() const
{
    return static_cast<uint64_t>(m_window + 0.5);
}

void
RdmaHpcc::OnAck(const Ack& ack)
{
    if (!ack.telemetry)
    {
        return;
    }
    const bool roundTripOver = m_mark.IsReached(ack);
    double load = 0;
    int64_t interval = 0;
    for (const LinkLoad& link : m_history.Update(*ack.telemetry))
    {
        const double queue = std::min(link.previousQueue, link.queue);
        const double u = queue / GetBytesSent(link.rate, m_roundTrip) + link.throughput / link.rate;
        if (u > load)
        {
            load = u;
            interval = link.interval;
        }
    }
    if (interval == 0)
    {
        return; // throughput needs two telemetry records of a path
    }
    const double weight =
        static_cast<double>(std::min(interval, m_roundTrip)) / static_cast<double>(m_roundTrip);
    m_utilization = (1 - weight) * m_utilization + weight * load;

    const bool multiplies = m_utilization >= m_eta || m_stage >= m_maxStage;
    m_window = (multiplies ? m_reference / (m_utilization / m_eta) : m_reference) +
               m_increaseFraction * m_largest;
    m_window = std::clamp(m_window, m_smallest, m_largest);
    if (roundTripOver)
    {
        m_reference = m_window;
        m_stage = multiplies ? 0 : m_stage + 1;
        NS_LOG_LOGIC("sets the window to " << m_window << " bytes, utilization " << m_utilization);
    }
}

} // namespace ns3::training
