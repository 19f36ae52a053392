/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_PARTITION_H
#define DISTRIBUTED_TRAINING_FABRIC_PARTITION_H

#include "ns3/topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Partitions a topology among processes. A switch and its hosts stay together. Leaves, that is,
 * switches with ranks, are distributed evenly in an order: that of their first rank, which keeps
 * neighbors such as the leaves of a pod together, or that of a coordinate, if links of a lower
 * total rate are cut. Every other switch joins the process to which most of its link rate leads.
 * Ties go to the process with the least link rate so far, which spreads the spines.
 *
 * @param topology topology; every host has a link
 * @param ranks number of ranks; hosts 0 to ranks - 1 are in use
 * @param processes number of processes
 * @return for each node of the topology, the number of its process
 * @throw ConfigurationError if there are more processes than leaves
 */
std::vector<uint32_t> PartitionBySwitch(const TopologyGraph& topology,
                                        uint32_t ranks,
                                        uint32_t processes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PARTITION_H
