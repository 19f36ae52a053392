/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-timers.h"

#include "ns3/training-quantity.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Timeout of the paper, ms.
constexpr uint64_t PAPER_TIMEOUT = 1;
/// Timeout of the released client, ms.
constexpr uint64_t CLIENT_TIMEOUT = 10;
/// The released client's timeouts until the timeout doubles, and what is added each time.
constexpr uint32_t CLIENT_THRESHOLD = 100;
/// The released client over RDMA compares whole milliseconds, which must exceed the timeout; ms.
constexpr uint64_t CLIENT_RDMA_DELAY = 1;

} // namespace

TimeoutRule
SwitchMlTimers::MakeRule(const Settings& settings)
{
    TimeoutRule rule;
    rule.timeout = settings.timeout;
    if (rule.timeout.IsZero())
    {
        rule.timeout = MilliSeconds(settings.isClient ? CLIENT_TIMEOUT : PAPER_TIMEOUT);
    }
    rule.timeout = SlotTimers::Raise(rule.timeout, settings.slots, settings.lineSeconds);
    if (!settings.isClient)
    {
        return rule;
    }
    rule.increment = CLIENT_THRESHOLD;
    if (settings.isRdma)
    {
        rule.threshold = CLIENT_THRESHOLD + 1; // this client's count must exceed the threshold
        rule.delay = MilliSeconds(CLIENT_RDMA_DELAY);
        rule.isKept = true;
        return rule;
    }
    rule.threshold = CLIENT_THRESHOLD;
    rule.firstFactor = std::max<uint32_t>(1, settings.slots / settings.cores);
    rule.isPolled = true;
    return rule;
}

void
SwitchMlTimers::Configure(const Settings& settings,
                          SlotTimers::Resend resend,
                          SlotTimers::Fail fail)
{
    m_rule = MakeRule(settings);
    const uint32_t threads = settings.isClient ? std::min(settings.cores, settings.slots) : 1;
    m_threads.resize(threads);
    for (uint32_t thread = 0; thread < threads; thread++)
    {
        m_threads[thread].Configure(
            (settings.slots - thread + threads - 1) / threads,
            m_rule,
            [=](uint32_t slot) { resend(slot * threads + thread); },
            [=](uint32_t slot, Time silence) { fail(slot * threads + thread, silence); });
    }
}

std::string
SwitchMlTimers::Describe() const
{
    const std::string timeout = FormatTime(m_rule.timeout);
    if (m_rule.threshold == 0)
    {
        return "switchml: timers of the paper: packets time out after " + timeout + ", always";
    }
    return "switchml: timers of the released client: packets time out after " + timeout +
           (m_rule.firstFactor > 1
                ? " (in the first window " + FormatTime(m_rule.timeout * m_rule.firstFactor) + ")"
                : "") +
           ", doubled after " + std::to_string(m_rule.threshold) + " timeouts of a thread, then " +
           std::to_string(m_rule.threshold + m_rule.increment) + ", and so on, " +
           (m_rule.isKept ? "for good" : "until the tensor ends");
}

void
SwitchMlTimers::Begin(Time silence)
{
    for (SlotTimers& timers : m_threads)
    {
        timers.Begin(silence);
    }
}

void
SwitchMlTimers::Cancel()
{
    for (SlotTimers& timers : m_threads)
    {
        timers.Cancel();
    }
}

uint32_t
SwitchMlTimers::GetOldest() const
{
    const auto threads = static_cast<uint32_t>(m_threads.size());
    for (uint32_t thread = 0; thread < threads; thread++)
    {
        if (m_threads[thread].GetOldest() != SlotTimers::NONE)
        {
            return m_threads[thread].GetOldest() * threads + thread;
        }
    }
    return SlotTimers::NONE;
}

} // namespace ns3::training
