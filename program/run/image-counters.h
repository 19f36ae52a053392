/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IMAGE_COUNTERS_H
#define DISTRIBUTED_TRAINING_IMAGE_COUNTERS_H

#include "ns3/training-cluster.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Gives the ports of derived ranks, and those of switches to them, the counters of the simulated
 * ones.
 *
 * @param cluster with images
 * @return packet-hops of all derived ranks
 */
uint64_t DeriveCounters(const Cluster& cluster);

/**
 * @ingroup distributed-training-helper
 * @param cluster with images, after its run
 * @throw ConfigurationError if a switch that images share has done what depends on all of them
 */
void CheckSharedSwitches(const Cluster& cluster);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IMAGE_COUNTERS_H
