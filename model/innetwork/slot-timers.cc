/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "slot-timers.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSlotTimers");

namespace
{

/// Least number of the longest timeouts that make a failure timeout.
constexpr int64_t MIN_TIMEOUTS = 8;
/// Minimum timeout, in window transmission times on the worker's line.
constexpr double WINDOWS_BEFORE_TIMEOUT = 4;
/// Timeouts from here on do not double: a day, ps.
constexpr int64_t MAX_TIMEOUT = 86400000000000000;

} // namespace

Time
SlotTimers::Raise(Time timeout, uint32_t window, double lineSeconds)
{
    return std::max(timeout, Seconds(WINDOWS_BEFORE_TIMEOUT * lineSeconds * window));
}

void
SlotTimers::Configure(uint32_t slots, const TimeoutRule& rule, Resend resend, Fail fail)
{
    NS_LOG_FUNCTION(this << slots << rule.timeout);
    m_slots.assign(slots, Slot());
    m_rule = rule;
    m_resend = std::move(resend);
    m_fail = std::move(fail);
    m_timeout = rule.timeout.GetTimeStep();
    m_threshold = rule.threshold;
    m_timeouts = 0;
    m_polled = -m_timeout;
    m_latestAnswer = m_polled;
}

void
SlotTimers::Begin(Time silence)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    if (!m_rule.isKept)
    {
        m_timeout = m_rule.timeout.GetTimeStep();
    }
    if (now - m_polled >= m_timeout)
    {
        m_polled = now;
    }
    m_silence = silence.GetTimeStep();
    m_latestAnswer = now;
}

void
SlotTimers::Start(uint32_t slot, bool isFirst)
{
    const int64_t timeout = isFirst ? m_timeout * m_rule.firstFactor : m_timeout;
    m_slots[slot].waiting = true;
    Insert(slot, Simulator::Now().GetTimeStep() + timeout);
    if (m_oldest == slot || m_timer.IsExpired())
    {
        SetTimer();
    }
}

void
SlotTimers::Stop(uint32_t slot)
{
    m_slots[slot].waiting = false;
    m_latestAnswer = Simulator::Now().GetTimeStep();
    Unlink(slot);
}

void
SlotTimers::Restart(uint32_t slot, int64_t timeout)
{
    Unlink(slot);
    Insert(slot, Simulator::Now().GetTimeStep() + (timeout > 0 ? timeout : m_timeout));
    if (m_oldest == slot)
    {
        SetTimer();
    }
}

void
SlotTimers::Shorten(Time timeout)
{
    m_timeout = timeout.GetTimeStep();
    const int64_t latest = Simulator::Now().GetTimeStep() + m_timeout;
    for (uint32_t slot = m_oldest; slot != NONE; slot = m_slots[slot].next)
    {
        m_slots[slot].expiry = std::min(m_slots[slot].expiry, latest);
    }
    SetTimer();
}

void
SlotTimers::Cancel()
{
    std::fill(m_slots.begin(), m_slots.end(), Slot());
    m_oldest = NONE;
    m_newest = NONE;
    Simulator::Cancel(m_timer);
    if (m_rule.isPolled && m_latestAnswer > m_polled)
    {
        // Until its last answer a thread has looked at its timers.
        m_polled += (m_latestAnswer - m_polled) / m_timeout * m_timeout;
    }
}

void
SlotTimers::Insert(uint32_t slot, int64_t expiry)
{
    uint32_t previous = m_newest; // few expire later: those of a tensor's start, or of losses
    while (previous != NONE && m_slots[previous].expiry > expiry)
    {
        previous = m_slots[previous].previous;
    }
    const uint32_t next = previous == NONE ? m_oldest : m_slots[previous].next;
    m_slots[slot].expiry = expiry;
    m_slots[slot].previous = previous;
    m_slots[slot].next = next;
    (previous == NONE ? m_oldest : m_slots[previous].next) = slot;
    (next == NONE ? m_newest : m_slots[next].previous) = slot;
}

void
SlotTimers::Unlink(uint32_t slot)
{
    const uint32_t previous = m_slots[slot].previous;
    const uint32_t next = m_slots[slot].next;
    (previous == NONE ? m_oldest : m_slots[previous].next) = next;
    (next == NONE ? m_newest : m_slots[next].previous) = previous;
}

int64_t
SlotTimers::GetNotice(int64_t expiry) const
{
    if (!m_rule.isPolled)
    {
        return expiry + m_rule.delay.GetTimeStep();
    }
    return m_polled + (expiry - m_polled + m_timeout - 1) / m_timeout * m_timeout;
}

int64_t
SlotTimers::GetPatience() const
{
    return m_rule.threshold == 0 ? m_silence
                                 : std::max(m_silence,
                                            MIN_TIMEOUTS * std::max(m_timeout,
                                                                    m_rule.timeout.GetTimeStep() *
                                                                        m_rule.firstFactor));
}

void
SlotTimers::SetTimer()
{
    // An answer does not move the timer: on expiry it finds the next slot to wait for.
    if (m_oldest == NONE)
    {
        return;
    }
    const int64_t at = GetNotice(m_slots[m_oldest].expiry);
    if (m_timer.IsExpired() || at < m_timerAt)
    {
        Simulator::Cancel(m_timer);
        m_timerAt = at;
        m_timer = Simulator::Schedule(TimeStep(at - Simulator::Now().GetTimeStep()),
                                      &SlotTimers::OnTimer,
                                      this);
    }
}

void
SlotTimers::CountTimeout()
{
    if (m_rule.threshold == 0 || ++m_timeouts < m_threshold)
    {
        return;
    }
    m_timeouts = 0;
    m_threshold += m_rule.increment;
    m_timeout = m_timeout < MAX_TIMEOUT ? 2 * m_timeout : m_timeout;
    NS_LOG_INFO("timeout " << m_timeout << " ps, doubled again after " << m_threshold
                           << " timeouts");
}

void
SlotTimers::OnTimer()
{
    const int64_t now = Simulator::Now().GetTimeStep();
    m_polled = m_rule.isPolled ? now : m_polled;
    while (m_oldest != NONE && m_slots[m_oldest].expiry + m_rule.delay.GetTimeStep() <= now)
    {
        const uint32_t slot = m_oldest;
        if (now - m_latestAnswer >= GetPatience())
        {
            const Time silence = TimeStep(now - m_latestAnswer);
            NS_LOG_WARN("no answer for " << silence << ", the oldest to slot " << slot);
            Cancel();
            m_fail(slot, silence);
            return;
        }
        CountTimeout();
        Unlink(slot);
        // A poll reads the clock before it sets timers, so the next one still comes too early.
        Insert(slot, now + m_timeout + (m_rule.isPolled ? 1 : 0));
        m_resend(slot);
    }
    SetTimer();
}

} // namespace ns3::training
