/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guard/progress-line.h"

#include "guard/run-interrupts.h"

#include "ns3/simulator.h"

#include <cstdio>
#include <unistd.h>

namespace ns3::training
{

namespace
{

/// Target wall-clock time between two updates, s.
constexpr double PERIOD = 0.5;

} // namespace

ProgressLine::ProgressLine(const Fabric& fabric,
                           std::function<double()> fraction,
                           const std::string& label)
    : m_fabric(fabric),
      m_fraction(std::move(fraction)),
      m_label(label.empty() ? "" : label + ": "),
      m_start(Clock::now()),
      m_last(m_start)
{
    if (isatty(STDERR_FILENO))
    {
        RunInterrupts::SetLook([this] { Show(); }, PERIOD);
    }
}

ProgressLine::~ProgressLine()
{
    if (isatty(STDERR_FILENO))
    {
        RunInterrupts::SetLook(nullptr, PERIOD);
    }
    Clear();
}

void
ProgressLine::Clear()
{
    if (m_shown)
    {
        std::fputs("\r\033[K", stderr);
        m_shown = false;
    }
}

void
ProgressLine::Show()
{
    const auto now = Clock::now();
    const double passed = std::chrono::duration<double>(now - m_last).count();
    const double elapsed = std::chrono::duration<double>(now - m_start).count();
    const double fraction = m_fraction();
    const uint64_t events = Simulator::GetEventCount();
    std::fprintf(stderr,
                 "\r\033[K%s%3.0f %%  simulated %.3f ms  %.1f M packet-hops  %.2f M events/s",
                 m_label.c_str(),
                 100 * fraction,
                 Simulator::Now().GetSeconds() * 1e3,
                 static_cast<double>(m_fabric.GetPacketHops()) * 1e-6,
                 static_cast<double>(events - m_lastEvents) / passed * 1e-6);
    if (const auto left = m_remaining.Update(elapsed, fraction))
    {
        std::fprintf(stderr, "  %.0f s left", *left);
    }
    std::fflush(stderr);
    m_shown = true;
    m_last = now;
    m_lastEvents = events;
}

} // namespace ns3::training
