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
 * serves as much as it works; with M = 1 one link carries everything.
 */

#include "collective-algorithm.h"

#include "ns3/log.h"

#include <vector>

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
    schedule.chunks = request.servers;
    const auto serverOf = [&](uint32_t shard) {
        return static_cast<uint32_t>(uint64_t{shard} * n / request.servers);
    };
    // pushes[shard][distance]: index of the push at the worker so far behind the server. Workers
    // start with different shards, so that no server is asked by all at once.
    std::vector<std::vector<uint32_t>> pushes(request.servers, std::vector<uint32_t>(n));
    for (uint32_t distance = 1; distance < n; distance++)
    {
        for (uint32_t shard = 0; shard < request.servers; shard++)
        {
            const uint32_t worker = (serverOf(shard) + distance) % n;
            pushes[shard][distance] =
                schedule.Add(worker, Kind::SEND, serverOf(shard), shard, 0, {});
        }
    }
    for (uint32_t shard = 0; shard < request.servers; shard++)
    {
        const uint32_t server = serverOf(shard);
        // Added in rank order whatever the order of arrival: float sums depend on it.
        std::vector<uint32_t> added;
        for (uint32_t distance = 1; distance < n; distance++)
        {
            const uint32_t worker = (server + distance) % n;
            added = {schedule.Add(server, Kind::RECEIVE_REDUCE, worker, shard, 0, added)};
        }
        for (uint32_t distance = 1; distance < n; distance++)
        {
            const uint32_t worker = (server + distance) % n;
            schedule.Add(server, Kind::SEND, worker, shard, 1, added);
            schedule.Add(worker, Kind::RECEIVE, server, shard, 1, {pushes[shard][distance]});
        }
    }
}

const Registry<CollectiveAlgorithm>::Entry g_parameterServer(
    "parameter-server",
    {"push to and pull from shards kept by --servers of the ranks",
     {CollectiveOperation::ALL_REDUCE},
     &BuildParameterServer});

} // namespace

} // namespace ns3::training
