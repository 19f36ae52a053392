/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_FILE_H
#define DISTRIBUTED_TRAINING_JOB_FILE_H

#include "training-run-options.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * A job that shares a cluster with others.
 */
struct SharedJob
{
    std::string name; ///< different for each job
    /// What it trains, and its iterations, all measured. The cluster is only the number of ranks.
    TrainingRunOptions training{};
    Time arrival;                     ///< when it asks for hosts
    std::string placement{"packed"};  ///< see HostAllocator
    std::vector<uint32_t> hosts;      ///< of placement list: host of each rank
    std::optional<uint32_t> priority; ///< RDMA: traffic class of its packets; none: as usual
};

/**
 * @ingroup distributed-training-helper
 * @param path TOML file with a table [[job]] for each job, see doc/shared-clusters.rst
 * @return the jobs, in their order
 * @throw ConfigurationError with file:line, if it is not TOML, has unknown keys, or a value is not
 *        allowed
 */
std::vector<SharedJob> ReadJobFile(const std::string& path);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_FILE_H
