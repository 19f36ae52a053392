/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/congestion/uec-nscc.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/training-registry.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingUecNscc");
NS_OBJECT_ENSURE_REGISTERED(UecNscc);

namespace
{

const Registry<UecCongestionControlEntry>::Entry g_nscc("nscc",
                                                        {"uec: NSCC, by delay and marks",
                                                         &UecNscc::GetTypeId});

// Constants of the reference simulator.
constexpr uint32_t REFERENCE_PAYLOAD = 4096;            // bytes
constexpr double REFERENCE_ROUND_TRIP = 12e6;           // ps
constexpr double REFERENCE_PRODUCT = 100e9 / 8 * 12e-6; // bytes
constexpr double WINDOW_FACTOR = 1.5;                   // largest window / product
constexpr double DROPPING_TARGET = 1;                   // without trimming, of the round trip
constexpr double ALPHA_PACKETS = 4;
constexpr double FAIR_PACKETS = 5;
constexpr double ETA_PACKETS = 0.15;
constexpr double FAST_FACTOR = 0.25;
constexpr int64_t FAST_DELAY = 1000000; // ps
constexpr double PERIOD_PACKETS = 8;
constexpr double LARGEST_DECREASE = 0.5;
constexpr double QUICK_ADAPT_TARGETS = 4;

// Not in the reference, and without effect from a product of 8 packets on: a window holds whole
// packets, and an acknowledgement waits for a packet on each link. A window of 1.5 products of few
// packets would not last until it arrives.
constexpr double MARGIN_PACKETS = 4;

} // namespace

TypeId
UecNscc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::UecNscc")
            .SetParent<UecCongestionControl>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<UecNscc>()
            .AddAttribute("TargetDelay",
                          "Target of the queuing delay; 0: TargetFraction of the round trip, or "
                          "without trimming a round trip",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&UecNscc::m_targetTime),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("TargetFraction",
                          "Target of the queuing delay, as a fraction of the longest round trip",
                          DoubleValue(0.75),
                          MakeDoubleAccessor(&UecNscc::m_targetFraction),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute("Gamma",
                          "Multiplicative decrease",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&UecNscc::m_gamma),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AverageWeight",
                          "Weight of a new sample in the average delay",
                          DoubleValue(0.0125),
                          MakeDoubleAccessor(&UecNscc::m_averageWeight),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("QuickAdaptGate",
                          "Quick adapt needs fewer bytes in a round trip than the largest window / "
                          "2^gate",
                          UintegerValue(3),
                          MakeUintegerAccessor(&UecNscc::m_gate),
                          MakeUintegerChecker<uint32_t>(0, 31))
            .AddAttribute("ReceiverCredit",
                          "Whether packets also need credit of the receiver, as with rccc",
                          BooleanValue(false),
                          MakeBooleanAccessor(&UecNscc::m_needsCredit),
                          MakeBooleanChecker());
    return tid;
}

void
UecNscc::Initialize(const Path& path)
{
    m_lineRate = path.lineRate / 8e12;
    m_networkRoundTrip = path.roundTrip;
    const auto roundTrip = static_cast<double>(path.roundTrip);
    m_target = !m_targetTime.IsZero()
                   ? m_targetTime.GetTimeStep()
                   : static_cast<int64_t>(roundTrip *
                                          (path.isTrimming ? m_targetFraction : DROPPING_TARGET));
    m_target = std::max<int64_t>(m_target, 1);
    m_smallest = path.packet;
    // Increases of smaller packets would take more round trips.
    const double payload = std::max(REFERENCE_PAYLOAD, path.payload);
    const double scale = m_lineRate * roundTrip / REFERENCE_PRODUCT;
    m_alpha = ALPHA_PACKETS * payload * scale / REFERENCE_ROUND_TRIP;
    m_fair = FAIR_PACKETS * payload * scale;
    m_eta = ETA_PACKETS * payload * scale;
    m_fast = FAST_FACTOR * scale;
    m_periodBytes = PERIOD_PACKETS * path.packet;
    SetBaseRoundTrip(path.roundTrip);
    m_window = m_largest;
}

bool
UecNscc::NeedsCredit() const
{
    return m_needsCredit;
}

uint64_t
UecNscc::GetWindow() const
{
    return static_cast<uint64_t>(m_window);
}

int64_t
UecNscc::GetTargetDelay() const
{
    return m_target;
}

double
UecNscc::GetAverageDelay() const
{
    return m_average;
}

void
UecNscc::SetBaseRoundTrip(int64_t roundTrip)
{
    m_baseRoundTrip = roundTrip;
    const double product = m_lineRate * static_cast<double>(roundTrip);
    m_largest = std::max(WINDOW_FACTOR * product, product + MARGIN_PACKETS * m_smallest);
}

void
UecNscc::LowerBaseRoundTrip(const Feedback& feedback)
{
    // A short packet takes less time on every link, so its round trip would make the window too
    // small for full ones. (The reference does not tell them apart.)
    if (!feedback.isShort && feedback.roundTrip > 0 && feedback.roundTrip < m_baseRoundTrip)
    {
        SetBaseRoundTrip(feedback.roundTrip);
    }
}

void
UecNscc::UpdateDelay(int64_t delay, bool isMarked)
{
    // An unmarked packet has met no queue above the marking threshold: its delay has other causes.
    const double sample = !isMarked && delay > m_target
                              ? 0.25 * static_cast<double>(m_baseRoundTrip)
                              : static_cast<double>(delay);
    m_average += m_averageWeight * (sample - m_average);
}

void
UecNscc::Bound()
{
    m_window = std::clamp(m_window, m_smallest, m_largest);
}

bool
UecNscc::QuickAdapt(const Feedback& feedback, bool isLoss, bool isMarked, int64_t delay)
{
    bool done = m_ignored < m_toIgnore && isMarked;
    if (!done && feedback.now > m_adaptAfter)
    {
        const bool isBad =
            m_adapts || isLoss ||
            static_cast<double>(delay) > QUICK_ADAPT_TARGETS * static_cast<double>(m_target);
        if (m_adaptAfter != 0 && isBad && m_achieved < m_largest / (uint64_t{1} << m_gate))
        {
            NS_LOG_LOGIC("quick adapt of the window from " << m_window << " to " << m_achieved);
            m_window = std::max(m_achieved, m_smallest);
            m_toIgnore = static_cast<double>(feedback.inFlight);
            m_ignored = 0;
            m_adapts = false;
            done = true;
        }
        m_achieved = 0;
        m_adaptAfter = feedback.now + m_baseRoundTrip + m_target;
    }
    if (done)
    {
        m_increase = 0;
        m_periodReceived = 0;
    }
    return done;
}

bool
UecNscc::IncreaseFast(const Feedback& feedback, int64_t delay)
{
    if (delay >= FAST_DELAY)
    {
        m_fastBytes = 0;
        m_isFast = false;
        return false;
    }
    const auto bytes = static_cast<double>(feedback.bytes);
    m_fastBytes += bytes;
    m_isFast = m_isFast || m_fastBytes > m_window;
    if (m_isFast)
    {
        m_window += bytes * m_fast;
    }
    return m_isFast;
}

void
UecNscc::IncreaseProportionally(const Feedback& feedback, int64_t delay)
{
    if (!IncreaseFast(feedback, delay))
    {
        m_increase +=
            m_alpha * static_cast<double>(feedback.bytes) * static_cast<double>(m_target - delay);
    }
}

void
UecNscc::Decrease(int64_t now)
{
    m_isFast = false;
    m_fastBytes = 0;
    const auto target = static_cast<double>(m_target);
    if (m_average > target && now - m_lastDecrease > m_baseRoundTrip)
    {
        m_window *= std::max(1 - m_gamma * (m_average - target) / m_average, LARGEST_DECREASE);
        m_window = std::max(m_window, m_smallest);
        m_lastDecrease = now;
        NS_LOG_LOGIC("decreases the window to " << m_window);
    }
}

void
UecNscc::Fulfill(int64_t now)
{
    m_window += m_increase / m_window;
    if (now - m_lastPeriod >= m_networkRoundTrip)
    {
        m_window += m_eta;
        m_lastPeriod = now;
    }
    m_increase = 0;
    m_periodReceived = 0;
}

void
UecNscc::OnAck(const Feedback& feedback)
{
    const auto bytes = static_cast<double>(feedback.bytes);
    m_achieved += bytes;
    m_periodReceived += bytes;
    m_ignored += bytes;
    auto delay = static_cast<int64_t>(m_average);
    LowerBaseRoundTrip(feedback);
    if (feedback.roundTrip >= m_baseRoundTrip)
    {
        delay = feedback.roundTrip - m_baseRoundTrip;
        UpdateDelay(delay, feedback.isMarked);
    }
    if (QuickAdapt(feedback, false, feedback.isMarked, delay))
    {
        return;
    }
    const bool isLate = delay >= m_target;
    if (!feedback.isMarked && isLate)
    {
        m_increase += m_fair * bytes;
    }
    else if (!feedback.isMarked)
    {
        IncreaseProportionally(feedback, delay);
    }
    else if (isLate)
    {
        Decrease(feedback.now);
    }
    Bound();
    if (m_periodReceived > m_periodBytes || feedback.now - m_lastPeriod > m_networkRoundTrip)
    {
        Fulfill(feedback.now);
        Bound();
    }
}

void
UecNscc::OnNack(const Feedback& feedback)
{
    LowerBaseRoundTrip(feedback);
    const auto bytes = static_cast<double>(feedback.bytes);
    m_ignored += bytes;
    // The queue was full, that is, about a round trip long.
    UpdateDelay(m_networkRoundTrip, true);
    m_adapts = true;
    if (!QuickAdapt(feedback, true, true, 0) && !(m_needsCredit && feedback.isLastHop))
    {
        m_window -= bytes;
        Bound();
    }
}

void
UecNscc::OnTimeout(uint64_t bytes)
{
    m_window -= static_cast<double>(bytes);
    Bound();
}

} // namespace ns3::training
