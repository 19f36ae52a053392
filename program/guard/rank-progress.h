/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RANK_PROGRESS_H
#define DISTRIBUTED_TRAINING_RANK_PROGRESS_H

#include "ns3/training-cluster.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * The traffic of the ranks, without that beside them.
 */
struct RankProgress
{
    uint64_t count{0};       ///< grows with each message and packet of the ranks
    bool hasMessages{false}; ///< whether a message of theirs is on its way
    /// Payload that has come to them, or that switches get from them, about: packets as full ones.
    double bytes{0};
};

/**
 * @ingroup distributed-training-helper
 * @param cluster during the run of a single process
 * @return the traffic of its ranks
 */
RankProgress GetRankProgress(const Cluster& cluster);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANK_PROGRESS_H
