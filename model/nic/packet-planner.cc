/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "packet-planner.h"

#include "ns3/chunk-layout.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

namespace
{

/**
 * @return size of the smallest message that has bytes, over the whole schedule in one segment; 0 if
 *         there is none
 */
uint64_t
GetSmallestMessage(const CollectiveSchedule& schedule, uint64_t bytes)
{
    const ChunkLayout layout(schedule, bytes);
    uint64_t smallest = std::numeric_limits<uint64_t>::max();
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        for (uint32_t i = 0; i < schedule.GetStoredActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            const uint64_t size =
                action.kind == ScheduleAction::Kind::SEND ? layout.GetBytes(action) : 0;
            smallest = size > 0 ? std::min(smallest, size) : smallest;
        }
    }
    return smallest == std::numeric_limits<uint64_t>::max() ? 0 : smallest;
}

} // namespace

PacketPlanner::PacketPlanner(ScheduledCommunicator::Planner planner, uint64_t packetBytes)
    : m_planner(std::move(planner)),
      m_packetBytes(packetBytes)
{
}

uint32_t
PacketPlanner::GetSegments(const CollectiveSchedule& schedule, uint64_t bytes) const
{
    if (m_packetBytes == 0)
    {
        return 1;
    }
    const uint64_t packets =
        (GetSmallestMessage(schedule, bytes) + m_packetBytes - 1) / m_packetBytes;
    const uint64_t most = std::min(CollectiveSchedule::MAX_MESSAGES / schedule.GetLanes(),
                                   CollectiveSchedule::MAX_STEPS - schedule.GetSteps());
    return static_cast<uint32_t>(std::clamp<uint64_t>(packets, 1, most));
}

std::shared_ptr<const CollectiveSchedule>
PacketPlanner::Get(CollectiveOperation operation, uint64_t bytes, uint32_t root)
{
    const auto plan = m_planner(operation, bytes, root);
    const auto close = [&](uint32_t segments) {
        auto& known = m_plans[{plan, segments}];
        if (!known)
        {
            auto schedule = std::make_shared<CollectiveSchedule>(*plan);
            schedule->segments = segments;
            schedule->window = 0;   // buffers of NICs limit what is on its way
            schedule->Close(false); // the dependencies of the plan stay
            known = std::move(schedule);
        }
        return known;
    };
    const auto whole = close(1);
    return close(GetSegments(*whole, bytes));
}

} // namespace ns3::training
