/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sharp-slots.h"

#include "ns3/abort.h"
#include "ns3/number-format.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

SharpSlots::SharpSlots(uint32_t count, uint32_t children)
    : m_children(children),
      m_words((children + 63) / 64),
      m_slots(count),
      m_seen(std::size_t{count} * m_words)
{
}

std::optional<SharpMessage>
SharpSlots::Add(uint32_t child, const Frame& frame)
{
    const auto& header = frame.As<SharpHeader>();
    const std::size_t place = header.packet % m_slots.size();
    Slot& slot = m_slots[place];
    SharpMessage& message = slot.message;
    SharpHeader& sum = message.header;
    uint64_t* const words = &m_seen[place * m_words];
    uint64_t& seen = words[child / 64];
    const uint64_t bit = uint64_t{1} << child % 64;
    if (slot.count == 0)
    {
        sum = header;
        message.payloadBytes = frame.payloadBytes;
        message.bytes = frame.bytes;
    }
    else
    {
        NS_ABORT_MSG_IF(sum.packet != header.packet || seen & bit,
                        "packet " << header.packet << " of child " << child
                                  << " in the sum of packet " << sum.packet);
        sum.check += header.check;
        sum.overflow |= header.overflow;
        sum.operation |= header.operation;
        sum.exponent = std::max(sum.exponent, header.exponent);
        message.payloadBytes = std::max(message.payloadBytes, frame.payloadBytes);
    }
    if (frame.payload)
    {
        m_parts.resize(m_slots.size() * m_children);
        m_parts[place * m_children + child] = {frame.payload, frame.payloadOffset};
    }
    seen |= bit;
    message.ingress = frame.ingress;
    if (++slot.count < m_children)
    {
        return std::nullopt;
    }
    if (!m_parts.empty())
    {
        AddParts(&m_parts[place * m_children], message);
    }
    std::fill_n(words, m_words, 0);
    return std::exchange(slot, Slot()).message;
}

void
SharpSlots::AddParts(Part* parts, SharpMessage& message)
{
    const auto format = static_cast<NumberFormat>(message.header.format);
    m_addends.clear();
    Part* last = nullptr;
    for (uint32_t child = 0; child < m_children; child++)
    {
        if (parts[child].payload)
        {
            last = &parts[child];
            m_addends.push_back(last->payload->bytes.data() + last->offset);
        }
    }
    if (m_addends.size() == 1) // for example, the only contribution of a broadcast
    {
        message.payload = last->payload;
        message.payloadOffset = last->offset;
    }
    else if (!m_addends.empty())
    {
        message.payload = Create<ByteBuffer>();
        message.payload->bytes.resize(message.payloadBytes);
        message.payloadOffset = 0;
        message.header.overflow |= AddNumbers(format,
                                              m_addends,
                                              message.payloadBytes / GetBytes(format),
                                              message.payload->bytes.data());
    }
    std::fill_n(parts, m_children, Part());
}

uint32_t
SharpSlots::GetOccupied() const
{
    return static_cast<uint32_t>(std::count_if(m_slots.begin(),
                                               m_slots.end(),
                                               [](const Slot& slot) { return slot.count > 0; }));
}

void
SharpSlots::Clear()
{
    std::fill(m_slots.begin(), m_slots.end(), Slot());
    std::fill(m_seen.begin(), m_seen.end(), 0);
    m_parts.clear();
}

} // namespace ns3::training
