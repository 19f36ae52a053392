/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IN_NETWORK_FIGURES_H
#define DISTRIBUTED_TRAINING_IN_NETWORK_FIGURES_H

#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Packets and errors of collectives that the network makes, all ranks together.
 */
struct InNetworkFigures
{
    uint64_t sent{0};       ///< packets, without those sent again
    uint64_t resent{0};     ///< packets sent again, after a timeout or because of a gap
    uint64_t received{0};   ///< sums used
    uint64_t duplicates{0}; ///< sums that the rank had already
    bool fallenBack{false}; ///< the network has failed; the hosts go on among themselves
    double errorBound{0};   ///< closed form of the largest error of a sum
    double maxError{-1};    ///< largest error measured; below 0: none was

    /** @return the JSON object `in_network`; without max_error if none was measured */
    JsonValue ToJson() const;
};

/**
 * @ingroup distributed-training-helper
 *
 * Adds up the figures of all ranks. All processes together (see Processes).
 *
 * @param cluster after the run
 * @return the figures; none if the network makes no collectives of the cluster
 */
std::optional<InNetworkFigures> GetInNetworkFigures(const Cluster& cluster);

/**
 * @ingroup distributed-training-helper
 * @param cluster after the run
 * @return line for people that says why hosts have taken over the collectives of the network; empty
 *         if they have not
 */
std::string FormatFallback(const Cluster& cluster);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IN_NETWORK_FIGURES_H
