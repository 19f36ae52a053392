/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/congestion/rdma-swift.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaSwift");
NS_OBJECT_ENSURE_REGISTERED(RdmaSwift);

namespace
{

const Registry<CongestionControlEntry>::Entry g_swift(
    "swift",
    {"Swift, by a target delay", &RdmaSwift::GetTypeId, 0, {}, true});

/// Default target delay of a short path (htsim), ps.
constexpr int64_t BASE_TARGET = 20000000;
/// Upper bound of each part of the target delay, s; the sum over all links must not overflow.
constexpr double MAX_TARGET = 1000;

} // namespace

TypeId
RdmaSwift::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::RdmaSwift")
            .SetParent<RdmaCongestionControl>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<RdmaSwift>()
            .AddAttribute("BaseTarget",
                          "Target delay of a path without hops and a large window; 0: 20 us "
                          "(htsim), but at least the round trip without queues",
                          TimeValue(Time(0)),
                          InOrder(MakeTimeAccessor(&RdmaSwift::m_baseTarget)),
                          MakeTimeChecker(Time(0), Seconds(MAX_TARGET)))
            .AddAttribute("HopTarget",
                          "Target delay added for each link of the longest path (htsim: 20 us / "
                          "6.55)",
                          TimeValue(NanoSeconds(3053)),
                          InOrder(MakeTimeAccessor(&RdmaSwift::m_hopTarget)),
                          MakeTimeChecker(Time(0), Seconds(MAX_TARGET)))
            .AddAttribute("ScalingRange",
                          "Target delay added for the smallest windows (htsim: 5 * 20 us)",
                          TimeValue(MicroSeconds(100)),
                          InOrder(MakeTimeAccessor(&RdmaSwift::m_scalingRange)),
                          MakeTimeChecker(Time(0), Seconds(MAX_TARGET)))
            .AddAttribute("ScalingFrom",
                          "Window up to which all of the range is added, packets (htsim: 0.1)",
                          DoubleValue(0.1),
                          InOrder(MakeDoubleAccessor(&RdmaSwift::m_scalingFrom)),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute("ScalingTo",
                          "Window from which nothing is added, packets, above ScalingFrom (htsim: "
                          "100)",
                          DoubleValue(100),
                          InOrder(MakeDoubleAccessor(&RdmaSwift::m_scalingTo)),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute(
                "AdditiveIncrease",
                "Raise of the window in a round trip below the target, packets; 0: 1 "
                "(htsim), or more on paths longer than 20 us, such that the rate grows as "
                "fast",
                DoubleValue(0),
                InOrder(MakeDoubleAccessor(&RdmaSwift::m_increase)),
                MakeDoubleChecker<double>(0))
            .AddAttribute("Beta",
                          "Factor of a cut (htsim: 0.8)",
                          DoubleValue(0.8),
                          InOrder(MakeDoubleAccessor(&RdmaSwift::m_beta)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("LargestCut",
                          "Maximum fraction of the window removed by one cut (htsim: 0.5)",
                          DoubleValue(0.5),
                          InOrder(MakeDoubleAccessor(&RdmaSwift::m_largestCut)),
                          MakeDoubleChecker<double>(0, 0.99))
            .AddAttribute("MinimumWindow",
                          "Smallest window, packets (htsim: 10 bytes)",
                          DoubleValue(0.01),
                          InOrder(MakeDoubleAccessor(&RdmaSwift::m_smallest)),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute("ResetTimeouts",
                          "Timeouts in a row that leave the smallest window (htsim: 5)",
                          UintegerValue(5),
                          InOrder(MakeUintegerAccessor(&RdmaSwift::m_resetTimeouts)),
                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

RdmaCongestionControl::Needs
RdmaSwift::GetNeeds() const
{
    Needs needs;
    needs.ackPerPacket = true;
    return needs;
}

void
RdmaSwift::Initialize(const Path& path)
{
    if (m_scalingTo <= m_scalingFrom)
    {
        throw ConfigurationError(
            "ns3::training::RdmaSwift::ScalingTo=" + FormatDouble(m_scalingTo) +
            " (allowed: above ScalingFrom, " + FormatDouble(m_scalingFrom) + ")");
    }
    m_mtu = path.mtu;
    if (m_increase == 0)
    {
        m_increase = GetIncrease(BASE_TARGET, path);
    }
    m_lineRate = path.lineRate;
    m_roundTrip = path.roundTrip;
    m_pathTarget = (m_baseTarget.IsZero() ? std::max(BASE_TARGET, path.roundTrip)
                                          : m_baseTarget.GetTimeStep()) +
                   path.hops * m_hopTarget.GetTimeStep();
    const auto range = static_cast<double>(m_scalingRange.GetTimeStep());
    m_scalingAlpha = range / (1 / std::sqrt(m_scalingFrom) - 1 / std::sqrt(m_scalingTo));
    const int64_t longest = m_pathTarget + m_scalingRange.GetTimeStep();
    m_largest = std::max(1.0, GetBytesSent(m_lineRate, longest) / m_mtu);
    m_smallest = std::min(m_smallest, m_largest);
    m_window = std::clamp(GetBytesSent(m_lineRate, path.roundTrip) / m_mtu, m_smallest, m_largest);
    m_lastCut = std::numeric_limits<int64_t>::min() / 2; // permits a cut at any time
}

double
RdmaSwift::GetRate(int64_t)
{
    return m_window >= 1
               ? m_lineRate
               : std::min(m_lineRate, m_window * m_mtu * 8e12 / static_cast<double>(m_roundTrip));
}

uint64_t
RdmaSwift::GetWindow() const
{
    // Whole packets, as htsim counts them; below one, the rate spaces them.
    return static_cast<uint64_t>(std::max(1.0, std::floor(m_window))) * m_mtu;
}

double
RdmaSwift::GetCongestionWindow() const
{
    return m_window * m_mtu;
}

int64_t
RdmaSwift::GetTargetDelay() const
{
    const double scaling = m_scalingAlpha * (1 / std::sqrt(m_window) - 1 / std::sqrt(m_scalingTo));
    return m_pathTarget +
           static_cast<int64_t>(
               std::clamp(scaling, 0.0, static_cast<double>(m_scalingRange.GetTimeStep())));
}

void
RdmaSwift::OnAck(const Ack& ack)
{
    m_timeouts = 0;
    m_roundTrip = ack.roundTrip;
    const int64_t target = GetTargetDelay();
    if (ack.roundTrip < target)
    {
        const double packets = static_cast<double>(ack.bytes) / m_mtu;
        m_window = std::min(m_largest, m_window + m_increase * packets / std::max(1.0, m_window));
    }
    else
    {
        const auto delay = static_cast<double>(ack.roundTrip);
        Cut(1 - m_beta * (delay - static_cast<double>(target)) / delay, ack.now);
    }
}

void
RdmaSwift::OnLoss(int64_t now)
{
    Cut(1 - m_largestCut, now);
}

void
RdmaSwift::OnTimeout(int64_t now)
{
    if (++m_timeouts >= m_resetTimeouts)
    {
        m_window = m_smallest;
        NS_LOG_LOGIC(m_timeouts << " timeouts cut the window to " << m_window << " packets");
    }
    else
    {
        Cut(1 - m_largestCut, now);
    }
}

void
RdmaSwift::Cut(double factor, int64_t now)
{
    if (now - m_lastCut >= m_roundTrip)
    {
        m_window = std::max(m_smallest, m_window * std::max(factor, 1 - m_largestCut));
        m_lastCut = now;
        NS_LOG_LOGIC("cuts the window to " << m_window << " packets");
    }
}

std::string
RdmaSwift::DescribeLimit() const
{
    const int64_t target = GetTargetDelay();
    return m_roundTrip < target
               ? ""
               : "its round trip of " + FormatTime(NanoSeconds(m_roundTrip / 1000)) +
                     " is above its target of " + FormatTime(NanoSeconds(target / 1000)) +
                     " (see ns3::training::RdmaSwift::BaseTarget, 0: by the path)";
}

} // namespace ns3::training
