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

/// Minimum transmissions of a packet before the network is considered failed; bounds the doubling.
constexpr int64_t MIN_ATTEMPTS = 8;

} // namespace

void
SlotTimers::Configure(uint32_t slots, Resend resend, Fail fail)
{
    NS_LOG_FUNCTION(this << slots);
    m_slots.assign(slots, Slot());
    m_resend = std::move(resend);
    m_fail = std::move(fail);
}

void
SlotTimers::Begin(Time timeout, uint32_t threshold, Time silence)
{
    if (m_step != threshold)
    {
        m_step = threshold;
        m_threshold = threshold;
    }
    m_timeout = timeout.GetTimeStep();
    m_silence = silence.GetTimeStep();
    m_latestAnswer = Simulator::Now().GetTimeStep();
}

void
SlotTimers::Start(uint32_t slot)
{
    m_slots[slot].expiry = Simulator::Now().GetTimeStep() + m_timeout;
    m_slots[slot].waiting = true;
    Append(slot);
    SetTimer();
}

void
SlotTimers::Stop(uint32_t slot)
{
    m_slots[slot].waiting = false;
    m_latestAnswer = Simulator::Now().GetTimeStep();
    Unlink(slot);
}

void
SlotTimers::Restart(uint32_t slot)
{
    m_slots[slot].expiry = Simulator::Now().GetTimeStep() + m_timeout;
    Unlink(slot);
    Append(slot);
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
    Simulator::Cancel(m_timer);
    SetTimer();
}

void
SlotTimers::Cancel()
{
    std::fill(m_slots.begin(), m_slots.end(), Slot());
    m_oldest = NONE;
    m_newest = NONE;
    Simulator::Cancel(m_timer);
}

bool
SlotTimers::IsWaiting(uint32_t slot) const
{
    return m_slots[slot].waiting;
}

uint32_t
SlotTimers::GetOldest() const
{
    return m_oldest;
}

void
SlotTimers::Append(uint32_t slot)
{
    m_slots[slot].previous = m_newest;
    m_slots[slot].next = NONE;
    (m_newest == NONE ? m_oldest : m_slots[m_newest].next) = slot;
    m_newest = slot;
}

void
SlotTimers::Unlink(uint32_t slot)
{
    const uint32_t previous = m_slots[slot].previous;
    const uint32_t next = m_slots[slot].next;
    (previous == NONE ? m_oldest : m_slots[previous].next) = next;
    (next == NONE ? m_newest : m_slots[next].previous) = previous;
}

void
SlotTimers::SetTimer()
{
    // An answer does not move the timer: on expiry it finds the next slot to wait for.
    if (m_timer.IsExpired() && m_oldest != NONE)
    {
        m_timer =
            Simulator::Schedule(TimeStep(m_slots[m_oldest].expiry - Simulator::Now().GetTimeStep()),
                                &SlotTimers::OnTimer,
                                this);
    }
}

void
SlotTimers::OnTimer()
{
    const int64_t now = Simulator::Now().GetTimeStep();
    while (m_oldest != NONE && m_slots[m_oldest].expiry <= now)
    {
        const uint32_t slot = m_oldest;
        if (now - m_latestAnswer >= m_silence)
        {
            const Time silence = TimeStep(now - m_latestAnswer);
            NS_LOG_WARN("no answer for " << silence << ", the oldest to slot " << slot);
            Cancel();
            m_fail(slot, silence);
            return;
        }
        if (m_step > 0 && ++m_timeouts >= m_threshold)
        {
            m_timeouts = 0;
            m_threshold += m_step;
            // Bounded, so that a lost packet is sent several times before the failure timeout.
            m_timeout = std::max(m_timeout, std::min(2 * m_timeout, m_silence / MIN_ATTEMPTS));
            NS_LOG_INFO("timeout " << m_timeout << " ps after " << m_threshold - m_step
                                   << " timeouts");
        }
        m_slots[slot].expiry = now + m_timeout;
        Unlink(slot);
        Append(slot);
        m_resend(slot);
    }
    SetTimer();
}

} // namespace ns3::training
