/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-channels.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3::training
{

HostChannels::HostChannels(HostCost cost, std::shared_ptr<const HostLoad> load)
    : m_cost(cost),
      m_load(std::move(load))
{
}

const HostCost&
HostChannels::GetCost() const
{
    return m_cost;
}

uint64_t
HostChannels::GetWireBytes(uint64_t bytes) const
{
    return m_cost.wireFactor == 1
               ? bytes
               : static_cast<uint64_t>(std::ceil(m_cost.wireFactor * static_cast<double>(bytes)));
}

uint64_t
HostChannels::GetDataBytes(uint64_t bytes) const
{
    return static_cast<uint64_t>(static_cast<double>(bytes) / m_cost.wireFactor);
}

void
HostChannels::Send(const Message& message, Time now)
{
    if (message.isLocal || m_cost.sendsFreely ||
        (m_cost.sendSecondsPerByte <= 0 && !m_cost.perSlot.IsStrictlyPositive()))
    {
        return;
    }
    Time& free = Find(message);
    free = std::max(free, now) +
           Seconds(m_cost.sendSecondsPerByte * static_cast<double>(message.bytes)) +
           GetMessageTime(message);
}

Time
HostChannels::Receive(const Message& message, Time now)
{
    if (message.isLocal)
    {
        return m_cost.hasCommonChannel && !m_cost.sendsFreely ? Time(0)
                                                              : Copy(message,
                                                                     now,
                                                                     m_cost.localSecondsPerByte,
                                                                     m_cost.localLineSecondsPerByte,
                                                                     Time(0));
    }
    const uint64_t windows = (std::max<uint64_t>(message.bytes, 1) - 1) / m_cost.windowBytes;
    const Time others = m_cost.perWindow * static_cast<int64_t>(windows) + GetMessageTime(message);
    if (!m_cost.hasCommonChannel)
    {
        return Copy(message,
                    now,
                    m_cost.remoteSecondsPerByte,
                    m_cost.remoteLineSecondsPerByte,
                    others);
    }
    // The copy began with the message's first byte, unless the channel was busy.
    const double size = static_cast<double>(message.bytes);
    const double onLine =
        std::max(0.0, m_cost.sendSecondsPerByte - m_cost.remoteSecondsPerByte) * size;
    Time& free = Find(message);
    free = std::max(now,
                    std::max(free, now - Seconds(onLine)) +
                        Seconds(m_cost.sendSecondsPerByte * size)) +
           others;
    return free - now;
}

/** A message occupies its own channel, also for other times. @return time until it can be used */
Time
HostChannels::Copy(const Message& message, Time now, double seconds, double onLine, Time others)
{
    const double copy = GetCopySeconds(seconds, onLine);
    Time& free = m_free[{message.peer, message.lane}];
    const Time begin = std::max(free, now);
    free = begin +
           Seconds((m_cost.passesOn ? copy + onLine : copy) * static_cast<double>(message.bytes)) +
           others;
    return (m_cost.passesOn ? begin + others : free) - now;
}

Time&
HostChannels::Find(const Message& message)
{
    return m_cost.hasCommonChannel ? m_free[{0, 0}] : m_free[{message.peer, message.lane}];
}

/** @return time of the channel per byte under the load of the GPU, see HostCost */
double
HostChannels::GetCopySeconds(double seconds, double onLine) const
{
    return m_load && m_load->copyFactor > 1 && m_cost.copySecondsPerByte > 0
               ? std::max(0.0, m_load->copyFactor * m_cost.copySecondsPerByte - onLine)
               : seconds;
}

Time
HostChannels::GetMessageTime(const Message& message) const
{
    return m_cost.perMessage +
           m_cost.perSlot * static_cast<int64_t>(message.bytes / m_cost.slotBytes);
}

} // namespace ns3::training
