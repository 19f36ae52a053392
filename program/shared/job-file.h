/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_FILE_H
#define DISTRIBUTED_TRAINING_JOB_FILE_H

#include "ns3/nstime.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-run-options.h"

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
    /// What it trains, and its iterations, all measured. The cluster is only the number of ranks;
    /// 0: that of the trace.
    TrainingRunOptions training{};
    Time arrival;                       ///< when it asks for hosts
    std::string placement{"packed"};    ///< see HostAllocator
    std::vector<uint32_t> hosts;        ///< of placement list: host of each rank
    std::optional<uint32_t> priority;   ///< RDMA: traffic class of its packets; none: as usual
    uint32_t slots{0};                  ///< of each pool that jobs divide; 0: its share
    std::optional<uint32_t> slotWeight; ///< of its share of these; none: 1
    std::vector<uint32_t> servers;      ///< hosts of its parameter servers; empty: automatic
    /// Its keys in the file, for the record of a run.
    JsonValue configuration{JsonValue::Object()};
};

/**
 * @ingroup distributed-training-helper
 * @param file TOML file with a table [[job]] for each job, see doc/shared-clusters.rst; empty: none
 * @param single TOML files with the keys of one job each
 * @return the jobs, in this order
 * @throw ConfigurationError with file:line, if one is not TOML, has unknown keys, or a value is not
 *        allowed
 */
std::vector<SharedJob> ReadJobs(const std::string& file,
                                const std::vector<std::string>& single = {});

/** @return the keys of a job, as options of a program @ingroup distributed-training-helper */
ProgramDescription DescribeJobs();

/**
 * @ingroup distributed-training-helper
 * @param error of the library, or of options
 * @return its text, with the keys of a job in place of options
 */
std::string NameKey(const ConfigurationError& error);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_FILE_H
