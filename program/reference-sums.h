/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REFERENCE_SUMS_H
#define DISTRIBUTED_TRAINING_REFERENCE_SUMS_H

#include "ns3/training-cluster.h"

#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param cluster that has run an all-reduce
 * @param inputs tensor of each rank
 * @param result of a rank, if the network's sum can depend on the order of arrival
 * @return the expected sums, bit for bit: one per rank, or a single one for all
 */
std::vector<std::vector<float>> GetReferenceSums(const Cluster& cluster,
                                                 const std::vector<std::vector<float>>& inputs,
                                                 const std::vector<float>& result = {});

/**
 * @ingroup distributed-training-helper
 * @param cluster whose hosts have run an all-reduce
 * @param inputs tensor of each rank
 * @return the expected sums, as above
 */
std::vector<std::vector<float>> GetReferenceSumsOfHosts(
    const Cluster& cluster,
    const std::vector<std::vector<float>>& inputs);

/**
 * @ingroup distributed-training-helper
 * @param cluster after an all-reduce
 * @return whether the network has failed at a rank and hosts have taken over
 */
bool HasFallenBack(const Cluster& cluster);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_REFERENCE_SUMS_H
