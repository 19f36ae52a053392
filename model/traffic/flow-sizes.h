/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FLOW_SIZES_H
#define DISTRIBUTED_TRAINING_FLOW_SIZES_H

#include "ns3/random-variable-stream.h"
#include "ns3/training-key-values.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-traffic Traffic beside jobs
 *
 * Flows of random sizes between random hosts at random times, and how much longer they take than on
 * an idle network.
 */

namespace ns3::training
{

/**
 * @ingroup distributed-training-traffic
 * A distribution of flow sizes: points of its cumulative function, linear between them.
 */
class FlowSizes
{
  public:
    /// Sizes, bytes, and the fraction of flows up to each.
    using Points = std::vector<std::pair<double, double>>;

    /** @param points sizes and fractions rise; the last fraction is 1 */
    explicit FlowSizes(Points points);

    /**
     * @param path a file with a line for each point: size in bytes, fraction of flows up to it in
     *        percent (as the simulator of HPCC has it) or, if the last one is 1, as a number.
     *        Empty lines, and what follows '#', are skipped
     * @return the distribution
     * @throw ConfigurationError with file and line, if it is not a distribution
     */
    static FlowSizes Read(const std::string& path);

    /** @return mean size, bytes */
    double GetMean() const;

    /**
     * @param part 0 to 1
     * @return size that this fraction of flows does not exceed, bytes
     */
    double GetQuantile(double part) const;

    /** @return a variable of this distribution */
    Ptr<RandomVariableStream> MakeVariable() const;

    /// Largest flow, bytes.
    static constexpr uint64_t MAX_BYTES = uint64_t{1} << 40;

  private:
    Points m_points;
};

/** A named distribution of flow sizes. @ingroup distributed-training-traffic */
struct FlowSizesEntry
{
    static constexpr const char* KIND = "flow sizes"; ///< see Registry
    std::string help;                                 ///< one line
    std::vector<Key> keys;                            ///< of the distribution
    FlowSizes (*make)(const KeyValues& values);       ///< makes it from checked keys
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FLOW_SIZES_H
