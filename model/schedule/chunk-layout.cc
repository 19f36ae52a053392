/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chunk-layout.h"

#include "ns3/abort.h"

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

constexpr uint64_t UNEQUAL = ~uint64_t{0};

} // namespace

ByteRange
GetPartRange(uint64_t bytes, uint64_t parts, uint64_t part)
{
    const uint64_t unit = bytes % 4 == 0 ? 4 : 1;
    const uint64_t elements = bytes / unit;
    // elements * c / parts, without the product, which may overflow 64 bits
    const auto border = [&](uint64_t c) {
        return (elements / parts * c + elements % parts * c / parts) * unit;
    };
    return {border(part), border(part + 1)};
}

ChunkLayout::ChunkLayout(const CollectiveSchedule& schedule, uint64_t bytes, ByteMatrix matrix)
    : m_schedule(schedule),
      m_bytes(bytes),
      m_equal(UNEQUAL),
      m_matrix(std::move(matrix))
{
    const uint64_t n = schedule.GetSize();
    uint64_t parts = schedule.segments;
    switch (schedule.operation)
    {
    case Operation::ALL_TO_ALL_V:
        NS_ABORT_MSG_UNLESS(m_matrix && m_matrix->size() == n * n,
                            "an all-to-all-v needs the bytes from each rank to each");
        return;
    case Operation::BARRIER:
        m_bytes = 0;
        break;
    case Operation::SEND_RECEIVE:
        break;
    case Operation::ALL_TO_ALL:
        parts *= schedule.chunks / n;
        break;
    default:
        parts *= schedule.chunks;
    }
    if (m_bytes % (4 * parts) == 0)
    {
        m_equal = m_bytes / parts;
    }
}

bool
ChunkLayout::HasEmptyMessages() const
{
    return m_schedule.operation == Operation::BARRIER;
}

uint64_t
ChunkLayout::GetPair(uint32_t from, uint32_t to) const
{
    const uint32_t n = m_schedule.GetSize();
    if (m_schedule.operation == Operation::ALL_TO_ALL_V)
    {
        return (*m_matrix)[uint64_t{from} * n + to];
    }
    const auto [begin, end] = GetPartRange(m_bytes, n, (uint64_t{from} + to) % n);
    return end - begin;
}

uint64_t
ChunkLayout::GetOffset(uint32_t rank, uint32_t peer, bool sending) const
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < peer; i++)
    {
        offset += sending ? GetPair(rank, i) : GetPair(i, rank);
    }
    return offset;
}

uint64_t
ChunkLayout::GetBytes(uint32_t chunk, uint32_t segment) const
{
    if (m_equal != UNEQUAL)
    {
        return m_equal;
    }
    chunk %= m_schedule.chunks;
    uint64_t bytes = m_bytes;
    if (IsAllToAll(m_schedule.operation))
    {
        const uint32_t parts = m_schedule.GetPartsOfPair();
        const uint64_t pair = GetPair(m_schedule.GetSource(chunk), m_schedule.GetTarget(chunk));
        const auto [begin, end] = GetPartRange(pair, parts, chunk % parts);
        bytes = end - begin;
    }
    else if (m_schedule.operation != Operation::SEND_RECEIVE)
    {
        const auto [begin, end] = GetPartRange(m_bytes, m_schedule.chunks, chunk);
        bytes = end - begin;
    }
    const auto [begin, end] = GetPartRange(bytes, m_schedule.segments, segment);
    return end - begin;
}

uint64_t
ChunkLayout::GetBytes(const ScheduleAction& action) const
{
    uint64_t bytes = 0;
    if (m_equal != UNEQUAL)
    {
        for (const ChunkRun* run = action.first; run != action.last; run++)
        {
            bytes += run->count * m_equal;
        }
        return bytes;
    }
    action.ForEachChunk([&](uint32_t chunk) { bytes += GetBytes(chunk, action.segment); });
    return bytes;
}

std::optional<ByteRange>
ChunkLayout::GetByteRange(uint32_t rank, uint32_t chunk, uint32_t segment) const
{
    if (chunk >= m_schedule.chunks ||
        (IsExchange(m_schedule.operation) && m_schedule.GetSource(chunk) != rank))
    {
        return std::nullopt;
    }
    ByteRange whole{0, m_bytes};
    if (IsAllToAll(m_schedule.operation))
    {
        const uint32_t parts = m_schedule.GetPartsOfPair();
        const uint32_t to = m_schedule.GetTarget(chunk);
        const uint64_t offset = GetOffset(rank, to, true);
        const auto [begin, end] = GetPartRange(GetPair(rank, to), parts, chunk % parts);
        whole = {offset + begin, offset + end};
    }
    else if (m_schedule.operation != Operation::SEND_RECEIVE)
    {
        whole = GetPartRange(m_bytes, m_schedule.chunks, chunk);
    }
    const auto [begin, end] =
        GetPartRange(whole.second - whole.first, m_schedule.segments, segment);
    return ByteRange{whole.first + begin, whole.first + end};
}

std::vector<uint32_t>
ChunkLayout::GetResult(uint32_t rank) const
{
    const uint32_t n = m_schedule.GetSize();
    if (m_schedule.operation == Operation::SEND_RECEIVE)
    {
        return {(rank + n - 1) % n};
    }
    const uint32_t parts = m_schedule.GetPartsOfPair();
    std::vector<uint32_t> result;
    for (uint32_t from = 0; from < n; from++)
    {
        for (uint32_t part = 0; part < parts; part++)
        {
            result.push_back((from * n + (rank + n - from) % n) * parts + part);
        }
    }
    return result;
}

} // namespace ns3::training
