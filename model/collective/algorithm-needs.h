/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ALGORITHM_NEEDS_H
#define DISTRIBUTED_TRAINING_ALGORITHM_NEEDS_H

#include "collective-algorithm.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 * @defgroup distributed-training-algorithm-needs Requirements shared by several algorithms
 * @{
 */

/** @param request of a collective @return whether the number of ranks is a power of two */
bool HasPowerOfTwoRanks(const CollectiveRequest& request);

/** @param request of a collective @return whether every host of the topology has a rank */
bool HasRankOnEveryHost(const CollectiveRequest& request);

/**
 * @param request of a collective
 * @return whether the topology is a grid with exactly two sides longer than 1
 */
bool HasTwoDimensions(const CollectiveRequest& request);

/**
 * @param request of a collective
 * @return whether the topology is a BiGraph, see TopologyShape::bipartite
 */
bool HasBipartiteSwitches(const CollectiveRequest& request);

/**
 * @param request of a collective
 * @return whether the ranks fill all places of RankPlacement::GetPlaces()
 */
bool HasRankInEveryPlace(const CollectiveRequest& request);

/**
 * @param request of a collective
 * @return a description such as "7 ranks in 2 x 4 places"
 */
std::string DescribePlaces(const CollectiveRequest& request);

/// The number of ranks is a power of two.
inline constexpr AlgorithmNeed NEEDS_POWER_OF_TWO_RANKS{"a number of ranks that is a power of two",
                                                        &HasPowerOfTwoRanks};

/// There is a rank on every host.
inline constexpr AlgorithmNeed NEEDS_RANK_ON_EVERY_HOST{"a rank on every host of the topology",
                                                        &HasRankOnEveryHost};

/// The topology is a grid of two dimensions.
inline constexpr AlgorithmNeed NEEDS_TWO_DIMENSIONS{"a torus or mesh of two dimensions",
                                                    &HasTwoDimensions};

/// The topology is a BiGraph.
inline constexpr AlgorithmNeed NEEDS_BIPARTITE_SWITCHES{
    "a bigraph: two halves of switches, each linked to all of the other half",
    &HasBipartiteSwitches};

/// The ranks fill all levels of the topology evenly.
inline constexpr AlgorithmNeed NEEDS_RANK_IN_EVERY_PLACE{
    "a rank in every place of the topology's levels",
    &HasRankInEveryPlace,
    &DescribePlaces};

/** @} */

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ALGORITHM_NEEDS_H
