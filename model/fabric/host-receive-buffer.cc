/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-receive-buffer.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3::training
{

HostReceiveBuffer::HostReceiveBuffer(FabricPort& port,
                                     const Settings& settings,
                                     std::function<void(Frame*)> deliver)
    : m_port(port),
      m_settings(settings),
      m_deliver(std::move(deliver)),
      m_pauses(port)
{
}

bool
HostReceiveBuffer::IsLossless(const Frame& frame) const
{
    return m_port.GetFlowControl() != FlowControl::NONE &&
           (m_settings.losslessClasses >> frame.priority & 1 ||
            m_port.ReceivesWithCredits(frame.priority));
}

uint64_t&
HostReceiveBuffer::GetAccount(const Frame& frame)
{
    if (m_port.ReceivesWithCredits(frame.priority))
    {
        return m_creditBytes[frame.priority];
    }
    return IsLossless(frame) ? m_losslessBytes : m_lossyBytes;
}

void
HostReceiveBuffer::Begin(const Held& held)
{
    const Time host = m_settings.rate.GetBitRate() > 0
                          ? m_settings.rate.CalculateBytesTxTime(held.frame->bytes)
                          : Time(0);
    m_processed =
        Simulator::Schedule(std::max(host, held.service), &HostReceiveBuffer::Process, this);
}

void
HostReceiveBuffer::Receive(Frame* frame, Time service)
{
    const bool lossless = IsLossless(*frame);
    uint64_t& held = GetAccount(*frame);
    if (!lossless && held + frame->bytes > m_settings.bytes)
    {
        m_port.Drop(frame, DropReason::NO_BUFFER);
        return;
    }
    m_frames.push_back({frame, service});
    held += frame->bytes;
    if (m_processed.IsExpired())
    {
        Begin(m_frames.front());
    }
    UpdatePause();
}

void
HostReceiveBuffer::Drain()
{
    Simulator::Cancel(m_processed);
    m_isDraining = true;
    while (!m_frames.empty())
    {
        Process();
    }
    m_isDraining = false;
}

void
HostReceiveBuffer::Process()
{
    Frame* frame = m_frames.front().frame;
    m_frames.pop_front();
    GetAccount(*frame) -= frame->bytes;
    if (m_port.ReceivesWithCredits(frame->priority))
    {
        m_port.GrantCredits(frame->priority);
    }
    if (!m_frames.empty() && !m_isDraining)
    {
        Begin(m_frames.front());
    }
    UpdatePause();
    m_deliver(frame);
}

void
HostReceiveBuffer::UpdatePause()
{
    if (!m_pauses.GetPaused() && m_losslessBytes > m_settings.bytes / 2)
    {
        m_pauses.Pause(m_settings.losslessClasses);
    }
    else if (m_pauses.GetPaused() && m_losslessBytes <= m_settings.bytes / 4)
    {
        m_pauses.Stop();
    }
}

} // namespace ns3::training
