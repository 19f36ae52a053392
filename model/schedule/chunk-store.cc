/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chunk-store.h"

#include "ns3/abort.h"

#include <cstring>

namespace ns3::training
{

ChunkStore::ChunkStore(const ChunkLayout& layout, uint32_t rank, std::vector<float>& values)
    : m_layout(layout),
      m_rank(rank),
      m_values(values)
{
}

ChunkStore::Span
ChunkStore::Find(uint32_t chunk, uint32_t segment)
{
    if (const auto place = m_layout.GetByteRange(m_rank, chunk, segment))
    {
        NS_ABORT_MSG_IF(place->second > m_values.size() * sizeof(float),
                        "rank " << m_rank << "'s tensor ends before chunk " << chunk);
        return {m_values.data() + place->first / sizeof(float),
                (place->second - place->first) / sizeof(float)};
    }
    auto& other = m_others[uint64_t{chunk} * m_layout.GetSchedule().segments + segment];
    other.resize(m_layout.GetBytes(chunk, segment) / sizeof(float));
    return {other.data(), other.size()};
}

std::vector<uint8_t>
ChunkStore::Read(const ScheduleAction& action)
{
    std::vector<uint8_t> bytes(m_layout.GetBytes(action));
    uint64_t offset = 0;
    action.ForEachChunk([&](uint32_t chunk) {
        const Span mine = Find(chunk, action.segment);
        if (mine.count > 0)
        {
            std::memcpy(bytes.data() + offset, mine.first, mine.count * sizeof(float));
        }
        offset += mine.count * sizeof(float);
    });
    return bytes;
}

void
ChunkStore::Receive(const ScheduleAction& action, const std::vector<uint8_t>& bytes)
{
    NS_ABORT_MSG_UNLESS(bytes.size() >= m_layout.GetBytes(action),
                        "rank " << m_rank << " expects " << m_layout.GetBytes(action)
                                << " real bytes from rank " << action.peer << ", not "
                                << bytes.size());
    uint64_t offset = 0;
    action.ForEachChunk([&](uint32_t chunk) {
        const Span mine = Find(chunk, action.segment);
        if (action.kind == ScheduleAction::Kind::RECEIVE_REDUCE)
        {
            for (uint64_t i = 0; i < mine.count; i++)
            {
                float theirs;
                std::memcpy(&theirs, bytes.data() + offset + i * sizeof(float), sizeof(float));
                mine.first[i] += theirs;
            }
        }
        else if (mine.count > 0)
        {
            std::memcpy(mine.first, bytes.data() + offset, mine.count * sizeof(float));
        }
        offset += mine.count * sizeof(float);
    });
}

void
ChunkStore::Overwrite(const ScheduleAction& action, const std::vector<uint8_t>& bytes)
{
    ScheduleAction receive = action;
    receive.kind = ScheduleAction::Kind::RECEIVE;
    Receive(receive, bytes);
}

void
ChunkStore::Copy(const ScheduleAction& action)
{
    action.ForEachChunk([&](uint32_t chunk) {
        const uint32_t other = chunk % action.chunks + action.peer * action.chunks;
        const std::vector<float> theirs = [&] {
            const Span span = Find(other, action.segment);
            return std::vector<float>(span.first, span.first + span.count);
        }();
        const Span mine = Find(chunk, action.segment);
        for (uint64_t i = 0; i < mine.count; i++)
        {
            mine.first[i] =
                action.kind == ScheduleAction::Kind::REDUCE ? mine.first[i] + theirs[i] : theirs[i];
        }
    });
}

void
ChunkStore::Finish()
{
    const CollectiveSchedule& schedule = m_layout.GetSchedule();
    if (!IsExchange(schedule.operation))
    {
        return;
    }
    std::vector<float> result;
    for (uint32_t chunk : m_layout.GetResult(m_rank))
    {
        for (uint32_t segment = 0; segment < schedule.segments; segment++)
        {
            const Span mine = Find(chunk, segment);
            result.insert(result.end(), mine.first, mine.first + mine.count);
        }
    }
    m_values = std::move(result);
}

} // namespace ns3::training
