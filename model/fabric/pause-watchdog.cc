/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "pause-watchdog.h"

#include "fabric-port.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPauseWatchdog");

PauseWatchdog::PauseWatchdog(FabricPort& port, const Settings& settings)
    : m_port(port),
      m_settings(settings)
{
}

uint8_t
PauseWatchdog::Filter(uint8_t classes, bool paused)
{
    for (uint8_t priority = 0; paused && priority < PRIORITIES; priority++)
    {
        if (classes >> priority & 1)
        {
            m_lastPause[priority] = Simulator::Now().GetTimeStep();
        }
    }
    return classes & ~m_storming;
}

void
PauseWatchdog::NotifyPause(uint8_t priority, bool paused)
{
    if (m_storming >> priority & 1)
    {
        return;
    }
    Simulator::Cancel(m_check[priority]);
    if (paused)
    {
        m_check[priority] =
            Simulator::Schedule(m_settings.detection, &PauseWatchdog::Check, this, priority);
    }
}

void
PauseWatchdog::NotifyQueued(uint8_t priority)
{
    if (m_storming >> priority & 1 && m_settings.action == Action::DROP)
    {
        // After the event that queues the frame.
        Simulator::ScheduleNow(&FabricPort::Purge, &m_port, priority);
    }
}

void
PauseWatchdog::Check(uint8_t priority)
{
    NS_LOG_INFO("node " << m_port.GetNodeId() << " port " << m_port.GetIndex()
                        << ": a pause storm in priority " << +priority);
    m_storming |= 1 << priority;
    m_port.CountStorm(priority);
    m_check[priority] =
        Simulator::Schedule(m_settings.restoration, &PauseWatchdog::Restore, this, priority);
    if (m_settings.action == Action::DROP)
    {
        m_port.GetPauses().Override(priority,
                                    true); // the peer receives nothing until the storm is over
        m_port.Purge(priority);
    }
    else
    {
        m_port.GetPauses().Override(priority, false);
    }
}

void
PauseWatchdog::Restore(uint8_t priority)
{
    const int64_t since = Simulator::Now().GetTimeStep() - m_lastPause[priority];
    if (since < m_settings.restoration.GetTimeStep())
    {
        m_check[priority] = Simulator::Schedule(m_settings.restoration - TimeStep(since),
                                                &PauseWatchdog::Restore,
                                                this,
                                                priority);
        return;
    }
    NS_LOG_INFO("node " << m_port.GetNodeId() << " port " << m_port.GetIndex()
                        << ": the pause storm in priority " << +priority << " is over");
    m_storming &= ~(1 << priority);
    if (m_settings.action == Action::DROP)
    {
        m_port.GetPauses().Override(priority, false);
    }
}

} // namespace ns3::training
