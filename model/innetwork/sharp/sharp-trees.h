/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARP_TREES_H
#define DISTRIBUTED_TRAINING_SHARP_TREES_H

#include "ns3/number-format.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::training
{

/** The addends of one switch of a tree, in order. */
struct SharpSum
{
    /** An addend. */
    struct Child
    {
        bool isRank;    ///< a rank's numbers; otherwise the sum of another switch
        uint32_t index; ///< index of the rank, or of the switch in SharpSums
    };

    std::vector<Child> children; ///< the addends in the order of addition
};

/// The switches of a tree, the root first.
using SharpSums = std::vector<SharpSum>;

/**
 * @ingroup distributed-training-innetwork
 * The trees that share the tensors of a job: the part of each, what it adds in which order, and by
 * how much its sums may be wrong.
 */
class SharpTrees
{
  public:
    /** @param sums by tree, the same at every rank */
    void Set(std::shared_ptr<const std::vector<SharpSums>> sums)
    {
        m_sums = std::move(sums);
    }

    /** @return number of trees */
    uint32_t GetCount() const
    {
        return static_cast<uint32_t>(m_sums->size());
    }

    /**
     * @param tree number of a tree
     * @param values size of a tensor, numbers
     * @return range of numbers that the tree adds, [first, end)
     */
    std::pair<uint64_t, uint64_t> GetPart(uint32_t tree, uint64_t values) const;

    /**
     * Adds numbers like the network.
     * @param tree number of a tree
     * @param format in which they travel and are added
     * @param inputs tensor of each rank
     * @param begin first number of the tensor
     * @param end end of the range, exclusive
     * @param sum receives the sums, from `begin` on
     */
    void Add(uint32_t tree,
             NumberFormat format,
             const std::vector<std::vector<float>>& inputs,
             uint64_t begin,
             uint64_t end,
             std::vector<float>& sum) const;

    /**
     * @param format in which the numbers are added
     * @param exponent maximum of the numbers
     * @param ranks that contribute
     * @return bound of the error of any sum
     */
    double GetErrorBound(NumberFormat format, int8_t exponent, uint32_t ranks) const;

  private:
    std::shared_ptr<const std::vector<SharpSums>> m_sums;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_TREES_H
