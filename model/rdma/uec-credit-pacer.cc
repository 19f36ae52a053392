/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-credit-pacer.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Least credit that a turn takes the time of, bytes.
constexpr uint64_t MIN_TURN = 1024;

} // namespace

void
UecCreditPacer::Attach(double rate)
{
    m_picosecondsPerByte = 8e12 / rate;
}

void
UecCreditPacer::Stop()
{
    Simulator::Cancel(m_event);
    m_active.clear();
    m_idle.clear();
}

void
UecCreditPacer::Request(UecCreditClient& client)
{
    using State = UecCreditClient::State;
    if (client.m_state == State::ACTIVE)
    {
        return;
    }
    client.m_state = State::ACTIVE;
    m_active.push_back(&client);
    if (m_event.IsExpired())
    {
        m_event = Simulator::ScheduleNow(&UecCreditPacer::Grant, this);
    }
}

void
UecCreditPacer::Grant()
{
    using State = UecCreditClient::State;
    while (!m_idle.empty() && m_idle.front()->m_state != State::IDLE)
    {
        m_idle.pop_front(); // active again
    }
    if (m_active.empty() && m_idle.empty())
    {
        return;
    }
    const bool isAdvance = m_active.empty();
    std::deque<UecCreditClient*>& turns = isAdvance ? m_idle : m_active;
    UecCreditClient& client = *turns.front();
    turns.pop_front();
    const uint64_t granted = client.GrantCredit(isAdvance);
    if (client.WantsCredit())
    {
        client.m_state = State::ACTIVE;
        m_active.push_back(&client);
    }
    else if (!isAdvance || client.MayGetAdvance())
    {
        client.m_state = State::IDLE;
        m_idle.push_back(&client);
    }
    else
    {
        client.m_state = State::NONE;
    }
    const double time =
        m_picosecondsPerByte * static_cast<double>(granted > 0 ? granted : MIN_TURN);
    m_event = Simulator::Schedule(TimeStep(std::max<int64_t>(static_cast<int64_t>(time), 1)),
                                  &UecCreditPacer::Grant,
                                  this);
}

} // namespace ns3::training
