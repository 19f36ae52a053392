/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "pause-sender.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPauseSender");

PauseSender::PauseSender(FabricPort& port)
    : m_port(port)
{
}

void
PauseSender::Pause(uint8_t priorities)
{
    NS_LOG_LOGIC("node " << m_port.GetNodeId() << " port " << m_port.GetIndex()
                         << " pauses priorities " << +priorities);
    m_paused |= priorities;
    m_port.SendPause(priorities, MAX_PAUSE);
    if (!m_isRenewing)
    {
        ScheduleRenewal();
    }
}

void
PauseSender::Resume(uint8_t priorities)
{
    NS_LOG_LOGIC("node " << m_port.GetNodeId() << " port " << m_port.GetIndex()
                         << " resumes priorities " << +priorities);
    m_paused &= ~priorities;
    m_port.SendPause(priorities, 0);
}

void
PauseSender::Stop()
{
    if (m_paused)
    {
        Resume(m_paused);
    }
    Simulator::Cancel(m_renewal);
    m_isRenewing = false;
}

void
PauseSender::Forget()
{
    m_paused = 0;
}

void
PauseSender::ScheduleRenewal()
{
    m_isRenewing = true;
    const double length = MAX_PAUSE * 512.0 / static_cast<double>(m_port.GetRate());
    m_renewal = Simulator::Schedule(Seconds(length / 2), &PauseSender::Renew, this);
}

void
PauseSender::Renew()
{
    m_isRenewing = false;
    if (m_paused)
    {
        NS_LOG_LOGIC("node " << m_port.GetNodeId() << " port " << m_port.GetIndex()
                             << " renews the pause of priorities " << +m_paused);
        m_port.SendPause(m_paused, MAX_PAUSE);
        ScheduleRenewal();
    }
}

} // namespace ns3::training
