/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MULTITREE_ITERATIONS_H
#define DISTRIBUTED_TRAINING_MULTITREE_ITERATIONS_H

#include "measure/reproduction.h"

#include "ns3/abort.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

/**
 * @file
 * The neural networks of the MULTITREE paper, and iterations of training on its accelerators: each
 * of 16 processing elements of a node has a sample. The node sums their gradients, then all nodes
 * do.
 */

namespace ns3::training
{

/** A layer as SCALE-Sim describes it: a convolution, or a product of matrices in its form. */
struct SystolicLayer
{
    uint64_t height;       ///< of the input
    uint64_t width;        ///< of the input
    uint64_t filterHeight; ///< of a filter
    uint64_t filterWidth;  ///< of a filter
    uint64_t channels;     ///< of the input
    uint64_t filters;      ///< number of filters
    uint64_t stride;       ///< in both directions

    /** @return numbers of all filters */
    uint64_t GetParameters() const
    {
        return filterHeight * filterWidth * channels * filters;
    }
};

/** Cycles of a layer, for one sample. */
struct LayerCycles
{
    uint64_t forward;        ///< outputs
    uint64_t inputGradient;  ///< gradients of its input
    uint64_t weightGradient; ///< gradients of its filters
};

/** A network. */
struct SystolicNetwork
{
    std::string name;                  ///< as in the paper
    std::string kind;                  ///< "CNN", or "other": NCF or the Transformer
    std::vector<SystolicLayer> layers; ///< from input to output

    /** @return numbers of all filters */
    uint64_t GetParameters() const
    {
        uint64_t sum = 0;
        for (const SystolicLayer& layer : layers)
        {
            sum += layer.GetParameters();
        }
        return sum;
    }
};

/** @return the networks of cases; blocks of layers come before their use */
inline std::vector<SystolicNetwork>
ReadNetworks(const std::vector<PublishedCase>& cases)
{
    PublishedCase known;
    std::vector<SystolicNetwork> networks;
    for (const PublishedCase& each : cases)
    {
        const std::string text = known.Fill(each.GetText("layers"));
        known.Set(each.GetText("name"), text);
        networks.push_back({each.GetText("name"), each.GetText("kind"), {}});
        std::istringstream rows(text);
        for (std::string row; std::getline(rows, row, ',');)
        {
            std::istringstream numbers(row);
            SystolicLayer l;
            numbers >> l.height >> l.width >> l.filterHeight >> l.filterWidth >> l.channels >>
                l.filters >> l.stride;
            NS_ABORT_MSG_UNLESS(numbers && (numbers >> std::ws).eof(),
                                "published.toml: layer '" << row << "'");
            networks.back().layers.push_back(l);
        }
        if (networks.back().kind.empty())
        {
            networks.pop_back();
        }
    }
    return networks;
}

/** @return a / b, rounded up */
constexpr uint64_t
DivideUp(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/**
 * @return cycles of a layer on a systolic array of 32x32 with stationary outputs: SCALE-Sim's model
 *         in closed form. The array makes 32 outputs of 32 filters at a time, one product each in a
 *         cycle; it fills and empties once.
 */
constexpr LayerCycles
GetCycles(const SystolicLayer& layer)
{
    constexpr uint64_t SIDE = 32;
    constexpr uint64_t FILL = 2 * (SIDE - 1);
    const uint64_t filter = layer.filterHeight * layer.filterWidth;
    const uint64_t outputs = ((layer.height - layer.filterHeight) / layer.stride + 1) *
                             ((layer.width - layer.filterWidth) / layer.stride + 1);
    const uint64_t filters = DivideUp(layer.filters, SIDE);
    return {DivideUp(outputs, SIDE) * filters * filter * layer.channels + FILL,
            DivideUp(layer.height * layer.width, SIDE) * DivideUp(layer.channels, SIDE) * filter *
                    layer.filters +
                FILL,
            DivideUp(filter * layer.channels, SIDE) * filters * outputs + FILL};
}

/** @return cycles of the sum of 16 processing elements' gradients by all of them */
inline double
GetAggregationCycles(uint64_t parameters)
{
    return static_cast<double>(16 * DivideUp(DivideUp(parameters, 16), 32));
}

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

/** @return cycles of an iteration whose all-reduces, on a line, begin in the backward pass */
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

    /** @return share of the all-reduce by a ring, % */
    double GetShare() const
    {
        return 100 * ring / (compute + aggregation + ring);
    }

    /** @return saving of MULTITREE over an iteration with another all-reduce, % */
    double GetSaving(double other) const
    {
        return 100 * (other - multitree) / (compute + aggregation + other);
    }
};

/** @return an iteration without all-reduce */
inline Iteration
GetComputation(const SystolicNetwork& network)
{
    Iteration iteration;
    for (const SystolicLayer& layer : network.layers)
    {
        const LayerCycles cycles = GetCycles(layer);
        iteration.compute +=
            static_cast<double>(cycles.forward + cycles.inputGradient + cycles.weightGradient);
    }
    iteration.aggregation = GetAggregationCycles(network.GetParameters());
    return iteration;
}

/** Extremes over networks, by the names of their rows. */
using Extremes = std::map<std::string, double>;

/** Raises a maximum to a value, if that is larger. */
inline void
Raise(double& maximum, double value)
{
    maximum = std::max(maximum, value);
}

/** Takes in the iteration of a network; rows for networks of its kind have a prefix. */
inline void
TakeIn(Extremes& extremes, const std::string& prefix, const Iteration& iteration)
{
    const double share = iteration.GetShare();
    double& least = extremes.try_emplace("least-share", 100).first->second;
    least = std::min(least, share);
    Raise(extremes["largest-share"], share);
    Raise(extremes[prefix + "over-ring"], iteration.GetSaving(iteration.ring));
    Raise(extremes[prefix + "over-ring-2d"], iteration.GetSaving(iteration.ring2d));
}

/** @return the geometric mean of a / b over all pairs */
inline double
GetMeanRatio(const std::vector<double>& a, const std::vector<double>& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); i++)
    {
        sum += std::log(a[i] / b[i]);
    }
    return std::exp(sum / static_cast<double>(a.size()));
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MULTITREE_ITERATIONS_H
