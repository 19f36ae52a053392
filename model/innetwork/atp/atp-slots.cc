/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-slots.h"

#include "ns3/crc32.h"

namespace ns3::training
{

namespace
{

/// Attempts to find a slot that no window position uses.
constexpr uint32_t MAX_ATTEMPTS = 100;

} // namespace

uint16_t
AtpSlots::Hash(uint32_t index, uint32_t salt) const
{
    uint8_t key[9] = {m_job};
    for (uint32_t i = 0; i < 4; i++)
    {
        key[1 + i] = static_cast<uint8_t>(index >> 8 * i);
        key[5 + i] = static_cast<uint8_t>(salt >> 8 * i);
    }
    return static_cast<uint16_t>(CRC32Calculate(key, sizeof(key)) % m_slots);
}

void
AtpSlots::Reset(uint8_t job, uint32_t window, uint32_t slots)
{
    m_job = job;
    m_slots = slots;
    m_choices = window;
    m_slotOf.assign(window, 0);
    m_used.assign(slots, false);
    for (uint32_t place = 0; place < window; place++)
    {
        uint32_t salt = 0;
        uint16_t slot = Hash(place, salt);
        while (window <= slots && m_used[slot])
        {
            slot = Hash(place, ++salt);
        }
        m_used[slot] = true;
        m_slotOf[place] = slot;
    }
}

uint16_t
AtpSlots::Choose(uint16_t slot, uint32_t server, uint32_t servers)
{
    const uint32_t index = m_choices++;
    const uint32_t attempts = m_slotOf.size() < m_slots ? MAX_ATTEMPTS : 0;
    for (uint32_t salt = 0; salt < attempts; salt++)
    {
        const uint16_t choice = Hash(index, salt);
        if (choice % servers == server && !m_used[choice])
        {
            m_used[slot] = false;
            m_used[choice] = true;
            return choice;
        }
    }
    return slot;
}

} // namespace ns3::training
