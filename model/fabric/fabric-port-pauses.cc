/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-fabric
 * How a port obeys pauses of its peer, as far as its watchdog lets it.
 */

#include "fabric-port.h"
#include "pause-watchdog.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPortPauses");

void
FabricPort::SetPaused(uint8_t priority, bool paused, int64_t now)
{
    if (paused == IsPaused(priority))
    {
        return;
    }
    NS_LOG_LOGIC("node " << m_nodeId << " port " << m_index << " priority " << +priority
                         << (paused ? " is paused" : " is resumed"));
    m_paused ^= 1 << priority;
    if (paused)
    {
        Use().pausedSince[priority] = now;
    }
    else
    {
        Classes& classes = Use();
        classes.counters[priority].pausedTime += now - classes.pausedSince[priority];
    }
    m_owner.NotifyPause(m_index, priority, paused);
    if (m_watchdog)
    {
        m_watchdog->NotifyPause(priority, paused);
    }
}

void
FabricPort::OnPause(const Frame& frame)
{
    m_counters.pausesReceived++;
    const int64_t now = EventLoop::Now();
    const auto length = static_cast<int64_t>(frame.pauseQuanta * 64 * m_picosecondsPerByte);
    uint8_t classes = frame.pauseClasses;
    if (m_credits)
    {
        classes &= ~m_credits->GetSendingClasses();
    }
    const Time response = GetPauseResponse();
    if (response.IsZero())
    {
        ObeyPause(classes, now + length);
    }
    else
    {
        Simulator::Schedule(response, &FabricPort::ObeyPause, this, classes, now + length);
    }
}

void
FabricPort::ObeyPause(uint8_t classes, int64_t until)
{
    EventLoop::CatchUp(m_nodeId);
    const int64_t now = EventLoop::Now();
    if (m_watchdog)
    {
        classes = m_watchdog->Filter(classes, until > now);
    }
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        if (classes >> priority & 1)
        {
            Use().pausedUntil[priority] = until;
            SetPaused(priority, until > now, now);
        }
    }
    OnPauseExpired();
    if (until <= now)
    {
        Wake();
    }
}

void
FabricPort::OnPauseExpired()
{
    EventLoop::CatchUp(m_nodeId);
    Classes& classes = Use();
    Simulator::Cancel(classes.pauseExpiry);
    const int64_t now = EventLoop::Now();
    int64_t first = std::numeric_limits<int64_t>::max();
    const uint8_t before = m_paused;
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        if (m_paused >> priority & 1)
        {
            if (classes.pausedUntil[priority] <= now)
            {
                SetPaused(priority, false, now);
            }
            else
            {
                first = std::min(first, classes.pausedUntil[priority]);
            }
        }
    }
    if (first < std::numeric_limits<int64_t>::max())
    {
        classes.pauseExpiry =
            Simulator::Schedule(TimeStep(first - now), &FabricPort::OnPauseExpired, this);
    }
    if (before != m_paused)
    {
        Wake();
    }
}

void
FabricPort::OverridePause(uint8_t priority, bool paused)
{
    EventLoop::CatchUp(m_nodeId);
    Use().pausedUntil[priority] = paused ? std::numeric_limits<int64_t>::max() : 0;
    SetPaused(priority, paused, EventLoop::Now());
    if (!paused)
    {
        Wake();
    }
}

void
FabricPort::Purge(uint8_t priority)
{
    EventLoop::CatchUp(m_nodeId);
    while (m_waiting >> priority & 1)
    {
        Frame* frame = Pop(priority);
        if (m_owner.BeginTransmit(*frame, *this)) // releases its space
        {
            Drop(frame, DropReason::PAUSE_STORM);
        }
    }
}

} // namespace ns3::training
