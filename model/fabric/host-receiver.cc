/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-receiver.h"

#include <utility>

namespace ns3::training
{

HostReceiver::HostReceiver(const HostReceiveBuffer::Settings& settings,
                           std::function<void(Frame*)> deliver)
    : m_settings(settings),
      m_deliver(std::move(deliver))
{
}

void
HostReceiver::Receive(Frame* frame, Time service)
{
    if (IsUnlimited() && service.IsZero() && IsEmpty())
    {
        m_deliver(frame);
        return;
    }
    if (!m_buffer)
    {
        m_buffer = std::make_unique<HostReceiveBuffer>(*m_port, m_settings, m_deliver);
    }
    m_buffer->Receive(frame, service);
}

void
HostReceiver::OnRate()
{
    if (IsUnlimited() && m_buffer)
    {
        m_buffer->Drain();
    }
}

} // namespace ns3::training
