/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Synchronous parameter server (Li et al., "Scaling distributed machine learning with the parameter
 * server", OSDI 2014): the vector is divided into M shards (key `servers`), and rank m * N / M
 * serves shard m. All other ranks push their gradients to this rank and pull the sum. With M = N
 * the load of all ranks is equal; with M = 1 one link carries all traffic. A barrier uses the first
 * server.
 */

#include "ns3/collective-algorithm.h"

#include <algorithm>
#include <string>

namespace ns3::training
{

namespace
{

uint64_t
GetServers(const CollectiveRequest& request)
{
    return request.keys.GetCount("servers");
}

/**
 * @return whether there are enough ranks for the servers; groups may be smaller, as their sizes
 *         depend on the job
 */
bool
HasRanksForServers(const CollectiveRequest& request)
{
    return GetServers(request) <= request.ranks || !request.hosts.empty();
}

std::string
DescribeServers(const CollectiveRequest& request)
{
    return std::to_string(GetServers(request)) + " parameter servers for " + request.Describe();
}

void
BuildParameterServer(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    using Kind = ScheduleAction::Kind;
    const uint32_t n = schedule.GetSize();
    const auto servers = static_cast<uint32_t>(std::min<uint64_t>(GetServers(request), n));
    schedule.chunks = request.operation == CollectiveOperation::ALL_REDUCE ? servers : 1;
    const auto serverOf = [&](uint32_t shard) {
        return static_cast<uint32_t>(uint64_t{shard} * n / servers);
    };
    // Workers start with different shards to balance the load of the servers.
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
        // Float sums depend on the order of additions: add in this order, whatever the order of
        // arrival.
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
    {"ranks push to and pull from shards that some of them keep",
     {CollectiveOperation::ALL_REDUCE, CollectiveOperation::BARRIER},
     &BuildParameterServer,
     {Key::Count("servers",
                 1,
                 1,
                 1 << 20,
                 "shards, each kept by a rank; a group of fewer ranks has as many as ranks")},
     {{"no more servers than ranks", &HasRanksForServers, &DescribeServers}}});

} // namespace

} // namespace ns3::training
