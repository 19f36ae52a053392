/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tcp-message-stream.h"

#include "fabric/gradient-tag.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Bit positions in the second half of a header: real payload or not, index of the part, number of
/// parts minus one; the rest is the size.
constexpr uint32_t REAL_SHIFT = 63;
constexpr uint32_t INDEX_SHIFT = 56;
constexpr uint32_t PARTS_SHIFT = 49;
constexpr uint64_t PART_MASK = 0x7f;
constexpr uint64_t SIZE_MASK = (uint64_t{1} << PARTS_SHIFT) - 1;

void
WriteBigEndian(uint64_t value, uint8_t* bytes)
{
    for (int i = 7; i >= 0; i--, value >>= 8)
    {
        bytes[i] = static_cast<uint8_t>(value);
    }
}

uint64_t
ReadBigEndian(const uint8_t* bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
    {
        value = value << 8 | bytes[i];
    }
    return value;
}

TcpMessageHeader
WriteHeader(const Message& part)
{
    const auto [index, parts] = MultiPortTransport::PartNumber::Unpack(*part.immediate);
    TcpMessageHeader header;
    WriteBigEndian(part.tag, header.data());
    WriteBigEndian(uint64_t{part.payload ? 1U : 0U} << REAL_SHIFT | uint64_t{index} << INDEX_SHIFT |
                       uint64_t{parts - 1} << PARTS_SHIFT | part.bytes,
                   header.data() + 8);
    return header;
}

Message
ReadHeader(const TcpMessageHeader& header)
{
    const uint64_t fields = ReadBigEndian(header.data() + 8);
    Message part{ReadBigEndian(header.data()), fields & SIZE_MASK};
    part.immediate =
        MultiPortTransport::PartNumber{static_cast<uint32_t>(fields >> INDEX_SHIFT & PART_MASK),
                                       static_cast<uint32_t>(fields >> PARTS_SHIFT & PART_MASK) + 1}
            .Pack();
    if (fields >> REAL_SHIFT)
    {
        part.payload = Create<ByteBuffer>();
        part.payload->bytes.resize(part.bytes);
    }
    return part;
}

} // namespace

Ptr<Packet>
TcpMessageWriter::Make(uint64_t space, uint64_t unit)
{
    constexpr uint64_t HEADER = TCP_MESSAGE_HEADER_BYTES;
    const auto& [part, written] = m_queue.front();
    if (space < HEADER + part.bytes - written)
    {
        space -= space % unit;
    }
    m_made = std::min(space, HEADER + part.bytes - written);
    if (space == 0)
    {
        return nullptr;
    }
    Ptr<Packet> packet;
    const uint64_t ofHeader = std::min(space, HEADER - std::min(written, HEADER));
    if (ofHeader > 0)
    {
        const auto header = WriteHeader(part);
        packet = Create<Packet>(header.data() + written, static_cast<uint32_t>(ofHeader));
    }
    if (m_made > ofHeader)
    {
        const auto size = static_cast<uint32_t>(m_made - ofHeader);
        const uint64_t offset = written + ofHeader - HEADER;
        const auto contents =
            part.payload
                ? Create<Packet>(part.payload->bytes.data() + part.payloadOffset + offset, size)
                : Create<Packet>(size);
        if (part.typeOfService != 0)
        {
            contents->AddByteTag(GradientTag(static_cast<bool>(part.payload), part.typeOfService));
        }
        if (packet)
        {
            packet->AddAtEnd(contents);
        }
        else
        {
            packet = contents;
        }
    }
    return packet;
}

void
TcpMessageWriter::Pass()
{
    auto& [part, written] = m_queue.front();
    written += m_made;
    if (written == TCP_MESSAGE_HEADER_BYTES + part.bytes)
    {
        if (part.sent)
        {
            part.sent();
        }
        m_queue.pop_front();
    }
}

bool
TcpMessageReader::Take(const Ptr<Packet>& packet)
{
    constexpr uint32_t HEADER = TCP_MESSAGE_HEADER_BYTES;
    uint32_t taken = 0;
    for (uint32_t size = packet->GetSize(); size > 0; size -= taken)
    {
        if (m_headerBytes < HEADER)
        {
            taken = std::min(size, HEADER - m_headerBytes);
            packet->CopyData(m_header.data() + m_headerBytes, taken);
            m_headerBytes += taken;
            if (m_headerBytes == HEADER)
            {
                m_part = ReadHeader(m_header);
                m_received = 0;
            }
        }
        else
        {
            taken = static_cast<uint32_t>(std::min<uint64_t>(size, m_part.bytes - m_received));
            if (m_part.payload)
            {
                packet->CopyData(m_part.payload->bytes.data() + m_received, taken);
            }
            m_received += taken;
        }
        const bool hasEnded = m_headerBytes == HEADER && m_received == m_part.bytes;
        if (taken < size || hasEnded)
        {
            packet->RemoveAtStart(taken);
        }
        if (hasEnded)
        {
            m_headerBytes = 0;
            return true;
        }
    }
    return false;
}

} // namespace ns3::training
