/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "pause-receiver.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPauseReceiver");

PauseReceiver::PauseReceiver(PortQueues& queues)
    : m_queues(queues)
{
}

void
PauseReceiver::Receive(uint8_t classes, int64_t length, Time response)
{
    const int64_t until = EventLoop::Now() + length;
    if (response.IsZero())
    {
        Obey(classes, until);
    }
    else
    {
        Simulator::Schedule(response, &PauseReceiver::Obey, this, classes, until);
    }
}

void
PauseReceiver::Override(uint8_t priority, bool paused)
{
    EventLoop::CatchUp(m_queues.GetNodeId());
    m_until[priority] = paused ? std::numeric_limits<int64_t>::max() : 0;
    Set(priority, paused, EventLoop::Now());
    if (!paused)
    {
        m_queues.Wake();
    }
}

void
PauseReceiver::Forget(uint8_t priority)
{
    Set(priority, false, EventLoop::Now());
}

void
PauseReceiver::Set(uint8_t priority, bool paused, int64_t now)
{
    if (paused == m_queues.IsPaused(priority))
    {
        return;
    }
    NS_LOG_LOGIC("node " << m_queues.GetNodeId() << " port " << m_queues.GetIndex() << " priority "
                         << +priority << (paused ? " is paused" : " is resumed"));
    m_queues.SetPaused(priority, paused, now);
    if (m_filter)
    {
        m_filter->NotifyPause(priority, paused);
    }
}

void
PauseReceiver::Obey(uint8_t classes, int64_t until)
{
    EventLoop::CatchUp(m_queues.GetNodeId());
    const int64_t now = EventLoop::Now();
    if (m_filter)
    {
        classes = m_filter->Filter(classes, until > now);
    }
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        if (classes >> priority & 1)
        {
            m_until[priority] = until;
            Set(priority, until > now, now);
        }
    }
    OnExpired();
    if (until <= now)
    {
        m_queues.Wake();
    }
}

void
PauseReceiver::OnExpired()
{
    EventLoop::CatchUp(m_queues.GetNodeId());
    Simulator::Cancel(m_expiry);
    const int64_t now = EventLoop::Now();
    int64_t first = std::numeric_limits<int64_t>::max();
    bool hasEnded = false;
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        if (m_queues.IsPaused(priority))
        {
            if (m_until[priority] <= now)
            {
                Set(priority, false, now);
                hasEnded = true;
            }
            else
            {
                first = std::min(first, m_until[priority]);
            }
        }
    }
    if (first < std::numeric_limits<int64_t>::max())
    {
        m_expiry = Simulator::Schedule(TimeStep(first - now), &PauseReceiver::OnExpired, this);
    }
    if (hasEnded)
    {
        m_queues.Wake();
    }
}

} // namespace ns3::training
