/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_ADVICE_H
#define DISTRIBUTED_TRAINING_JOB_ADVICE_H

#include "job-plan.h"

#include "ns3/data-rate.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What a colleague would say of a job before it runs: it needs more memory than its GPUs have, or
 * the groups that divide each layer send over links that are not those of a server.
 * @param plan of the job
 * @param gpu of its ranks, a GpuEntry
 * @param topology of its cluster
 * @param rate of the cluster's links
 * @param hosts of its ranks; empty: rank r is on host r
 * @return one line each, with the options that mend it
 */
std::vector<std::string> AdviseJob(const JobPlan& plan,
                                   const std::string& gpu,
                                   const TopologyGraph& topology,
                                   const DataRate& rate,
                                   const std::vector<uint32_t>& hosts = {});

/**
 * @ingroup distributed-training-helper
 *
 * Likewise of the model alone: its GPUs have less memory than it needs, or it has other parameters
 * than expected, by more than 0.5 %.
 * @param memory that the rank needs that needs most, bytes
 * @param parameters of the model
 * @param expected how many it should have; 0: not known
 * @param gpu of its ranks, a GpuEntry
 * @return one line each
 */
std::vector<std::string> AdviseModel(uint64_t memory,
                                     uint64_t parameters,
                                     double expected,
                                     const std::string& gpu);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_ADVICE_H
