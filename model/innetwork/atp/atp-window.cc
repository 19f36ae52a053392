/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-window.h"

#include "ns3/log.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingAtpWindow");

namespace
{

/// Increase of a window without marks, bytes (released client).
constexpr double INCREASE_BYTES = 1500;
/// Weights of the latest round, and the tolerated fraction of contested slots (A2TP).
constexpr double SHARE_WEIGHT = 1.0 / 8;
constexpr double URGENCY_WEIGHT = 1.0 / 64;
constexpr double CONTENTION_LET_BE = 0.1;

} // namespace

void
AtpWindow::Reset(Control control,
                 uint32_t most,
                 uint32_t threads,
                 uint32_t packetBytes,
                 int64_t baseRoundTrip)
{
    *this = AtpWindow();
    m_control = control;
    m_most = most;
    m_least = std::min(threads, most);
    m_step = control == Control::A2TP ? m_least : m_least * INCREASE_BYTES / packetBytes;
    m_baseRoundTrip = baseRoundTrip;
    m_window = most;
    m_slots = most;
}

void
AtpWindow::OnResult(int64_t now, bool congested, bool contested)
{
    m_results++;
    m_congested += congested;
    m_contested += contested;
    m_urgent += now - m_start <= m_baseRoundTrip;
}

void
AtpWindow::OnProgress(int64_t now, uint64_t base, uint64_t next)
{
    if (base < m_end || m_results == 0)
    {
        return;
    }
    switch (m_control)
    {
    case Control::FIXED:
        break;
    case Control::ECN:
        m_window = std::clamp(m_congested > 0 ? m_window / 2 : m_window + m_step, m_least, m_most);
        break;
    case Control::A2TP:
        UpdateA2tp();
        break;
    }
    NS_LOG_LOGIC("window " << m_window << ", slots " << m_slots);
    m_end = next;
    m_start = now;
    m_results = 0;
    m_congested = 0;
    m_contested = 0;
    m_urgent = 0;
}

void
AtpWindow::UpdateA2tp()
{
    const auto average = [](double& share, double weight, double part, double whole) {
        share += weight * (std::min(1.0, part / whole) - share);
    };
    average(m_gamma, URGENCY_WEIGHT, m_urgent, m_results);
    average(m_alpha, SHARE_WEIGHT, m_congested, m_window);
    average(m_beta, SHARE_WEIGHT, m_contested, m_slots);
    if (m_contested > 0 && m_beta > CONTENTION_LET_BE)
    {
        m_slots *= 1 - std::pow(m_beta - CONTENTION_LET_BE, m_gamma) / (2 - CONTENTION_LET_BE);
    }
    else
    {
        m_slots += m_step;
    }
    m_window = m_congested > 0 ? m_window * (1 - m_alpha / 2) : m_window + m_step;
    m_window = std::clamp(m_window, m_least, m_most);
    m_slots = std::clamp(m_slots, m_least, m_window);
}

} // namespace ns3::training
