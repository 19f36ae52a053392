/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-data-plan.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;

/// Origin of a chunk that is not in the memory of the host.
constexpr uint32_t IN_NIC = UINT32_MAX;
/// Origin of a chunk that no action has touched yet.
constexpr uint32_t UNTOUCHED = UINT32_MAX - 1;

} // namespace

HostDataPlan::HostDataPlan(const CollectiveSchedule& schedule, uint32_t rank)
    : m_actions(schedule.GetStoredActions(rank))
{
    std::vector<uint32_t> origin(schedule.chunks, UNTOUCHED); // by chunk: its reader
    std::vector<uint32_t> last(schedule.chunks, IN_NIC);      // by chunk: its last writer
    const auto read = [&](uint32_t action, uint32_t chunk) {
        if (chunk >= schedule.chunks || origin[chunk] == IN_NIC)
        {
            return;
        }
        Data& data = m_actions[action];
        if (origin[chunk] == UNTOUCHED)
        {
            origin[chunk] = action;
            data.read.push_back(chunk);
        }
        if (std::find(data.sources.begin(), data.sources.end(), origin[chunk]) ==
            data.sources.end())
        {
            data.sources.push_back(origin[chunk]);
        }
    };
    for (uint32_t i = 0; i < m_actions.size(); i++)
    {
        const ScheduleAction action = schedule.Get(rank, i);
        const bool isLocal = action.kind == Kind::COPY || action.kind == Kind::REDUCE;
        action.ForEachChunk([&](uint32_t chunk) {
            if (isLocal)
            {
                read(i, chunk % schedule.chunks + action.peer * schedule.chunks);
            }
            if (action.kind != Kind::RECEIVE && action.kind != Kind::COPY)
            {
                read(i, chunk);
            }
            if (action.IsWrite() && chunk < schedule.chunks)
            {
                origin[chunk] = origin[chunk] == UNTOUCHED ? IN_NIC : origin[chunk];
                last[chunk] = i;
            }
        });
        if (!m_actions[i].read.empty())
        {
            m_readers.push_back(i);
        }
    }
    for (uint32_t chunk = 0; chunk < schedule.chunks; chunk++)
    {
        if (last[chunk] != IN_NIC &&
            schedule.GetPromise(rank, chunk) != CollectiveSchedule::Promise::NOTHING)
        {
            m_actions[last[chunk]].written.push_back(chunk);
        }
    }
    // What is sent in a step comes before what waits for messages of that step.
    std::stable_sort(m_readers.begin(), m_readers.end(), [&](uint32_t a, uint32_t b) {
        const ScheduleAction one = schedule.Get(rank, a);
        const ScheduleAction other = schedule.Get(rank, b);
        return std::make_pair(one.step, one.IsReceive()) <
               std::make_pair(other.step, other.IsReceive());
    });
}

uint64_t
HostDataPlan::Add(const ChunkLayout& layout, const std::vector<uint32_t>& chunks, uint32_t segment)
{
    uint64_t bytes = 0;
    for (uint32_t chunk : chunks)
    {
        bytes += layout.GetBytes(chunk, segment);
    }
    return bytes;
}

} // namespace ns3::training
