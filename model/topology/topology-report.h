/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TOPOLOGY_REPORT_H
#define DISTRIBUTED_TRAINING_TOPOLOGY_REPORT_H

#include "topology-graph.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param topology topology; the ranks are hosts 0 to ranks - 1
 * @param ranks number of ranks
 * @return lines of text: counts, rates, diameter and bisection
 */
std::string DescribeTopology(const TopologyGraph& topology, uint32_t ranks);

/**
 * @ingroup distributed-training-helper
 * @param topology any topology
 * @return JSON in the format read by `file:PATH`
 */
std::string WriteTopology(const TopologyGraph& topology);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TOPOLOGY_REPORT_H
