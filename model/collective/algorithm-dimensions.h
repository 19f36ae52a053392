/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ALGORITHM_DIMENSIONS_H
#define DISTRIBUTED_TRAINING_ALGORITHM_DIMENSIONS_H

#include "collective-algorithm.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 * @param text algorithms with + between them
 * @return each of them
 */
std::vector<std::string> SplitAlgorithms(const std::string& text);

/**
 * @ingroup distributed-training-collective
 * @param text sizes of dimensions, such as 4x8
 * @return each of them, if the text is right and there are at most 2^20 ranks
 */
std::optional<std::vector<uint32_t>> ParseDimensions(const std::string& text);

/**
 * @ingroup distributed-training-collective
 * @param algorithm of a job
 * @param dimensions ranks of those in which a group differs, and 1 for the others
 * @return per-dimension with what it has for these; empty: the algorithm is another one
 */
std::string SelectDimensions(const std::string& algorithm, const std::vector<uint32_t>& dimensions);

/**
 * @ingroup distributed-training-collective
 * A collective in all groups of ranks that differ in one dimension only.
 */
struct DimensionPhase
{
    CollectiveOperation operation; ///< of the groups
    std::size_t dimension;         ///< from 0, the innermost
};

/**
 * @ingroup distributed-training-collective
 * What a request for per-dimension asks for: algorithms, dimensions, and places of ranks in them.
 */
class AlgorithmDimensions
{
  public:
    /** @param request a collective, with the keys of per-dimension; must outlive this */
    explicit AlgorithmDimensions(const CollectiveRequest& request);

    /** @return the phases of the collective, in order */
    std::vector<DimensionPhase> GetPhases() const;

    /**
     * @param phase a phase
     * @return its collective in a group
     */
    CollectiveRequest GetPart(const DimensionPhase& phase) const;

    /** @return why the request cannot be planned; empty if it can */
    std::string FindFault() const;

    /** @return the algorithm of each dimension */
    const std::vector<std::string>& GetAlgorithms() const
    {
        return m_algorithms;
    }

    /** @return number of ranks of each dimension */
    const std::vector<uint32_t>& GetSizes() const
    {
        return m_sizes;
    }

    /**
     * @param place number of a place; the first dimension runs fastest
     * @return the rank there
     */
    uint32_t GetRank(uint32_t place) const
    {
        return m_ranks[place];
    }

    /**
     * @param dimension a dimension
     * @return distance between the places of neighbours in it
     */
    uint32_t GetStride(std::size_t dimension) const;

  private:
    bool FindPlaces();

    const CollectiveRequest& m_request;
    std::vector<std::string> m_algorithms; // by dimension, innermost first
    std::vector<uint32_t> m_sizes;         // of dimensions
    std::vector<uint32_t> m_places;        // by rank
    std::vector<uint32_t> m_ranks;         // by place
    std::string m_fault;                   // why the ranks do not fill the dimensions, or empty
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ALGORITHM_DIMENSIONS_H
