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
 * Divides a topology among processes. A switch goes with its hosts. The leaves, which are the
 * switches that have ranks, are dealt out in equal shares in the order of their first rank, so that
 * neighbours such as those of a pod stay together. Any other switch joins the process to which the
 * most of its link rate leads; of equally good ones that with the least link rate so far, which
 * spreads the spines.
 *
 * @param topology every host has a link
 * @param ranks hosts 0 to ranks - 1 are busy
 * @param processes number of processes
 * @return for each node of the topology the number of its process
 * @throw ConfigurationError if there are more processes than leaves
 */
std::vector<uint32_t> PartitionBySwitch(const TopologyGraph& topology,
                                        uint32_t ranks,
                                        uint32_t processes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PARTITION_H
