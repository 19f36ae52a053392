/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REPETITION_FIGURES_H
#define DISTRIBUTED_TRAINING_REPETITION_FIGURES_H

#include "ns3/training-json-writer.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * How much of a job was simulated, and how much was derived from what was simulated.
 */
struct RepetitionFigures
{
    uint64_t simulatedIterations{0}; ///< iterations that were simulated
    uint64_t derivedIterations{0};   ///< iterations like the one before
    /// Why no iteration was derived, or if some were, why not exactly; empty: they are exact.
    std::string reason;

    uint64_t simulatedCollectives{0}; ///< of groups whose collectives may be derived
    uint64_t derivedCollectives{0};   ///< of the same groups
    std::string collectiveReason;     ///< why none of any group may be, if that was asked for

    uint64_t simulatedRanks{0}; ///< with --replicas=derive
    uint64_t derivedRanks{0};   ///< images of them
    /// Why the results of images are not exact; empty: they are, but for frames at the same time.
    std::string imageReason;

    uint64_t simulatedMicroBatches{0}; ///< of a pipeline, of all iterations
    uint64_t derivedMicroBatches{0};   ///< with --micro-batches=derive
    /// Why no micro-batch was derived, or if some were, what was not compared; empty: all was.
    std::string microBatchReason;

    /** @param document receives the members of the figures */
    void AddTo(JsonValue& document) const;

    /** @return lines with the figures */
    std::string Format() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_REPETITION_FIGURES_H
