/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-phases.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCollectivePhases");

namespace
{

using Kind = ScheduleAction::Kind;

/// Bytes of a chain that travel as one message: long against a header, short against a vector.
constexpr uint64_t CHAIN_SEGMENT = 128 << 10;
/// Most messages a chain is cut into.
constexpr uint64_t MOST_SEGMENTS = 1024;

/**
 * Each rank sends to the next one, N - 1 times.
 * @param ahead in step 0, the member at position i sends the part of position i - ahead
 */
uint32_t
AddRing(CollectiveSchedule& schedule,
        const PhaseGroup& group,
        uint32_t step,
        uint32_t message,
        uint32_t ahead,
        Kind receive)
{
    const auto n = static_cast<uint32_t>(group.ranks.size());
    for (uint32_t i = 0; i < n; i++)
    {
        const uint32_t rank = group.ranks[i];
        if (rank >= schedule.GetStored())
        {
            continue; // follows from rank 0 by rotation
        }
        const uint32_t next = group.ranks[(i + 1) % n];
        const uint32_t previous = group.ranks[(i + n - 1) % n];
        for (uint32_t t = 0; t + 1 < n; t++)
        {
            const ChunkList& sent = group.parts[(i + 2 * n - ahead - t) % n];
            const ChunkList& received = group.parts[(i + 2 * n - ahead - t - 1) % n];
            schedule.Add(rank, Kind::SEND, next, sent, step + t, {}, message);
            schedule.Add(rank, receive, previous, received, step + t, {}, message);
        }
    }
    return step + n - 1;
}

} // namespace

PhaseGroup
AllRanks(const CollectiveSchedule& schedule)
{
    PhaseGroup group;
    const uint32_t each = schedule.chunks / schedule.GetSize();
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        group.ranks.push_back(rank);
        group.parts.emplace_back(ChunkRun{rank * each, each});
    }
    return group;
}

uint32_t
AddRingReduceScatter(CollectiveSchedule& schedule,
                     const PhaseGroup& group,
                     uint32_t step,
                     uint32_t message)
{
    return AddRing(schedule, group, step, message, 1, Kind::RECEIVE_REDUCE);
}

uint32_t
AddRingAllGather(CollectiveSchedule& schedule,
                 const PhaseGroup& group,
                 uint32_t step,
                 uint32_t message)
{
    return AddRing(schedule, group, step, message, 0, Kind::RECEIVE);
}

uint32_t
GetChainSegments(const CollectiveRequest& request)
{
    if (!HasRoot(request.operation))
    {
        return 1;
    }
    return static_cast<uint32_t>(
        std::clamp<uint64_t>(request.bytes / CHAIN_SEGMENT, 1, MOST_SEGMENTS));
}

} // namespace ns3::training
