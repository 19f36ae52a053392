/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "serving-helper.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"

#include <string>

namespace ns3::training
{

std::unique_ptr<ServingSystem>
InstallServing(const Cluster& cluster,
               const ServingOptions& options,
               const TransformerModel& model,
               const TransformerRates& rates,
               const std::vector<ServingRequest>& requests)
{
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("mpi", std::to_string(Processes::GetCount()), " (allowed: 1)");
    }
    if (options.GetGpus() > cluster.GetRanks())
    {
        throw ConfigurationError("ranks",
                                 std::to_string(cluster.GetRanks()),
                                 " (allowed: at least " + std::to_string(options.GetGpus()) +
                                     ", the GPUs of all instances)");
    }
    return std::make_unique<ServingSystem>(
        options,
        model,
        rates,
        requests,
        [&](const std::vector<uint32_t>& ranks) {
            std::vector<Ptr<ScheduledCommunicator>> groups(cluster.GetRanks());
            if (ranks.size() > 1)
            {
                groups = cluster.GetCommunicators().Split({ranks},
                                                          1,
                                                          "",
                                                          {CollectiveOperation::ALL_REDUCE});
            }
            std::vector<std::unique_ptr<ServingGpu>> gpus;
            for (uint32_t rank : ranks)
            {
                gpus.push_back(
                    std::make_unique<ServingGpu>(cluster.GetHostCommunicator(rank),
                                                 groups[rank],
                                                 cluster.GetFabric().hosts.Get(rank)->GetId()));
            }
            return gpus;
        });
}

} // namespace ns3::training
