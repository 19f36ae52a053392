/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-paths.h"

#include "uec-wire-format.h"

#include <algorithm>
#include <array>

namespace ns3::training
{

namespace
{

constexpr uint8_t MAX_PENALTY = 15;
/// By Outcome.
constexpr std::array<uint8_t, 4> PENALTIES{0, 1, 4, MAX_PENALTY};

} // namespace

UecPaths::UecPaths(uint32_t bits, Ptr<UniformRandomVariable> random, const UecPlane& plane)
    : m_mask(static_cast<uint16_t>(((1 << bits) - 1) & plane.GetFree())),
      m_random(random)
{
    const uint32_t drawn = m_random->GetInteger(0, UEC_MAX_PATHS - 1);
    m_upper = static_cast<uint16_t>(plane.GetPrefix() | (drawn & plane.GetFree() & ~m_mask));
    m_order = static_cast<uint16_t>(m_random->GetInteger(0, m_mask));
}

void
UecPaths::Step()
{
    m_turn = (m_turn + 1) & m_mask;
    if (m_turn == 0)
    {
        m_order = static_cast<uint16_t>(m_random->GetInteger(0, m_mask));
    }
}

uint16_t
UecPaths::Next()
{
    if (!m_good.empty())
    {
        const uint16_t entropy = m_good.front();
        m_good.pop_front();
        return entropy;
    }
    if (!m_penalties.empty() && m_penalties[GetTurn()] > 0)
    {
        // As in the reference, one penalty is served per packet, however many values are skipped.
        m_penalties[GetTurn()]--;
        for (uint32_t skipped = 0; skipped <= m_mask; skipped++)
        {
            Step();
            if (m_penalties[GetTurn()] == 0)
            {
                break;
            }
        }
    }
    const auto entropy = static_cast<uint16_t>(m_upper | GetTurn());
    Step();
    return entropy;
}

void
UecPaths::Report(uint16_t entropy, Outcome outcome)
{
    if (outcome == Outcome::GOOD)
    {
        m_good.push_back(entropy);
        return;
    }
    if (m_penalties.empty())
    {
        m_penalties.resize(m_mask + 1);
    }
    uint8_t& penalty = m_penalties[entropy & m_mask];
    penalty = static_cast<uint8_t>(
        std::min<uint32_t>(penalty + PENALTIES[static_cast<std::size_t>(outcome)], MAX_PENALTY));
}

} // namespace ns3::training
