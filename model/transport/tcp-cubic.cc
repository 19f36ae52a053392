/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * CUBIC (RFC 9438) as Linux has it since 5.16: with a window that is never below Reno's (section
 * 4.3, which ns-3 has since 3.41), and with HyStart (Ha and Rhee 2008), whose round begins with the
 * first acknowledgement of the round. In ns-3 it begins one acknowledgement later, so that the last
 * round is taken for a long train: slow start ends at 16 segments wherever the round trip is below
 * the spacing of a train. Windows are in segments.
 */
class TcpCubic : public TcpCongestionOps
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    std::string GetName() const override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> socket, uint32_t bytesInFlight) override;
    void IncreaseWindow(Ptr<TcpSocketState> socket, uint32_t segments) override;
    void PktsAcked(Ptr<TcpSocketState> socket, uint32_t segments, const Time& roundTrip) override;
    void CongestionStateSet(Ptr<TcpSocketState> socket,
                            const TcpSocketState::TcpCongState_t state) override;
    void CwndEvent(Ptr<TcpSocketState> socket, const TcpSocketState::TcpCAEvent_t event) override;
    Ptr<TcpCongestionOps> Fork() override;

  private:
    /** Growth of the window between two losses. */
    struct Epoch
    {
        Time start;     ///< 0: before the first acknowledgement
        double origin;  ///< window at the inflection point
        double seconds; ///< from the start to the inflection point
        double reno;    ///< window that Reno would have
    };

    /** A round trip of slow start. */
    struct Round
    {
        Time start;
        Time lastAck;
        Time least;           ///< round trip
        uint32_t samples;     ///< of it
        SequenceNumber32 end; ///< last byte sent when it began
    };

    void UpdateSlowStart(Ptr<TcpSocketState> socket, Time roundTrip);
    void BeginRound(const TcpSocketState& socket);
    double GetGrowth(double window, uint32_t segments);

    double m_beta;
    double m_c;
    bool m_fastConvergence;
    bool m_friendly;
    bool m_hyStart;
    uint32_t m_lowWindow; // of HyStart
    Time m_ackDelta;      // largest within a train
    Time m_delayMin;
    Time m_delayMax;

    Epoch m_epoch{};
    Round m_round{};
    double m_lastMax{0};       // window at the last loss
    double m_growth{0};        // less than a segment
    Time m_least{Time::Max()}; // round trip
    Time m_lastAck;
    bool m_foundEnd{false}; // of slow start
};

NS_OBJECT_ENSURE_REGISTERED(TcpCubic);

TypeId
TcpCubic::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::TcpCubic")
            .SetParent<TcpCongestionOps>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<TcpCubic>()
            .AddAttribute("Beta",
                          "Part of the window that a loss leaves",
                          DoubleValue(0.7),
                          MakeDoubleAccessor(&TcpCubic::m_beta),
                          MakeDoubleChecker<double>(0.1, 0.95))
            .AddAttribute("C",
                          "Scale of the cubic function, segments/s^3",
                          DoubleValue(0.4),
                          MakeDoubleAccessor(&TcpCubic::m_c),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute("FastConvergence",
                          "Whether a flow whose window shrinks leaves more to others",
                          BooleanValue(true),
                          MakeBooleanAccessor(&TcpCubic::m_fastConvergence),
                          MakeBooleanChecker())
            .AddAttribute("TcpFriendliness",
                          "Whether the window is never below Reno's",
                          BooleanValue(true),
                          MakeBooleanAccessor(&TcpCubic::m_friendly),
                          MakeBooleanChecker())
            .AddAttribute("HyStart",
                          "Whether long trains of acknowledgements and delay end slow start",
                          BooleanValue(true),
                          MakeBooleanAccessor(&TcpCubic::m_hyStart),
                          MakeBooleanChecker())
            .AddAttribute("HyStartLowWindow",
                          "Window below which slow start goes on, segments",
                          UintegerValue(16),
                          MakeUintegerAccessor(&TcpCubic::m_lowWindow),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "HyStartAckDelta",
                "Largest spacing of acknowledgements of a train (Linux: 2 ms, but it delays "
                "none in slow start; here the last may be delayed by 1 ms)",
                TimeValue(MicroSeconds(500)),
                MakeTimeAccessor(&TcpCubic::m_ackDelta),
                MakeTimeChecker())
            .AddAttribute("HyStartDelayMin",
                          "Smallest delay in queues that ends slow start",
                          TimeValue(MilliSeconds(4)),
                          MakeTimeAccessor(&TcpCubic::m_delayMin),
                          MakeTimeChecker())
            .AddAttribute("HyStartDelayMax",
                          "Delay in queues that always ends slow start",
                          TimeValue(MilliSeconds(16)),
                          MakeTimeAccessor(&TcpCubic::m_delayMax),
                          MakeTimeChecker());
    return tid;
}

std::string
TcpCubic::GetName() const
{
    return "TcpCubic";
}

uint32_t
TcpCubic::GetSsThresh(Ptr<const TcpSocketState> socket, uint32_t)
{
    const double window = socket->m_cWnd.Get() / static_cast<double>(socket->m_segmentSize);
    m_epoch.start = Time();
    m_lastMax = window < m_lastMax && m_fastConvergence ? window * (1 + m_beta) / 2 : window;
    return static_cast<uint32_t>(std::max(window * m_beta, 2.0) * socket->m_segmentSize);
}

void
TcpCubic::IncreaseWindow(Ptr<TcpSocketState> socket, uint32_t segments)
{
    const uint32_t size = socket->m_segmentSize;
    const uint32_t window = socket->m_cWnd;
    const uint32_t used = socket->m_bytesInFlight.Get() + segments * size; // before this one
    if (window < socket->m_ssThresh)
    {
        if (window < 2 * static_cast<uint64_t>(used))
        {
            socket->m_cWnd += segments * size;
        }
    }
    else if (used + size > window) // or the window does not limit
    {
        m_growth += GetGrowth(window / static_cast<double>(size), segments);
        const double whole = std::floor(m_growth);
        m_growth -= whole;
        socket->m_cWnd += static_cast<uint32_t>(whole) * size;
    }
}

// Segments by which the window grows.
double
TcpCubic::GetGrowth(double window, uint32_t segments)
{
    const Time now = Simulator::Now();
    if (m_epoch.start.IsZero())
    {
        const double below = std::max(m_lastMax - window, 0.0);
        m_epoch = {now, window + below, std::cbrt(below / m_c), window};
    }
    const Time least = m_least == Time::Max() ? Time() : m_least;
    const double since = (now + least - m_epoch.start).GetSeconds() - m_epoch.seconds;
    const double target = m_epoch.origin + m_c * since * since * since;
    double part = std::max((target - window) / window, 0.01 / window); // for each segment
    if (m_lastMax == 0)
    {
        part = std::max(part, 0.05); // without a loss so far
    }
    if (m_friendly)
    {
        m_epoch.reno += 3 * (1 - m_beta) / (1 + m_beta) * segments / window;
        part = std::max(part, (m_epoch.reno - window) / window);
    }
    return segments * std::min(part, 0.5);
}

void
TcpCubic::PktsAcked(Ptr<TcpSocketState> socket, uint32_t, const Time& roundTrip)
{
    m_lastAck = Simulator::Now();
    m_least = std::min(m_least, roundTrip);
    if (m_hyStart && !m_foundEnd && socket->m_cWnd < socket->m_ssThresh)
    {
        UpdateSlowStart(socket, roundTrip);
    }
}

void
TcpCubic::BeginRound(const TcpSocketState& socket)
{
    const Time now = Simulator::Now();
    m_round = {now, now, Time::Max(), 0, socket.m_highTxMark};
}

// HyStart.
void
TcpCubic::UpdateSlowStart(Ptr<TcpSocketState> socket, Time roundTrip)
{
    if (m_round.start.IsZero() || socket->m_lastAckedSeq > m_round.end)
    {
        BeginRound(*socket);
    }
    if (socket->m_cWnd < m_lowWindow * socket->m_segmentSize)
    {
        return;
    }
    const Time now = Simulator::Now();
    if (now - m_round.lastAck <= m_ackDelta)
    {
        m_round.lastAck = now;
        // Paced segments are spread over the round trip anyway.
        m_foundEnd = now - m_round.start > (socket->m_pacing ? m_least : m_least / 2);
    }
    m_round.least = std::min(m_round.least, roundTrip);
    if (m_round.samples < 8)
    {
        m_round.samples++;
    }
    else
    {
        const Time delay = std::max(m_delayMin, std::min(m_least / 8, m_delayMax));
        m_foundEnd = m_foundEnd || m_round.least > m_least + delay;
    }
    if (m_foundEnd)
    {
        socket->m_ssThresh = socket->m_cWnd.Get();
    }
}

void
TcpCubic::CongestionStateSet(Ptr<TcpSocketState> socket, const TcpSocketState::TcpCongState_t state)
{
    if (state == TcpSocketState::CA_LOSS)
    {
        m_epoch = {};
        m_lastMax = 0;
        m_growth = 0;
        m_least = Time::Max();
        m_foundEnd = false;
        BeginRound(*socket);
    }
}

void
TcpCubic::CwndEvent(Ptr<TcpSocketState>, const TcpSocketState::TcpCAEvent_t event)
{
    // The window does not grow while there is nothing to send.
    if (event == TcpSocketState::CA_EVENT_TX_START && !m_epoch.start.IsZero())
    {
        m_epoch.start += Simulator::Now() - m_lastAck;
        m_lastAck = Simulator::Now();
    }
}

Ptr<TcpCongestionOps>
TcpCubic::Fork()
{
    return CopyObject<TcpCubic>(this);
}

} // namespace ns3::training
