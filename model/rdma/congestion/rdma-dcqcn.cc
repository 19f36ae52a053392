/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/congestion/rdma-dcqcn.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaDcqcn");
NS_OBJECT_ENSURE_REGISTERED(RdmaDcqcn);

namespace
{

const Registry<CongestionControlEntry>::Entry g_dcqcn(
    "dcqcn",
    {"DCQCN",
     &RdmaDcqcn::GetTypeId,
     0,
     {{"connectx",
       "ConnectX-4 and later as they ship, marks of SONiC's profile AZURE_LOSSLESS at 100 Gbit/s",
       {{"ns3::training::RdmaDcqcn::G", "0.0048828125"},
        {"ns3::training::RdmaDcqcn::MinimumRate", "1Mbps"},
        {"ns3::training::RdmaDcqcn::ByteCounter", "32767"},
        {"ns3::training::RdmaDcqcn::DecreasePeriod", "0us"},
        {"ns3::training::SwitchDevice::EcnKminPerGbps", "10485.76"},
        {"ns3::training::SwitchDevice::EcnKmaxPerGbps", "20971.52"},
        {"ns3::training::SwitchDevice::EcnPmax", "0.05"}}},
      {"hpcc", "run.py of HPCC's simulator: ConnectX without its byte counter", {}},
      {"sigcomm15",
       "Zhu et al., SIGCOMM 2015, at 40 Gbit/s",
       {{"ns3::training::RdmaDcqcn::FastRecoveryStages", "5"},
        {"ns3::training::RdmaDcqcn::ClampTarget", "true"},
        {"ns3::training::RdmaDcqcn::AdditiveIncrease", "0.001"},
        {"ns3::training::RdmaDcqcn::HyperIncrease", "0.005"},
        {"ns3::training::RdmaDcqcn::AlphaPeriod", "55us"},
        {"ns3::training::RdmaDcqcn::DecreasePeriod", "50us"},
        {"ns3::training::RdmaDcqcn::IncreasePeriod", "55us"},
        {"ns3::training::RdmaDcqcn::ByteCounter", "10000000"},
        {"ns3::training::RdmaDcqcn::MinimumRate", "40Mbps"},
        {"ns3::training::RdmaNic::CnpInterval", "50us"},
        {"ns3::training::SwitchDevice::EcnKminPerGbps", "125"},
        {"ns3::training::SwitchDevice::EcnKmaxPerGbps", "5000"},
        {"ns3::training::SwitchDevice::EcnPmax", "0.01"}}}},
     true});

} // namespace

TypeId
RdmaDcqcn::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::RdmaDcqcn")
            .SetParent<RdmaCongestionControl>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<RdmaDcqcn>()
            .AddAttribute("G",
                          "Weight g of a new observation in alpha",
                          DoubleValue(1.0 / 256),
                          InOrder(MakeDoubleAccessor(&RdmaDcqcn::m_gain)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("LargestCut",
                          "Maximum fraction of the rate removed by one cut",
                          DoubleValue(0.5),
                          InOrder(MakeDoubleAccessor(&RdmaDcqcn::m_largestCut)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute(
                "FastRecoveryStages",
                "Increase steps that halve the distance to the target before it is raised",
                UintegerValue(1),
                InOrder(MakeUintegerAccessor(&RdmaDcqcn::m_fastRecoveryStages)),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("ClampTarget",
                          "Whether every cut sets the target to the current rate, and not only one "
                          "after an increase",
                          BooleanValue(false),
                          InOrder(MakeBooleanAccessor(&RdmaDcqcn::m_clampTarget)),
                          MakeBooleanChecker())
            .AddAttribute("MinimumRate",
                          "Minimum rate after a cut (HPCC's run.py)",
                          DataRateValue(DataRate("1Gbps")),
                          InOrder(MakeDataRateAccessor(&RdmaDcqcn::m_minimumRate)),
                          MakeDataRateChecker())
            .AddAttribute("AdditiveIncrease",
                          "Raise of the target in the additive stage, part of the line rate "
                          "(HPCC's run.py: 5 Mbit/s at 25 Gbit/s)",
                          DoubleValue(0.0002),
                          InOrder(MakeDoubleAccessor(&RdmaDcqcn::m_additiveFraction)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("HyperIncrease",
                          "Raise of the target in the hyper stage, part of the line rate "
                          "(HPCC's run.py: 50 Mbit/s at 25 Gbit/s)",
                          DoubleValue(0.002),
                          InOrder(MakeDoubleAccessor(&RdmaDcqcn::m_hyperFraction)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AlphaPeriod",
                          "Period of the update of alpha",
                          TimeValue(MicroSeconds(1)),
                          InOrder(MakeTimeAccessor(&RdmaDcqcn::m_alphaPeriod)),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("DecreasePeriod",
                          "Shortest time between two cuts; 0: 4 us (ConnectX), but at least the "
                          "round trip without queues, after which a cut shows",
                          TimeValue(MicroSeconds(4)),
                          InOrder(MakeTimeAccessor(&RdmaDcqcn::m_decreasePeriod)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("IncreasePeriod",
                          "Time from a cut or increase to the next increase",
                          TimeValue(MicroSeconds(300)),
                          InOrder(MakeTimeAccessor(&RdmaDcqcn::m_increasePeriod)),
                          MakeTimeChecker(TimeStep(1)))
            .AddAttribute("ByteCounter",
                          "Bytes sent from a cut or such an increase to the next increase; 0: the "
                          "timer alone increases",
                          UintegerValue(0),
                          InOrder(MakeUintegerAccessor(&RdmaDcqcn::m_byteCounter)),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Window",
                          "Whether no more may be unacknowledged than the rate sends in a round "
                          "trip of the idle network (DCQCN+w of HPCC's evaluation)",
                          BooleanValue(false),
                          InOrder(MakeBooleanAccessor(&RdmaDcqcn::m_hasWindow)),
                          MakeBooleanChecker());
    return tid;
}

void
RdmaDcqcn::Initialize(const Path& path)
{
    m_baseRoundTrip = path.roundTrip;
    if (m_decreasePeriod.IsZero())
    {
        m_decreasePeriod = std::max(MicroSeconds(4), TimeStep(path.roundTrip));
    }
    m_lineRate = path.lineRate;
    m_rate = path.lineRate;
    m_target = path.lineRate;
}

RdmaCongestionControl::Needs
RdmaDcqcn::GetNeeds() const
{
    Needs needs;
    needs.acks = m_hasWindow;
    needs.cnp = true;
    needs.ackPerPacket = m_hasWindow;
    needs.sentBytes = m_byteCounter > 0;
    return needs;
}

double
RdmaDcqcn::GetRate(int64_t now)
{
    Advance(now);
    return m_rate;
}

int64_t
RdmaDcqcn::GetRateEnd() const
{
    int64_t end = std::numeric_limits<int64_t>::max();
    if (m_started && m_cnpForDecrease)
    {
        end = m_nextDecrease;
    }
    if (m_started && m_rate < m_lineRate)
    {
        end = std::min(end, m_nextIncrease);
    }
    return end;
}

uint64_t
RdmaDcqcn::GetWindow() const
{
    return m_hasWindow ? static_cast<uint64_t>(GetBytesSent(m_rate, m_baseRoundTrip) + 0.5)
                       : RdmaCongestionControl::GetWindow();
}

void
RdmaDcqcn::OnAck(const Ack& ack)
{
    if (m_hasWindow)
    {
        Advance(ack.now); // the window may have grown while the next packet waited for it
    }
}

double
RdmaDcqcn::GetAlpha(int64_t now)
{
    Advance(now);
    AdvanceAlpha(now);
    return m_alpha;
}

void
RdmaDcqcn::OnCnp(int64_t now)
{
    NS_LOG_FUNCTION(this << now);
    if (!m_started)
    {
        NS_LOG_LOGIC("the first CNP starts the timers");
        m_started = true;
        m_alpha = 1;
        m_lastAlpha = now;
        // One nanosecond after the alpha timer, so that alpha is up to date at each rate cut.
        m_firstDecrease = now + m_decreasePeriod.GetTimeStep() + NanoSeconds(1).GetTimeStep();
        m_nextDecrease = m_firstDecrease;
        m_cnpForDecrease = true;
        return;
    }
    Advance(now);
    AdvanceAlpha(now);
    m_cnpForAlpha = true;
    if (!m_cnpForDecrease)
    {
        const int64_t period = m_decreasePeriod.GetTimeStep();
        const int64_t ticks = now < m_firstDecrease ? 0 : (now - m_firstDecrease) / period + 1;
        m_nextDecrease = m_firstDecrease + ticks * period;
        m_cnpForDecrease = true;
    }
}

void
RdmaDcqcn::Advance(int64_t now)
{
    if (!m_started)
    {
        return;
    }
    while (true)
    {
        const bool raises = m_rate < m_lineRate;
        if (m_cnpForDecrease && m_nextDecrease <= now &&
            (!raises || m_nextDecrease <= m_nextIncrease))
        {
            Cut(m_nextDecrease);
        }
        else if (raises && m_nextIncrease <= now)
        {
            Raise();
            m_nextIncrease += m_increasePeriod.GetTimeStep();
        }
        else
        {
            return;
        }
    }
}

void
RdmaDcqcn::AdvanceAlpha(int64_t now)
{
    const int64_t ticks = (now - m_lastAlpha) / m_alphaPeriod.GetTimeStep();
    if (ticks <= 0)
    {
        return;
    }
    m_alpha = (1 - m_gain) * m_alpha + (m_cnpForAlpha ? m_gain : 0);
    m_cnpForAlpha = false;
    m_alpha *= std::pow(1 - m_gain, static_cast<double>(ticks - 1));
    m_lastAlpha += ticks * m_alphaPeriod.GetTimeStep();
}

void
RdmaDcqcn::Cut(int64_t now)
{
    AdvanceAlpha(now);
    if (m_clampTarget || m_stage > 0 || m_byteStage > 0)
    {
        m_target = m_rate;
    }
    m_rate = std::max(GetLowestRate(m_minimumRate, m_lineRate),
                      m_rate * (1 - std::min(m_alpha / 2, m_largestCut)));
    m_stage = 0;
    m_byteStage = 0;
    m_sentBytes = 0;
    m_cnpForDecrease = false;
    m_nextIncrease = now + m_increasePeriod.GetTimeStep();
    NS_LOG_LOGIC("cuts the rate to " << m_rate << " bit/s, alpha " << m_alpha);
}

void
RdmaDcqcn::OnSent(uint64_t bytes, int64_t now)
{
    Advance(now);
    m_sentBytes += bytes;
    while (m_started && m_rate < m_lineRate && m_sentBytes >= m_byteCounter)
    {
        m_sentBytes -= m_byteCounter;
        RaiseByBoth(m_byteStage);
    }
    if (m_rate >= m_lineRate)
    {
        m_sentBytes = 0;
    }
}

int64_t
RdmaDcqcn::GetByteQuota() const
{
    const bool counts = m_byteCounter > 0 && m_started && m_rate < m_lineRate;
    return counts ? static_cast<int64_t>(m_byteCounter - m_sentBytes)
                  : RdmaCongestionControl::GetByteQuota();
}

void
RdmaDcqcn::RaiseByBoth(uint32_t& stage)
{
    const uint32_t least = std::min(m_stage, m_byteStage);
    if (least >= m_fastRecoveryStages)
    {
        const double steps = least - m_fastRecoveryStages + 1;
        m_target = std::min(m_lineRate, m_target + steps * m_hyperFraction * m_lineRate);
    }
    else if (std::max(m_stage, m_byteStage) >= m_fastRecoveryStages)
    {
        m_target = std::min(m_lineRate, m_target + m_additiveFraction * m_lineRate);
    }
    stage++;
    Approach();
}

void
RdmaDcqcn::Raise()
{
    if (m_byteCounter > 0)
    {
        RaiseByBoth(m_stage);
        return;
    }
    if (m_stage == m_fastRecoveryStages)
    {
        m_target = std::min(m_lineRate, m_target + m_additiveFraction * m_lineRate);
    }
    else if (m_stage > m_fastRecoveryStages)
    {
        m_target = std::min(m_lineRate, m_target + m_hyperFraction * m_lineRate);
    }
    m_stage++;
    Approach();
}

void
RdmaDcqcn::Approach()
{
    m_rate = (m_rate + m_target) / 2;
    if (m_lineRate - m_rate < 1)
    {
        m_rate = m_lineRate; // repeated halving would never reach the line rate
    }
    NS_LOG_LOGIC("raises the rate to " << m_rate << " bit/s, stages " << m_stage << " and "
                                       << m_byteStage);
}

} // namespace ns3::training
