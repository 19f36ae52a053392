/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Ring algorithms (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
 * workstations", 2009; NCCL's runRing). Rank r sends to r + 1 only. In the reduce-scatter, chunk c
 * starts at rank c + 1 and is added up on its way around, until rank c has the sum; the all-gather
 * sends it around once more. An all-reduce takes 2(N-1) steps of S/N bytes.
 */

#include "collective-algorithm.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRingCollective");

namespace
{

using Kind = ScheduleAction::Kind;

/// Bytes of a broadcast that travel as one message: long against a header, short against a vector.
constexpr uint64_t BROADCAST_SEGMENT = 128 << 10;
/// Most messages a broadcast is cut into.
constexpr uint64_t MOST_SEGMENTS = 1024;

/** Which halves of an all-reduce to plan. */
void
AddRounds(CollectiveSchedule& schedule, bool reduce, bool gather)
{
    const uint32_t n = schedule.GetSize();
    for (uint32_t rank = 0; rank < n; rank++)
    {
        const uint32_t next = (rank + 1) % n;
        const uint32_t previous = (rank + n - 1) % n;
        uint32_t step = 0;
        std::vector<uint32_t> received;   // the receive of the step before
        std::vector<int64_t> sent(n, -1); // per chunk, the send of it
        const auto exchange = [&](uint32_t sendChunk, uint32_t receiveChunk, Kind kind) {
            sent[sendChunk] = schedule.Add(rank, Kind::SEND, next, sendChunk, step, received);
            auto after = received;
            if (sent[receiveChunk] >= 0) // not to be overwritten before it is sent
            {
                after.push_back(static_cast<uint32_t>(sent[receiveChunk]));
            }
            received = {schedule.Add(rank, kind, previous, receiveChunk, step, after)};
            step++;
        };
        if (reduce)
        {
            for (uint32_t t = 0; t + 1 < n; t++)
            {
                exchange((rank + 2 * n - 1 - t) % n,
                         (rank + 2 * n - 2 - t) % n,
                         Kind::RECEIVE_REDUCE);
            }
        }
        if (gather)
        {
            for (uint32_t t = 0; t + 1 < n; t++)
            {
                exchange((rank + n - t) % n, (rank + 2 * n - 1 - t) % n, Kind::RECEIVE);
            }
        }
    }
}

/** A chain from the root, cut into segments that follow each other. */
void
AddChain(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const uint32_t n = schedule.GetSize();
    schedule.chunks = static_cast<uint32_t>(
        std::clamp<uint64_t>(request.bytes / BROADCAST_SEGMENT, 1, MOST_SEGMENTS));
    for (uint32_t distance = 0; distance < n; distance++)
    {
        const uint32_t rank = (request.root + distance) % n;
        for (uint32_t chunk = 0; chunk < schedule.chunks; chunk++)
        {
            if (distance > 0)
            {
                const uint32_t received = schedule.Add(rank,
                                                       Kind::RECEIVE,
                                                       (rank + n - 1) % n,
                                                       chunk,
                                                       distance - 1 + chunk,
                                                       {});
                if (distance + 1 < n)
                {
                    schedule
                        .Add(rank, Kind::SEND, (rank + 1) % n, chunk, distance + chunk, {received});
                }
            }
            else
            {
                schedule.Add(rank, Kind::SEND, (rank + 1) % n, chunk, chunk, {});
            }
        }
    }
}

void
BuildRing(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    switch (request.operation)
    {
    case CollectiveOperation::ALL_REDUCE:
        AddRounds(schedule, true, true);
        break;
    case CollectiveOperation::REDUCE_SCATTER:
        AddRounds(schedule, true, false);
        break;
    case CollectiveOperation::ALL_GATHER:
        AddRounds(schedule, false, true);
        break;
    case CollectiveOperation::BROADCAST:
        AddChain(request, schedule);
        break;
    }
}

const Registry<CollectiveAlgorithm>::Entry g_ring(
    "ring",
    {"2(N-1) steps around a ring of ranks, S/N bytes each; optimal in bandwidth",
     GetCollectiveOperations(),
     &BuildRing});

} // namespace

} // namespace ns3::training
