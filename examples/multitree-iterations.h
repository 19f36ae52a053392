/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MULTITREE_ITERATIONS_H
#define DISTRIBUTED_TRAINING_MULTITREE_ITERATIONS_H

#include "multitree-networks.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

/**
 * @file
 * Iterations of training on the accelerators of the MULTITREE paper: each of 16 processing elements
 * of a node has a sample. The node sums their gradients, then all nodes do.
 */

namespace ns3::training
{

/** Time of an all-reduce of large vectors. */
struct Line
{
    double start{0};   ///< s
    double perByte{0}; ///< s

    /** @return time of a vector, s */
    double GetSeconds(uint64_t bytes) const
    {
        return start + perByte * static_cast<double>(bytes);
    }
};

/** @return cycles of the sum of 16 processing elements' gradients by all of them */
inline double
GetAggregationCycles(uint64_t parameters)
{
    return static_cast<double>(16 * DivideUp(DivideUp(parameters, 16), 32));
}

/**
 * An iteration whose all-reduces begin in the backward pass.
 * @param network the network
 * @param line time of its all-reduces
 * @return cycles
 */
inline double
GetOverlapped(const SystolicNetwork& network, const Line& line)
{
    double compute = 0;
    for (const SystolicLayer& layer : network.layers)
    {
        compute += static_cast<double>(GetCycles(layer).forward);
    }
    double end = 0; // of the latest all-reduce
    uint64_t bytes = 0;
    for (auto layer = network.layers.rbegin(); layer != network.layers.rend(); ++layer)
    {
        const LayerCycles cycles = GetCycles(*layer);
        compute += static_cast<double>(cycles.weightGradient) +
                   GetAggregationCycles(layer->GetParameters());
        bytes += 4 * layer->GetParameters();
        // Layers go together until their bytes take longer than the start of an all-reduce.
        if (line.perByte * static_cast<double>(bytes) > line.start ||
            std::next(layer) == network.layers.rend())
        {
            end = std::max(end, compute) + 1e9 * line.GetSeconds(bytes);
            bytes = 0;
        }
        compute += static_cast<double>(cycles.inputGradient);
    }
    return std::max(end, compute);
}

/** Cycles of an iteration of 1 ns. */
struct Iteration
{
    double compute{0};     ///< of the processing elements
    double aggregation{0}; ///< sum of their gradients in the node
    double ring{0};        ///< all-reduce by a ring
    double ring2d{0};      ///< by a 2D-ring
    double multitree{0};   ///< by MULTITREE with messages

    /** @return share of the all-reduce by a ring */
    double GetShare() const
    {
        return ring / (compute + aggregation + ring);
    }

    /** @return saving of MULTITREE over an iteration with another all-reduce */
    double GetSaving(double other) const
    {
        return (other - multitree) / (compute + aggregation + other);
    }
};

/** Extremes over networks. */
struct Savings
{
    double leastShare{1};    ///< of an all-reduce by a ring in an iteration
    double largestShare{0};  ///< likewise
    double cnnOverRing{0};   ///< saving of an iteration
    double cnnOverRing2d{0}; ///< likewise, over a 2D-ring
    double overRing{0};      ///< of NCF and the Transformer
    double overRing2d{0};    ///< likewise, over a 2D-ring
    double cnnOverlapped{0}; ///< speed-up over ring, with overlapped all-reduces
    double overlapped{0};    ///< of NCF and the Transformer
    double overlapped2d{0};  ///< likewise, over a 2D-ring

    /** Takes in the iteration of a network, and the speed-ups of overlapped all-reduces. */
    void Add(const SystolicNetwork& network, const Iteration& iteration, double ring, double ring2d)
    {
        leastShare = std::min(leastShare, iteration.GetShare());
        largestShare = std::max(largestShare, iteration.GetShare());
        const bool isCnn = network.isConvolutional;
        double& overRingOfKind = isCnn ? cnnOverRing : overRing;
        double& overRing2dOfKind = isCnn ? cnnOverRing2d : overRing2d;
        overRingOfKind = std::max(overRingOfKind, iteration.GetSaving(iteration.ring));
        overRing2dOfKind = std::max(overRing2dOfKind, iteration.GetSaving(iteration.ring2d));
        double& overlappedOfKind = isCnn ? cnnOverlapped : overlapped;
        overlappedOfKind = std::max(overlappedOfKind, ring);
        overlapped2d = std::max(overlapped2d, isCnn ? 0 : ring2d);
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MULTITREE_ITERATIONS_H
