/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule-table.h"

#include "ns3/simulator.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;

/** @return whether the receiver of a message adds it */
bool
IsAdded(const CollectiveSchedule& schedule, uint32_t rank, const ScheduleAction& send)
{
    const uint32_t receive = schedule.FindReceive(send.peer, rank, send.step, send.message);
    return receive != CollectiveSchedule::NONE &&
           schedule.Get(send.peer, receive).kind == Kind::RECEIVE_REDUCE;
}

} // namespace

ScheduleTable::ScheduleTable(const CollectiveSchedule& schedule,
                             uint32_t rank,
                             const Settings& settings,
                             std::function<void(uint32_t)> begin,
                             std::shared_ptr<LockstepOracle> oracle)
    : m_actions(schedule.GetStoredActions(rank)),
      m_segments(schedule.segments),
      m_settings(settings),
      m_begin(std::move(begin)),
      m_oracle(std::move(oracle)),
      m_messages(m_actions)
{
    const uint32_t steps = schedule.GetSteps() > 0 ? schedule.GetSteps() - (m_segments - 1) : 0;
    m_steps.resize(steps);
    std::set<std::tuple<uint32_t, bool, uint32_t>> entries; // step, whether added, first chunk
    uint32_t firstGather = steps;
    for (uint32_t i = 0; i < m_actions; i++)
    {
        const ScheduleAction action = schedule.Get(rank, i);
        if (action.kind != Kind::SEND)
        {
            continue;
        }
        const bool added = IsAdded(schedule, rank, action);
        m_messages[i].step = action.step;
        m_steps[action.step].waiting.insert(i);
        entries.emplace(action.step, added, action.GetFirstChunk());
        firstGather = added ? firstGather : std::min(firstGather, action.step);
    }
    if (firstGather < steps)
    {
        m_steps[firstGather].gathers = true;
    }
    m_entries = static_cast<uint32_t>(entries.size());
    for (Step& step : m_steps)
    {
        step.isNop = step.waiting.empty();
        m_entries += step.isNop ? 1 : 0;
    }
    if (m_settings.entries > 0 && m_entries > m_settings.entries)
    {
        throw ConfigurationError(
            "table-entries=" + std::to_string(m_settings.entries) + ": the schedule of rank " +
            std::to_string(rank) + " has " + std::to_string(m_entries) +
            " entries (allowed: " + std::to_string(m_entries) + " and more; 0: unlimited)");
    }
    if (m_oracle)
    {
        m_node = m_oracle->Attach([this]() { BeginWaiting(); });
    }
}

ScheduleTable::~ScheduleTable()
{
    Simulator::Cancel(m_nop);
    Simulator::Cancel(m_wake);
    for (const Message& message : m_messages)
    {
        Simulator::Cancel(message.free);
    }
    if (m_oracle)
    {
        m_oracle->Detach(m_node);
    }
}

void
ScheduleTable::Start()
{
    m_started = true;
    TakeOffSteps();
    BeginWaiting();
}

bool
ScheduleTable::MayBegin(uint32_t message) const
{
    const Message& one = m_messages[message];
    if (one.hasBegun)
    {
        return true; // the other packets follow
    }
    const bool isFree = m_settings.interfaces == 0 || m_leaving < m_settings.interfaces;
    const bool reduces = m_steps[one.step].gathers && m_leaving > 0 && !m_gathering;
    const bool isTurn = !m_oracle || m_oracle->GetStep() == one.step;
    return m_started && one.step == m_step && m_nop.IsExpired() && isFree && !reduces && isTurn;
}

void
ScheduleTable::Begin(uint32_t message)
{
    Message& one = m_messages[message];
    if (one.hasBegun)
    {
        return;
    }
    one.hasBegun = true;
    one.begin = Simulator::Now();
    m_leaving++;
    m_gathering = m_gathering || m_steps[m_step].gathers;
    m_steps[m_step].waiting.erase(message);
    TakeOffSteps();
}

void
ScheduleTable::TakeOffSteps()
{
    while (m_step < m_steps.size() && m_steps[m_step].waiting.empty())
    {
        if (!m_steps[m_step].isNop)
        {
            m_afterSend = true;
        }
        else if (m_settings.lockstep)
        {
            const int64_t estimates = m_afterSend ? 2 : 1;
            m_afterSend = false;
            m_nop =
                Simulator::Schedule(m_settings.estimate * estimates, &ScheduleTable::OnNop, this);
            return;
        }
        m_step++;
    }
}

void
ScheduleTable::OnNop()
{
    m_step++;
    TakeOffSteps();
    BeginWaiting();
}

bool
ScheduleTable::Request(uint32_t index)
{
    const uint32_t message = index % m_actions;
    if (MayBegin(message))
    {
        const uint32_t step = m_step;
        Begin(message);
        if (m_step > step && !m_ready.empty() && m_wake.IsExpired())
        {
            // From an event, because the caller has not begun this message yet.
            m_wake = Simulator::ScheduleNow(&ScheduleTable::BeginWaiting, this);
        }
        return true;
    }
    m_ready.push_back(index);
    return false;
}

void
ScheduleTable::OnSent(uint32_t index)
{
    Message& message = m_messages[index % m_actions];
    if (++message.left < m_segments)
    {
        return;
    }
    // A NIC whose line is faster than a link passes a message on sooner than an interface.
    const Time end = message.begin + m_settings.line;
    if (m_settings.interfaces > 0 && end > Simulator::Now())
    {
        message.free = Simulator::Schedule(end - Simulator::Now(),
                                           &ScheduleTable::Free,
                                           this,
                                           index % m_actions);
        return;
    }
    Free(index % m_actions);
}

void
ScheduleTable::Free(uint32_t message)
{
    m_leaving--;
    if (m_oracle)
    {
        m_oracle->OnSent(m_messages[message].step);
    }
    BeginWaiting();
}

void
ScheduleTable::BeginWaiting()
{
    for (std::size_t i = 0; i < m_ready.size();)
    {
        const uint32_t index = m_ready[i];
        if (!MayBegin(index % m_actions))
        {
            i++;
            continue;
        }
        m_ready.erase(m_ready.begin() + static_cast<std::ptrdiff_t>(i));
        Begin(index % m_actions);
        m_begin(index);
        i = 0; // the step, or the interfaces in use, may be others now
    }
}

} // namespace ns3::training
