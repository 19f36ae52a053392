/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "reception-windows.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/** @return packets per credit */
uint32_t
GetBatch(uint32_t window)
{
    return std::max(1U, window / 2);
}

} // namespace

ReceptionWindows::ReceptionWindows(uint32_t segments, uint64_t bufferBytes)
    : m_segments(segments),
      m_bufferBytes(bufferBytes)
{
}

uint32_t
ReceptionWindows::GetWindow(uint64_t packetBytes) const
{
    const uint64_t fitting =
        m_bufferBytes == 0 || packetBytes == 0 ? m_segments : m_bufferBytes / packetBytes;
    return static_cast<uint32_t>(std::clamp<uint64_t>(fitting, 1, m_segments));
}

uint32_t
ReceptionWindows::GetGranted(uint32_t credits, uint32_t window) const
{
    const uint64_t granted = window + uint64_t{credits} * GetBatch(window);
    return static_cast<uint32_t>(std::min<uint64_t>(granted, m_segments));
}

bool
ReceptionWindows::Send(uint32_t message, uint64_t packetBytes, uint32_t index)
{
    const uint32_t window = GetWindow(packetBytes);
    if (window == m_segments)
    {
        return true;
    }
    Outgoing& outgoing = m_outgoing[message];
    if (outgoing.sent == GetGranted(outgoing.credits, window))
    {
        outgoing.waiting.push_back(index);
        return false;
    }
    outgoing.sent++;
    return true;
}

std::vector<uint32_t>
ReceptionWindows::OnCredit(uint32_t message, uint64_t packetBytes)
{
    Outgoing& outgoing = m_outgoing[message];
    outgoing.credits++;
    const uint32_t granted = GetGranted(outgoing.credits, GetWindow(packetBytes));
    const auto count = static_cast<std::ptrdiff_t>(
        std::min<std::size_t>(granted - outgoing.sent, outgoing.waiting.size()));
    const std::vector<uint32_t> leaving(outgoing.waiting.begin(), outgoing.waiting.begin() + count);
    outgoing.waiting.erase(outgoing.waiting.begin(), outgoing.waiting.begin() + count);
    outgoing.sent += static_cast<uint32_t>(count);
    return leaving;
}

bool
ReceptionWindows::OnConsumed(uint32_t message, uint64_t packetBytes)
{
    const uint32_t window = GetWindow(packetBytes);
    if (window == m_segments)
    {
        return false;
    }
    const uint32_t consumed = ++m_consumed[message];
    const uint32_t batch = GetBatch(window);
    // The credits so far may allow the rest of the message already.
    return consumed % batch == 0 && GetGranted(consumed / batch - 1, window) < m_segments;
}

} // namespace ns3::training
