/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of UecSender that watches paths and ports, for MRC.

#include "uec-sender.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingUecSenderPaths");

void
UecSender::SendOn(uint32_t plane, UecHeader header)
{
    const UecPortPair ports =
        m_lanes.empty() ? UecPortPair{&m_port, m_remote.endpoint} : m_lanes[plane]->GetPorts();
    if (ports.port->IsUp())
    {
        ports.port->SendControl(m_port.MakeControl(header, m_remote, ports));
    }
}

void
UecSender::WatchPaths()
{
    const bool watches = m_port.GetUecSettings().isMrc && m_probeTimer.IsExpired() &&
                         std::any_of(m_paths.begin(), m_paths.end(), [](const auto& paths) {
                             return paths->HasBadPaths();
                         });
    if (watches)
    {
        m_probeTimer = Simulator::Schedule(m_port.GetUecSettings().probeInterval,
                                           &UecSender::SendProbes,
                                           this);
    }
}

void
UecSender::SendProbes()
{
    if (!HasWork() && m_sent.GetUnacked() == m_sent.GetNext())
    {
        return; // the next message goes on
    }
    std::vector<uint16_t> values;
    for (uint32_t plane = 0; plane < m_paths.size(); plane++)
    {
        values.clear();
        m_paths[plane]->BeginProbes(values);
        for (const uint16_t value : values)
        {
            NS_LOG_LOGIC("connection " << GetNumber() << " probes path " << value);
            UecHeader header;
            header.type = UecType::PROBE;
            header.entropy = value;
            SendOn(plane, header);
        }
    }
    WatchPaths();
}

void
UecSender::ReceiveProbeAnswer(const UecHeader& header)
{
    GetPaths(header.entropy).ReportProbe(header.entropy);
    ScheduleSend();
}

void
UecSender::OnPortChange()
{
    if (m_failed || m_lanes.empty())
    {
        return;
    }
    UecHeader header;
    header.type = UecType::PORT_STATUS;
    for (uint32_t plane = 0; plane < m_lanes.size(); plane++)
    {
        header.psn |= m_lanes[plane]->GetPorts().port->IsUp() ? 0 : 1U << plane;
    }
    // By each plane, as any of them may have failed.
    for (uint32_t plane = 0; plane < m_lanes.size() && m_port.GetUecSettings().isMrc; plane++)
    {
        header.entropy = m_paths[plane]->Next();
        SendOn(plane, header);
    }
    ScheduleSend();
}

void
UecSender::ReceivePortStatus(const Frame& frame)
{
    m_remoteDown = frame.As<UecHeader>().psn;
    NS_LOG_LOGIC("connection " << GetNumber() << ": remote ports down: " << m_remoteDown);
    if (!m_failed)
    {
        ScheduleSend();
    }
}

} // namespace ns3::training
