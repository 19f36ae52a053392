/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/setup-progress.h"

#include <cstdio>
#include <unistd.h>

namespace ns3::training
{

namespace
{

bool g_isEnabled = false;

constexpr std::chrono::milliseconds FIRST_UPDATE(1000);
constexpr std::chrono::milliseconds UPDATE_PERIOD(500);

} // namespace

void
SetupProgress::Enable()
{
    g_isEnabled = isatty(STDERR_FILENO) != 0;
}

SetupProgress::SetupProgress(const std::string& what, uint64_t total)
    : m_what(what),
      m_total(total),
      m_start(Clock::now()),
      m_next(m_start + FIRST_UPDATE)
{
}

SetupProgress::~SetupProgress()
{
    if (m_isShown)
    {
        std::fputs("\r\033[K", stderr);
    }
}

void
SetupProgress::Advance()
{
    m_done++;
    const auto now = Clock::now();
    if (!g_isEnabled || now < m_next)
    {
        return;
    }
    const double elapsed = std::chrono::duration<double>(now - m_start).count();
    const double fraction = static_cast<double>(m_done) / static_cast<double>(m_total);
    std::fprintf(stderr,
                 "\r\033[K%3.0f %%  %s of the network  %.0f s left",
                 100 * fraction,
                 m_what.c_str(),
                 elapsed / fraction - elapsed);
    std::fflush(stderr);
    m_isShown = true;
    m_next = now + UPDATE_PERIOD;
}

} // namespace ns3::training
