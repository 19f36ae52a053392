/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NCCL_PUBLISHED_H
#define DISTRIBUTED_TRAINING_NCCL_PUBLISHED_H

#include "measure/reproduction.h"

#include "ns3/cluster-options.h"
#include "ns3/in-network-system.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * Published measurements of collectives of NCCL, and the clusters of them.
 */

namespace ns3::training
{

/// Bus bandwidth of rings within a server of H100s as measured by SimAI, as a rate: NVLink without
/// its headers and responses. Sums in the switch have NVLink's rate and its packets.
constexpr const char* RING_RATE = "2966.4Gbps";
constexpr const char* NVLINK_RATE = "3600Gbps";
/// Rate between two of four A100s, measured (simllm): 94 GB/s.
constexpr const char* A100_LOCAL_RATE = "752Gbps";

/** @return sizes with published values, and the tables that they are of */
inline std::vector<PublishedCase>
GetNcclPoints()
{
    return GetPublishedCases("nccl-tables", "points");
}

/** @return whether the table of a point is over kernel TCP */
inline bool
IsTcp(const PublishedCase& point)
{
    return point.Get("gpus") < 8;
}

/** @return the cluster of a point, with a host model */
inline ClusterOptions
MakeNcclCluster(const PublishedCase& point, const std::string& hostModel)
{
    ClusterOptions options;
    options.algorithm = point.GetText("algorithm");
    options.hostModel = hostModel;
    options.ranks = static_cast<uint32_t>(point.Get("servers") * point.Get("gpus"));
    options.rate = DataRate(400000000000);
    const bool isInNetwork = IsInNetwork(options.algorithm);
    std::string local = isInNetwork ? NVLINK_RATE : RING_RATE;
    if (IsTcp(point))
    {
        options.transport = "tcp";
        options.rate = DataRate(200000000000);
        local = A100_LOCAL_RATE;
    }
    if (point.Get("gpus") > 1)
    {
        options.topology =
            point.Fill("rail-optimized:gpus={gpus},servers={servers},local-rate=") + local;
    }
    if (isInNetwork)
    {
        options.attributes["ns3::training::SharpProgram::Children"] = "8"; // the switch's memory
    }
    return options;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NCCL_PUBLISHED_H
