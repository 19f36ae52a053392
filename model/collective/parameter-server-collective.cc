/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Synchronous parameter server (Li et al., "Scaling distributed machine learning with the parameter
 * server", OSDI 2014): the vector is cut into M shards; shard m is kept by the rank m * N / M,
 * where all others push their gradients and from where they pull the sum. With M = N every rank
 * serves as much as it works; with M = 1 one link carries everything. A barrier asks the first
 * server.
 */

#include "collective-algorithm.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingParameterServerCollective");

namespace
{

void
BuildParameterServer(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    using Kind = ScheduleAction::Kind;
    const uint32_t n = schedule.GetSize();
    schedule.chunks = request.operation == CollectiveOperation::ALL_REDUCE ? request.servers : 1;
    const auto serverOf = [&](uint32_t shard) {
        return static_cast<uint32_t>(uint64_t{shard} * n / request.servers);
    };
    // Workers start with different shards, so that no server is asked by all at once.
    for (uint32_t distance = 1; distance < n; distance++)
    {
        for (uint32_t shard = 0; shard < schedule.chunks; shard++)
        {
            const uint32_t server = serverOf(shard);
            schedule.Add((server + distance) % n, Kind::SEND, server, shard, 0);
        }
    }
    for (uint32_t shard = 0; shard < schedule.chunks; shard++)
    {
        const uint32_t server = serverOf(shard);
        // Added in this order whatever the order of arrival: float sums depend on it.
        for (uint32_t distance = 1; distance < n; distance++)
        {
            schedule.Add(server, Kind::RECEIVE_REDUCE, (server + distance) % n, shard, 0);
        }
        for (uint32_t distance = 1; distance < n; distance++)
        {
            const uint32_t worker = (server + distance) % n;
            schedule.Add(server, Kind::SEND, worker, shard, 1);
            schedule.Add(worker, Kind::RECEIVE, server, shard, 1);
        }
    }
}

const Registry<CollectiveAlgorithm>::Entry g_parameterServer(
    "parameter-server",
    {"push to and pull from shards kept by --servers of the ranks",
     {CollectiveOperation::ALL_REDUCE, CollectiveOperation::BARRIER},
     &BuildParameterServer});

} // namespace

} // namespace ns3::training
