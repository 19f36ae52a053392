/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/mrc-paths.h"

#include <algorithm>

namespace ns3::training
{

MrcPaths::MrcPaths(const Settings& settings,
                   Ptr<UniformRandomVariable> random,
                   const UecPlane& plane)
    : UecPaths(settings.bits, random, plane),
      m_answers(settings.answers),
      m_prefix(plane.GetPrefix()),
      m_free(plane.GetFree()),
      m_turns(m_mask + 1, NONE),
      m_skips(m_mask + 1, false)
{
    // Consecutive values use the links of a switch with source routes equally often.
    m_first = m_upper & m_free;
    m_paths.resize(std::min<uint32_t>(m_mask + 1 + settings.backups, m_free + 1));
    for (std::size_t number = 0; number < m_paths.size(); number++)
    {
        const auto path = static_cast<int16_t>(number);
        number < m_turns.size() ? Place(path, path) : m_backups.push_back(path);
    }
}

uint16_t
MrcPaths::GetValue(int16_t number) const
{
    return m_prefix | ((m_first + number) & m_free);
}

int16_t
MrcPaths::FindNumber(uint16_t entropy) const
{
    const auto number = static_cast<std::size_t>((entropy - m_first) & m_free);
    return number < m_paths.size() ? static_cast<int16_t>(number) : NONE;
}

void
MrcPaths::Place(int16_t number, int16_t turn)
{
    m_paths[number].turn = turn;
    m_turns[turn] = number;
    m_skips[turn] = false;
}

bool
MrcPaths::HasPath() const
{
    return m_bad.size() < m_paths.size();
}

uint16_t
MrcPaths::Next()
{
    if (!HasPath())
    {
        m_bad.push_back(m_bad.front());
        m_bad.pop_front();
        return GetValue(m_bad.back());
    }
    while (true) // a value that is skipped is not skipped again
    {
        const uint16_t turn = GetTurn();
        Step();
        if (m_turns[turn] != NONE && !m_skips[turn])
        {
            return GetValue(m_turns[turn]);
        }
        m_skips[turn] = false;
    }
}

void
MrcPaths::Report(uint16_t entropy, Outcome outcome)
{
    const int16_t number = FindNumber(entropy);
    if (outcome == Outcome::GOOD || number == NONE || m_paths[number].turn == NONE)
    {
        return;
    }
    const int16_t turn = m_paths[number].turn;
    if (outcome != Outcome::LOST)
    {
        m_skips[turn] = true;
        return;
    }
    m_paths[number] = {};
    m_paths[number].isBad = true;
    m_bad.push_back(number);
    m_turns[turn] = NONE;
    if (!m_backups.empty())
    {
        Place(m_backups.front(), turn);
        m_backups.pop_front();
    }
}

void
MrcPaths::BeginProbes(std::vector<uint16_t>& values)
{
    for (const int16_t number : m_bad)
    {
        Path& path = m_paths[number];
        path.answers = path.isAnswered ? path.answers : 0;
        path.isAnswered = false;
        values.push_back(GetValue(number));
    }
}

void
MrcPaths::ReportProbe(uint16_t entropy)
{
    const int16_t number = FindNumber(entropy);
    if (number == NONE || !m_paths[number].isBad || m_paths[number].isAnswered)
    {
        return;
    }
    Path& path = m_paths[number];
    path.isAnswered = true;
    if (++path.answers < m_answers)
    {
        return;
    }
    path = {};
    m_bad.erase(std::find(m_bad.begin(), m_bad.end(), number));
    const auto free = std::find(m_turns.begin(), m_turns.end(), NONE);
    if (free == m_turns.end())
    {
        m_backups.push_back(number);
    }
    else
    {
        Place(number, static_cast<int16_t>(free - m_turns.begin()));
    }
}

} // namespace ns3::training
