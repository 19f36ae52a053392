/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sub-messages.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

/// Words of a head flit: flow, offset, size, and whether it is the end.
using Head = std::array<uint32_t, 4>;

static_assert(4 * sizeof(uint32_t) == SubMessages::FLIT, "a head flit has four words");

/** @return bytes of whole flits */
uint64_t
FillFlits(uint64_t bytes)
{
    return (bytes + SubMessages::FLIT - 1) / SubMessages::FLIT * SubMessages::FLIT;
}

/** Appends a head flit. */
void
Put(const Head& head, std::vector<uint8_t>& line)
{
    for (uint32_t word : head)
    {
        for (uint32_t shift = 0; shift < 32; shift += 8)
        {
            line.push_back(static_cast<uint8_t>(word >> shift));
        }
    }
}

/** @return the head flit at a position */
Head
Get(const std::vector<uint8_t>& line, uint64_t position)
{
    Head head{};
    for (uint32_t i = 0; i < SubMessages::FLIT; i++)
    {
        head[i / 4] |= uint32_t{line[position + i]} << (i % 4 * 8);
    }
    return head;
}

} // namespace

SubMessages::SubMessages(FlowControl flowControl, uint64_t bytes)
    : m_flowControl(flowControl),
      m_bytes(bytes)
{
    if (bytes == 0 || bytes % FLIT != 0)
    {
        throw ConfigurationError("sub-message=" + std::to_string(bytes) +
                                 " (allowed: multiples of " + std::to_string(FLIT) +
                                 ", the bytes of a flit)");
    }
}

double
SubMessages::GetShare() const
{
    const auto full = static_cast<double>(m_bytes);
    return m_flowControl == FlowControl::PACKET ? (full + FLIT) / full : 1;
}

uint64_t
SubMessages::GetLineBytes(uint64_t bytes) const
{
    switch (m_flowControl)
    {
    case FlowControl::PACKET:
        return FillFlits(bytes) + std::max<uint64_t>(1, (bytes + m_bytes - 1) / m_bytes) * FLIT;
    case FlowControl::MESSAGE:
        return FillFlits(bytes) + FLIT;
    case FlowControl::NONE:
        break;
    }
    return bytes;
}

Ptr<ByteBuffer>
SubMessages::Frame(uint32_t flow, Ptr<ByteBuffer> numbers) const
{
    if (!HasHeads())
    {
        return numbers;
    }
    const std::vector<uint8_t>& bytes = numbers->bytes;
    auto line = Create<ByteBuffer>();
    line->bytes.reserve(GetLineBytes(bytes.size()));
    const uint64_t most = m_flowControl == FlowControl::PACKET ? m_bytes : bytes.size();
    uint64_t offset = 0;
    do
    {
        const uint64_t size = std::min<uint64_t>(most, bytes.size() - offset);
        Put({flow,
             static_cast<uint32_t>(offset),
             static_cast<uint32_t>(size),
             offset + size == bytes.size() ? 1U : 0U},
            line->bytes);
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
        line->bytes.insert(line->bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
        offset += size;
    } while (offset < bytes.size());
    line->bytes.resize(GetLineBytes(bytes.size())); // the rest of the last flit
    return line;
}

Ptr<ByteBuffer>
SubMessages::Unframe(uint32_t flow, Ptr<ByteBuffer> line) const
{
    if (!HasHeads())
    {
        return line;
    }
    const std::vector<uint8_t>& bytes = line->bytes;
    auto numbers = Create<ByteBuffer>();
    bool isEnd = false;
    for (uint64_t position = 0; position < bytes.size();)
    {
        if (isEnd || bytes.size() - position < FLIT)
        {
            return nullptr;
        }
        const Head head = Get(bytes, position);
        position += FLIT;
        const uint64_t size = head[2];
        if (head[0] != flow || head[1] != numbers->bytes.size() ||
            FillFlits(size) > bytes.size() - position)
        {
            return nullptr;
        }
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(position);
        numbers->bytes.insert(numbers->bytes.end(),
                              begin,
                              begin + static_cast<std::ptrdiff_t>(size));
        position += FillFlits(size);
        isEnd = head[3] != 0;
    }
    return isEnd ? numbers : nullptr;
}

} // namespace ns3::training
