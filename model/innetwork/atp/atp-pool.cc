/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-pool.h"

#include "innetwork/saturating-sum.h"

#include "ns3/payload-values.h"

namespace ns3::training
{

void
AtpPool::Resize(uint32_t slots, uint32_t elements)
{
    m_slots.resize(slots);
    m_elements = elements;
}

void
AtpPool::Claim(Slot& slot, const Frame& frame, bool isRack)
{
    slot = Slot();
    slot.header = frame.As<AtpHeader>();
    slot.header.check = 0;
    slot.header.workers = 0;
    slot.header.congested = false;
    slot.header.contested = false;
    slot.header.collision = false;
    slot.used = true;
    slot.isRack = isRack;
    slot.isReal = frame.payload != nullptr;
}

bool
AtpPool::Add(Slot& slot, const Frame& frame)
{
    const auto& header = frame.As<AtpHeader>();
    const bool isFirst = slot.seen == 0;
    slot.seen |= slot.isRack ? header.workers : header.children;
    slot.header.check += header.check;
    if (!frame.payload || !slot.isReal)
    {
        return false;
    }
    if (isFirst)
    {
        ReadValues(frame, GetValues(slot), m_elements);
        return false;
    }
    return AddSaturating(GetValues(slot), GetPayload(frame), m_elements);
}

void
AtpPool::Fill(Frame& frame, const Slot& slot)
{
    auto& header = frame.As<AtpHeader>();
    header.check = slot.header.check;
    header.congested |= slot.header.congested;
    header.contested |= slot.header.contested;
    if (slot.isRack)
    {
        header.workers = slot.seen;
        header.children = slot.header.children;
        header.isRackSum = __builtin_popcount(slot.seen) == slot.header.fanIn[0];
    }
    else
    {
        header.children = slot.seen;
        header.isRackSum = true;
    }
    frame.ecn = Ecn::ECT;
    frame.payload = nullptr;
    if (slot.isReal)
    {
        WriteValues(frame, GetValues(slot), m_elements);
    }
}

int32_t*
AtpPool::GetValues(const Slot& slot)
{
    if (m_values.empty())
    {
        m_values.resize(m_slots.size() * m_elements);
    }
    return m_values.data() + (&slot - m_slots.data()) * m_elements;
}

} // namespace ns3::training
